#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap: one of many who share a limiter.

load ../helpers/lib.bash
load ../helpers/map.bash

# Witnesses that know nothing of the limiter: each counts the files of those that run, with its
# own, and makes as many of them as it weighs.
witness='for i in $(seq "${2:-1}"); do : >"seen/$$.$i"; done
	ls seen | wc -l >>counts
	sleep 0.02
	rm -f seen/$$.*
	echo "$1" >>ran'

# never_over N: and there was something to see.
never_over() {
	echo "most at once: $(sort -n counts | tail -n 1)"
	[ "$(sort -n counts | tail -n 1)" -le "$1" ]
	[ "$(sort -n counts | tail -n 1)" -gt 1 ]
}

@test "a flockmap, a second one, and flocklimits: never over the limit" {
	mkdir seen
	background m sh -c 'seq 60 | exec "$MAP" -N x -n 3 sh -c "$0" sh' "$witness"
	background n sh -c 'seq 60 | exec "$MAP" -N x -n 3 sh -c "$0" sh' "$witness"
	seq 40 | xargs -P 4 -I{} "$FLOCKLIMIT" -N x -n 3 sh -c "$witness" sh {}
	ended m
	[ "$status" -eq 0 ]
	ended n
	[ "$status" -eq 0 ]
	never_over 3
	has_lines 160 ran
	is_free
}

@test "weights: never over the limit" {
	mkdir seen
	for i in $(seq 30); do
		echo "$i $((i % 4 + 1))"
	done >list
	"$MAP" -N x -n 5 -a list --weight-from 2 sh -c 'set -- $1; '"$witness" sh
	never_over 5
	has_lines 30 ran
}

@test "one ticket at a time: others in the line get their turn" {
	local expected waiting
	# Each command ends when it has read a line.
	mkfifo gate
	exec 7<>gate
	hold a -N x -n 1
	background m "$MAP" -N x -n 1 sh -c 'echo $1 >>ran; read -r _ <gate' sh ::: 1 2 3
	eventually in_line 1
	background o "$FLOCKLIMIT" -N x -n 1 sh -c 'echo other >>ran; read -r _ <gate'
	eventually in_line 2
	background p "$MAP" -N x -n 1 sh -c 'echo $1 >>ran; read -r _ <gate' sh ::: A B C
	eventually in_line 3
	let_go a
	# The one that runs, and how many wait once its map has drawn the next ticket.
	while read -r expected waiting; do
		eventually says "$expected" ran
		[ "$(tail -n 1 ran)" = "$expected" ]
		[ "$waiting" = 0 ] || eventually in_line "$waiting"
		echo >&7
	done <<-'END'
		1 3
		other 2
		A 2
		2 2
		B 2
		3 1
		C 0
	END
	exec 7>&-
	ended m
	[ "$status" -eq 0 ]
	ended o
	[ "$status" -eq 0 ]
	ended p
	[ "$status" -eq 0 ]
	has_lines 7 ran
}

@test "a heavy one at the head is not overtaken" {
	hold a -N x -n 4 -w 2
	background m "$MAP" -N x -n 4 --weight-from 1 sh -c 'echo $1 >>ran' sh ::: 3 1
	eventually in_line 1
	background o "$FLOCKLIMIT" -N x -n 4 sh -c 'echo other >>ran'
	eventually in_line 2
	[ ! -e ran ]
	let_go a
	ended m
	ended o
	has_lines 3 ran
}

@test "the strictest limit decides" {
	hold a -N x -n 2
	run -75 "$MAP" -N x -n 1 -t 0 echo ::: a
	run -0 "$MAP" -N x -n 2 -t 0 echo ::: a
	[ "$output" = a ]
}

# ---- weights ----

@test "--weight-from a field: of each item, and the sum of several" {
	run -0 "$MAP" -N x -n 9 --weight-from 2 sh -c 'echo $FLOCKLIMIT_WEIGHT' sh ::: 'a 3' $' \tb\t4  x' 'c 9'
	[ "$output" = $'3\n4\n9' ]
	run -0 "$MAP" -N x -n 9 --weight-from 1 -L 2 sh -c 'echo $FLOCKLIMIT_WEIGHT' sh ::: 3 4 5
	[ "$output" = $'7\n5' ]
}

@test "--weight-from a line: the item is \$1, the first line counts" {
	run -0 "$MAP" -N x -n 9 --weight-from 'echo ${#1}; echo 99' sh -c 'echo $FLOCKLIMIT_WEIGHT' sh ::: a bbb
	[ "$output" = $'1\n3' ]
	printf 1234567 >seven
	run -0 "$MAP" -N x -n 9 --weight-from 'wc -c <"$1"' sh -c 'echo $FLOCKLIMIT_WEIGHT' sh \
		::: seven
	[ "$output" = 7 ]
	run -0 timeout 300 "$MAP" -N x -n 9 --weight-from 'sleep 60 2>/dev/null & echo 2' sh -c 'echo $FLOCKLIMIT_WEIGHT' sh ::: a
	[ "$output" = 2 ]
}

@test "weights that are none end it; what runs is waited for" {
	local word
	for word in '' 0 -1 x 1.5 1000000001 99999999999999999999; do
		run --separate-stderr -125 "$MAP" -N x -n 9 --weight-from 2 echo ::: "a 1" "b $word" "c 1"
		[ "$output" = "a 1" ]
		[ "$stderr" = "flockmap: --weight-from: item 2 'b $word' has weight '$word': use 1 to 1000000000" ]
	done
	map_line 125 "$MAP" -N x -n 9 --weight-from 'echo 1; exit 1' echo ::: a
	[[ $stderr == *"item 1 'a': the shell line failed" ]]
	run -125 "$MAP" -N x -n 9 -L 2 --weight-from 1 echo ::: 600000000 600000000
}

@test "a weight above the limit is named" {
	run --separate-stderr -125 "$MAP" -N x -n 4 --weight-from 1 echo ::: 4 5 1
	[ "$output" = 4 ]
	[ "$stderr" = "flockmap: x: item 2 weighs 5, which is above the limit: it could never run; raise the limit with -n" ]
}

@test "a weight's line can be interrupted" {
	background m env --default-signal=INT "$MAP" -N x -n 1 --weight-from ': >up.w; sleep 60; echo 1' echo ::: a
	eventually test -e up.w
	kill -TERM "${pids[m]}"
	ended m
	[ "$status" -eq 143 ]
	[ ! -s m.err ]
}

# ---- nesting ----

@test "under a permit of its own limiter: one at a time, under that permit" {
	mkdir seen
	run -0 "$FLOCKLIMIT" -N x -n 2 -w 2 sh -c \
		'seq 5 | timeout 300 "$MAP" -N x -q -n 2 sh -c "$0" sh; echo $FLOCKLIMIT_TICKET' "$witness"
	[ "$output" = 1 ]
	[ "$(sort -u counts)" = 1 ]
	run -0 "$FLOCKLIMIT" -N x -n 4 -w 3 "$MAP" -N x sh -c 'echo $FLOCKLIMIT_WEIGHT $FLOCKLIMIT_SEAT' sh ::: a b
	[ "$output" = $'3 0\n3 0' ]
	run -123 "$FLOCKLIMIT" -N x -n 1 "$MAP" -N x --fail-fast sh -c 'echo $1; false' sh ::: a b
	[ "$(grep -v '^flockmap: ' <<<"$output")" = a ]
	[[ $output == *"item 1 'a' failed"* ]]
}

@test "under a permit of its own limiter, interrupted" {
	background m env --default-signal=INT "$FLOCKLIMIT" -N x -n 1 "$MAP" -N x sh -c 'echo $$ >up.$1; exec sleep 60' sh ::: a b
	eventually up_to 1
	kill -TERM "${pids[m]}"
	ended m
	[ "$status" -eq 143 ]
	eventually is_gone "$(cat up.a)"
	up_to 1
}

@test "--nested=queue: in the line as anyone" {
	run -75 "$FLOCKLIMIT" -N x -n 1 "$MAP" -N x -n 1 --nested=queue -q -t 50ms echo ::: a
	run -0 "$FLOCKLIMIT" -N x -n 2 "$MAP" -N x -n 2 --nested=queue sh -c 'echo $FLOCKLIMIT_SEAT' sh ::: a b
	[ "$output" = $'1\n1' ]
}

@test "flockmap says in one line that -n has no effect where it joins a permit" {
	run --separate-stderr -0 timeout 300 "$FLOCKLIMIT" -N x -n 4 "$MAP" -N x -n 4 echo ::: a b
	[ "$output" = $'a\nb' ]
	[[ $stderr == *"flockmap: x: -n 4 has no effect: this command joins the permit"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	run --separate-stderr -0 timeout 300 "$FLOCKLIMIT" -N x -n 4 "$MAP" -N x -q -n 1 -w 5 echo ::: a
	[ -z "$stderr" ]
}

@test "a flockmap's command may use the same limiter" {
	run -0 timeout 300 "$MAP" -N x -n 1 "$FLOCKLIMIT" -N x echo ::: a b
	[ "$output" = $'a\nb' ]
	run -0 timeout 300 "$MAP" -N x -n 1 "$MAP" -N x -q echo {} ::: a
}

# ---- what operators do ----

@test "the limiter is removed: it goes on in a new one, with others" {
	make_go
	background m "$MAP" -N x -n 1 sh -c "$wait_for_go; echo \$1 \$FLOCKLIMIT_TICKET" sh ::: 1 2 3
	eventually up_to 1
	eventually in_line 1
	rm limiters/x
	hold h -N x -n 1
	go
	eventually in_line 1
	run ! up_to 2
	let_go h
	ended h
	eventually up_to 2
	go
	eventually up_to 3
	go
	ended m
	[ "$status" -eq 0 ]
	[ "$(cut -d' ' -f1 m.out)" = $'1\n2\n3' ]
}

@test "rm --idle while it waits for items" {
	mkfifo in
	background m sh -c 'exec "$MAP" -N x -n 1 sh -c "echo \$1 \$FLOCKLIMIT_TICKET" sh <in'
	exec 7>in
	echo one >&7
	eventually says "one 1" m.out
	"$CTL" rm --idle
	[ ! -e limiters/x ]
	echo two >&7
	eventually says "two 1" m.out
	exec 7>&-
	ended m
	[ "$status" -eq 0 ]
}

@test "cancelled in the line: 75, nothing more is started" {
	hold a -N x -n 1
	background m "$MAP" -N x -n 1 echo ::: 1 2
	eventually in_line 1
	"$CTL" cancel x "$("$CTL" show --json x | jq '.waiters[0].ticket')"
	ended m
	[ "$status" -eq 75 ]
	[ "$(cat m.err)" = "flockmap: x: no permit: cancelled; nothing more was started" ]
	[ ! -s m.out ]
}

@test "closed while it waits, and paused and resumed" {
	hold a -N x -n 1
	background m "$MAP" -N x -n 1 echo ::: 1 2
	eventually in_line 1
	"$CTL" close x
	ended m
	[ "$status" -eq 75 ]
	says closed m.err
	"$CTL" open x
	let_go a
	ended a
	"$CTL" pause x
	background m "$MAP" -N x -n 1 echo ::: 1 2
	eventually in_line 1
	[ ! -s m.out ]
	"$CTL" resume x
	ended m
	[ "$(cat m.out)" = $'1\n2' ]
}

@test "the limit is raised: more at once" {
	make_go
	background m "$MAP" -N x -n 1 sh -c "$wait_for_go" sh ::: 1 2 3 4
	eventually up_to 1
	"$CTL" limit x 3
	eventually up_to 3
	go
	eventually up_to 4
	go 3
	ended m
	[ "$status" -eq 0 ]
}

@test "what it runs is seen by others" {
	make_go
	background m "$MAP" -N x -n 1 sh -c "$wait_for_go" sh {} --- '{#}' ::: 'item one' two
	eventually up_to 1
	run -0 "$CTL" show --json x
	[ "$(jq -r '.holders[0].command' <<<"$output")" = "sh -c $wait_for_go sh item one --- 1" ]
	go
	eventually up_to 2
	go
	ended m
	run -0 "$CTL" log x
	[[ $output == *" granted "*" sh "*" ended "*" exit 0"* ]]
}
