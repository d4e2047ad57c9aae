#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --fd N: a permit for a descriptor that the caller has open, and flocklimitctl path.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# script LABEL SHELL LINES: a shell that has x open as descriptor 9, takes a permit for it by LINES,
# and ends at let_go LABEL.
script() {
	mkfifo "$1.fifo"
	background "$1" "$2" -c 'exec 9<"$1"; '"$3"'
		echo up; cat "$0.fifo"' "$1" "$(ctl path x)"
	eventually says up "$1.out"
}

# Whether another process, which has none of our descriptors, gets a permit of x.
free() { "$FLOCKLIMIT" -N x -n 1 -q --nonblock true 7<&- 8<&- 9<&-; }
taken() { run -75 free; }

@test "the permit lasts until the script ends, and the next one starts by itself" {
	local shell
	for shell in bash dash; do
		script a "$shell" '"$FLOCKLIMIT" --fd 9 -n 1 || exit'
		taken
		background b "$FLOCKLIMIT" -N x -n 1 echo ran
		eventually in_line 1
		let_go a
		ended a
		ended b
		[ "$(cat b.out)" = ran ]
		rm a.fifo
	done
	silent 0 "$CTL" check x
}

@test "nothing is printed, and no process stays" {
	script a bash '"$FLOCKLIMIT" --fd 9 -n 1 2>&1 || exit'
	[ "$(cat a.out a.err)" = up ]
	run ctl show --json x
	[ "$(jq -c '[.used, (.holders | length)]' <<<"$output")" = '[1,1]' ]
	[ "$(jq -c '.holders[0].pid' <<<"$output")" = "${pids[a]}" ]
	run ctl show x
	[[ $output == *"--fd 9: bash -c "* && $output != *orphan* && $output != *outlived* ]]
	let_go a
	ended a
}

@test "kill -9 of the script gives the permit back" {
	script a bash '"$FLOCKLIMIT" --fd 9 -n 1 || exit'
	taken
	kill -KILL "${pids[a]}"
	ended a
	eventually free
}

@test "a child that has the descriptor keeps the permit, and show names it" {
	background a bash -c 'exec 9<"$0"; "$FLOCKLIMIT" --fd 9 -n 1 || exit
		(echo $BASHPID >child; mkfifo go; read -r _ <go) &' "$(ctl path x)"
	ended a
	eventually test -p go
	taken
	run ctl show x
	[[ $output == *"$(cat child)"* ]]
	timeout 300 sh -c 'echo >go'
	eventually free
}

@test "closing one copy is not enough; closing the last is" {
	local path
	path=$(ctl path x)
	exec 9<"$path" 8<&9
	"$FLOCKLIMIT" --fd 9 -n 1
	exec 9<&-
	taken
	# A second description of the same file has nothing to do with it.
	exec 7<"$path"
	exec 7<&-
	taken
	exec 8<&-
	free
}

@test "--unlock: gives it back, and again nothing" {
	exec 9<"$(ctl path x)"
	silent 0 "$FLOCKLIMIT" --fd 9 --unlock
	silent 0 "$FLOCKLIMIT" --fd 9 -n 2 -w 2
	taken
	silent 0 "$FLOCKLIMIT" --fd 9 -u
	[ "$(field .used)" = 0 ]
	free
	silent 0 "$FLOCKLIMIT" --fd 9 -u
	exec 9<&-
}

@test "--unlock wakes the next in line" {
	exec 9<"$(ctl path x)"
	"$FLOCKLIMIT" --fd 9 -n 1
	background b "$FLOCKLIMIT" -N x -n 1 sh -c 'echo ran' 9<&-
	eventually in_line 1
	"$FLOCKLIMIT" --fd 9 -u
	ended b
	[ "$(cat b.out)" = ran ]
	exec 9<&-
}

@test "--unlock of another descriptor leaves the permit" {
	exec 9<"$(ctl path x)" 8<"$(ctl path x)"
	"$FLOCKLIMIT" --fd 9 -n 1
	silent 0 "$FLOCKLIMIT" --fd 8 -u
	taken
	exec 9<&- 8<&-
	free
}

@test "--unlock gives it back although a reader has locked the file" {
	need_helper trespass
	exec 9<"$(ctl path x)"
	"$FLOCKLIMIT" --fd 9 -n 1
	background reader "$HELPERS/trespass" lock "$FLOCKLIMIT_DIR/x" 9<&-
	eventually says locked reader.out
	silent 0 "$FLOCKLIMIT" --fd 9 -n 1 --nonblock
	silent 0 "$FLOCKLIMIT" --fd 9 -u
	[ "$(field .used)" = 0 ]
	exec 9<&-
	kill -KILL "${pids[reader]}"
	ended reader
}

@test "two descriptors of a script have two permits" {
	exec 9<"$(ctl path x)" 8<"$(ctl path x)"
	"$FLOCKLIMIT" --fd 9 -n 2
	"$FLOCKLIMIT" --fd 8 -n 2
	[ "$(field .used)" = 2 ]
	exec 9<&-
	[ "$(field .used)" = 1 ]
	exec 8<&-
	[ "$(field .used)" = 0 ]
}

@test "twice for one descriptor is once" {
	exec 9<"$(ctl path x)"
	silent 0 "$FLOCKLIMIT" --fd 9 -n 2
	silent 0 "$FLOCKLIMIT" --fd 9 -n 2 --nonblock
	[ "$(field .used)" = 1 ]
	run -0 --separate-stderr "$FLOCKLIMIT" --fd 9 -n 2 -w 2
	one_line
	[[ $stderr == *"-w 2 has no effect"*"weight 1"* ]]
	silent 0 "$FLOCKLIMIT" --fd 9 -n 2 -w 2 -q
	exec 9<&-
	[ "$(field .used)" = 0 ]
}

@test "commands below it join its permit, and others do not" {
	exec 9<"$(ctl path x)"
	"$FLOCKLIMIT" --fd 9 -n 1
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock sh -c 'echo joined; "$FLOCKLIMIT" -N x -n 1 --nonblock echo twice'
	[ "$output" = $'joined\ntwice' ]
	run -0 "${FLOCKLIMIT%/*}/flockmap" -N x -n 1 -t 0 echo {} ::: one two
	[ "$output" = $'one\ntwo' ]
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock -q --nested=queue true
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock -q true 9<&-
	exec 9<&-
}

@test "below a permit of the same limiter: joins it, also where the environment was emptied" {
	# shellcheck disable=SC2016,SC2086 # for the shells; two words
	for clean in env 'env -i'; do
		run -0 "$FLOCKLIMIT" -f "$T/x" -n 1 $clean sh -c \
			'exec 9<"$1"; "$2" --fd 9 -n 1 --nonblock && echo joined' sh "$T/x" "$FLOCKLIMIT"
		[ "$output" = joined ]
	done
}

@test "a queue: who waits for a descriptor keeps its place" {
	hold a -N x -n 1
	exec 9<"$(ctl path x)"
	background b "$FLOCKLIMIT" --fd 9 -n 1
	eventually in_line 1
	background c "$FLOCKLIMIT" -N x -n 1 echo ran 9<&-
	eventually in_line 2
	let_go a
	ended a
	ended b
	[ "$status" = 0 ]
	[ ! -s c.out ]
	[ "$(field '.waiters | length')" = 1 ]
	exec 9<&-
	ended c
	[ "$(cat c.out)" = ran ]
}

@test "no permit: 75, or -E; TERM ends the wait" {
	hold a -N x -n 1
	exec 9<"$(ctl path x)"
	run -75 --separate-stderr "$FLOCKLIMIT" --fd 9 -n 1 --nonblock
	one_line
	run -9 "$FLOCKLIMIT" --fd 9 -n 1 -q -t 20ms -E 9
	run -75 "$FLOCKLIMIT" --fd 9 -n 1 -q --max-queue 0
	background b "$FLOCKLIMIT" --fd 9 -n 1
	eventually in_line 1
	kill "${pids[b]}"
	ended b
	[ "$status" = 143 ]
	eventually in_line 0
	exec 9<&-
}

@test "an empty file becomes a limiter: exec 9<>lock; one line says that it is open for writing" {
	exec 9<>lock
	run -0 --separate-stderr "$FLOCKLIMIT" --fd 9 -n 1
	one_line
	[[ $stderr == *"descriptor 9 is open for writing"*"use 9<"* ]]
	silent 0 "$FLOCKLIMIT" --fd 9 -n 1 -q
	silent 0 "$FLOCKLIMIT" --fd 9 -u
	silent 0 "$FLOCKLIMIT" --fd 9 -n 1 -q
	run -75 "$FLOCKLIMIT" -f lock -n 1 --nonblock -q true 9<&-
	exec 9<&-
	silent 0 "$FLOCKLIMIT" -f lock -n 1 --nonblock true
}

@test "what is no descriptor of a limiter" {
	refused "$FLOCKLIMIT" --fd 9 -n 1 9<&-
	[[ $stderr == *"descriptor 9 is not open"*"flocklimitctl path"* ]]
	refused "$FLOCKLIMIT" --fd 9 -n 1 9</dev/null
	[[ $stderr == *"descriptor 9 is no file"* ]]
	refused "$FLOCKLIMIT" --fd 9 -n 1 9>file
	[[ $stderr == *"not open for reading: use 9<"* ]]
	echo text >text
	refused "$FLOCKLIMIT" --fd 9 -n 1 9<text
	[ "$(cat text)" = text ]
	refused "$FLOCKLIMIT" --fd -1 -n 1
	refused "$FLOCKLIMIT" --fd nine -n 1
	ctl path x y >/dev/null
	refused "$FLOCKLIMIT" --fd 9 -N y -n 1 9<"$(ctl path x)"
	[[ $stderr == *"y: --fd: descriptor 9 is not open on this limiter"* ]]
	silent 0 "$FLOCKLIMIT" --fd 9 -N x -n 1 9<"$(ctl path x)"
}

@test "a limiter that was removed or replaced since it was opened" {
	local path
	path=$(ctl path x)
	exec 9<"$path"
	ctl rm x
	refused "$FLOCKLIMIT" --fd 9 -n 1
	[[ $stderr == *"was removed: open it again"* ]]
	"$FLOCKLIMIT" -N x -n 1 true
	refused "$FLOCKLIMIT" --fd 9 -n 1
	refused "$FLOCKLIMIT" --fd 9 -N x -n 1
	[[ $stderr == *"not open on this limiter"* ]]
	exec 9<&-
}

@test "what has no meaning with --fd" {
	local words
	exec 9<"$(ctl path x)"
	for words in true '-c true' --background -F -o --jobserver '-T 1' '-T 1 --preserve-status' '-k 1' \
		"--hold-for $$" '--store etcd://127.0.0.1:1'; do
		# shellcheck disable=SC2086 # several words
		refused "$FLOCKLIMIT" --fd 9 -n 1 $words
	done
	for words in '-n 1' '-t 1' '-w 2' '--yield 3' '--not-seat 0'; do
		# shellcheck disable=SC2086 # several words
		refused "$FLOCKLIMIT" --fd 9 -u $words
	done
	refused "$FLOCKLIMIT" -N x -u true
	[[ $stderr == *"--unlock is for --fd"* ]]
	[ "$(field .used)" = 0 ]
	exec 9<&-
}

@test "killed before the hand-over leaves nothing" {
	hold a -N x -n 1
	exec 9<"$(ctl path x)"
	background b "$FLOCKLIMIT" --fd 9 -n 1
	eventually in_line 1
	kill -KILL "${pids[b]}"
	ended b
	let_go a
	ended a
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	exec 9<&-
}

@test "the history has a release" {
	exec 9<"$(ctl path x)"
	"$FLOCKLIMIT" --fd 9 -n 1
	"$FLOCKLIMIT" --fd 9 -u
	exec 9<&-
	run ctl log x
	[[ $output == *granted*$'\n'*ended* && $output != *killed* ]]
}

@test "path: creates the limiter, and prints where it is" {
	run -0 --separate-stderr ctl path x
	[ "$output" = "$FLOCKLIMIT_DIR/x" ]
	[ -f "$output" ]
	run -0 ctl path x y
	[ "$output" = "$FLOCKLIMIT_DIR/x"$'\n'"$FLOCKLIMIT_DIR/y" ]
	run -0 ctl path -f lock
	[ -f lock ]
	FLOCKLIMIT_DIR=$T/new run -0 ctl path x
	[ -f "$T/new/x" ]
	ctl_line 125 path
	[[ $stderr == *"which limiters?"* ]]
	ctl_line 125 path -- -x
	ctl_line 125 path --all
}
