#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Elastic weights, and permits that shrink.

load ../helpers/lib.bash

CTL=${FLOCKLIMIT%/*}/flocklimitctl
MAP=${FLOCKLIMIT%/*}/flockmap

# takes WORDS...: the weight that a command with these options gets.
takes() {
	"$FLOCKLIMIT" -N x "$@" sh -c 'echo "$FLOCKLIMIT_WEIGHT"'
}

# uses N: so many units are in use.
uses() {
	[ "$("$CTL" show --json x | jq .used)" = "$1" ]
}

@test "an elastic weight takes what is free, at most MAX" {
	[ "$(takes -n 8 -w 2-6)" = 6 ]
	[ "$(takes -n 8 -w 2-8)" = 8 ]
	[ "$(takes -n 8 -w 2-100)" = 8 ]
	[ "$(takes -n 8 -w 2-)" = 8 ]
	[ "$(takes -n 8 --weight=3-3)" = 3 ]
	hold a -N x -n 8 -w 3
	[ "$(takes -n 8 -w 2-8)" = 5 ]
	[ "$(takes -n 8 -w 2-4)" = 4 ]
	[ "$(takes -n 7 -w 2-)" = 4 ]
}

@test "it waits for MIN, and then takes all that is free" {
	hold a -N x -n 8 -w 5
	hold b -N x -n 8 -w 2
	background c "$FLOCKLIMIT" -N x -n 8 -w 2- sh -c 'echo "$FLOCKLIMIT_WEIGHT"'
	eventually in_line 1
	run "$CTL" show x
	[[ $output == *" 2-  "* && $output == *"wants 2 of 8 units, and 7 are in use"* ]]
	[ "$("$CTL" show --json x | jq -c '.waiters[] | [.weight, .weight_most]')" = '[2,8]' ]
	[ "$("$CTL" show --json x | jq -c '.holders[0] | [.weight, .weight_most]')" = '[5,null]' ]
	let_go a
	ended c
	[ "$(cat c.out)" = 6 ]
}

@test "a strict promise and an override bound it" {
	hold a -N x -n 4
	[ "$(takes -n 8 -w 1-8)" = 3 ]
	"$CTL" limit x 3
	[ "$(takes -n 8 -w 1-8)" = 2 ]
	let_go a
	ended a
	"$CTL" limit x 1
	[ "$(takes -n 8 -w 2-8)" = 2 ]
	"$CTL" limit x 16
	[ "$(takes -n 8 -w 2-)" = 16 ]
}

@test "nobody behind an elastic head goes first" {
	hold a -N x -n 4 -w 3
	background b "$FLOCKLIMIT" -N x -n 4 -w 2-4 sh -c 'echo "b $FLOCKLIMIT_WEIGHT" >>"$T/order"'
	eventually in_line 1
	run -75 "$FLOCKLIMIT" -N x -n 4 -w 1 --nonblock true
	background c "$FLOCKLIMIT" -N x -n 4 -w 1-1 sh -c 'echo "c $FLOCKLIMIT_WEIGHT" >>"$T/order"'
	eventually in_line 2
	let_go a
	ended b
	ended c
	[ "$(cat order)" = $'b 4\nc 1' ]
}

@test "per cent of the CPUs" {
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -n 8 -w 100% sh -c 'echo "$FLOCKLIMIT_WEIGHT"')" = 1 ]
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -n 8 -w 300%-500% sh -c 'echo "$FLOCKLIMIT_WEIGHT"')" = 5 ]
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -n 8 -w 200%- sh -c 'echo "$FLOCKLIMIT_WEIGHT"')" = 8 ]
	# Where the CPUs are fewer than MIN, it is MIN.
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -n 8 -w 3-100% sh -c 'echo "$FLOCKLIMIT_WEIGHT"')" = 3 ]
}

@test "what is no weight is refused, with what is" {
	local word
	for word in 0-3 -3 3-x 2-8-9 0% 2%% - '' 1e2-3 '2 - 3'; do
		refused "$FLOCKLIMIT" -N x -w "$word" true
		[[ $stderr == *"'$word': not a weight: use 1 to 1000000000, N%, MIN-MAX or MIN-"* ]]
	done
	for word in 3-2 50%-20%; do
		refused "$FLOCKLIMIT" -N x -w "$word" true
		[[ $stderr == *"'$word': MAX is below MIN"* ]]
	done
	refused "$FLOCKLIMIT" -N x -n 2 -w 3-5 true
	[[ $stderr == *'-w 3 is above -n 2'* ]]
	refused "$FLOCKLIMIT" -N x -n 8 -w 2-4 --jobserver true
	[[ $stderr == *'--jobserver'*'-w 2-4'* ]]
	[ ! -e "$FLOCKLIMIT_DIR/x" ]
}

@test "an inner elastic weight joins what is within it, and says so of another" {
	silent 0 "$FLOCKLIMIT" -N x -n 8 -w 4 "$FLOCKLIMIT" -N x -w 2-6 true
	run -0 "$FLOCKLIMIT" -N x -n 8 -w 4 "$FLOCKLIMIT" -N x -w 5-6 true
	[[ $output == *'-w 5-6 has no effect'* ]]
	run -0 "$FLOCKLIMIT" -N x -n 8 -w 5 "$FLOCKLIMIT" --nested=queue -N x -n 8 -w 1- sh -c 'echo "$FLOCKLIMIT_WEIGHT"'
	[ "$output" = 3 ]
}

@test "a descriptor's permit is elastic as well" {
	run -0 "$FLOCKLIMIT" -N x -n 8 true
	exec 9<"$("$CTL" path x)"
	silent 0 "$FLOCKLIMIT" --fd 9 -n 8 -w 2-5
	uses 5
	silent 0 "$FLOCKLIMIT" --fd 9 -n 8 -w 2-5
	run -0 "$FLOCKLIMIT" --fd 9 -n 8 -w 2-3
	[[ $output == *'-w 2-3 has no effect: descriptor 9 has a permit of weight 5'* ]]
	exec 9<&-
}

@test "flockmap gives each command what is free" {
	hold a -N x -n 4 -w 1
	run -0 "$MAP" -N x -n 4 -w 1-2 sh -c 'echo "$1 $FLOCKLIMIT_WEIGHT"' sh ::: one
	[ "$output" = 'one 2' ]
	run -0 "$MAP" -N x -n 4 -w 1- --weight-from 1 sh -c 'echo "$FLOCKLIMIT_WEIGHT"' sh ::: 2
	[ "$output" = 2 ]
}

@test "a permit shrinks while its command runs, and who waits gets the units" {
	hold a -N x -n 8 -w 2-
	background b "$FLOCKLIMIT" -N x -n 8 -w 3 true
	eventually in_line 1
	run -0 "$CTL" shrink x 1 2
	[ -z "$output" ]
	uses 6
	run -0 "$CTL" shrink x 1 1
	ended b
	[ "$status" = 0 ]
	uses 5
	"$CTL" log x | grep -qE ' 1  -w 5 '
	run -0 "$CTL" check x
	let_go a
	ended a
	uses 0
}

@test "a command shrinks its own permit" {
	run -0 "$FLOCKLIMIT" -N x -n 8 -w 2- sh -c '
		"$1" shrink "$FLOCKLIMIT_LIMITER" "$FLOCKLIMIT_TICKET" 5 && "$1" show --json x | jq .used' sh "$CTL"
	[ "$output" = 3 ]
	uses 0
}

@test "what can't be shrunk says why, and stays" {
	hold a -N x -n 8 -w 3
	run -1 "$CTL" shrink x 1 3
	[[ $output == *'x: ticket 1: its permit has no more than 3 units, and keeps one at least' ]]
	run -1 "$CTL" shrink x 9 1
	[[ $output == *'x: ticket 9: no holder has this ticket' ]]
	local words
	for words in '' 1 '1 0' 'a 1' '1 1 1' '1 x'; do
		# shellcheck disable=SC2086 # words
		run -125 "$CTL" shrink x $words
		[[ $output == *'shrink takes a ticket, and how many of its units'* ]]
	done
	run -125 "$CTL" shrink --store etcd://127.0.0.1:1/a x 1 1
	[[ $output == *'shrink: only for limiters of one machine'* ]]
	uses 3
}

@test "killed, with a permit that has shrunk, it gives back what it still had" {
	hold a -N x -n 8 -w 8
	"$CTL" shrink x 1 5
	kill -KILL "${pids[a]}" "$(up a)"
	eventually uses 0
	[ "$(takes -n 8 -w 1-)" = 8 ]
	run -0 "$CTL" check x
}

@test "the permit of a command that outlived its flocklimit shrinks as well" {
	hold a -N x -n 8 -w 8
	kill -KILL "${pids[a]}"
	ended a
	"$CTL" shrink x 1 5
	uses 3
	[ "$(takes -n 8 -w 1-)" = 5 ]
	kill -KILL "$(up a)"
	eventually uses 0
	[ "$(takes -n 8 -w 1-)" = 8 ]
	run -0 "$CTL" check x
}
