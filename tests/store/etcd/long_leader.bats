#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The cluster changes its leader all the time while permits pass from hand to hand.

load ../../helpers/lib.bash
load store.bash
load quorum.bash

# move_leader: to another member; false where there is none to ask just now.
move_leader() {
	local from to id
	from=$(leader a b c) || return 1
	to=$(printf '%s\n' a b c | grep -vx "$from" | shuf -n 1)
	id=$(etcd_do member list | awk -F', ' -v name="$to" '$3 == name { print $1 }')
	timeout 10 etcdctl --endpoints="$(url_of "$from")" move-leader "$id" >/dev/null 2>&1
}

@test "54 leader moves under 200 hand-overs" {
	local i moves=0 began
	times 6
	servers_in "$T/servers"
	three_servers
	use_store
	watched
	began=$(the_clock)
	for ((i = 1; i <= 200; i++)); do
		taker "t$i" 0.1 -n 2
		if [ $((i % 4)) -eq 0 ] && move_leader; then
			moves=$((moves + 1))
		fi
	done
	for ((i = 1; moves < 54 && i < 200; i++)); do
		! move_leader || moves=$((moves + 1))
	done
	for ((i = 1; i <= 200; i++)); do
		over "t$i"
		[ "$status" -eq 0 ] || { cat "t$i.err"; false; }
	done
	measured "$moves leader moves, $(($(the_clock) - began)) ms, $(cat t*.err | grep -c . || :) lines said"
	[ "$moves" -ge 54 ]
	[ "$(($(the_clock) - began))" -lt 300000 ]
	judged -n 2 -o 300000
	spotless
}
