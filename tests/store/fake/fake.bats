#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2034 # what run sets; pids, ports
# The fake etcd and the proxy do what the tests that use them rely on.

load ../../helpers/lib.bash
load ../memory/memory.bash
load fake.bash

@test "three thousand random transactions are answered as by the store in memory" {
	fake
	"$STORE_TOOLS/records/differ-etcd" -n 3000 -s "$(date +%s)" "$STORE"
}

# through_proxy: a fake etcd, and a proxy to it.
through_proxy() {
	fake
	proxy net "${STORE##*:}"
}

# put KEY [TIME]: through the proxy, within that time.
put() {
	timeout "${2:-60}" \
		"$STORE_TOOLS/fake/raw" "etcd://127.0.0.1:${ports[net]}" put "$1" '' 0
}

has() { [ "$(raw keys "$1")" = "$1" ]; }
lacks() { [ -z "$(raw keys "$1")" ]; }

# takes MS KEY: the put takes so long, or longer.
takes() {
	local before
	before=$(date +%s%N)
	put "$2"
	[ $((($(date +%s%N) - before) / 1000000)) -ge "$1" ]
}

@test "the proxy hands on what it gets" {
	through_proxy
	put a
	has a
	[ "$(tell net count)" = 1 ]
	[ "$(tell net accepted)" = 1 ]
}

@test "the proxy stops, goes on, refuses and resets" {
	through_proxy
	tell net stop
	run -124 put a 0.2
	lacks a
	tell net go
	put b
	has b
	tell net refuse
	run -1 put c
	[[ $output == *"onnection refused"* ]]
	tell net go
	tell net oneway
	background c put c
	eventually has c
	is_state S "${pids[c]}"
	tell net kill
	ended c
	[ "$status" = 1 ]
	tell net go
	tell net 'delay 100'
	takes 200 d
	tell net go
	tell net 'drip 2000'
	takes 60 e
}

@test "the proxy cuts where it is told" {
	through_proxy
	tell net 'cut-before-reply 1'
	run -1 put a
	has a
	tell net 'cut-after-request 1'
	run -1 put b
	tell net 'cut-in-chunk 1'
	run -1 put c
	put d
	has d
}
