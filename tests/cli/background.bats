#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --background: the caller goes on when the command runs.

load ../helpers/lib.bash

# behind OPTION...: a command in the background, until let_go b; its pid is in b.up.
behind() {
	mkfifo b.fifo
	"$FLOCKLIMIT" -N x -n 1 --background "$@" sh -c 'echo $$ >b.up; exec cat b.fifo' 3>&- >b.out 2>&1
	eventually test -s b.up
}

# wrapper: the pid of the process that stays by the command of b.
wrapper() {
	"$FLOCKLIMIT" -N x --nonblock true 2>&1 | sed -n 's/.*oldest holder: pid \([0-9]*\),.*/\1/p'
}

is_free() {
	"$FLOCKLIMIT" -N x -n 1 -q --nonblock true
}

@test "--background: returns when the command runs, which keeps its permit" {
	behind
	run -75 "$FLOCKLIMIT" -N x -q --nonblock true
	let_go b
	eventually is_free
}

@test "--background: the output goes where it went, and in order" {
	run -0 sh -c 'for i in 1 2 3 4 5; do "$FLOCKLIMIT" -N x -n 1 --background echo $i; done
		"$FLOCKLIMIT" -N x true'
	[ "$output" = $'1\n2\n3\n4\n5' ]
}

@test "--background: a command's status and end are nothing to its caller" {
	silent 0 "$FLOCKLIMIT" -N x -n 1 --background sh -c 'exit 7'
	silent 0 "$FLOCKLIMIT" -N x -n 1 --background sh -c 'kill -KILL $$'
	eventually is_free
}

@test "--background: no permit is 75, or -E" {
	hold a -N x -n 1
	run --separate-stderr -75 "$FLOCKLIMIT" -N x --background --nonblock true
	one_line
	silent 75 "$FLOCKLIMIT" -N x -q --background -t 20ms true
	silent 9 "$FLOCKLIMIT" -N x -q --background -E 9 --max-queue 0 true
}

@test "--background: a command that cannot be started is 126 or 127" {
	is_free
	run --separate-stderr -127 "$FLOCKLIMIT" -N x --background ./missing
	one_line
	: >plain
	run --separate-stderr -126 "$FLOCKLIMIT" -N x --background ./plain
	one_line
	run --separate-stderr -127 "$FLOCKLIMIT" -N new --background ./missing
	[ ! -e limiters/new ]
	is_free
}

@test "--background: where SIGCHLD is ignored" {
	is_free
	silent 0 env --ignore-signal=CHLD "$FLOCKLIMIT" -N x --background true
	run -127 env --ignore-signal=CHLD "$FLOCKLIMIT" -N x --background ./missing
	run -0 env --ignore-signal=CHLD "$FLOCKLIMIT" -N x --background grep SigIgn /proc/self/status
	[[ $((0x${output##*[[:space:]]} >> 16 & 1)) = 1 ]]
}

@test "--background: not with -F or --hold-for; with -c" {
	refused "$FLOCKLIMIT" -N x --background -F true
	refused "$FLOCKLIMIT" -N x --background --hold-for $$
	refused "$FLOCKLIMIT" -N x --background
	run -0 sh -c '"$FLOCKLIMIT" -N x --background -c "echo a; echo b"'
	[ "$output" = $'a\nb' ]
}

@test "--background: stdin is /dev/null, INT and QUIT are ignored, and the group is the caller's" {
	run -0 sh -c 'echo no | "$FLOCKLIMIT" -N x --background sh -c \
		"cat; grep SigIgn /proc/self/status; ps -o pgid= -p \$\$"; ps -o pgid= -p $$'
	local ignored
	ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' <<<"$output")
	((0x$ignored & 2 && 0x$ignored & 4))
	[ "$(grep -v Sig <<<"$output" | sort -u | wc -l)" = 1 ]
}

@test "--background=stdin: the command reads what its caller does" {
	run -0 sh -c 'echo said | "$FLOCKLIMIT" -N x --background=stdin cat; "$FLOCKLIMIT" -N x -n 1 true'
	[ "$output" = said ]
	refused "$FLOCKLIMIT" -N x --background=out true
	refused "$FLOCKLIMIT" -N x --background stdin true
}

@test "--background: the wrapper keeps nothing of the caller's open" {
	local pid
	exec 9<>file
	behind -o
	exec 9>&-
	pid=$(wrapper)
	eventually is_state S "$pid" # it lets the caller go on first, and then closes them
	run ls -l "/proc/$pid/fd"
	[[ $output != *"$T/file"* ]]
	[[ $output != *b.out* ]]
	[[ $output != *pipe:* ]]
	let_go b
	eventually is_free
}

@test "--background: a substitution ends when the command closes its output" {
	mkfifo go
	run -0 timeout 100 sh -c 'x=$("$FLOCKLIMIT" -N x -n 1 --background sh -c \
		"echo \$\$ >up; echo said; exec >go.out 2>&1; cat go"); echo "got $x"' 3>&-
	[ "$output" = "got said" ]
	silent 75 "$FLOCKLIMIT" -N x -q --nonblock true
	timeout 100 sh -c ': >go'
	eventually is_free
}

# ends_the_wait WORD...: SIGNAL comes during the wait and STATUS is the end: nothing is left in the line, and no command starts.
ends_the_wait() {
	hold a -N x -n 1
	background b "$@" "$FLOCKLIMIT" -N x --background touch ran
	eventually in_line 1
	kill "-$SIGNAL" "${pids[b]}"
	ended b
	# shellcheck disable=SC2153 # the caller sets it
	[ "$status" -eq "$STATUS" ]
	eventually in_line 0
	let_go a
	ended a
	eventually is_free
	[ ! -e ran ]
}

@test "--background: TERM during the wait" {
	SIGNAL=TERM STATUS=143 ends_the_wait
}

@test "--background: HUP during the wait" {
	SIGNAL=HUP STATUS=129 ends_the_wait
}

@test "--background: KILL during the wait" {
	SIGNAL=KILL STATUS=137 ends_the_wait
}

@test "--background: KILL during the wait, while TERM is ignored" {
	SIGNAL=KILL STATUS=137 ends_the_wait env --ignore-signal=TERM
}

@test "--background: the wrapper is killed during the wait, and its caller learns it" {
	local pid
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x --background touch ran
	eventually in_line 1
	pid=$(pgrep -P "${pids[b]}")
	kill -KILL "$pid"
	ended b
	[ "$status" -eq 137 ]
	eventually in_line 0
	let_go a
	ended a
	[ ! -e ran ]
}

@test "--background: the wrapper is killed while the command runs, which keeps its permit" {
	behind
	kill -KILL "$(wrapper)"
	silent 75 "$FLOCKLIMIT" -N x -q --nonblock true
	let_go b
	eventually is_free
}

@test "--background: the command is killed, and the permit is free" {
	behind
	kill -KILL "$(up b)"
	eventually is_free
}

@test "--background: a stopped and continued command ends as any" {
	local pid
	behind
	pid=$(wrapper)
	kill -STOP "$(up b)"
	eventually is_state T "$(up b)"
	run -1 is_state T "$pid"
	kill -CONT "$(up b)"
	let_go b
	eventually is_free
	eventually is_gone "$pid"
}

@test "--background: TERM to the wrapper is passed on; -T ends the command" {
	behind
	kill -TERM "$(wrapper)"
	eventually is_gone "$(up b)"
	eventually is_free
	silent 0 "$FLOCKLIMIT" -N x -n 1 --background -T 10ms sleep inf
	eventually is_free
}

@test "--background: a caller that is killed while the command starts is nothing to the command" {
	printf '#!/bin/sh\necho up >up\nread -r _ <go\n' >job
	chmod +x job
	mkfifo go
	# The kernel runs the file only when the other process has given its lease up.
	lease "$T/job" F_WRLCK later
	background b "$FLOCKLIMIT" -N x -n 1 --background ./job
	eventually says asked lease.out
	kill -KILL "${pids[b]}"
	ended b
	kill -USR1 "${pids[lease]}"
	ended lease
	eventually test -s up
	run -75 is_free
	echo >go
	eventually is_free
	[ "$("${FLOCKLIMIT%/*}/flocklimitctl" log --json x | jq -r 'select(.event == "ended" and .ticket == 1) | .detail')" = "exit 0" ]
}

@test "--background: many at once are never above the limit, whoever is killed" {
	local i
	cat >job <<-'END'
		#!/bin/sh
		echo + >>log
		sleep 0.02
		echo - >>log
	END
	chmod +x job
	for i in {1..30}; do
		"$FLOCKLIMIT" -N x -n 2 --background ./job 3>&- &
		[ $((i % 3)) -ne 0 ] || kill -KILL $! 2>/dev/null || : # it may be over
	done
	wait
	"$FLOCKLIMIT" -N x -w 2 true
	awk '/[+]/ { if (++n > 2) exit 1 } /-/ { n-- } END { exit n != 0 }' log
}

@test "--background under a permit joins it" {
	run -0 "$FLOCKLIMIT" -N x -n 1 sh -c '"$FLOCKLIMIT" -N x --background -q echo joined; sleep 0.1'
	[ "$output" = joined ]
}

@test "--hold-for whose ticket can't be printed holds nothing" {
	[ -c /dev/full ] || skip 'no /dev/full here'
	run -125 --separate-stderr bash -c '"$FLOCKLIMIT" -N x -n 1 --hold-for "$1" >/dev/full' bash "$$"
	[[ $stderr == *"--hold-for: stdout: No space left on device" ]]
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 20 true
}
