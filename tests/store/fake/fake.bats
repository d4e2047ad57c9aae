#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The fake etcd and the proxy do what the tests that use them rely on.
# shellcheck disable=SC2154 # what run sets

load ../../helpers/lib.bash
load fake.bash

# refused_with STATUS WORDS PATH BODY [OPTION...]: a call that fails.
refused_with() {
	run -0 ask etcd "$3" "$4" -w '%{http_code}' "${@:5}"
	echo "$output"
	[[ $output == *"$1" ]]
	[[ $output == *"\"message\":\"$2"* ]]
}

# has KEY VALUE: the store has it.
has() {
	[[ $(ask etcd kv/range "$(key_of "$1")") == *'"value":"'"$(b64 "$2")"'"'* ]]
}

lacks() {
	[[ $(ask etcd kv/range "$(key_of "$1")") != *'"kvs"'* ]]
}

# watch LABEL BODY: a watch whose lines are in $T/LABEL.out.
watch() {
	background "$1" curl -sS -N --data-binary "$2" "http://127.0.0.1:${ports[etcd]}/v3/watch"
}

@test "what is put is read, as etcd writes it" {
	fake etcd
	run -0 ask etcd kv/put "$(put_of a 1)"
	[[ $output =~ ^'{"header":{"cluster_id":"'[0-9]+'","member_id":"'[0-9]+'","revision":"2","raft_term":"2"}}'$ ]]
	run -0 ask etcd kv/range "$(key_of a)"
	[[ $output == *'},"kvs":[{"key":"YQ==","create_revision":"2","mod_revision":"2","version":"1","value":"MQ=="}],"count":"1"}' ]]
	run -0 ask etcd kv/deleterange "$(key_of a)"
	[[ $output == *'"revision":"3","raft_term":"2"},"deleted":"1"}' ]]
	lacks a
}

@test "a txn is done or not" {
	fake etcd
	body='{"compare":[{"key":"YQ==","target":"CREATE","create_revision":"0"}],
		"success":[{"request_put":{"key":"YQ==","value":"MQ=="}}],
		"failure":[{"request_range":{"key":"YQ=="}}]}'
	run -0 ask etcd kv/txn "$body"
	[[ $output == *'"succeeded":true,"responses":[{"response_put":{"header":{"revision":"2"}}}]}' ]]
	run -0 ask etcd kv/txn "$body"
	[[ $output == *'"},"responses":[{"response_range":{"header":{"revision":"2"},"kvs":['* ]]
}

@test "what etcd refuses is refused" {
	fake etcd
	refused_with 400 'etcdserver: key is not provided' kv/range '{}'
	refused_with 404 'etcdserver: requested lease not found' kv/put '{"key":"YQ==","lease":"7"}'
	refused_with 400 'illegal base64 data at input byte 0' kv/range '{"key":"YQ"}'
	refused_with 400 'etcdserver: mvcc: required revision is a future revision' kv/range \
		'{"key":"YQ==","revision":"9"}'
	ask etcd lease/grant '{"TTL":"9","ID":"5"}'
	refused_with 412 'etcdserver: lease already exists' lease/grant '{"TTL":"9","ID":"5"}'
}

@test "a lease that ends takes its keys along" {
	fake etcd
	ask etcd lease/grant '{"TTL":"100","ID":"5"}'
	ask etcd kv/put '{"key":"YQ==","value":"MQ==","lease":"5"}'
	has a 1
	run -0 ask etcd lease/keepalive '{"ID":"5"}'
	[[ $output == *'"ID":"5","TTL":"100"}}' ]]
	ask etcd lease/revoke '{"ID":"5"}'
	lacks a
	run -0 ask etcd lease/keepalive '{"ID":"5"}'
	[[ $output == *'"ID":"5"}}' ]]
}

@test "a lease that nobody renews expires by itself" {
	fake etcd
	ask etcd lease/grant '{"TTL":"1","ID":"5"}'
	ask etcd kv/put '{"key":"YQ==","value":"MQ==","lease":"5"}'
	eventually lacks a
	# The log has the times of both.
	granted=$(awk '/ \/v3\/lease\/grant$/ { print $1 }' etcd.log)
	over=$(awk '/^[0-9]+ over 5$/ { print $1 }' etcd.log)
	((over - granted >= 1000))
}

@test "a watch tells of the past and of what comes" {
	fake etcd
	ask etcd kv/put "$(put_of a 1)"
	watch w '{"create_request":{"key":"YQ==","start_revision":"2"}}{"create_request":{"key":"YQ==","filters":["NOPUT"],"prev_kv":true}}'
	eventually has_lines 3 "$T/w.out"
	ask etcd kv/deleterange "$(key_of a)"
	eventually has_lines 5 "$T/w.out"
	says '"events":[{"kv":{"key":"YQ==","create_revision":"2"' "$T/w.out"
	says '"watch_id":"1","events":[{"type":"DELETE","kv":{"key":"YQ==","mod_revision":"3"},"prev_kv":{' "$T/w.out"
}

@test "a watch that begins before the compaction is canceled" {
	fake etcd
	ask etcd kv/put "$(put_of a 1)"
	ask etcd kv/put "$(put_of a 2)"
	ask etcd kv/compaction '{"revision":"3"}'
	watch w '{"create_request":{"key":"YQ==","start_revision":"2"}}'
	eventually says '"canceled":true,"compact_revision":"3"}}' "$T/w.out"
}

@test "of a watch's body is thrown away what was not read with the first request" {
	fake etcd
	one='{"create_request":{"key":"YQ=="}}'
	watch whole "$one$(printf '%479s' "$one")"
	eventually has_lines 2 "$T/whole.out"
	watch cut "$one$(printf '%480s' "$one")"
	# As long as it is: when this is done, a second answer would have been there before.
	eventually has_lines 1 "$T/cut.out"
	ask etcd kv/put "$(put_of a 1)"
	eventually says '"events"' "$T/cut.out"
	has_lines 2 "$T/cut.out"
	# The first request ends in the last chunk.
	watch padded "$(printf '%600s' "$one")$(printf '%900s' "$one")"
	eventually has_lines 2 "$T/padded.out"
}

@test "who is nobody, somebody else, or not allowed is told so" {
	fake etcd -u me:secret -d forbidden/
	refused_with 400 'etcdserver: user name is empty' kv/range "$(key_of a)"
	refused_with 400 'etcdserver: authentication failed, invalid user ID or password' \
		auth/authenticate '{"name":"me","password":"no"}'
	token=$(ask etcd auth/authenticate '{"name":"me","password":"secret"}' |
		sed 's/.*"token":"\([^"]*\)".*/\1/')
	ask etcd kv/put "$(put_of a 1)" -H "Authorization: $token"
	refused_with 403 'etcdserver: permission denied' kv/range "$(key_of forbidden/x)" \
		-H "Authorization: $token"
	tell etcd logout
	refused_with 401 'etcdserver: invalid auth token' kv/range "$(key_of a)" \
		-H "Authorization: $token"
}

@test "three thousand random transactions are answered as by the store in memory" {
	fake etcd
	"$STORE_TOOLS/records/differ-etcd" -n 3000 -s "$(date +%s)" "etcd://127.0.0.1:${ports[etcd]}"
}

@test "the proxy hands on what it gets" {
	fake etcd
	proxy net "${ports[etcd]}"
	ask net kv/put "$(put_of a 1)"
	run -0 ask net kv/range "$(key_of a)"
	[[ $output == *'"value":"MQ=="'* ]]
	[ "$(tell net count)" = 2 ]
}

@test "the proxy stops, goes on, refuses and resets" {
	fake etcd
	proxy net "${ports[etcd]}"
	tell net stop
	run -28 ask net kv/put "$(put_of a 1)" --max-time 0.2
	lacks a
	tell net go
	ask net kv/put "$(put_of b 2)"
	tell net refuse
	run -7 ask net kv/put "$(put_of c 3)"
	tell net go
	tell net oneway
	run -28 ask net kv/put "$(put_of c 3)" --max-time 0.2
	eventually has c 3
	tell net go
	background w curl -sS -N -d '{"create_request":{"key":"YQ=="}}' "http://127.0.0.1:${ports[net]}/v3/watch"
	eventually has_lines 1 "$T/w.out"
	tell net kill
	ended w
	[ "$status" = 56 ]
	tell net 'delay 100'
	before=$(date +%s%N)
	ask net kv/put "$(put_of a 1)"
	[ $((($(date +%s%N) - before) / 1000000)) -ge 200 ]
	tell net go
	tell net 'drip 2000'
	before=$(date +%s%N)
	ask net kv/put "$(put_of a 1)"
	[ $((($(date +%s%N) - before) / 1000000)) -ge 150 ]
}

@test "the proxy cuts where it is told" {
	fake etcd
	proxy net "${ports[etcd]}"
	tell net 'cut-before-reply 2'
	ask net kv/put "$(put_of a 1)"
	run -56 ask net kv/put "$(put_of b 2)"
	has b 2
	tell net 'cut-after-request /v3/kv/put'
	ask net kv/range "$(key_of a)"
	run -56 ask net kv/put "$(put_of c 3)"
	tell net 'cut-in-chunk'
	run -18 ask net kv/range "$(key_of a)"
	tell net 'cut-in-chunk 2 /v3/watch'
	background w curl -sS -N -d '{"create_request":{"key":"YQ=="}}' "http://127.0.0.1:${ports[net]}/v3/watch"
	eventually has_lines 1 "$T/w.out"
	ask net kv/put "$(put_of a 1)"
	ended w
	[ "$status" = 18 ]
	[[ $(tail -n 1 "$T/w.out") == '{"result":{"header":'* ]]
}
