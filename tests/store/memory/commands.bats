#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# The commands over the store in memory: store-memory, as they find it in FLOCKLIMIT_LIBEXEC.

load ../../helpers/lib.bash
load ../../helpers/ctl.bash
load memory.bash

# store: a store, where all commands look for it.
store() {
	serve
	export FLOCKLIMIT_STORE=$STORE/team
}

@test "each command finds the store in memory" {
	store
	run -7 "$FLOCKLIMIT" -N x -n 2 sh -c 'exit 7'
	run -0 "${FLOCKLIMIT%limit}map" -N x -n 2 echo ::: a
	[ "$output" = a ]
	run -0 ctl list
	[[ $output == *x*0/2* ]]
}

@test "a server that hangs costs neither permit nor place, and one that has ended is named" {
	store
	hold a -N x -n 1 --ttl 60s
	background b "$FLOCKLIMIT" -N x -n 1 --ttl 60s echo ran
	eventually waiting 1
	kill -STOP "${pids[store]}"
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 200ms true
	kill -CONT "${pids[store]}"
	let_go a
	ended b
	[ "$status" = 0 ]
	says ran b.out
	kill "${pids[store]}"
	ended store
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 200ms true
	[[ $output == *"memory://"*": Connection refused"* ]]
}

# The tests of limiters that are kept in files.
@test "a pace, and turns, in a store: by the same tests" {
	KEPT_IN=store run bats "$TESTS_SOURCE/cli/pace.bats" "$TESTS_SOURCE/cli/fair.bats"
	echo "$output"
	[ "$status" = 0 ]
}

@test "off again, the line of a store is in the order of arrival" {
	local label n=0
	store
	hold h -N x -n 1 --fair=key --key a
	for label in a1 a2 b1; do
		background "$label" "$FLOCKLIMIT" -N x -n 1 --key "${label%?}" sh -c "echo $label >>order"
		eventually waiting $((++n))
	done
	silent 0 ctl fair x off
	let_go h
	for label in a1 a2 b1; do
		ended "$label"
	done
	[ "$(xargs <order)" = 'a1 a2 b1' ]
}
