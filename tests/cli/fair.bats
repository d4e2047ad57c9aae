#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A fair limiter: keys take turns.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/kept.bash

# joins LABEL OPTION...: it waits in the line, and will write its label into the file order.
joins() {
	local label=$1 ahead
	shift
	ahead=$(field '.waiters | length')
	background "$label" "$FLOCKLIMIT" -N x -n 1 "$@" sh -c 'echo "$1" >>order' sh "$label"
	eventually waiting $((ahead + 1))
}

y_has() { [ "$(field '.waiters | length' y)" = "$1" ]; }

# order_is LABEL...: the holder goes, they run, and this was the order.
order_is() {
	local each
	let_go h
	for each; do
		ended "$each"
		[ "$status" = 0 ] || return 1
	done
	echo "order: $(xargs <order)"
	[ "$(xargs <order)" = "$*" ]
}

@test "one that asks for many goes behind the first of each other key" {
	hold h -N x -n 1 --fair=key --key a
	for i in 1 2 3 4; do
		joins "a$i" --key a
	done
	joins b1 --key b
	joins b2 --key b
	joins c1 --key c
	# a has one permit already; then each in its turn.
	order_is b1 c1 a1 b2 a2 a3 a4
}

@test "a key's share is how many it gets in a turn" {
	hold h -N x -n 1 --fair=key --key a
	for i in 1 2 3; do
		joins "a$i" --key a
	done
	for i in 1 2 3 4; do
		joins "b$i" --key b --share 2
	done
	order_is b1 b2 a1 b3 b4 a2 a3
}

@test "a heavy permit counts as what it weighs" {
	hold h -N x -n 4 -w 4 --fair=key --key a
	for i in 1 2; do
		background "a$i" "$FLOCKLIMIT" -N x -n 4 -w 4 --key a sh -c 'echo "$1" >>order' sh "a$i"
		eventually waiting "$i"
	done
	for i in 1 2 3 4 5; do
		background "b$i" "$FLOCKLIMIT" -N x -n 4 --key b sh -c 'sleep 0.1; echo "$1" >>order' sh "b$i"
		eventually waiting $((i + 2))
	done
	let_go h
	for i in a1 a2 b1 b2 b3 b4 b5; do
		ended "$i"
	done
	# Four of b are as much as the one that a has had.
	[ "$(cut -c 1 order | tr -d '\n')" = bbbbaba ] || [ "$(cut -c 1 order | tr -d '\n')" = bbbbbaa ] ||
		[ "$(cut -c 1 order | tr -d '\n')" = bbbbaab ]
}

@test "keys are users, or sessions, and show says which" {
	hold h -N x -n 1 --fair
	joins a1
	joins a2
	run "$CTL" show x
	[[ $output == *$'\nfair: by user\n'* ]]
	[[ $output == *" (user $(id -un))"* ]]
	[ "$(field '[.fair, .waiters[0].key, .waiters[0].share]')" = "[\"user\",\"$(id -u)\",1]" ]
	"$CTL" fair x session
	[ "$(field '.waiters[0].key')" = null ] # its place is as it was
	joins a3
	background s1 setsid -w "$FLOCKLIMIT" -N x -n 1 sh -c 'echo s1 >>order'
	eventually waiting 4
	joins a4
	background s2 setsid -w "$FLOCKLIMIT" -N x -n 1 sh -c 'echo s2 >>order'
	eventually waiting 6
	# In a store with its machine.
	[[ $(field '.waiters[2].key') == "\"$(ps -o sid= -p $$ | tr -d ' ')"* ]]
	order_is a1 a2 a3 s1 s2 a4
	run "$CTL" log x
	[[ $output == *" fair "*"by user"*" fair "*"by session"* ]]
}

@test "which key a newcomer passes is in the history" {
	of_files "it does not remember whom a newcomer passed"
	hold h -N x -n 1 --fair=key --key a
	joins a1 --key a
	joins b1 --key b
	run "$CTL" log x
	[[ $output == *"before 1 that came earlier"* ]]
	run -0 "$CTL" why x 3
	[[ $output == "x: ticket 3 (sh, weight 1, key b) waited "* ]]
	# Which part is the longest, time decides: its own key held the units, until the other passed it.
	[ "$("$CTL" why x 2 --json | jq -c '[.key, (.parts | sort_by(.reason)[] | [.reason, .key])]')" = \
		'["a",["passed","b"],["units","a"]]' ]
	order_is b1 a1
	run -0 "$CTL" why x 2
	[[ $output == *"others passed, by --yield or by turns, the longest ticket 3 "* ]]
}

@test "who is killed, or gives up, costs its key nothing" {
	hold h -N x -n 1 --fair=key --key a
	joins b1 --key b
	for i in 2 3 4 5; do
		joins "b$i" --key b
	done
	joins c1 --key c
	kill -KILL "${pids[b2]}" "${pids[b3]}" "${pids[b4]}" "${pids[b5]}"
	for i in 2 3 4 5; do
		ended "b$i"
	done
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --key b -t 20ms true
	eventually waiting 2
	joins b6 --key b
	joins c2 --key c
	joins a1 --key a
	order_is b1 c1 b6 c2 a1
}

@test "a taker that gives up and comes again keeps nobody out" {
	of_files "only a grant passes anybody"
	hold h -N x -n 1 --fair=key --key a
	joins a1 --key a
	for i in {1..5}; do
		run -75 "$FLOCKLIMIT" -q -N x -n 1 --key b -t 20ms true
	done
	joins b1 --key b
	# It passed a1 five times, so its turns are gone.
	order_is a1 b1
}

@test "--nonblock, --max-queue and -t are as ever" {
	of_files "--max-queue counts all that wait"
	hold h -N x -n 1 --fair=key --key a
	joins a1 --key a
	joins a2 --key a
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --key b --nonblock true
	# One that would be the head has nobody before it.
	joins b1 --key b --max-queue 1
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --key a --max-queue 3 true
	[ "$(field '[.waiters[].ticket]')" = '[5,2,3]' ]
	order_is b1 a1 a2
}

@test "off: first come, first served again, and nobody who waits loses a place" {
	of_files "then the line is in the order of arrival"
	hold h -N x -n 1 --fair=key --key a
	joins a1 --key a
	joins a2 --key a
	joins b1 --key b
	"$CTL" fair x off
	[ "$(field .fair)" = null ]
	joins c1
	[ "$(field '[.waiters[].ticket]')" = '[4,2,3,5]' ]
	"$CTL" fair x key
	joins d1 --key d
	order_is b1 a1 a2 c1 d1
	run "$CTL" log x
	[[ $output == *" unfair "* ]]
}

@test "what has no effect says so" {
	run -0 "$FLOCKLIMIT" -N x -n 1 --key a true
	[[ $output == "flocklimit: x: --key has no effect: the limiter is not fair; use --fair=key" ]]
	run -0 "$FLOCKLIMIT" -N x -n 1 --share 2 true
	[[ $output == "flocklimit: x: --share has no effect: the limiter is not fair; use --fair" ]]
	silent 0 "$FLOCKLIMIT" -N x -n 1 --fair --share 2 true
	run -0 "$FLOCKLIMIT" -N x -n 1 --key a true
	[[ $output == "flocklimit: x: --key has no effect: the limiter's keys are users; use --fair=key" ]]
}

@test "--yield has no effect in a fair limiter, and says so" {
	of_files "it has no --yield"
	"$FLOCKLIMIT" -N x -n 1 --fair true
	run -0 "$FLOCKLIMIT" -N x -n 1 --yield 3 true
	[[ $output == "flocklimit: x: --yield has no effect: the limiter is fair, and its line in the order of turns" ]]
	silent 0 "$FLOCKLIMIT" -q -N x -n 1 --yield 3 true
}

@test "with --and, a taker has its key in each limiter that is fair" {
	of_files "it has no --and"
	"$FLOCKLIMIT" -N y -n 1 --fair=key true
	hold h -N y -n 1 --key a
	background a1 "$FLOCKLIMIT" -N x -n 4 --and y=1/1 --key a sh -c 'echo a1 >>order'
	eventually y_has 1
	background b1 "$FLOCKLIMIT" -N x -n 4 --and y=1/1 --key b sh -c 'echo b1 >>order'
	eventually y_has 2
	[ "$(field '[.waiters[].key]' y)" = '["b","a"]' ]
	let_go h
	ended a1
	ended b1
	[ "$(xargs <order)" = "b1 a1" ]
}

@test "what makes no sense is refused" {
	local word
	for word in '' a/b -x .x "$(printf 'x%.0s' {1..32})"; do
		refused "$FLOCKLIMIT" -N x --fair=key --key "$word" true
		[[ $stderr == *"not a key: use 1 to 31 letters and digits, say web" ]]
	done
	for word in '' 0 1001 x; do
		refused "$FLOCKLIMIT" -N x --fair --share "$word" true
		[[ $stderr == *"not a share: use 1 to 1000" ]]
	done
	refused "$FLOCKLIMIT" -N x --fair=nobody true
	[[ $stderr == *"not a kind of key: use user, session, key or off" ]]
	ctl_line 125 fair x nobody
}

@test "by a limits file, and by flockmap" {
	of_files "it has no limits file"
	echo 'limiter x -n 1 --fair=key' >limits
	chmod 600 limits
	export FLOCKLIMIT_LIMITS=$T/limits
	hold h -N x --key a
	[ "$(field .fair)" = '"key"' ]
	joins a1 --key a
	background m "${FLOCKLIMIT%/*}/flockmap" -N x --key b sh -c 'echo "$1" >>order' sh ::: m1 m2
	eventually waiting 2
	let_go h
	ended a1
	ended m
	[ "$status" = 0 ]
	[ "$(xargs <order)" = "m1 a1 m2" ]
}
