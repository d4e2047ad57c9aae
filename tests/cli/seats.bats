#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A seat for each unit: which seats a command gets, and seats that are out of use or not wanted.

load ../helpers/lib.bash

CTL=${FLOCKLIMIT%/*}/flocklimitctl
MAP=${FLOCKLIMIT%/*}/flockmap

# seats WORDS...: what a command finds in FLOCKLIMIT_SEATS.
seats() {
	"$FLOCKLIMIT" -N x "$@" sh -c 'echo "${FLOCKLIMIT_SEATS-none}"'
}

# joins LABEL WORDS...: it waits in the line, and will write its seats into the file LABEL.
joins() {
	local label=$1 ahead
	shift
	ahead=$(waiting)
	background "$label" "$FLOCKLIMIT" -N x "$@" sh -c 'echo "$FLOCKLIMIT_SEATS" >"$1"' sh "$label.seats"
	eventually line_is $((ahead + 1))
}

waiting() {
	"$CTL" show --json x | jq '.waiters | length'
}

line_is() {
	[ "$(waiting)" = "$1" ]
}

@test "a command has a seat for each unit, the smallest that are free" {
	[ "$(seats -n 4 -w 3)" = 0,1,2 ]
	hold a -N x -n 4 -w 1
	hold b -N x -n 4 -w 1
	hold c -N x -n 4 -w 1
	let_go b
	ended b
	[ "$(seats -n 4 -w 2)" = 1,3 ]
	run -0 sh -c '"$1" log x | tail -n 2' sh "$CTL"
	[[ $output == *'seats 1,3'* ]]
	run -0 "$FLOCKLIMIT" -N x -n 4 -w 2 sh -c 'echo "$FLOCKLIMIT_SEAT $FLOCKLIMIT_WEIGHT"'
	[ "$output" = "1 2" ]
	[ "$("$CTL" show --json x | jq -c '[.holders[].seats]')" = '[[0],[2]]' ]
}

@test "up to a limit of 64, and above it one seat" {
	[ "$(seats -n 64 -w 64)" = "$(seq -s , 0 63)" ]
	[ "$(seats -n 64 -w 61 --not-seat 0,5,63)" = "$(seq -s , 1 4),$(seq -s , 6 62)" ]
	run -0 "$CTL" log x
	[[ $output == *'seats 0-63'*'seats 1-4,6-62'* ]]
	[ "$(seats -n 65 -w 2)" = none ]
	run -0 env FLOCKLIMIT_SEATS=9 "$FLOCKLIMIT" -N x -n 65 -w 2 sh -c 'echo "${FLOCKLIMIT_SEATS-none} $FLOCKLIMIT_SEAT"'
	[ "$output" = "none 0" ]
	hold a -N x -n 64 -w 64
	"$CTL" limit x 200
	run -0 "$FLOCKLIMIT" -N x -n 65 -w 3 sh -c 'echo "${FLOCKLIMIT_SEATS-none} $FLOCKLIMIT_SEAT"'
	[ "$output" = "none 64" ]
	run -0 "$CTL" check x
}

@test "the seats of a command that nobody has seen end are free for the next one" {
	for _ in 1 2 3; do
		run -0 "$FLOCKLIMIT" -N x -n 5 -w 2 --no-fork sh -c 'echo "$FLOCKLIMIT_SEATS"'
		[ "$output" = 0,1 ]
	done
}

@test "an elastic command has as many seats as units, and keeps the lowest when it shrinks" {
	hold a -N x -n 6 -w 2
	[ "$(seats -n 6 -w 1-)" = 2,3,4,5 ]
	hold b -N x -n 6 -w 4
	"$CTL" shrink x 3 2
	[ "$("$CTL" show --json x | jq -c '[.holders[].seats]')" = '[[0,1],[2,3]]' ]
	[ "$(seats -n 6 -w 2)" = 4,5 ]
	run -0 "$CTL" check x
}

@test "--not-seat: the smallest of the others" {
	[ "$(seats -n 4 -w 2 --not-seat 0,2)" = 1,3 ]
	[ "$(seats -n 6 -w 2 --not-seat 1-3)" = 0,4 ]
	[ "$(seats -n 6 -w 1- --not-seat 1-3,5)" = 0,4 ]
	run -0 "$FLOCKLIMIT" -N x -n 100 -w 2 --not-seat 0 sh -c 'echo "$FLOCKLIMIT_SEAT"'
	[ "$output" = 1 ]
}

@test "a head that waits for other seats than the free ones keeps its place" {
	hold a -N x -n 3 -w 2
	joins picky -n 3 --not-seat 2
	joins later -n 3
	run -0 "$CTL" show x
	[[ $output == *'wants 1 seat; excluded by --not-seat: 2.'* ]]
	run -75 "$FLOCKLIMIT" -N x -n 3 --nonblock true
	let_go a
	ended picky
	ended later
	[ "$(cat picky.seats)" = 0 ]
	run -0 "$CTL" check x
}

@test "a newcomer that excludes too many seats is refused at once" {
	run -125 "$FLOCKLIMIT" -N x -n 4 -w 3 --not-seat 0,1 true
	[ "$output" = "flocklimit: x: --not-seat 0,1 leaves too few seats of 4 for -w 3: it could never run; exclude fewer" ]
	run -125 "$MAP" -N x -n 2 --not-seat 0-7 true ::: a
	[[ $output == *'--not-seat 0-7 leaves too few seats'* ]]
	local word
	for word in '' a 64 '1,' ',1' 3-1 0-64 1-2-3 -1 99999999999; do
		run -125 "$FLOCKLIMIT" -N x -n 4 --not-seat "$word" true
		[[ $output == *"--not-seat"*"not a list of seats: use 0 to 63, say 0,3 or 0-3"* ]]
	done
}

@test "an operator takes a seat out of use, and puts it back" {
	"$FLOCKLIMIT" -N x -n 4 true
	run -0 "$CTL" seat x 0,3 off
	[ "$output" = "" ]
	[ "$(seats -n 4 -w 2)" = 1,2 ]
	run -75 "$FLOCKLIMIT" -N x -n 4 -w 3 --nonblock true
	joins big -n 4 -w 3
	run -0 "$CTL" show x
	[[ $output == *'0 of 2 in use'* ]]
	[[ $output == *'seats out of use: 0,3'* ]]
	[[ $output == *'wants 3 seats; out of use: 0,3.'* ]]
	[ "$("$CTL" show --json x | jq -c .seats_off)" = '[0,3]' ]
	run -1 "$CTL" rm x
	"$CTL" seat x 3 on
	ended big
	[ "$status" = 0 ]
	[ "$(cat big.seats)" = 1,2,3 ]
	"$CTL" seat x 0 on
	[ "$("$CTL" show --json x | jq -c '.limit, .seats_off')" = $'4\n[]' ]
	run -0 "$CTL" log x
	[[ $output == *'seat-off'*'seat 3'*'seat-on'*'seat 0'* ]]
	run -0 sh -c '"$1" log --json x | jq -c "select(.event == \"seat-off\") | .code"' sh "$CTL"
	[ "$output" = $'0\n3' ]
}

@test "where all seats are out of use, takers wait and learn why" {
	"$FLOCKLIMIT" -N x -n 2 true
	"$CTL" seat x 0-1 off
	joins one -n 2
	run -0 "$CTL" show x
	[[ $output == *'0 of 0 in use'*'wants 1 seat; out of use: 0,1.'* ]]
	"$CTL" seat x 1 on
	ended one
	[ "$(cat one.seats)" = 1 ]
}

@test "a permit keeps a seat that is taken out, and the others of its limiter have the rest" {
	hold a -N x -n 3 -w 1
	"$CTL" seat x 0 off
	[ "$(seats -n 3 -w 2)" = 1,2 ]
	let_go a
	ended a
	run -75 "$FLOCKLIMIT" -N x -n 3 -w 3 --nonblock true
	run -0 "$CTL" check x
	"$CTL" rm --idle
	[ "$("$CTL" show --json x | jq -c .seats_off)" = '[0]' ]
}

@test "the history has the seats of each permit" {
	"$FLOCKLIMIT" -N x -n 4 -w 2 --not-seat 1 true
	"$FLOCKLIMIT" -N x -n 64 -w 1 --not-seat 0-62 true
	"$FLOCKLIMIT" -N x -n 100 -w 2 true
	run -0 "$CTL" log x
	[[ $output == *'seats 0,2'*'seat 63'*'seat 0'* ]]
	run -0 sh -c '"$1" log --json x | jq -c "select(.event == \"granted\") | [.seat, .seats, .code]"' sh "$CTL"
	[ "$output" = $'[0,[0,2],0]\n[63,[63],0]\n[0,[],0]' ]
}

@test "what seat is told is checked" {
	"$FLOCKLIMIT" -N x -n 4 true
	run -125 "$CTL" seat x 64 off
	[[ $output == *"x: '64': not a list of seats"* ]]
	run -125 "$CTL" seat x 0 broken
	[[ $output == *"x: 'broken': use off or on"* ]]
	run -125 "$CTL" seat x off
	[[ $output == *'which seat, and off or on?'* ]]
	run -1 "$CTL" seat y 0 off
	run -125 "$CTL" seat --store etcd://127.0.0.1:1/a x 0 off
	[[ $output == *'seat: only for limiters of one machine'* ]]
	run -125 "$FLOCKLIMIT" --store etcd://127.0.0.1:1/a -N x -n 4 --not-seat 0 true
	[[ $output == *'--not-seat is for limiters of one machine'* ]]
}

@test "a command that joins a permit is told that --not-seat has no effect" {
	run -0 "$FLOCKLIMIT" -N x -n 4 -w 2 "$FLOCKLIMIT" -N x --not-seat 0 sh -c 'echo "$FLOCKLIMIT_SEATS"'
	[[ $output == *'x: --not-seat 0 has no effect: this command joins the permit'* ]]
	[[ $output == *$'\n0,1' ]]
	run -0 "$FLOCKLIMIT" -N x -n 4 -w 2 "$FLOCKLIMIT" -N x --not-seat 3 sh -c 'echo "$FLOCKLIMIT_SEATS"'
	[ "$output" = 0,1 ]
}

@test "items of a map have seats, too" {
	run -0 "$MAP" -N x -n 4 -w 2 --not-seat 0 sh -c 'echo "$FLOCKLIMIT_SEATS"' ::: a
	[ "$output" = 1,2 ]
}
