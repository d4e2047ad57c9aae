#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What a real etcd does when a password, an authority or the whole authentication changes under some
# that hold and wait.  rotate.bats has the rest, with the fake.

load ../../helpers/lib.bash
load store.bash
load secure.bash

# stand [TTL]: a server of the test's own, with ann's password in a file.
stand() {
	times "${1:-4}"
	own_server
	users old
	(umask 077 && echo old >"$T/password")
}

@test "a password is changed, and then its file: the permit and the place are kept" {
	stand 12
	lock_up
	use_store etcd "?user=ann&password-file=$T/password"
	a_pair
	etcd_do user passwd ann --interactive=false <<<new >/dev/null
	until_clock $(($(the_clock) + 1000))
	echo new >"$T/password"
	goes_on
	spotless
}

@test "authentication is switched on under takers with a password, and off again" {
	stand
	use_store etcd "?user=ann&password-file=$T/password"
	a_pair
	lock_up
	until_clock $((gone + RECLAIM + 1000))
	etcd_do auth disable >/dev/null
	unset ETCDCTL_USER
	gone=$(the_clock)
	goes_on
	spotless
}

@test "authentication is switched on under takers without any: the holder is ended in time, the waiter refused" {
	stand
	use_store
	a_pair
	lock_up
	gone=$(the_clock)
	over a
	cat a.err
	[ "$status" -eq 76 ]
	measured "the holder was ended after $(($(stopped a) - gone)) ms"
	[ "$(($(stopped a) - gone))" -le "$DEADLINE" ]
	over b
	cat b.err
	[ "$status" -eq 125 ]
	says "it requires a user" b.err
	judged -n 1
}

# signed_by AUTHORITY: the server's certificate is, from now on.
signed_by() {
	authority "$1"
	certificate server "$1" 2 "subjectAltName=IP:127.0.0.1"
	cp "$1.pem" ca.pem
}

@test "TLS: the server has a certificate of another authority, and the file of cacert= has it too" {
	times 16
	signed_by ours
	KEYS=$T
	tls_server server
	use_store etcd+https "?cacert=$T/ca.pem"
	a_pair
	end_server one
	signed_by theirs
	again one
	gone=$(the_clock)
	goes_on
}
