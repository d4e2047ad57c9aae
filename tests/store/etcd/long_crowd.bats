#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A hundred takers that are there before the server is.

load ../../helpers/lib.bash
load store.bash

@test "100 takers before the server is there: all run when it is" {
	local i began
	times 6
	own_server
	use_store
	watched
	end_server one
	for ((i = 1; i <= 100; i++)); do
		taker "t$i" 0.02 -n 3 -q
	done
	until_clock $(($(the_clock) + 3000))
	again one
	began=$(the_clock)
	for ((i = 1; i <= 100; i++)); do
		over "t$i"
		[ "$status" -eq 0 ] || { cat "t$i.err"; false; }
	done
	measured "all had run after $(($(the_clock) - began)) ms"
	[ "$(($(the_clock) - began))" -lt 120000 ]
	judged -n 3 -o 120000
	spotless
}
