#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A server whose name gets another address while some hold and wait: each taker has an /etc/hosts of
# the test's own, in a mount namespace.

load ../../helpers/lib.bash
load store.bash

# name_is ADDRESS: where etcd.test is from now on.  In place, as the file is mounted.
name_is() { echo "$1 etcd.test" >"$T/hosts"; }

# stand ADDRESS TTL: a server there, a holder and one in the line, which know it by its name.
stand() {
	name_is "$1"
	VIA=(unshare -m sh -c 'mount --bind "$T/hosts" /etc/hosts && exec "$@"' sh)
	[ "$(id -u)" = 0 ] || VIA=(unshare -rm "${VIA[@]:2}")
	"${VIA[@]}" true || skip "no mount namespace can be made"
	times "$2"
	servers_in "$T/servers"
	echo "$1" >"$SERVERS/one.host"
	own_server
	use_store
	FLOCKLIMIT_STORE=etcd://etcd.test:$(cat "$SERVERS/one.port")$(prefix)
	a_pair
}

# moves ADDRESS: the server is there, with its data; and the name, after that.  A server may need up to
# ten seconds to begin (serves), and the holder must last for longer.
moves() {
	local host=$1
	[[ $1 != *:* ]] || host=[$1]
	end_server one
	echo "$host" >"$SERVERS/one.host"
	ADDRESS=$host:$(cat "$SERVERS/one.port")
	again one
	name_is "$1"
}

@test "a name gets another address: the permit and the place are kept" {
	stand 127.0.0.1 12
	moves 127.0.0.2
	goes_on
	spotless
}

@test "a name gets another address twice, at last one of IPv6" {
	stand 127.0.0.2 20
	moves 127.0.0.3
	until_clock $((gone + 3000))
	moves ::1
	goes_on
	spotless
}

@test "a name that nobody knows: retried, and found when it is known" {
	stand 127.0.0.2 6
	: >"$T/hosts"
	background c "${VIA[@]}" "$FLOCKLIMIT" -N y -n 1 true
	eventually has_lines 1 c.err
	cat c.err
	says "no address is known for that name" c.err
	name_is 127.0.0.2
	ended c
	[ "$status" -eq 0 ]
	goes_on
	spotless
}
