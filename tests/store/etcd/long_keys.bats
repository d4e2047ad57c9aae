#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Somebody deletes keys by hand, each in turn, and revokes all leases.

load ../../helpers/lib.bash
load store.bash

setup_file() { a_store; }
teardown_file() { end_servers; }

all_keys() { etcd_do get --prefix "$(prefix)/" --keys-only | grep . | grep -v '//[mn]/' || :; }

# stand N: a holder, whose permit is so heavy that a second one waits, and three in the line, of which
# the last waits for the one before; all of round N.
stand() {
	holder "h$1" -n 2
	mkfifo "k$1.go"
	taker "k$1" "k$1.go" -n 2
	eventually begun "k$1"
	line_up 1 "u$1" -n 2
	line_up 2 "v$1" -n 2
	line_up 3 "w$1" -n 2
}

# round_ends N: everybody comes to an end; a holder whose permit was deleted is told so.
round_ends() {
	local i
	for i in h k; do
		if ! done_with "$i$1"; then
			release "$i$1"
		fi
		over "$i$1"
		[ "$status" -eq 0 ] || [ "$status" -eq 76 ]
		lost=$((lost + (status == 76)))
	done
	for i in u v w; do
		over "$i$1"
		[ "$status" -eq 0 ] || { cat "$i$1.err"; false; }
	done
}

@test "each key is deleted by hand: everybody runs or is told, and nothing is left" {
	local n=0 all key lost=0 deleted=()
	times 2
	watched
	while :; do
		n=$((n + 1))
		stand "$n"
		all=$(all_keys | sort)
		[ "$n" -le "$(wc -l <<<"$all")" ] || break
		key=$(sed -n "${n}p" <<<"$all")
		etcd_do del "$key" >/dev/null
		deleted+=("$key")
		# Who is told of it is told within a moment; a renewal or two later all have looked.
		until_clock $(($(the_clock) + TTL * 1000))
		round_ends "$n"
		spotless
	done
	round_ends "$n"
	measured "${#deleted[@]} keys, of which $lost ended a command"
	printf '# %s\n' "${deleted[@]}"
	# The permits' own keys, and no others.
	[ "$lost" -eq 2 ]
	# cfg, the tail, and of each taker its life, its place or permit, and who it is.
	[ "${#deleted[@]}" -ge 17 ]
	# Where a permit was deleted, the next may begin before its command has ended.
	judged -n 3 -o 60000 | grep -v '^once:\|^seat:' | tee judged
	! grep '^weight:\|^end:' judged || false
	spotless
}

@test "all leases are revoked, ten times: the permits and the places are kept, and the line runs" {
	local n lease
	times 4
	watched
	stand 1
	gone=$(the_clock)
	for n in {1..10}; do
		for lease in $(etcd_do lease list | grep -E '^[0-9a-f]+$'); do
			etcd_do lease revoke "$lease" >/dev/null || :
		done
		until_clock $((gone + n * 1000))
	done
	! done_with h1 || false
	! done_with k1 || false
	measured "$(cat ./*.err | grep -c . || :) lines were said"
	queued 3
	round_ends_well
	run ! grep "lost the place" ./[uvw]1.err
	judged -n 2 -o 1000
	spotless
}
round_ends_well() {
	local lost=0
	round_ends 1
	[ "$lost" -eq 0 ]
}
