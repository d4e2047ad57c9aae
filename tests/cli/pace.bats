#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# When the next may start: rate, stagger and ramp, by bounds that a slow machine can't break: starts
# are never too near, and what must not happen before an hour has passed does not happen.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/kept.bash

FLOCKMAP=${FLOCKLIMIT%flocklimit}flockmap

# apart SECONDS [NAME]: any two grants that follow each other are so far apart, by the history; a
# millisecond less, because it is told in such.
apart() {
	ctl log --json "${2:-x}" | jq -es --argjson least "$1" '
		[.[] | select(.event == "granted") | .time] |
		length > 1 and ([.[1:], .[:-1]] | transpose | all(.[0] - .[1] > $least - 0.002))'
}

# grants N [NAME]: so many were granted.
grants() { [ "$(ctl show --json "${2:-x}" | jq .totals.granted)" = "$1" ]; }

# no_room OPTION...: nothing may start now.
no_room() { silent 75 "$FLOCKLIMIT" -N x -q --nonblock "$@" true; }

# since TIME SECONDS: so much has passed.
since() { awk -v a="$1" -v b="$EPOCHREALTIME" -v least="$2" 'BEGIN { exit !(b - a >= least) }'; }

# soon LABEL: it ends, and not only in an hour; as `ended' then.
soon() {
	eventually is_gone "${pids[$1]}"
	ended "$1"
}

@test "rate: starts are an interval apart" {
	local i before=$EPOCHREALTIME
	for i in 1 2 3 4; do
		silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 10/s true
	done
	since "$before" 0.3
	apart 0.1
	[ "$(ctl log --json x | jq -s 'map(select(.event == "pace")) | length')" = 1 ]
}

@test "rate: a burst at once, and then no more" {
	local i
	for i in 1 2 3; do
		silent 0 "$FLOCKLIMIT" -N x -n 4 --nonblock --rate 1/h:3 true
	done
	no_room --rate 1/h:3
	no_room
	grants 3
}

@test "rate: side by side, whoever starts" {
	local i before=$EPOCHREALTIME
	for i in 1 2 3 4 5; do
		background "$i" "$FLOCKLIMIT" -N x -n 8 --rate 600/m true
	done
	for i in 1 2 3 4 5; do
		soon "$i"
		[ "$status" = 0 ]
	done
	since "$before" 0.4
	apart 0.1
}

@test "stagger: no two starts are nearer, in the order of their tickets" {
	local i before=$EPOCHREALTIME
	silent 0 "$FLOCKLIMIT" -N x -n 8 --stagger 150ms true
	for i in 1 2 3; do
		background "$i" "$FLOCKLIMIT" -N x sh -c 'echo "$FLOCKLIMIT_TICKET" >>order; sleep 0.01'
	done
	for i in 1 2 3; do
		soon "$i"
	done
	since "$before" 0.45
	apart 0.15
	sort -n order | cmp - order
	has_lines 3 order
}

@test "ramp: begins with so much, and grows" {
	hold a -N x -n 4 --ramp 2+1/1h
	hold b -N x
	no_room
	[ "$(field .limit)" = 2 ]
	silent 0 ctl ramp x 1+1/50ms
	hold c -N x
	hold d -N x
	no_room # 4 is the limit
}

@test "ramp: anew after nothing was held for so long, and not before" {
	hold a -N x -n 3 --ramp 1+1/20ms --ramp-idle 1h
	hold b -N x
	hold c -N x
	let_go a
	let_go b
	let_go c
	soon a
	soon b
	soon c
	hold d -N x --nonblock
	hold e -N x --nonblock
	let_go d
	let_go e
	soon d
	soon e
	silent 0 ctl ramp x 1+1/1h --ramp-idle 0
	hold f -N x --nonblock
	no_room
	let_go f
	soon f
	hold g -N x --nonblock
	no_room
}

@test "a ramp wakes nobody while the limiter is paused" {
	local before after
	hold a -N x -n 4 -w 2
	silent 0 ctl pause x
	background b "$FLOCKLIMIT" -N x true
	eventually waiting 1
	let_go a
	soon a
	silent 0 ctl ramp x 1+1/1ms --ramp-idle 0
	eventually is_state S "${pids[b]}"
	before=$(switches "${pids[b]}")
	sleep 0.5
	after=$(switches "${pids[b]}")
	echo "woke $((after - before)) times"
	[ $((after - before)) -lt 20 ]
	silent 0 ctl resume x
	soon b
	[ "$status" = 0 ]
}

switches() { sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/status"; }

@test "the head sleeps until its time, and who is behind it longer" {
	local i
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 1/h true
	for i in 1 2 3; do
		background "$i" "$FLOCKLIMIT" -N x true
		eventually waiting "$i"
		eventually is_state S "${pids[$i]}"
	done
	for i in 1 2 3; do
		eval "local w$i=\$(switches \${pids[$i]})"
	done
	sleep 0.5
	[ $(($(switches "${pids[1]}") - w1)) -lt 5 ]
	[ $(($(switches "${pids[2]}") - w2)) -lt 5 ]
	[ $(($(switches "${pids[3]}") - w3)) -lt 5 ]
	silent 0 ctl rate x off
	for i in 1 2 3; do
		soon "$i"
		[ "$status" = 0 ]
	done
}

@test "flocklimitctl: sets each and takes it away, and shows it" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 true
	silent 0 ctl rate x 30/m:5
	silent 0 ctl stagger x 200ms
	silent 0 ctl ramp x 1+2/30s --ramp-idle 5s
	run -0 ctl show x
	[[ $output == *"pace: rate 30/m:5, stagger 200ms, ramp 1+2/30s, ramp-idle 5s"* ]]
	field_is .pace.interval_s 2
	field_is .pace.burst 5
	field_is .pace.stagger_s 0.2
	field_is .pace.ramp '{"from":1,"step":2,"period_s":30,"idle_s":5}'
	silent 0 ctl stagger x off
	field_is .pace.stagger_s null
	field_is .pace.interval_s 2
	silent 0 ctl rate x off
	silent 0 ctl ramp x off
	run -0 ctl show x
	[[ $output != *pace:* ]]
	run -0 ctl log x
	[ "$(grep -cw pace <<<"$output")" = 6 ]
}

# set_to: what the last event of x says was set.
set_to() {
	ctl log -n 1 x | sed -n 's/.*  pace  .*  //p'
}

@test "log: the value that was set, as it would be typed" {
	local word
	silent 0 "$FLOCKLIMIT" -N x -n 4 true
	for word in 30/m:5 1/s 300000/s 7/h 2/d 1/90s 1/1.5s:2 3/700ms 1/2.000000001s; do
		silent 0 ctl rate x "$word"
		case $word in
		3/700ms) word=1/0.233333334s ;; # the interval is rounded up
		1/90s) word=40/h ;;
		1/1.5s:2) word=40/m:2 ;;
		esac
		[ "$(set_to)" = "rate $word" ]
		# Typed again it is the same.
		field .pace >pace
		silent 0 ctl rate x "$word"
		field_is .pace "$(cat pace)"
	done
	for word in 200ms 1.5s 90s 2h 0.0003s; do
		silent 0 ctl stagger x "$word"
		[ "$(set_to)" = "stagger $word" ]
	done
	silent 0 ctl stagger x 120s
	[ "$(set_to)" = "stagger 2m" ]
	silent 0 ctl ramp x 1+2/30s
	[ "$(set_to)" = "ramp 1+2/30s" ]
	silent 0 ctl ramp x 1+2/30s --ramp-idle 5m
	[ "$(set_to)" = "ramp 1+2/30s, ramp-idle 5m" ]
	silent 0 ctl ramp x off
	[ "$(set_to)" = "ramp off" ]
	silent 0 "$FLOCKLIMIT" -N x --rate 9/s --stagger off true
	run -0 ctl log x -n 3
	[[ ${lines[0]} == *" pace "*"  rate 9/s, stagger off" ]]
	# For programs: what was set, and the whole pace since then.
	ctl log -n 3 --json x | jq -se '.[0] | .event == "pace" and .code == 3 and .detail == "rate 9/s, stagger off" and
		(.pace | .interval_s < 0.112 and .burst == 1 and .stagger_s == null and .ramp == null)'
}

@test "bad paces are refused in one line, and change nothing" {
	local word
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 7/s --stagger 3ms --ramp 3+4/5s true
	for word in 0/s 1/0s 1 /s 1/ 1/y -1/s 1/s: 1/s:0 1/s:65536 1e3/s 9999999999999/s 1/9999d ''; do
		refused "$FLOCKLIMIT" -N x --rate "$word" true
		[[ $stderr == *"--rate '$word': not a rate"* ]]
		ctl_line 125 rate x "$word"
	done
	for word in x -1s 1y ''; do
		refused "$FLOCKLIMIT" -N x --stagger "$word" true
		ctl_line 125 stagger x "$word"
	done
	for word in 0+1/s 1+0/s 1+1 1/s +1/s 1+1/0s 1+1/0.5ms 65536+1/s 1+65536/s 1+1/100d ''; do
		refused "$FLOCKLIMIT" -N x --ramp "$word" true
		ctl_line 125 ramp x "$word"
	done
	refused "$FLOCKLIMIT" -N x --ramp-idle soon true
	ctl_line 125 rate x
	ctl_line 125 rate x 1/s 2/s
	run -0 ctl show x
	[[ $output == *"pace: rate 7/s, stagger 3ms, ramp 3+4/5s"* ]]
}

@test "whoever looks is told of the next start" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 1/h true
	run -75 "$FLOCKLIMIT" -N x --nonblock true
	[[ $output == *"next start in "*" min"* ]]
	run -75 "$FLOCKLIMIT" -v -N x -t 50ms true
	[[ $output == *"waiting: 0 of 4 in use, 0 ahead of you, next start in "* ]]
	[[ $output == *"no permit after 50 ms"* ]]
	background a "$FLOCKLIMIT" -N x true
	eventually waiting 1
	run -0 ctl show x
	[[ $output == *"waits for its time: next start in "*" min (rate 1/h)"* ]]
	ctl show --json x | jq -e '.next_start_in_s > 3000 and .next_start_in_s <= 3600'
	ctl show --json x | jq -e '.blocked | contains("next start in")'
}

@test "who gives up while it waits for its time leaves the line" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 --stagger 1h true
	silent 75 "$FLOCKLIMIT" -N x -q -t 50ms true
	background a "$FLOCKLIMIT" -N x true
	eventually waiting 1
	kill "${pids[a]}"
	soon a
	[ "$status" = 143 ]
	waiting 0
	grants 1
}

@test "closed, paused, or set otherwise meanwhile" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 1/h true
	background a "$FLOCKLIMIT" -q -N x true
	eventually waiting 1
	silent 0 ctl close x
	soon a
	[ "$status" = 75 ]
	silent 0 ctl open x
	background b "$FLOCKLIMIT" -N x true
	eventually waiting 1
	silent 0 ctl pause x
	silent 0 ctl rate x 100/s
	sleep 0.1
	waiting 1
	silent 0 ctl resume x
	soon b
	[ "$status" = 0 ]
}

@test "the debt of one rate is not paid at another" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 1/h true
	background a "$FLOCKLIMIT" -N x true
	eventually waiting 1
	silent 0 ctl rate x 20/s
	soon a
	[ "$status" = 0 ]
}

# both_wait: a and b, after one start.  Then the stagger is $n seconds, and six are left of it.
both_wait() {
	local began=$SECONDS
	silent 0 "$FLOCKLIMIT" -N x -n 4 --stagger 1h true
	background a "$FLOCKLIMIT" -N x true
	eventually waiting 1
	background b "$FLOCKLIMIT" -N x sh -c ': >ran'
	eventually waiting 2
	n=$((SECONDS - began + 6))
	silent 0 ctl stagger x "${n}s"
}

@test "kill -9 of the one that waits for its time: the next starts at it" {
	both_wait
	kill -KILL "${pids[a]}"
	soon a
	eventually test -e ran
	soon b
	[ "$status" = 0 ]
	apart "$n"
}

@test "one that is stopped while it waits for its time holds up nobody" {
	both_wait
	kill -STOP "${pids[a]}"
	eventually test -e ran
	soon b
	[ "$status" = 0 ]
	kill -CONT "${pids[a]}"
	soon a
	[ "$status" = 0 ]
	apart "$n"
	grants 3
}

@test "a ramp set on a line that waits already: the stopped first holds up nobody, too" {
	hold h -N x -n 4
	silent 0 ctl pause x
	background a "$FLOCKLIMIT" -N x true
	eventually waiting 1
	background b "$FLOCKLIMIT" -N x sh -c ': >ran'
	eventually waiting 2
	kill -STOP "${pids[a]}"
	silent 0 ctl ramp x 1+2/1s
	silent 0 ctl resume x
	eventually test -e ran
	kill -CONT "${pids[a]}"
	soon a
	soon b
}

@test "flockmap: each item is a start" {
	local before=$EPOCHREALTIME
	run -0 "$FLOCKMAP" -N x -n 4 --rate 10/s echo ::: a b c d
	[ "$output" = $'a\nb\nc\nd' ]
	since "$before" 0.3
	apart 0.1
	grants 4
}

@test "it is the limiter's: for those who say nothing, and until it is removed" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 1/h --stagger 1h true
	no_room
	no_room --rate off # the stagger stays
	run -0 ctl show x
	[[ $output == *"pace: stagger 1h"* ]]
	silent 0 "$FLOCKLIMIT" -N x --nonblock --stagger off true
	silent 0 "$FLOCKLIMIT" -N x --nonblock true
	no_room --rate 1/h # off and on again forgives nothing
	[ "${KEPT_IN-}" = store ] || silent 0 ctl check --repair x
	no_room
	silent 0 ctl rm x
	silent 0 "$FLOCKLIMIT" -N x --nonblock -n 4 true
	silent 0 "$FLOCKLIMIT" -N x --nonblock true
}

# ---- time namespaces ----

# later WORD...: in a time namespace whose clock is ten days ahead.
later() { unshare -T --monotonic 864000 "$@"; }

need_time_namespaces() { need_unshare -T --monotonic 864000; }

@test "a clock that is days ahead holds up nobody, and gives nothing away" {
	need_time_namespaces
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 10/s true
	silent 0 later "$FLOCKLIMIT" -N x -t 5 true
	silent 0 "$FLOCKLIMIT" -N x -t 5 true
	silent 0 later "$FLOCKLIMIT" -N x -t 5 --rate 1/h true
	no_room
	silent 75 later "$FLOCKLIMIT" -N x -q --nonblock true
	run -0 later "$CTL" show --json x
	[ "$(jq '.next_start_in_s > 3000 and .next_start_in_s <= 3600' <<<"$output")" = true ]
}

@test "the same with a stagger" {
	need_time_namespaces
	silent 0 later "$FLOCKLIMIT" -N x -n 4 --stagger 1h true
	no_room
	silent 75 later "$FLOCKLIMIT" -N x -q --nonblock true
	silent 0 later "$CTL" stagger x 100ms
	silent 0 "$FLOCKLIMIT" -N x -t 5 true
	silent 0 later "$FLOCKLIMIT" -N x -t 5 true
	silent 0 "$FLOCKLIMIT" -N x -t 5 true
}

@test "side by side in two time namespaces, starts are an interval apart" {
	need_time_namespaces
	local i before=$EPOCHREALTIME
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 10/s true
	for i in 1 2 3; do
		silent 0 later "$FLOCKLIMIT" -N x -t 5 true
		silent 0 "$FLOCKLIMIT" -N x -t 5 true
	done
	since "$before" 0.59
}

@test "a ramp by a clock that is days ahead" {
	need_time_namespaces
	background h later "$FLOCKLIMIT" -N x -n 4 --ramp 1+1/1h sleep 1000
	eventually holding 1
	no_room
	silent 75 later "$FLOCKLIMIT" -N x -q --nonblock true
	silent 0 later "$CTL" ramp x 1+3/100ms
	silent 0 "$FLOCKLIMIT" -N x -t 5 true
	silent 0 later "$FLOCKLIMIT" -N x -t 5 true
}

@test "where /proc does not tell how far a clock is ahead, it holds up nobody, either" {
	need_time_namespaces
	blind() {
		later unshare -m sh -c 'mount --bind /dev/null /proc/$$/timens_offsets && exec "$@"' - "$@"
	}
	blind true || skip "may not mount"
	silent 0 "$FLOCKLIMIT" -N x -n 4 --rate 10/s --stagger 10ms true
	silent 0 blind "$FLOCKLIMIT" -N x -t 5 true
	silent 0 "$FLOCKLIMIT" -N x -t 5 true
	silent 0 blind "$FLOCKLIMIT" -N x -t 5 true
	silent 0 "$FLOCKLIMIT" -N x -t 5 true
}
