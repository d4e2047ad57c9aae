#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl: steering, and the past.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# ---- steering ----

@test "limit: up starts, down drains, auto is every -n again" {
	hold a -N x -n 1
	waiter w 1
	ctl limit x 2
	ended w
	[ "$status" -eq 0 ]
	[ "$(field '[.limit, .declared, .override]')" = '[2,1,2]' ]
	run -0 ctl show x
	[[ ${lines[0]} == *"(by flocklimitctl limit; auto: 1)"* ]]
	ctl limit x 0
	[ "$(field '.state')" = '"paused"' ]
	waiter w 1
	let_go a
	ended a
	waiting 1
	run -0 ctl show x
	[[ ${lines[-1]} == *" the limit is 0: flocklimitctl limit x auto." ]]
	ctl limit x auto
	ended w
	[ "$(field '.override')" = null ]
	ctl limit x 100%
	[ "$(field '.override')" = "$(nproc)" ]
	ctl_line 125 limit x
	ctl_line 125 limit x -- -1
	ctl_line 125 limit x 2000000000
	ctl_line 125 limit x some
	[ "$stderr" = "flocklimitctl: x: limit 'some': not a number from 0 to 1000000000, N% of the CPUs, or auto" ]
	ctl_line 125 limit x -1
	[[ $stderr == *"'-1': not an option, and no number here may be below 0"* ]]
	ctl_line 125 limit x 1 some
	ctl limit x 1000000000
	[ "$(field '.limit')" = 1000000000 ]
}

@test "pause, resume, close, open: several at once, and as many as can be" {
	for name in x y; do
		"$FLOCKLIMIT" -N $name -n 1 true
	done
	ctl_line 1 pause x nosuch y
	[[ $stderr == *"nosuch: there is no such limiter"* ]]
	[ "$(ctl list --json | jq -c 'map(.state)')" = '["paused","paused"]' ]
	silent 0 "$CTL" resume x y
	silent 0 "$CTL" close x y
	[ "$(ctl list --json | jq -c 'map(.state)')" = '["closed","closed"]' ]
	silent 0 "$CTL" open --file limiters/x y
	[ "$(ctl list --json | jq -c 'map(.state)')" = '["idle","idle"]' ]
}

@test "pause and resume" {
	"$FLOCKLIMIT" -N x -n 2 true
	ctl pause x
	waiter w 1
	[ "$(field '.state')" = '"paused"' ]
	run -0 ctl show x
	[[ ${lines[-1]} == *" is paused: flocklimitctl resume x." ]]
	run -0 "$CTL" show -f limiters/x
	[[ ${lines[-1]} == *" is paused: flocklimitctl resume --file limiters/x." ]]
	ctl resume x
	ended w
	[ "$status" -eq 0 ]
}

@test "close and open" {
	hold a -N x -n 1
	waiter w 1
	ctl close x
	ended w
	[ "$status" -eq 75 ]
	says "closed" w.err
	run -75 "$FLOCKLIMIT" -N x -q true
	[ "$(field '.state')" = '"closed"' ]
	let_go a
	ended a
	[ "$status" -eq 0 ]
	ctl open x
	"$FLOCKLIMIT" -N x true
}

@test "wait: for what is there, and not for what comes" {
	hold a -N x -n 2
	waiter w 1 -w 2
	background wait "$CTL" wait x
	run -1 ctl wait x -t 20ms
	[ -z "$output" ]
	let_go a
	ended wait
	[ "$status" -eq 0 ]
	run -0 ctl wait x
}

@test "wait: newcomers do not keep it" {
	hold a -N x -n 2
	background wait "$CTL" wait x
	eventually field_is .totals.last_ticket 2
	hold b -N x -n 2
	is_state SR "${pids[wait]}"
	let_go a
	eventually is_gone "${pids[wait]}"
	ended wait
	[ "$status" -eq 0 ]
	holding 1
}

@test "cancel: a waiter hears by whom; the next moves up" {
	hold a -N x -n 1
	waiter w1 1
	waiter w2 2
	ctl cancel x 2
	ended w1
	[ "$status" -eq 75 ]
	says "flocklimit: x: no permit: cancelled by pid " w1.err
	says " of user $(id -un)" w1.err
	waiting 1
	ctl_line 1 cancel x 2
	[[ $stderr == *"ticket 2: no taker has this ticket"* ]]
	ctl_line 1 cancel x 1
	[[ $stderr == *"--signal TERM"* ]]
	ctl_line 1 cancel x 3 -s TERM
	[[ $stderr == *"without --signal"* ]]
	ctl_line 125 cancel x
	ctl_line 125 cancel x two
	# One that can't be cancelled does not save the others.
	waiter w3 2
	run --separate-stderr -1 ctl cancel x 77 "$(field '.waiters[1].ticket')"
	[ "$stderr" = "flocklimitctl: x: ticket 77: no taker has this ticket" ]
	ended w3
	[ "$status" -eq 75 ]
	let_go a
	ended w2
	[ "$status" -eq 0 ]
}

@test "cancel --signal: the command gets it, once" {
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'trap "echo usr1; exit 4" USR1; echo up; read x <go'
	eventually says up a.out
	ctl cancel x 1 --signal USR1
	ended a
	[ "$status" -eq 4 ]
	[ "$(cat a.out)" = $'up\nusr1' ]
}

@test "cancel --signal KILL: the command, not its wrapper alone" {
	hold a -N x -n 1
	waiter w 1
	ctl cancel x 1 -s KILL
	ended a
	[ "$status" -eq 137 ]
	ended w
	[ "$status" -eq 0 ]
}

@test "cancel --signal: what outlived its flocklimit, all of it" {
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'sleep 1000 & echo $! >a.up; wait'
	eventually test -s a.up
	kill -KILL "${pids[a]}"
	ended a
	waiter w 1
	silent 0 "$CTL" cancel x 1 -s TERM
	ended w
	[ "$status" -eq 0 ]
	eventually is_gone "$(cat a.up)"
}

# The pid of a taker in another namespace is here that of anybody.
@test "cancel --signal: nobody who has nothing to do with the limiter" {
	background stranger sleep 1000
	hold a -N x -n 1
	become "${pids[stranger]}"
	for signal in USR1 KILL; do
		ctl_line 1 cancel x 1 -s $signal
		[[ $stderr == *"it has just ended, or its pid is of another namespace" ]]
	done
	kill -0 "${pids[stranger]}"
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

# What a --no-fork command left behind keeps the permit, and its pid may be anybody's by now.
@test "cancel --signal: not who got the pid of a --no-fork command" {
	background stranger sleep 1000
	background a "$FLOCKLIMIT" -N x -n 1 -F sh -c 'sleep 1000 & echo $! >a.up'
	ended a
	become "${pids[stranger]}"
	silent 0 "$CTL" cancel x 1 -s KILL
	eventually is_gone "$(cat a.up)"
	kill -0 "${pids[stranger]}"
}

@test "release: the permit of --hold-for" {
	background holder sleep 100
	ticket=$("$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[holder]}")
	waiter w 1
	[ "$(field '.holders[0].ticket')" = "$ticket" ]
	ctl release x "$ticket"
	ended w
	[ "$status" -eq 0 ]
	ctl_line 1 release x "$ticket"
	hold a -N x -n 1
	ctl_line 1 release x "$(field '.holders[0].ticket')"
	[[ $stderr == *"not a permit of --hold-for"* ]]
	kill -0 "${pids[holder]}"
}

# ---- the past ----

@test "log: what happened, in order" {
	run -3 "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 3'
	run -124 "$FLOCKLIMIT" -N x -n 1 -T 10ms sleep 10
	hold a -N x -n 1
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 10ms -q true
	let_go a
	ended a
	before=$(date +%s.%N)
	ctl limit x 5
	after=$(date +%s.%N)
	run -0 ctl log x
	[[ ${lines[0]} =~ ^20[0-9-]+\ [0-9:.]+\ +granted\ +1\  ]]
	[[ ${lines[1]} == *" ended "*"exit 3, peak "*"iB, CPU "* ]]
	[[ ${lines[3]} == *"run timeout, signal 15 (TERM), peak "* ]]
	[[ ${lines[6]} == *" left "*"timed out" ]]
	[[ ${lines[7]} == *" ended "*"exit 0, peak "*", CPU "* ]]
	[[ ${lines[8]} == *" limit "*"5" ]]
	run -0 ctl log x -n 2
	[ "${#lines[@]}" -eq 2 ]
	run -0 ctl log x --json
	[ "$(jq -sc 'map(.event)' <<<"$output")" = \
		'["granted","ended","granted","ended","granted","queued","left","ended","limit"]' ]
	[ "$(jq -sc 'map(.number)' <<<"$output")" = '[1,2,3,4,5,6,7,8,9]' ]
	[ "$(jq -s "$before - 0.1 <= .[8].time and .[8].time <= $after + 0.1" <<<"$output")" = true ]
}

@test "log: a --no-fork command was not killed, and one that can't be run did not end well" {
	"$FLOCKLIMIT" -N x -n 1 -F true
	run -127 "$FLOCKLIMIT" -N x -n 1 -F ./nosuch
	run -127 "$FLOCKLIMIT" -N x -n 1 ./nosuch
	run -0 ctl log x
	[[ ${lines[1]} == *" ended "*" true  status unknown" ]]
	[[ ${lines[3]} == *" ended "*"exit 127" ]]
	[[ ${lines[5]} == *" ended "*"exit 127" ]]
	[ "$(ctl log --json x | jq -sc 'map(.event)')" = \
		'["granted","ended","granted","ended","granted","ended"]' ]
	[ "$(ctl log --json x | jq -s '.[1].code')" = -1 ]
	[ "$(field '.totals | [.released, .reaped]')" = '[3,0]' ]
	run -0 ctl gantt --text x
	[[ $output == *"end unknown: 1"* ]]
	[[ $output != *reaped* ]]
}

@test "log: a line of -c is known by its first word, and a script by its own name" {
	for line in 'true; :' $' \ttrue\n:' 'A=/b/c exec true' /bin/true; do
		"$FLOCKLIMIT" -N x -n 1 -c "$line"
	done
	[ "$(ctl log --json x | jq -sc 'map(.command) | unique')" = '["true"]' ]
	hold a -N y -n 1
	background b "$FLOCKLIMIT" -N y -n 1 -c $'A=1\texec\ncat'
	eventually in_line 1 y
	[ "$(field '.waiters[0].command' y)" = '"A=1 exec cat"' ]
	let_go a
	ended b
	cat >deploy <<-'END'
		#!/bin/sh
		exec 9<"$FLOCKLIMIT_DIR/z"
		"$FLOCKLIMIT" -N w -n 1 --hold-for $$ >ticket 3>&-
		"$FLOCKLIMIT" --fd 9 -n 1
		echo up
		exec cat fifo
	END
	chmod +x deploy
	mkfifo fifo
	"$FLOCKLIMIT" -N z true
	background d ./deploy now
	eventually says up d.out
	[ "$(field '.holders[0].command' w)" = "\"--hold-for ${pids[d]}: ./deploy now\"" ]
	[ "$(field '.holders[0].command' z)" = '"--fd 9: ./deploy now"' ]
	: >fifo
	ended d
	[ "$(ctl log --json w | jq -r .command | uniq)" = deploy ]
	[ "$(ctl log --json z | jq -r .command | tail -n 1)" = deploy ]
}

@test "log -f: it ends when the limiter does" {
	"$FLOCKLIMIT" -N x -n 1 true
	background log "$CTL" log -f x
	eventually has_lines 2 log.out
	eventually is_state S "${pids[log]}"
	ctl rm x
	eventually is_gone "${pids[log]}"
	ended log
	[ "$status" -eq 1 ]
	[ "$(cat log.err)" = "flocklimitctl: x: $T/limiters/x: it was removed" ]
}

@test "log -f: it waits for a limiter that does not exist yet, and tells all of it" {
	export FLOCKLIMIT_DIR=$T/deeper/made
	background log "$CTL" log -f x
	eventually says "x: there is no such limiter yet ($FLOCKLIMIT_DIR/x): waiting for it; flocklimitctl list shows those there are" log.err
	eventually is_state S "${pids[log]}"
	mkdir deeper
	"$FLOCKLIMIT" -N y -n 1 true
	run -3 "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 3'
	eventually has_lines 2 log.out
	[[ $(sed -n 1p log.out) == *" granted "* ]]
	[[ $(sed -n 2p log.out) == *" ended "*" exit 3, "* ]]
	ctl rm x
	ended log
	[ "$status" = 1 ]
	has_lines 2 log.err
	background log "$CTL" log -f --file here/x
	eventually says "here/x: there is no limiter in this path yet: waiting for it" log.err
	mkdir here
	"$FLOCKLIMIT" -f here/x -n 1 true
	eventually has_lines 2 log.out
	kill "${pids[log]}"
	ended log
}

@test "log -f: it says what it missed" {
	"$FLOCKLIMIT" -N x -n 2 true
	background log "$CTL" log -f --json x
	eventually has_lines 2 log.out
	kill -STOP "${pids[log]}"
	eventually is_state T "${pids[log]}"
	"$HELPERS/churn" x 2060
	kill -CONT "${pids[log]}"
	# Each had to be granted and to end; some had to wait as well.
	eventually has_lines 4098 log.out
	tail -n 1 log.out | jq -e .number >last
	[ "$(cat log.err)" = "flocklimitctl: x: too much happened at once: $(($(cat last) - 4098)) events are missing" ]
}

@test "log -f: as it happens" {
	"$FLOCKLIMIT" -N x -n 1 true
	background log "$CTL" log -f x
	eventually has_lines 2 log.out
	"$FLOCKLIMIT" -N x -n 1 true
	eventually has_lines 4 log.out
	ctl pause x
	eventually says paused log.out
	kill "${pids[log]}"
	ended log
	[ "$status" -eq 143 ]
}

@test "a killed wrapper is in the log" {
	hold a -N x -n 1
	kill -KILL "${pids[a]}" "$(up a)"
	ended a
	"$FLOCKLIMIT" -N x true
	run -0 ctl log x
	[[ $output == *reaped*"killed while it ran"* ]]
}

@test "stats: as Prometheus wants it" {
	"$FLOCKLIMIT" -N x -n 3 true
	"$FLOCKLIMIT" -N y -n 3 true
	run -0 ctl stats
	[ "$(grep -c '^flocklimit_granted_total{limiter="[xy]"} 1$' <<<"$output")" -eq 2 ]
	metrics <<<"$output"
	if type promtool >/dev/null; then
		promtool check metrics <<<"$output"
	fi
	grep -q '^flocklimit_hold_seconds_bucket{limiter="x",le="+Inf"} 1$' <<<"$output"
	grep -q '^flocklimit_hold_seconds_count{limiter="x"} 1$' <<<"$output"
	run -0 ctl stats x --json
	[ "$(jq -c '.[0] | [.name, .totals.granted, (.totals.hold_times.buckets | map(.count) | add)]' <<<"$output")" = '["x",1,1]' ]
	run -0 ctl stats x
	[[ $output != *'"y"'* ]]
	# One that is damaged does not hide the others.
	truncate -s 4096 limiters/y
	run --separate-stderr -0 ctl stats
	[ -z "$stderr" ]
	grep -q '^flocklimit_usable{limiter="x"} 1$' <<<"$output"
	grep -q '^flocklimit_usable{limiter="y"} 0$' <<<"$output"
	grep -q '^flocklimit_hold_seconds_count{limiter="x"} 1$' <<<"$output"
	[[ $output != *'granted_total{limiter="y"}'* ]]
	[ "$(ctl stats --json | jq -c 'map([.name, .state])')" = '[["x","idle"],["y","damaged"]]' ]
	run -125 ctl stats y
}
