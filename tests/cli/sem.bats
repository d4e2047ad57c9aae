#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocksem: what scripts say to GNU parallel's sem.

load ../helpers/lib.bash

# sem WORD...: by a link of that name.
sem() {
	[ -e sem ] || ln -s "${FLOCKLIMIT%limit}sem" sem
	./sem "$@"
}

# limit_of NAME
limit_of() {
	"${FLOCKLIMIT}ctl" show --json "$1" | jq .limit
}

# sem_line TEXT WORD...: refused with one line that has this text.
sem_line() {
	local text=$1
	shift
	run --separate-stderr -125 sem "$@"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "flocksem: "*"$text"* ]]
	[ ! -e limiters ]
}

@test "sem: words are a line for the shell, in the background; --wait waits for it" {
	sem --id x echo a ';' sleep 0.1 ';' echo b >out 3>&-
	sem --id x --wait
	[ "$(cat out)" = $'a\nb' ]
}

@test "sem: one at a time, or -j" {
	run -0 sh -c 'ln -s "$0" sem
		for i in 1 2 3; do ./sem --id x "echo $i; sleep 0.05; echo $i"; done; ./sem --id x --wait' "${FLOCKLIMIT%limit}sem"
	[ "$output" = $'1\n1\n2\n2\n3\n3' ]
	sem --id x -j 3 true
	[ "$(limit_of x)" = 3 ]
}

@test "sem -j: N, 0, +N, -N, N%, and a file that is read each time" {
	local cpus
	"$FLOCKLIMIT" -N cpus -n 100% true
	cpus=$(limit_of cpus)
	sem --fg --id x -j+2 true
	[ "$(limit_of x)" = $((cpus + 2)) ]
	sem --fg --id x --jobs -1000 true
	[ "$(limit_of x)" = 1 ]
	sem --fg --id x -P 200% true
	[ "$(limit_of x)" = $((cpus * 2)) ]
	sem --fg --id x --max-procs 0 true
	[ "$(limit_of x)" = 1000000000 ]
	echo 5 >count
	sem --fg --id x -j count true
	[ "$(limit_of x)" = 5 ]
	echo +1 >count
	sem --fg --id x -j count true
	[ "$(limit_of x)" = $((cpus + 1)) ]
}

@test "sem --fg: the command's status, and its end" {
	run -7 sem --fg --id x 'exit 7'
	run -0 sem --bg --id x 'exit 7'
}

@test "sem --wait: 0 for an id that nobody has used" {
	silent 0 sem --id x --wait
	silent 0 sem --wait
	[ ! -e limiters/x ]
}

@test "sem --st with a minus: gives up with 1" {
	hold a -N x -n 1
	run --separate-stderr -1 sem --id x --st -0.05 touch ran
	one_line
	run -1 sem --id x --fg --semaphoretimeout -0.05 touch ran
	[ ! -e ran ]
	background b sem --fg --id x --st -100 echo room
	eventually in_line 1
	let_go a
	ended b
	[ "$(cat b.out)" = room ]
}

@test "sem --st: starts above the limit, beside it, and --wait waits for that, too" {
	hold a -N x -n 1
	mkfifo go
	sem --id x --st 0.05 'echo $FLOCKLIMIT_WEIGHT of $FLOCKLIMIT_LIMITER >ran; read -r _ <go' >b.out 2>b.err 3>&-
	eventually test -s ran
	[ "$(cat ran)" = "1 of x%st" ]
	has_lines 2 b.err
	[[ $(tail -n 1 b.err) == *": x: the command runs above the limit, in the limiter 'x%st'" ]]
	run -3 sem --fg --id x --semaphore-timeout 0.05 'exit 3'
	[ "$("${FLOCKLIMIT}ctl" show --json x | jq '.holders | length')" = 1 ]
	let_go a
	background w sem --id x --wait
	eventually waits_for_idle
	echo >go
	ended w
	[ "$status" -eq 0 ]
}

# Somebody waits until those above the limit have ended: it has drawn the ticket behind theirs.
waits_for_idle() {
	[ "$("${FLOCKLIMIT}ctl" show --json x%st | jq .totals.last_ticket)" = 3 ]
}

@test "sem --st: finds room in its time; 0 waits without an end" {
	sem --help >/dev/null # it makes the link, before two do
	hold a -N x -n 1
	background b sem --fg --id x --st 100 'echo $FLOCKLIMIT_LIMITER'
	background c sem --fg --id x --st 0 'echo $FLOCKLIMIT_LIMITER'
	eventually in_line 2
	let_go a
	ended b
	ended c
	[ "$(cat b.out c.out)" = $'x\nx' ]
}

@test "sem --st: what cannot start above its limit is refused before it waits" {
	sem_line "61 characters" --id "$(printf '%062d' 0)" --st 1 true
	FLOCKLIMIT_STORE=etcd://x sem_line "no store starts a command above its limit" --st 1 true
	sem_line "duration" --st x true
}

@test "sem --timeout" {
	run -124 sem --fg --id x --timeout 0.05 'exec sleep inf'
}

@test "sem: stdin is the caller's, or -a FILE" {
	echo said >file
	[ "$(echo piped | sem --id x cat; sem --id x --wait)" = piped ]
	[ "$(sem --id x -a file cat; sem --id x --wait)" = said ]
}

@test "sem -q: the words reach the command as they are" {
	run -0 sem --fg --id x -q printf '%s\n' "a'b; c" '$HOME *'
	[ "$output" = $'a\'b; c\n$HOME *' ]
	run -0 sem --dry-run -q a "b'c"
	[ "$output" = "'a' 'b'\\''c'" ]
	run -0 sem --dry-run a 'b c'
	[ "$output" = "a b c" ]
}

@test "sem: SHELL and PARALLEL_SHELL; functions that bash exports" {
	greet() { echo "hello $1"; }
	export -f greet
	export SHELL=$BASH
	run -0 sem --fg --id x greet you
	[ "$output" = "hello you" ]
	PARALLEL_SHELL=/bin/echo run -0 sem --fg --id x a
	[ "$output" = "-c a" ]
	SHELL='' run -0 sem --fg --id x 'echo $0'
	[ "$output" = /bin/sh ]
}

@test "sem: any id is a name, and the default is what tty prints" {
	sem --fg --id '../a b%' true
	[ -e 'limiters/%2E.%2Fa%20b%25' ]
	sem --fg true </dev/null
	[ -e 'limiters/not%20a%20tty' ]
	run -125 sem --fg --id '' true
	run -125 sem --fg --id "$(printf '%070d' 0)" true
}

@test "sem: what it does not have is refused in one line, with a hint" {
	sem_line "see flocksem --help"
	sem_line "--stagger" --delay 1 true
	sem_line "flockmap" --joblog x true
	sem_line "cannot be interactive" -p true
	sem_line "--store" -S host true
	sem_line "not a number of jobs" -j many true
	sem_line "did you mean --fg?" --fgg true
}

@test "sem: what has no effect is accepted" {
	run -0 sem --semaphore -u --line-buffer --lb --linebuffer --ungroup -k -r --env X --will-cite --fg --id x echo a
	[ "$output" = a ]
}

@test "sem under its own id waits for a permit of its own" {
	run -1 sem --fg --id x "$T/sem --fg --id x --st -0.05 echo no"
}

@test "sem: killed wrappers let no command above the limit" {
	local i
	cat >job <<-'END'
		#!/bin/sh
		echo + >>log
		sleep 0.05
		echo - >>log
	END
	chmod +x job
	for i in {1..12}; do
		sem --id x -j 2 exec ./job 3>&-
		"${FLOCKLIMIT}ctl" show --json x | jq '.holders[0].pid // empty' | xargs -r kill -KILL || :
	done
	"$FLOCKLIMIT" -N x -w 2 true
	awk '/[+]/ { if (++n > 2) exit 1 } /-/ { n-- } END { exit n != 0 }' log
}

@test "sem --version" {
	run -0 sem --version
	[[ $output == "flocksem "* ]]
}
