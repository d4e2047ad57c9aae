#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# etcd does what an engine must, and the store in memory does the same.

load ../../helpers/lib.bash
load store.bash

RECORDS=$STORE_BUILD/../records

@test "the cases of an engine" {
	own_server
	"$RECORDS/records-etcd" "etcd://$ADDRESS" "etcdctl --endpoints=$ADDRESS compact" >"$T/said" 2>&1
	cat "$T/said"
	run -1 grep '^not ok' "$T/said"
}

@test "three thousand random transactions" {
	own_server
	"$RECORDS/differ-etcd" -n 3000 -s 1795374329 "etcd://$ADDRESS"
}

@test "three thousand others" {
	own_server
	"$RECORDS/differ-etcd" -n 3000 -s "$(date +%s)" "etcd://$ADDRESS"
}
