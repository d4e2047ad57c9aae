#!/usr/bin/env bats
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What a real etcd does when a password, an authority or the whole authentication changes under some
# that hold and wait.  rotate.bats has the rest, with the fake.

load ../lib.bash
load store.bash

# stand PARAMETERS: ann with a password in a file, a holder and one in the line.
stand() {
	use_store etcd "$1"
	watched
	holder a -n 1
	taker b 0.02 -n 1
	eventually waits_one
	gone=$(the_clock)
}
waits_one() { [ "$(ctl show --json x | jq '.waiters | length')" = 1 ]; }

# root: whom etcdctl is from now on; ann may do all below the prefix.
users() {
	etcd_do user add root:all >/dev/null
	etcd_do user grant-role root root >/dev/null
	etcd_do role add team >/dev/null
	etcd_do role grant-permission team readwrite --prefix "$(prefix)/" >/dev/null
	etcd_do user add ann:old >/dev/null
	etcd_do user grant-role ann team >/dev/null
	(umask 077 && echo old >"$T/password")
}
lock_up() {
	etcd_do auth enable >/dev/null
	export ETCDCTL_USER=root:all
}

# goes_on: the permit was kept for longer than anybody without a sign of life may keep it.
goes_on() {
	until_clock $((gone + RECLAIM + 1000))
	not_begun b
	! says "lost the permit" a.err || false
	release a
	over a
	[ "$status" -eq 0 ]
	over b
	[ "$status" -eq 0 ]
	judged -n 1
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a b " ]
}

@test "a password is changed, and then its file: the permit and the place are kept" {
	times 4
	servers_in "$T/servers"
	one_server
	users
	lock_up
	stand "?user=ann&password-file=$T/password"
	etcd_do user passwd ann --interactive=false <<<new >/dev/null
	until_clock $(($(the_clock) + 1000))
	echo new >"$T/password"
	goes_on
	spotless
}

@test "authentication is switched on under takers with a password, and off again" {
	times 4
	servers_in "$T/servers"
	one_server
	users
	stand "?user=ann&password-file=$T/password"
	lock_up
	until_clock $((gone + RECLAIM + 1000))
	etcd_do auth disable >/dev/null
	unset ETCDCTL_USER
	gone=$(the_clock)
	goes_on
	spotless
}

@test "authentication is switched on under takers without any: the holder is ended in time, the waiter refused" {
	times 4
	servers_in "$T/servers"
	one_server
	users
	stand ""
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
	says "it wants to know who we are" b.err
	judged -n 1
}

# signed_by AUTHORITY: the server's certificate is, from now on.
signed_by() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" \
		-out "$1.pem" -days 2 -subj "/CN=$1" 2>/dev/null
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key \
		-out server.csr -subj "/CN=server" 2>/dev/null
	openssl x509 -req -in server.csr -CA "$1.pem" -CAkey "$1.key" -CAcreateserial -days 2 \
		-extfile <(echo "subjectAltName=IP:127.0.0.1") -out server.pem 2>/dev/null
	cp "$1.pem" ca.pem
}

@test "TLS: the server has a certificate of another authority, and the file of cacert= has it too" {
	times 6
	signed_by ours
	servers_in "$T/servers"
	echo https >"$SERVERS/one.scheme"
	ETCD_OPTIONS=(--cert-file="$T/server.pem" --key-file="$T/server.key")
	one_server
	use_store etcd+https "?cacert=$T/ca.pem"
	watched
	holder a -n 1
	taker b 0.02 -n 1
	eventually waits_one
	end_server one
	signed_by theirs
	again one
	gone=$(the_clock)
	goes_on
}
