#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The fake etcd answers as the real one.
# shellcheck disable=SC2154 # what run sets

load ../../helpers/lib.bash
load store.bash
load ../fake/fake.bash

# alike SEED: the same calls to a new fake and a new etcd.
alike() {
	own_server
	fake etcd
	run "$STORE_TOOLS/fake/differ" -n 3000 -s "$1" "${ports[etcd]}" "${ADDRESS##*:}"
	echo "seed $1: status $status: $output"
	[[ $output == *'no difference' ]]
}

# Among them is a watch that is told a line of over two kilobytes.
@test "three thousand random calls" {
	alike 1795374329
}

@test "three thousand others" {
	alike "$(date +%s)"
}

# It would be of no use if it never saw a difference.
@test "a fake that answers otherwise is found out" {
	own_server
	fake etcd -d kh
	run -1 "$STORE_TOOLS/fake/differ" -n 3000 "${ports[etcd]}" "${ADDRESS##*:}"
	[[ $output == *different ]]
}
