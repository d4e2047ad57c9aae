#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap --and: each command has permits of several limiters, all or none.

load ../helpers/lib.bash
load ../helpers/map.bash
load ../helpers/ctl.bash

used() { ctl show --json "$1" | jq .used; }
is_used() { [ "$(used "$1")" = "$2" ]; }
tickets() { ctl show --json "$1" | jq -c '[.holders, .waiters] | map(map(.ticket))'; }
free() { "$FLOCKLIMIT" -N "$1" -q --nonblock true; }

# limiters NAME...: creates them in this order, with a limit of 1.
limiters() {
	local name
	for name; do
		"$FLOCKLIMIT" -N "$name" -n 1 true
	done
}

@test "each command has a permit of each, of its weight and limit, and gives all back" {
	mkfifo gate
	background m "$MAP" -N main -n 3 --and gpu=2/5 --and net=1/9 sh -c 'echo up >>up; read -r _ <gate' sh ::: 1 2 3
	eventually has_lines 2 up
	eventually in_line 1 gpu
	[ "$(used main) $(used gpu) $(used net)" = "3 4 3" ] || [ "$(used main) $(used gpu) $(used net)" = "3 4 2" ] ||
		[ "$(used main) $(used gpu) $(used net)" = "2 4 3" ] || [ "$(used main) $(used gpu) $(used net)" = "2 4 2" ]
	exec 7<>gate
	printf '\n\n\n' >&7
	ended m
	[ "$status" = 0 ]
	[ ! -s m.err ]
	[ "$(used main) $(used gpu) $(used net)" = "0 0 0" ]
	ctl check main gpu net
	# The history of each has the status of each command.
	run -0 "$MAP" -N main --and gpu=2/5 --fail-fast sh -c 'exit $1' sh ::: 0
	run -123 "$MAP" -N main --and gpu=2/5 -q sh -c 'exit $1' sh ::: 7
	for name in main gpu; do
		[ "$(ctl log --json "$name" | jq -s -c 'map(select(.event == "ended") | .detail)[-2:]')" = '["exit 0","exit 7"]' ]
	done
}

@test "one order for all, whatever the words say: no job holds a later one while it waits for an earlier one" {
	limiters first second
	hold a -N first
	background b "$MAP" -N second --and first echo ::: ran
	eventually in_line 1 first
	free second
	let_go a
	ended b
	[ "$(cat b.out)" = ran ]
	for order in 'first second' 'second first'; do
		hold "c${order%% *}" -N second
		background d "$MAP" -N "${order% *}" --and "${order#* }" echo ::: ran
		eventually in_line 1 second
		run -75 free first
		[ "$(ctl show --json first | jq -r '.holders[0].waits_for')" = second ]
		let_go "c${order%% *}"
		ended d
		[ "$(cat d.out)" = ran ]
		free first
	done
}

@test "no room in one: 75, a line that names it, and the others are given back" {
	limiters first second
	hold a -N second
	for order in 'first second' 'second first'; do
		map_line 75 "$MAP" -N "${order% *}" --and "${order#* }" --nonblock echo ::: 1 2
		[[ $stderr == "flockmap: second: no permit: an item would have to wait; nothing more was started" ]]
		free first
		map_line 75 "$MAP" -N "${order% *}" --and "${order#* }" -t 50ms echo ::: 1 2
		[[ $stderr == "flockmap: second: no permit: an item waited longer than --timeout"* ]]
		free first
		silent 9 "$MAP" -N "${order% *}" --and "${order#* }" -q -E 9 --max-queue 0 echo ::: 1 2
		free first
	done
	"$CTL" close second
	map_line 75 "$MAP" -N first --and second echo ::: 1 2
	[[ $stderr == "flockmap: second: no permit: the limiter is closed, until flocklimitctl open second; "* ]]
	free first
}

@test "-t is one deadline for all waits of an item, and an item that is cancelled ends the map" {
	limiters first second
	hold a -N first
	hold b -N second
	background c "$MAP" -N first --and second -t 100s echo ::: 1 2
	eventually in_line 1 first
	let_go a
	eventually in_line 1 second
	"$CTL" cancel second "$(ctl show --json second | jq '.waiters[0].ticket')"
	ended c
	[ "$status" = 75 ]
	[[ $(cat c.err) == "flockmap: second: no permit: cancelled; nothing more was started" ]]
	[ ! -s c.out ]
	free first
}

@test "a long wait for another limiter is shown on a terminal" {
	limiters first second
	hold a -N second
	need_terminal
	background m "$HELPERS/pty" "$MAP" -N first --and second echo ::: 1
	eventually grep -q "waiting [0-9.]* s for pid ${pids[a]} .*; next in line; 1 of 1 in use" m.out
	let_go a
	ended m
	[ "$status" = 0 ]
}

@test "a signal while an item waits gives all back, as a release and not as a death" {
	limiters first second
	for order in 'first second' 'second first'; do
		hold "${order%% *}" -N second
		background b env --default-signal=INT "$MAP" -N "${order% *}" --and "${order#* }" echo ::: 1 2
		eventually in_line 1 second
		kill -TERM "${pids[b]}"
		ended b
		[ "$status" = 143 ]
		free first
		eventually in_line 0 second
		let_go "${order%% *}"
		ended "${order%% *}"
	done
	for name in first second; do
		[ "$(ctl log --json "$name" | jq -s 'map(select(.event == "reaped")) | length')" = 0 ]
	done
}

@test "--fail-fast ends the waits of those that have one permit already" {
	limiters first second
	mkfifo gate
	background m "$MAP" -N first -n 3 --and second --fail-fast sh -c 'read -r _ <gate; exit 3' sh ::: 1 2 3 4 5
	eventually in_line 2 second
	eventually in_line 1 first
	: >gate
	ended m
	[ "$status" = 123 ]
	[ "$(grep -c 'failed: exit 3' m.err)" = 1 ]
	[ "$(used first) $(used second)" = "0 0" ]
}

@test "--fail-fast: no item gets the permit of the command that failed" {
	limiters first second
	mkfifo gate log
	exec 7<>log
	background m "$MAP" -N first -n 3 --and second --fail-fast --joblog log \
		sh -c 'echo $$ >>up; read -r _ <gate; exit 3' sh ::: 1 2 3
	eventually in_line 2 second
	eventually has_lines 1 up
	before=$(tickets second)
	# flockmap has the command's end, and can't write it down: the log is full.
	dd if=/dev/zero of=log oflag=nonblock bs=4096 count=100 2>/dev/null || :
	: >gate
	eventually [ ! -e "/proc/$(cat up)" ]
	[ "$(tickets second)" = "$before" ]
	background drain sh -c 'exec cat <log 7>&-'
	exec 7>&-
	ended m
	[ "$status" = 123 ]
	ended drain
	[ "$status" = 0 ]
	has_lines 1 up
	[[ $(cat m.err) == "flockmap: first: item "[123]" '"[123]"' failed: exit 3" ]]
}

@test "kill -9: the commands keep every permit until they end" {
	mkfifo gate
	exec 7<>gate
	background m "$MAP" -N first -n 2 --and second=1/2 --and third=1/2 sh -c 'echo up >>up; read -r _ <gate' sh ::: 1 2
	eventually has_lines 2 up
	kill -KILL "${pids[m]}"
	ended m
	for name in first second third; do
		run -75 free "$name"
	done
	printf '\n\n' >&7
	for name in first second third; do
		eventually free "$name"
		eventually is_used "$name" 0
	done
}

@test "kill -9 while an item waits gives back what it held" {
	limiters first second
	for order in 'first second' 'second first'; do
		hold "${order%% *}" -N second
		background b "$MAP" -N "${order% *}" --and "${order#* }" echo ::: 1 2
		eventually in_line 1 second
		kill -KILL "${pids[b]}"
		ended b
		eventually free first
		let_go "${order%% *}"
		ended "${order%% *}"
	done
}

@test "nested: what is held is joined, and the rest is taken" {
	run -0 timeout 300 "$FLOCKLIMIT" -N first -n 1 --and second=1/1 "$MAP" -q -N first --and second --and third=1/1 \
		sh -c '"$FLOCKLIMIT" -N third echo "$1 $FLOCKLIMIT_LIMITER"; "$FLOCKLIMIT" -N third -q --nonblock --nested=queue true || echo $?' sh ::: 1 2
	[ "$output" = $'1 first\n75\n2 first\n75' ]
	run --separate-stderr -0 "$FLOCKLIMIT" -N second -n 1 "$MAP" -N first --and second=1/7 echo ::: 1 2 3
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == "flockmap: second: --and: weight and limit have no effect: this command joins"* ]]
	# A command under the map joins both.
	run -0 timeout 300 "$MAP" -N first -n 1 --and second "$FLOCKLIMIT" -N second --and first echo ::: 1 2
	[ "$output" = $'1\n2' ]
	# What a job under a joined permit does not get ends the map, too.
	hold a -N third
	run --separate-stderr -75 "$FLOCKLIMIT" -N first "$MAP" -q -N first --and third --nonblock echo ::: 1 2
	[ -z "$output" ]
}

# The command of b runs in first, and an item of the map is in the line.
waits_for_b() {
	[ "$(ctl show --json first | jq -r '.holders[0].command + " " + .waiters[0].command')" = "cat b.fifo echo 1" ]
}

@test "a limiter whose file is removed while an item waits" {
	limiters first second third
	# The map's own: the item gives back what it had taken, and begins anew with the new one.
	hold a -N second
	background m "$MAP" -N second -n 1 --and first --and third=1/2 echo ::: 1
	eventually in_line 1 second
	run -75 free first
	rm limiters/second
	mkfifo b.fifo
	background b "$FLOCKLIMIT" -N first cat b.fifo
	eventually in_line 1 first
	let_go a
	eventually waits_for_b
	free second
	: >b.fifo
	ended m
	[ "$status $(cat m.out)" = "0 1" ]
	# One that is taken before the map's, which is the newest now.
	hold c -N first
	background m "$MAP" -N second --and first echo ::: 1
	eventually in_line 1 first
	rm limiters/first
	let_go c
	ended m
	[ "$status $(cat m.out)" = "0 1" ]
	free first
	# One that is taken after the map's: it can't begin anew, and says so.
	hold d -N first -n 1
	background m "$MAP" -N second --and first echo ::: 1 2
	eventually in_line 1 first
	rm limiters/first
	let_go d
	ended m
	[ "$status" = 125 ]
	[[ $(cat m.err) == "flockmap: first: "*"removed"* ]]
	free second
}

@test "the same limiter twice, bad words, and what it cannot be combined with" {
	local word
	map_line 125 "$MAP" -N x --and x echo ::: 1 2
	map_line 125 "$MAP" -N x --and y --and y=2 echo ::: 1 2
	[[ $stderr == *"y: --and names a limiter twice: give each limiter once, with the whole weight"* ]]
	for word in "" = =1 ./x -x "!" x= x=0 x=y x=1/ x=2/1 x=1-2; do
		map_line 125 "$MAP" -N main --and "$word" echo ::: 1
		[[ $stderr == *"--and"* ]]
	done
	"$FLOCKLIMIT" -N small -n 2 true
	map_line 125 "$MAP" -N main --and small=3 echo ::: 1 2
	[[ $stderr == *"small: --and: weight 3 is above the limit of 2: it could never run; raise the limit with NAME=W/N"* ]]
	free main
	eval "set -- $(printf -- '--and x%s ' {1..16})"
	map_line 125 "$MAP" -N main "$@" echo ::: 1
	[[ $stderr == *"15 times"* ]]
	[ -x "$FLOCKLIMIT_LIBEXEC/store-etcd" ] || skip "no store"
	map_line 125 "$MAP" -N x --and y --store etcd://localhost:1/x echo ::: 1
	[[ $stderr == *"x: --and is for limiters of one machine"* ]]
}

@test "maps and single takers of 3 of 6 limiters, some killed: never over the limit, and every one ends" {
	local names=(a b c d e f) i n seed=${SEED-$RANDOM} set
	echo "SEED=$seed"
	RANDOM=$seed
	limiters a b c d e f
	# The locks are what no two commands may have at once; flock(1) has them until its command ends.
	cat >work <<-'SH'
		#!/bin/sh
		flock -n "w.$1" flock -n "w.$2" flock -n "w.$3" true || echo "over: $*" >>over
		echo "$*" >>ran
	SH
	chmod +x work
	for ((i = 0; i < 24; i++)); do
		set=()
		while [ ${#set[@]} -lt 3 ]; do
			n=${names[RANDOM % 6]}
			[[ " ${set[*]} " == *" $n "* ]] || set+=("$n")
		done
		if [ $((i % 3)) = 0 ]; then
			background "t$i" "$FLOCKLIMIT" -N "${set[0]}" --and "${set[1]}" --and "${set[2]}" -t 250 ./work "${set[@]}"
		else
			background "t$i" "$MAP" -q -N "${set[0]}" --and "${set[1]}" --and "${set[2]}" -t 250 ./work "${set[@]}" ::: 1 2 3 4
		fi
		[ $((RANDOM % 4)) -ne 0 ] || kill -KILL "${pids[t$((RANDOM % (i + 1)))]-0}" 2>/dev/null || :
	done
	for ((i = 0; i < 24; i++)); do
		ended "t$i"
		[ "$status" = 0 ] || [ "$status" = 137 ]
	done
	[ ! -e over ]
	[ "$(wc -l <ran)" -ge 8 ]
	for n in "${names[@]}"; do
		eventually is_used "$n" 0
		ctl check "$n"
	done
}
