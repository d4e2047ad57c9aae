#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Three servers, of which one or two are killed or stopped.

load ../../helpers/lib.bash
load store.bash
load quorum.bash

@test "the leader is killed: holders go on, and the line is kept" {
	stand 2
	end_server "$LEADER"
	until_clock $((gone + RECLAIM))
	queued 3
	finish
	spotless
}

@test "the leader is stopped for 12 s, and goes on with what it believes: no permit is given twice" {
	local i
	stand 10 6
	pause_leader "$RECLAIM"
	until_clock $(($(the_clock) + 3000))
	for ((i = 1; i <= LIMIT; i++)); do
		! done_with "a$i" || false
	done
	finish
	spotless
}

@test "a follower is killed, and comes back: nothing happens" {
	local follower
	stand
	follower=${FOLLOWERS%% *}
	end_server "$follower"
	until_clock $((gone + TTL * 1000 + 1000))
	again "$follower"
	eventually queued 3
	finish
	spotless
}

@test "two are gone for less than a command may run on: nothing happens" {
	local name
	stand 1 6
	for name in $FOLLOWERS; do
		freeze "$name"
	done
	until_clock $((gone + 1500))
	for name in $FOLLOWERS; do
		thaw "$name"
	done
	until_clock $((gone + RECLAIM))
	finish
	spotless
}

@test "two are gone for longer: the command is ended in time, and the line is kept" {
	local name
	stand
	for name in $FOLLOWERS; do
		freeze "$name"
	done
	gone=$(the_clock) # until now a renewal may have come through
	over a1
	cat a1.err
	[ "$status" -eq 76 ]
	measured "the command was ended after $(($(stopped a1) - gone)) ms"
	[ "$(($(stopped a1) - gone))" -le "$DEADLINE" ]
	until_clock $((gone + RECLAIM + 500))
	for name in $FOLLOWERS; do
		thaw "$name"
	done
	line_runs
	spotless
}
