#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --tree: the permit is for the command and all that it started, and so are signals that end.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# What a command leaves behind: a process in a session of its own whose parent has ended, without the
# guard.  It writes its pid, and ends when it reads a line, or by a signal.
STRAY='setsid bash -c "exec 50>&- 51>&-; echo \$\$ >stray; read -r x <go; echo \$x >last" </dev/null >/dev/null 2>&1 &'
# The same, and SIGTERM does nothing to it.
DEAF="setsid bash -c \"trap '' TERM; exec 50>&- 51>&-; echo \\\$\\\$ >stray; read -r x <go\" </dev/null >/dev/null 2>&1 &"

stage() {
	mkfifo go
}

# stray: its pid.
stray() {
	eventually test -s stray
	cat stray
}

# only_child PID: of the flocklimit named tree, which has reaped all others.
only_child() { [ "$(pgrep -P "${pids[tree]}")" = "$1" ]; }

in_use() {
	[ "$("$CTL" list --json x | jq '.[0].in_use')" = "$1" ]
}

@test "the permit lasts until what the command left behind has ended; the status is the command's" {
	stage
	background tree "$FLOCKLIMIT" -N x -n 1 --tree sh -c "($STRAY); exit 7"
	pid=$(stray)
	eventually only_child "$pid"
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --nonblock true
	echo over >go
	ended tree
	[ "$status" = 7 ]
	[ "$(cat last)" = over ]
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "without --tree the permit is the command's" {
	stage
	run -7 "$FLOCKLIMIT" -N x -n 1 sh -c "($STRAY); exit 7"
	pid=$(stray)
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	kill "$pid"
}

@test "TERM to flocklimit alone ends all" {
	stage
	for sig in TERM HUP; do # a shell lets what it starts in the background ignore INT and QUIT
		rm -f stray
		background tree "$FLOCKLIMIT" -N x -n 1 --tree sh -c "$STRAY exec sleep 1000"
		pid=$(stray)
		kill "-$sig" "${pids[tree]}"
		ended tree
		[ "$status" -gt 128 ]
		is_gone "$pid"
	done
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "TERM after the command has ended ends the rest, and the status stays" {
	stage
	background tree "$FLOCKLIMIT" -N x -n 1 --tree sh -c "($STRAY); exit 3"
	pid=$(stray)
	eventually only_child "$pid"
	kill -TERM "${pids[tree]}"
	ended tree
	[ "$status" = 3 ]
	is_gone "$pid"
}

@test "a stopped one is ended as well" {
	stage
	background tree "$FLOCKLIMIT" -N x -n 1 --tree sh -c "$STRAY exec sleep 1000"
	pid=$(stray)
	kill -STOP "$pid"
	eventually is_state T "$pid"
	kill -TERM "${pids[tree]}"
	ended tree
	[ "$status" = 143 ]
	is_gone "$pid"
}

# with_a_stray OPTION... COMMAND: it runs for long enough to leave one behind.
with_a_stray() {
	rm -f stray through
	run "$FLOCKLIMIT" -N x -n 1 --tree -T "$TIME" "$@"
	[ -s stray ]
}

@test "-T reaches all, and -k those that do not mind TERM" {
	stage
	in_time with_a_stray sh -c "$STRAY exec sleep 1000"
	[ "$status" = 124 ]
	is_gone "$(cat stray)"
	in_time with_a_stray -k 200ms sh -c "$DEAF exec sleep 1000"
	[ "$status" = 124 ]
	is_gone "$(cat stray)"
	rm stray
	run -137 "$FLOCKLIMIT" -N x -n 1 --tree -T 300ms -s KILL sh -c "$DEAF exec sleep 1000"
	[ ! -s stray ] || is_gone "$(stray)"
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "-T counts for what is left when the command has ended" {
	stage
	in_time with_an_end
	[ "$status" = 124 ]
	is_gone "$(cat stray)"
	in_time with_an_end --preserve-status
	[ "$status" = 0 ]
}
# with_an_end OPTION...: the command leaves one behind, and comes to its own end.
with_an_end() { with_a_stray "$@" sh -c "($STRAY); : >through; exit 0" && [ -e through ]; }

@test "processes that fork all the time do not get away from KILL" {
	run -137 timeout 300 "$FLOCKLIMIT" -N x -n 1 --tree -T 500ms -s KILL sh -c '
		f() { echo $$ >>all; (f &) ; }
		f; f; exec sleep 1000'
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	while read -r pid; do
		is_gone "$pid"
	done < <(sort -u all)
}

@test "other signals are the command's alone" {
	stage
	background tree "$FLOCKLIMIT" -N x -n 1 --tree sh -c "trap 'echo usr1 >got' USR1; $STRAY while :; do sleep 0.1; done"
	pid=$(stray)
	kill -USR1 "${pids[tree]}"
	eventually test -s got
	kill -0 "$pid"
	kill -TERM "${pids[tree]}"
	ended tree
	is_gone "$pid"
}

@test "kill -9 of flocklimit: those that have the guard keep the permit" {
	stage
	background tree "$FLOCKLIMIT" -N x -n 1 --tree sh -c 'setsid sh -c "echo \$\$ >stray; read -r x <go" & wait'
	pid=$(stray)
	kill -KILL "${pids[tree]}"
	ended tree
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --nonblock true
	pkill -KILL -P "$pid" || :
	kill -KILL "$pid"
	eventually "$FLOCKLIMIT" -q -N x -n 1 --nonblock true
}

@test "with a jobserver, whose own process does not count" {
	printf 'all:\n\t@echo made\n' >Makefile
	run --separate-stderr -0 timeout 300 "$FLOCKLIMIT" -N x -n 2 --tree --jobserver make
	[ "$output" = made ]
}

@test "in the background, with FLOCKLIMIT=off and by a limits file" {
	stage
	run -0 "$FLOCKLIMIT" -N x -n 1 --background --tree sh -c "($STRAY); exit 0"
	pid=$(stray)
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --nonblock true
	echo over >go
	eventually "$FLOCKLIMIT" -q -N x -n 1 --nonblock true
	rm stray last
	background off env FLOCKLIMIT=off "$FLOCKLIMIT" -N x --tree sh -c "($STRAY); exit 4"
	pid=$(stray)
	kill -TERM "${pids[off]}"
	ended off
	is_gone "$pid"
	rm stray
	echo 'command sh -N x -n 1 --tree' >limits
	FLOCKLIMIT_LIMITS=$T/limits background tree "$FLOCKLIMIT" sh -c "($STRAY); exit 5"
	pid=$(stray)
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --nonblock true
	echo over >go
	ended tree
	[ "$status" = 5 ]
}

@test "what --tree does not go with" {
	run -125 "$FLOCKLIMIT" -N x --tree -F true
	[[ $output == "flocklimit: --tree and --no-fork cannot be combined: "* ]]
	run -125 "$FLOCKLIMIT" -N x --tree --hold-for $$
	[[ $output == "flocklimit: --tree and --hold-for cannot be combined: "* ]]
}
