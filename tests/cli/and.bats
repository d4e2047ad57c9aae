#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --and: permits of several limiters, all or none.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# used NAME: the units in use.
used() { ctl show --json "$1" | jq .used; }
is_used() { [ "$(used "$1")" = "$2" ]; }
free() { "$FLOCKLIMIT" -N "$1" -q --nonblock true; }

# limiters NAME...: creates them in this order, with a limit of 1.
limiters() {
	local name
	for name; do
		"$FLOCKLIMIT" -N "$name" -n 1 true
	done
}

@test "the command has a permit of each, of its weight and limit, and gives all back" {
	hold a -N main -n 2 --and gpu=2/3 --and net --and ram=50%/9
	[ "$(used main) $(used gpu) $(used net)" = "1 2 1" ]
	[ "$(used ram)" -ge 1 ]
	run -75 "$FLOCKLIMIT" -N gpu -q -w 2 --nonblock true
	let_go a
	ended a
	[ "$status" = 0 ]
	[ "$(used main) $(used gpu) $(used net) $(used ram)" = "0 0 0 0" ]
	[ ! -s a.err ]
	ctl check main gpu net ram
}

@test "the variables are those of -N, and the status is the command's" {
	run -3 "$FLOCKLIMIT" -N main -n 4 -w 2 --and gpu=1/9 sh -c \
		'echo "$FLOCKLIMIT_LIMITER $FLOCKLIMIT_WEIGHT $FLOCKLIMIT_LIMIT"; exit 3'
	[ "$output" = "main 2 4" ]
}

@test "one order for all, whatever the words say: no taker holds a later one while it waits for an earlier one" {
	limiters first second
	hold a -N first
	background b "$FLOCKLIMIT" -N second --and first echo ran
	eventually in_line 1 first
	free second
	let_go a
	ended b
	[ "$(cat b.out)" = ran ]

	hold c -N second
	background d "$FLOCKLIMIT" -N second --and first echo ran
	eventually in_line 1 second
	run -75 free first
	let_go c
	ended d
	[ "$(cat d.out)" = ran ]
	free first
}

@test "no room in one: 75, a line that names it, and the others are given back" {
	limiters first second
	hold a -N second
	run --separate-stderr -75 "$FLOCKLIMIT" -N first --and second --nonblock true
	one_line
	[[ $stderr == "flocklimit: second: no permit without waiting: 1 of 1 in use"* ]]
	free first
	run --separate-stderr -75 "$FLOCKLIMIT" -N second --and first -t 50ms true
	one_line
	[[ $stderr == "flocklimit: second: no permit after 50 ms: 1 of 1 in use"* ]]
	free first
	silent 9 "$FLOCKLIMIT" -N first --and second -q -E 9 --max-queue 0 true
	free first
	"$CTL" close second
	run --separate-stderr -75 "$FLOCKLIMIT" -N first --and second true
	[[ $stderr == *"second: no permit: the limiter is closed, until flocklimitctl open second" ]]
	free first
}

@test "-t is one deadline for all waits" {
	limiters first second
	hold a -N first
	hold b -N second
	background c "$FLOCKLIMIT" -N first --and second -t 100s true
	eventually in_line 1 first
	let_go a
	eventually in_line 1 second
	"$CTL" cancel second "$(ctl show --json second | jq '.waiters[0].ticket')"
	ended c
	[ "$status" = 75 ]
	says "second: no permit: cancelled by" c.err
	free first
	# What the first wait took is gone: the second one does not begin anew.
	hold d -N first
	background e "$FLOCKLIMIT" -N first --and second -t 1s true
	ended e
	[ "$status" = 75 ]
	says "first: no permit after 1 s" e.err
}

@test "show says which limiter a holder waits for, until its command begins" {
	limiters first second
	hold a -N second
	mkfifo b.fifo
	background b "$FLOCKLIMIT" -N second --and first sh -c 'echo up >b.up; exec cat b.fifo'
	eventually in_line 1 second
	run -0 ctl show first
	[[ $output == *"cat b.fifo (waits for second)"* ]]
	[ "$(ctl show --json first | jq -r '.holders[0].waits_for')" = second ]
	[ "$(ctl show --json second | jq -r '.holders[0].waits_for')" = null ]
	let_go a
	eventually test -s b.up
	for name in first second; do
		[ "$(ctl show --json "$name" | jq -r '.holders[0].waits_for')" = null ]
	done
	let_go b
	ended b
	# And where -N has the older limiter.
	hold d -N second
	background c "$FLOCKLIMIT" -N first --and second true
	eventually in_line 1 second
	[ "$(ctl show --json first | jq -r '.holders[0].waits_for')" = second ]
	let_go d
	ended c
}

@test "a signal while it waits gives all back, as a release and not as a death" {
	limiters first second
	hold a -N second
	background b env --default-signal=INT "$FLOCKLIMIT" -N second --and first true
	eventually in_line 1 second
	kill -TERM "${pids[b]}"
	ended b
	[ "$status" = 143 ]
	free first
	[ "$(ctl log --json first | jq -s 'map(select(.event == "killed" or .event == "reaped")) | length')" = 0 ]
	eventually in_line 0 second
}

@test "kill -9 while it waits gives back what it held" {
	limiters first second
	hold a -N second
	background b "$FLOCKLIMIT" -N second --and first true
	eventually in_line 1 second
	kill -KILL "${pids[b]}"
	ended b
	eventually free first
}

@test "kill -9 of the wrapper: the command keeps every permit until it ends" {
	hold a -N first -n 1 --and second=1/1 --and third=1/1
	kill -KILL "${pids[a]}"
	ended a
	for name in first second third; do
		run -75 free "$name"
	done
	let_go a
	for name in first second third; do
		eventually free "$name"
	done
}

@test "show names the command in each limiter, and -F and -o do as with one" {
	hold a -N first -n 1 --and second=1/1
	run ctl show --json second
	[ "$(jq -r '.holders[0].worker' <<<"$output")" = "$(up a)" ] || [ "$(jq -r '.holders[0].pid' <<<"$output")" = "${pids[a]}" ]
	let_go a
	ended a
	hold b -N first -F --and second
	run -75 free second
	kill -KILL "${pids[b]}"
	ended b
	eventually free second
	eventually free first
	hold c -N first -o --and second
	kill -KILL "${pids[c]}"
	ended c
	eventually free second
}

@test "nested: each limiter that is held is joined, and no other" {
	run -0 timeout 300 "$FLOCKLIMIT" -N first -n 1 --and second=1/1 sh -c '
		"$FLOCKLIMIT" -N second echo one
		"$FLOCKLIMIT" -N second --and first echo two
		"$FLOCKLIMIT" -N third --and first -n 1 sh -c "
			\"\$FLOCKLIMIT\" -N third -q --nonblock --nested=queue true || echo \$?
			\"\$FLOCKLIMIT\" -N first --and third --and second echo three"
		"$FLOCKLIMIT" -N first --and third sh -c "\"\$FLOCKLIMIT\" -N third -q --nonblock --nested=queue true || echo \$?"'
	[ "$output" = $'one\ntwo\n75\nthree\n75' ]
	free third
	run --separate-stderr -0 "$FLOCKLIMIT" -N first -n 1 --and second=1/1 \
		"$FLOCKLIMIT" -N first --and second=2/7 true
	one_line
	[[ $stderr == *"second: --and: weight and limit have no effect: this command joins"* ]]
}

@test "the same limiter twice is refused, by whatever path" {
	refused "$FLOCKLIMIT" -N x --and x true
	refused "$FLOCKLIMIT" -N x --and y --and y=2 true
	[[ $stderr == *"y: --and names a limiter twice: give each limiter once, with the whole weight"* ]]
	refused "$FLOCKLIMIT" -f "$T/limiters/y" --and y true
	ln limiters/y limiters/link
	refused "$FLOCKLIMIT" -N link --and y true
	free x
	free y
}

@test "--and: bad words, and what it cannot be combined with" {
	local word
	for word in "" = =1 ./x -x .x "!" x= x=0 x=y x=1/ x=1/0 x=2/1 x=1-2 "x=1 "; do
		refused "$FLOCKLIMIT" -N main --and "$word" true
		[[ $stderr == *"--and"* ]]
	done
	[ ! -e limiters/x ]
	[ ! -e limiters/main ]
	refused "$FLOCKLIMIT" -N x --fd 9 --and y
	[[ $stderr == *"--fd takes a permit of one limiter"* ]]
	run -127 "$FLOCKLIMIT" -N main --and new ./missing
	[ ! -e limiters/new ]
	eval "set -- $(printf -- '--and x%s ' {1..16})"
	refused "$FLOCKLIMIT" -N main "$@" true
	[[ $stderr == *"15 times"* ]]
	[ -x "$FLOCKLIMIT_LIBEXEC/store-etcd" ] || skip "no store"
	refused "$FLOCKLIMIT" -N x --and y --store etcd://localhost:1/x true
	[[ $stderr == *"x: --and is for limiters of one machine"* ]]
}

@test "--hold-for, --background and --until-ready with --and" {
	"$FLOCKLIMIT" -N first -n 1 --and second=1/1 --hold-for "$$" 3>&- >ticket
	run -75 free second
	kill -TERM "$(ctl show --json second | jq '.holders[0].pid')"
	eventually free second
	free first
	"$FLOCKLIMIT" -N first --and second --background sh -c 'echo $$ >up; exec sleep 1000' 3>&-
	run -75 free second
	run -75 free first
	eventually test -s up
	kill -TERM "$(cat up)"
	eventually free second
	background r "$FLOCKLIMIT" -N first --and second --until-ready python3 -c '
import os, socket, time
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
time.sleep(1000)'
	eventually free second
	eventually free first
	eventually is_state S "${pids[r]}"
}

@test "64 takers of 3 of 6 limiters, some killed: never over the limit, and every one ends" {
	local names=(a b c d e f) i n seed=${SEED-$RANDOM} set
	echo "SEED=$seed"
	RANDOM=$seed
	limiters a b c d e f
	# The locks are what no two commands may have at once; flock(1) has them until its command ends.
	cat >work <<-'SH'
		#!/bin/sh
		flock -n "w.$1" flock -n "w.$2" flock -n "w.$3" true || echo "over: $*" >>over
	SH
	chmod +x work
	for ((i = 0; i < 64; i++)); do
		set=()
		while [ ${#set[@]} -lt 3 ]; do
			n=${names[RANDOM % 6]}
			[[ " ${set[*]} " == *" $n "* ]] || set+=("$n")
		done
		background "t$i" "$FLOCKLIMIT" -N "${set[0]}" --and "${set[1]}" --and "${set[2]}" -t 250 ./work "${set[@]}"
		# Some while they wait, some while they run.
		[ $((RANDOM % 4)) -ne 0 ] || kill -KILL "${pids[t$((RANDOM % (i + 1)))]-0}" 2>/dev/null || :
	done
	for ((i = 0; i < 64; i++)); do
		ended "t$i"
		[ "$status" = 0 ] || [ "$status" = 137 ]
	done
	[ ! -e over ]
	for n in "${names[@]}"; do
		eventually is_used "$n" 0
		ctl check "$n"
	done
}
