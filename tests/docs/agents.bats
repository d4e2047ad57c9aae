#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# doc/agents.md, taken from the page and run as an agent's shell runs commands.

load ../helpers/lib.bash
load ../helpers/docs.bash

CTL=${FLOCKLIMIT}ctl
PAGE=$TOP/doc/agents.md

# block NAME: the page's lines.
block() {
	sed -n "/^\`\`\`sh $1\$/,/^\`\`\`\$/p" "$PAGE" | grep -v '^```'
}

# a_machine: a user's home and tools, of which each says when it begins, waits for a fifo of its own, and
# ends with the status that comes.
a_machine() {
	mkdir -p home bin programs work
	ln -s "$FLOCKLIMIT" programs/flocklimit
	ln -s "$CTL" programs/flocklimitctl
	for tool in cargo npm pytest; do
		cat >"bin/$tool" <<-'END'
			#!/bin/sh
			case $1 in metadata | install | --version) echo "$0 $*"; exit ;; esac
			mkfifo "$T/work/go.$$"
			echo "$$" >>"$T/work/begun"
			read -r status <"$T/work/go.$$"
			echo "${0##*/} $*: $status ${FLOCKLIMIT_LIMITER##*/}"
			exit "$status"
		END
		chmod +x "bin/$tool"
	done
	: >work/begun
	went=0
	HOME=$T/home
	unset FLOCKLIMIT_LIMITS XDG_CONFIG_HOME
	BASE=$T/programs:$T/bin:/usr/bin:/bin
}

# set_up: what the page says; then PATH is that of the next login.
set_up() {
	a_machine
	block setup >lines.sh
	[ "$(wc -l <lines.sh)" -le 10 ]
	umask 002 # as on Debian 13 and Fedora
	HOME=$HOME PATH=$BASE run -0 bash --noprofile --norc -e lines.sh
	umask 022
	[[ $output == *"is not in PATH"* ]]
	AGENT_PATH=$(env -i HOME="$HOME" PATH="$BASE" bash -c '. ~/.profile; echo "$PATH"')
}

# call LABEL SECONDS LINE: an agent's tool: a new shell, captured output, SIGKILL to it after a time.
call() {
	background "$1" env -i "HOME=$HOME" "PATH=$AGENT_PATH" "T=$T" "FLOCKLIMIT_DIR=$FLOCKLIMIT_DIR" \
		timeout -s KILL "$2" bash --noprofile --norc -c "$3"
}

begun() {
	[ "$(wc -l <work/begun)" = "$1" ]
}

# go STATUS: the first that began, of those that run, ends so.
go() {
	went=$((went + 1))
	timeout 300 sh -c 'echo "$1" >"$2"' sh "$1" "$T/work/go.$(sed -n "${went}p" work/begun)"
}

waiting() {
	[ "$("$CTL" show --json heavy | jq '.waiters | length')" = "$1" ]
}

@test "the set-up is ten lines, and what it says applies" {
	set_up
	run -0 "$CTL" limits --check home/.config/flocklimit/limits
	block look >look.sh
	HOME=$HOME PATH=$AGENT_PATH run -0 bash --noprofile --norc -e look.sh
	[ "${lines[0]}" = "$HOME/.config/flocklimit/limits:3: command 'cargo test' -N heavy" ]
	[ "${lines[1]}" = "$HOME/.config/flocklimit/limits:1: limiter heavy -n 2 -v --or-run" ]
	[[ $output == *"cargo	$T/bin/cargo	$HOME/.config/flocklimit/limits:2: command 'cargo build' -N heavy"* ]]
}

@test "of many calls at once two run, and the others wait and say so" {
	set_up
	for i in 1 2 3 4 5 6; do
		mkdir "tree$i"
		case $i in
		1 | 4) line='cargo test --workspace' ;;
		2 | 5) line='npm test' ;;
		*) line='pytest -x' ;;
		esac
		call "$i" 600 "cd ~/../tree$i && $line"
		if [ "$i" -le 2 ]; then
			eventually begun "$i"
		else
			eventually waiting $((i - 2))
			eventually grep -q "^flocklimit: heavy: waiting: 2 of 2 in use, $((i - 3)) ahead of you" "$i.err"
		fi
	done
	begun 2
	# What is not about heavy commands does not wait.
	call light 600 'cargo metadata && npm install'
	ended light
	[ "$status" = 0 ]
	[ "$(wc -l <light.out)" = 2 ]
	[ ! -s light.err ]
	for i in 1 2 3 4 5 6; do
		begun $((i < 5 ? i + 1 : 6))
		go 0
		[ "$i" -gt 4 ] || eventually begun $((i + 2))
	done
	for i in 1 2 3 4 5 6; do
		ended "$i"
		[ "$status" = 0 ]
		grep -q ': 0 heavy$' "$i.out"
	done
}

@test "a call that is killed while it waits leaves the line; one that runs keeps its permit until its end" {
	set_up
	call one 600 'cargo test'
	eventually begun 1
	call two 600 'cargo test'
	eventually begun 2
	call three 600 'cargo test'
	eventually waiting 1
	call four 600 'cargo test'
	eventually waiting 2
	# bash has become the shim: what the time limit kills is flocklimit.
	pkill -KILL -P "${pids[three]}"
	ended three
	[ "$status" = 137 ]
	eventually waiting 1
	pkill -KILL -P "${pids[one]}"
	ended one
	[ "$status" = 137 ]
	begun 2
	waiting 1
	go 3
	eventually begun 3
	go 0
	go 0
	ended two
	ended four
	eventually waiting 0
}

@test "the status is the command's own, and FLOCKLIMIT=off turns all off" {
	set_up
	for i in 1 2; do
		call "$i" 600 'cargo test'
		eventually begun "$i"
	done
	block off >off.sh
	call off 600 "$(cat off.sh)"
	eventually begun 3
	go 7
	go 7
	go 7
	for i in 1 2 off; do
		ended "$i"
		[ "$status" = 7 ]
	done
	grep -q '^cargo test: 7 $' off.out
	[ ! -s off.err ]
}

@test "a limiter that cannot be used stops nobody" {
	set_up
	FLOCKLIMIT_DIR=$T/home/.profile/none
	call one 600 'cargo test'
	eventually begun 1
	go 5
	ended one
	[ "$status" = 5 ]
	[ "$(wc -l <one.err)" = 1 ]
	grep -q '; the command runs without a permit$' one.err
}

@test "the other lines of a limits file are right" {
	block limits >limits.txt
	run -0 "$CTL" limits --check limits.txt
	[ "$output" = "limits.txt: 6 lines, all right" ]
	block machine >machine.txt
	run -0 "$CTL" limits --check machine.txt
	[ "$output" = "machine.txt: 2 lines, all right" ]
}

@test "a weight in GiB reaches systemd-run" {
	mkdir bin
	printf '#!/bin/sh\nprintf "%%s|" "$@"\n' >bin/systemd-run
	chmod +x bin/systemd-run
	ln -s "$FLOCKLIMIT" bin/flocklimit
	block memory >memory.sh
	PATH=$T/bin:$PATH run -0 sh -e memory.sh
	[ "$output" = '--user|--scope|-q|-p|MemoryMax=11G|-p|MemorySwapMax=0|cargo|build|' ]
}
