#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The leader of three is stopped for 8 s and goes on, again and again: it may revoke leases that
# were renewed in time.  No permit may be lost by that, and none given twice.

load ../../helpers/lib.bash
load store.bash
load quorum.bash

@test "the leader stopped for 8 s, twenty times" {
	local round i notes
	stand 20
	for round in {1..20}; do
		LEADER=$(leader a || leader b)
		pause_leader 8000
		until_clock $(($(the_clock) + 4000))
		for ((i = 1; i <= LIMIT; i++)); do
			! done_with "a$i" || false
		done
		notes=$(cat a*.err | grep -c . || :)
		echo "# round $round: $LEADER was stopped; $notes lines said so far" >&3
	done
	finish
	spotless
}
