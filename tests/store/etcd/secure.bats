#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Stores with TLS, and with users: what is right works, what is wrong says what to do, and no secret
# is seen by anybody.

load ../../helpers/lib.bash
load store.bash
load secure.bash

setup_file() {
	need_etcd
	cd "$BATS_FILE_TMPDIR" || return 1
	KEYS=$BATS_FILE_TMPDIR
	export KEYS
	authority ours
	authority theirs
	certificate server ours 2 "subjectAltName=IP:127.0.0.1"
	certificate elsewhere ours 2 "subjectAltName=IP:192.0.2.1,DNS:other.example"
	certificate old ours -1 "subjectAltName=IP:127.0.0.1"
	certificate client ours 2 "extendedKeyUsage=clientAuth"
	certificate stranger theirs 2 "extendedKeyUsage=clientAuth"
	chmod 600 ./*.key
}

# says_why WORDS CMD...: 125, and one line with these words and where the store is.
says_why() {
	local words=$1
	shift
	refused timeout 300 "$@"
	[[ $stderr == *"$words"* ]]
	[[ $stderr == *"$ADDRESS"* ]]
}

@test "TLS: with the authority that signed it; and not with another, or with none" {
	tls_server server
	use_store etcd+https "?cacert=$KEYS/ours.pem"
	run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	use_store etcd+https "?cacert=$KEYS/theirs.pem"
	says_why "certificate" "$FLOCKLIMIT" -N x -n 1 true
	use_store etcd+https
	says_why "cacert=" "$FLOCKLIMIT" -N x -n 1 true
	use_store etcd+https "?cacert=$T/none.pem"
	refused timeout 300 "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr == *none.pem* ]]
	# Not at all, where TLS is.
	use_store etcd
	says_why "speaks TLS only: use etcd+https://" "$FLOCKLIMIT" -N x -n 1 true
	run -125 timeout 300 "$CTL" list
	[[ $output == "flocklimitctl: "*"$ADDRESS"*"speaks TLS only: use etcd+https://"* ]]
	# The order of the hosts does not matter, nor that one is a name.
	FLOCKLIMIT_STORE=etcd://localhost:${ADDRESS##*:},$ADDRESS$(prefix)
	says_why "speaks TLS only: use etcd+https://" "$FLOCKLIMIT" -N x -n 1 true
}

@test "TLS: a certificate for another name, and one that has expired" {
	tls_server elsewhere
	use_store etcd+https "?cacert=$KEYS/ours.pem"
	says_why "another host name" "$FLOCKLIMIT" -N x -n 1 true
	end_servers
	rm "$SERVERS"/one.*
	tls_server old
	use_store etcd+https "?cacert=$KEYS/ours.pem"
	says_why "expired" "$FLOCKLIMIT" -N x -n 1 true
}

@test "TLS where there is none" {
	own_server
	use_store etcd+https "?cacert=$KEYS/ours.pem"
	says_why "speaks no TLS: use etcd://" "$FLOCKLIMIT" -N x -n 1 true
	run -125 timeout 300 "$CTL" list
	[[ $output == "flocklimitctl: "*"$ADDRESS"*"speaks no TLS: use etcd://"* ]]
	# Where a client's certificate is given as well, that is not what is wrong.
	use_store etcd+https "?cacert=$KEYS/ours.pem&cert=$KEYS/client.pem&key=$KEYS/client.key"
	says_why "speaks no TLS: use etcd://" "$FLOCKLIMIT" -N x -n 1 true
}

# says_of_certificate WORDS FIRST: 125, and a last line with these words.  Under TLS 1.3 the connection
# may break before the server's reason is read, again and again.  Then another line says that after two
# seconds; it has the words FIRST.
says_of_certificate() {
	run --separate-stderr -125 timeout 300 "$FLOCKLIMIT" -N x -n 1 true
	echo "$stderr"
	[[ ${stderr_lines[-1]} == *"$ADDRESS"*"$1"* ]]
	[ "${#stderr_lines[@]}" -eq 1 ] || {
		[ "${#stderr_lines[@]}" -eq 2 ]
		[[ ${stderr_lines[0]} == *"$ADDRESS"*"$2"*"; retrying" ]]
	}
}

@test "TLS: with a client's certificate; and without, and with a stranger's" {
	TLS_CLIENT=(--cert "$KEYS/client.pem" --key "$KEYS/client.key")
	tls_server server --client-cert-auth --trusted-ca-file="$KEYS/ours.pem"
	use_store etcd+https "?cacert=$KEYS/ours.pem&cert=$KEYS/client.pem&key=$KEYS/client.key"
	run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	use_store etcd+https "?cacert=$KEYS/ours.pem"
	says_of_certificate "cert= and key=" "cert= and key="
	use_store etcd+https "?cacert=$KEYS/ours.pem&cert=$KEYS/stranger.pem&key=$KEYS/stranger.key"
	says_of_certificate certificate "the certificate of cert="
}

@test "TLS: the common name of a client's certificate is the user" {
	prefix() { echo /team; }
	TLS_CLIENT=(--cert "$KEYS/client.pem" --key "$KEYS/client.key")
	tls_server server --client-cert-auth --trusted-ca-file="$KEYS/ours.pem"
	export ETCDCTL_CACERT=$KEYS/ours.pem ETCDCTL_CERT=$KEYS/client.pem ETCDCTL_KEY=$KEYS/client.key
	users swordfish
	etcd_do user add --no-password client >/dev/null
	lock_up
	use_store etcd+https "?cacert=$KEYS/ours.pem&cert=$KEYS/client.pem&key=$KEYS/client.key"
	says_why "the user of cert= has no rights on /team/" "$FLOCKLIMIT" -N x -n 1 true
	etcd_do user grant-role client team >/dev/null
	run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	# A user that is given goes before it.
	use_store etcd+https "?cacert=$KEYS/ours.pem&cert=$KEYS/client.pem&key=$KEYS/client.key&user=ann&password-file=$T/password"
	echo wrong >password
	chmod 600 password
	says_why "password" "$FLOCKLIMIT" -N x -n 1 true
}

@test "TLS: a line, over an outage" {
	times 12 # a server that is slow to begin is not what this is about
	tls_server server
	use_store etcd+https "?cacert=$KEYS/ours.pem"
	a_pair
	end_server one
	again one
	until_clock $(($(the_clock) + TTL * 1000))
	passes_on
}

# with_users [OPTION...]: only root, and ann below /team/, may do anything there; etcdctl is root.
with_users() {
	prefix() { echo /team; }
	own_server "$@"
	users swordfish
	lock_up
	use_store
}

@test "users: right, wrong, none, and one who may not" {
	with_users
	says_why "user" "$FLOCKLIMIT" -N x -n 1 true
	export FLOCKLIMIT_STORE_USER=ann FLOCKLIMIT_STORE_PASSWORD=swordfish
	run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	spotless
	says_why "password" env FLOCKLIMIT_STORE_PASSWORD=wrong "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr != *wrong\'* ]]
	# Of what is not ours the message says which keys, and what the role needs.
	FLOCKLIMIT_STORE=etcd://$ADDRESS/other says_why "/other/x/" "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr == *role*readwrite* ]]
	[[ $stderr == *ann* ]]
}

@test "users: from files, and a password is refused on a command line" {
	with_users
	echo swordfish >password
	chmod 600 password
	use_store etcd "?user=ann&password-file=$T/password"
	run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	chmod 644 password
	refused "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr == *"chmod 600"* ]]
	[[ $stderr != *swordfish* ]]
	refused "$FLOCKLIMIT" --store "etcd://ann:swordfish@$ADDRESS/team" -N x -n 1 true
	[[ $stderr != *swordfish* ]]
	FLOCKLIMIT_STORE=etcd://ann:swordfish@$ADDRESS/team run -0 "$FLOCKLIMIT" -N x -n 1 true
}

@test "a ready token, from the environment and from a file; and one that is none" {
	local token
	with_users
	token=$(curl -fsS -d '{"name":"ann","password":"swordfish"}' "$(url_of one)/v3/auth/authenticate" | jq -r .token)
	FLOCKLIMIT_STORE_TOKEN=$token run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	echo "$token" >token
	chmod 600 token
	use_store etcd "?token-file=$T/token"
	run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	use_store
	FLOCKLIMIT_STORE_TOKEN=made.up says_why "token" "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr != *made.up* ]]
}

@test "tokens that end while some hold and wait: new ones are had, and nothing is lost" {
	openssl genrsa -out jwt.key 2048 2>/dev/null
	openssl rsa -in jwt.key -pubout -out jwt.pub 2>/dev/null
	times 6 # a renewal between any two ends of a token
	with_users "--auth-token=jwt,pub-key=$T/jwt.pub,priv-key=$T/jwt.key,sign-method=RS256,ttl=2s"
	export FLOCKLIMIT_STORE_USER=ann FLOCKLIMIT_STORE_PASSWORD=swordfish
	a_pair
	line_up 2 c -n 1
	until_clock $(($(the_clock) + 9000))
	queued 2
	release a
	over a
	[ "$status" -eq 0 ]
	over b
	[ "$status" -eq 0 ]
	over c
	judged -n 1
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a b c " ]
	spotless
}

@test "tokens that a server has forgotten" {
	times 12
	with_users
	export FLOCKLIMIT_STORE_USER=ann FLOCKLIMIT_STORE_PASSWORD=swordfish
	a_pair
	end_server one
	again one
	until_clock $(($(the_clock) + TTL * 1000))
	passes_on
	spotless
}

@test "a right that is taken away from one who holds: its command is ended, and says so" {
	with_users
	export FLOCKLIMIT_STORE_USER=ann FLOCKLIMIT_STORE_PASSWORD=swordfish
	watched
	holder a -n 1
	etcd_do role revoke-permission team /team/ /team0 >/dev/null
	gone=$(the_clock)
	over a
	cat a.err
	measured "the holder ended after $(($(the_clock) - gone)) ms"
	[ "$status" -eq 76 ]
	judged -n 1
}

@test "no secret is in any command line, message, or key" {
	local pid
	with_users
	times 16
	FLOCKLIMIT_STORE=etcd://ann:swordfish@$ADDRESS/team
	a_pair
	# shellcheck disable=SC2013 # a line is a word here
	for pid in $(grep -lzxF "T=$T" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		! grep -q swordfish "/proc/$pid/cmdline" 2>/dev/null || false
	done
	end_server one
	eventually says "flocklimit: x" b.err
	again one
	release a
	over a
	over b
	! grep -r swordfish ./*.err ./*.out "$LOG" || false
	! etcd_do get --prefix / | grep swordfish || false
	run "$CTL" list
	[[ $output != *swordfish* ]]
}
