#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# All keepers of all takers are killed, or stopped past the deadline, at once.

load ../../helpers/lib.bash
load store.bash

setup_file() { a_store; }
teardown_file() { end_servers; }

# stand: three holders of three, and six in the line.
stand() {
	local i
	times 4
	watched
	for i in 1 2 3; do
		holder "h$i" -n 3
	done
	for i in {1..6}; do
		line_up "$i" "w$i" -n 3
	done
	gone=$(the_clock)
}

# to_keepers SIGNAL
to_keepers() {
	local i
	for i in h1 h2 h3 w1 w2 w3 w4 w5 w6; do
		# shellcheck disable=SC2046 # pids
		kill -"$1" $(keeper_of "$i") 2>/dev/null || :
	done
}

line_runs() {
	local i
	for i in {1..6}; do
		over "w$i"
		cat "w$i.err"
		[ "$status" -eq 0 ]
	done
}

@test "all keepers are killed, five times: others take over, and nothing is lost" {
	local i
	stand
	for i in 1 2 3 4 5; do
		to_keepers KILL
		until_clock $(($(the_clock) + 700))
	done
	until_clock $((gone + RECLAIM + 1000))
	not_begun w1
	queued 6
	for i in 1 2 3; do
		release "h$i"
		over "h$i"
		cat "h$i.err"
		[ "$status" -eq 0 ]
	done
	line_runs
	judged -n 3 -o 2000
	spotless
}

@test "all keepers are stopped for less than the time to live: nothing happens" {
	local i
	stand
	to_keepers STOP
	until_clock $((gone + TTL * 500))
	to_keepers CONT
	until_clock $((gone + RECLAIM + 1000))
	not_begun w1
	for i in 1 2 3; do
		release "h$i"
		over "h$i"
		[ "$status" -eq 0 ]
	done
	line_runs
	judged -n 3 -o 2000
	spotless
}

@test "all keepers are stopped past the deadline: the commands are killed, and the line runs when they go on" {
	local i
	stand
	to_keepers STOP
	for i in 1 2 3; do
		over "h$i"
		cat "h$i.err"
		[ "$status" -eq 76 ]
		measured "h$i ended after $(($(stopped "h$i") - gone)) ms"
		[ "$(($(stopped "h$i") - gone))" -le "$RECLAIM" ]
	done
	until_clock $((gone + RECLAIM + 1000))
	to_keepers CONT
	line_runs
	run ! grep "lost the place" ./w?.err
	judged -n 3 -o 2000
	spotless
}
