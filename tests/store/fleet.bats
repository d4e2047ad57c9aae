#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Takers of a limiter in etcd, against a fake etcd that fails as it is told.
# shellcheck disable=SC2154 # what run sets; ports, pids

load ../helpers/lib.bash
load fake/fake.bash
load fleet.bash

@test "who comes first is granted first, one after the other" {
	fake etcd
	takers t 3 2
	makes t a b c
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED ticket=4'
	does t 'release a' 'expect b GRANTED' 'release b' 'expect c GRANTED' 'release c'
	ends t
	[ "$(tells t GRANTED QUEUED)" = 'a GRANTED b QUEUED c QUEUED b GRANTED c GRANTED' ]
	told t "b GRANTED ticket=3 weight=1 limit=1 seat=0 .*key=/x/lim/cfg//h/$(self b)"
	clean
}

@test "a heavy one at the head is not overtaken" {
	fake etcd
	takers t 3 2
	makes t a b c d
	does t 'enter a n=4 w=3' 'expect a GRANTED' 'enter b n=4 w=2' 'expect b QUEUED' \
		'enter c n=4 w=1' 'expect c QUEUED' 'enter d n=4 nowait' 'expect d REFUSED'
	told t 'd REFUSED .*code=-11'
	untold t 'c GRANTED'
	does t 'release a' 'expect c GRANTED'
	told t 'b GRANTED .* seat=0'
	told t 'c GRANTED .* seat=1'
	does t 'release b' 'release c'
	ends t
	[ "$(tells t GRANTED)" = 'a GRANTED b GRANTED c GRANTED' ]
	clean
}

@test "each limit is a promise to who declared it" {
	fake etcd
	takers t 3 2
	makes t a b c d e f
	does t 'enter a n=2' 'expect a GRANTED' 'enter b n=9 w=2 nowait' 'expect b REFUSED'
	does t 'enter c n=1 nowait' 'expect c REFUSED' 'enter d w=3' 'expect d REFUSED'
	told t 'd REFUSED .*code=-4110'
	does t 'enter e' 'expect e GRANTED' 'enter f n=5 queue=0' 'expect f REFUSED'
	told t 'e GRANTED .* limit=2 seat=1'
	told t 'f REFUSED .*code=-4112'
	does t 'release a' 'release e'
	ends t
	clean
}

# round: two takers, one after the other, whatever goes wrong.
round() {
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'release a' \
		'expect a RELEASED' 'expect b GRANTED' 'release b'
	ends t
	[ "$(tells t GRANTED QUEUED LOST REFUSED)" = 'a GRANTED b QUEUED b GRANTED' ] || {
		cat "$T/t.out" "$T/etcd.log"
		false
	}
	clean
	rm -f "$T/t.in" "$T/t.out"
	tell etcd clear
	tell etcd wipe
}

# each_call FAULT: it befalls one call after the other.
each_call() {
	local at
	fake etcd
	for at in '/v3/lease/grant' '/v3/lease/grant nth 2' '/v3/kv/txn with range:/x/lim/cfg' \
		"/v3/kv/txn with put:/x/lim/cfg//h/$(self a)" "/v3/kv/txn with put:/x/lim/cfg//w/$(self b)" \
		"/v3/kv/txn with delete:/x/lim/cfg//h/$(self a)" "/v3/kv/txn with put:/x/lim/cfg//h/$(self b)" \
		"/v3/kv/txn with delete:/x/lim/cfg//h/$(self b)" '/v3/lease/revoke' '/v3/watch' \
		'/v3/watch nth 2'; do
		echo "# $at $1"
		tell etcd "on $at $1"
		round
	done
}

@test "each call in turn is done and not answered" {
	each_call cut
}

@test "each call in turn is not done, and the connection ends" {
	each_call refuse
}

@test "each call in turn is done, and the answer never comes" {
	each_call swallow
}

@test "each call in turn is done when nobody waits for its answer any more" {
	each_call 'delay 900'
}

@test "each call in turn is answered with half an answer" {
	each_call cut-answer
}

@test "who gives up while its claim is not answered leaves nothing behind" {
	fake etcd
	local fault
	for fault in cut swallow 'delay 900' refuse; do
		tell etcd "on /v3/kv/txn with put:/x/lim/cfg//h/$(self a) $fault"
		: >etcd.log
		takers t 3 2
		makes t a
		does t 'enter a n=1'
		eventually grep -q "put:/x/lim/cfg//h/$(self a) .*!" etcd.log
		does t 'leave a' 'expect a LEFT'
		ends t
		[ "$fault" != 'delay 900' ] || eventually grep -q ' done /v3/kv/txn$' etcd.log
		eventually clean_or_empty
		rm -f "$T/t.in"
		tell etcd clear
		tell etcd wipe
	done
}

clean_or_empty() {
	keys >"$T/keys"
	! grep -vxF /x/lim/cfg "$T/keys"
}

@test "a lease that ends wrongly costs neither the permit nor a second holder" {
	fake etcd
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	tell etcd 'expire 1'
	told t 'a NOTE .*kept'
	told t 'a RENEWED ticket=2'
	eventually lacks_key "/x/lim/cfg//s/$(self a)"
	has_key "/x/lim/cfg//l/$(self a)"
	does t 'sleep 2500'
	does t 'release a' 'expect b GRANTED' 'release b'
	ends t
	untold t 'a LOST'
	[ "$(tells t GRANTED RELEASED)" = 'a GRANTED a RELEASED b GRANTED b RELEASED' ]
	clean
}

@test "a keepalive that says nothing of time means that the lease is gone" {
	fake etcd
	tell etcd 'on /v3/lease/keepalive answer 200 {"result":{"header":{"revision":"2"},"ID":"1"}}'
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a NOTE .*kept'
	does t 'wait a RENEWED' 'release a'
	ends t
	clean
}

@test "a lost place is taken anew, at the end, and that is said" {
	fake etcd
	takers t 3 2
	makes t a b c
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	tell etcd 'expire 2'
	told t 'b NOTE .*place'
	told t 'b QUEUED ticket=[5-9]'
	does t 'release a' 'expect c GRANTED' 'release c' 'expect b GRANTED' 'release b'
	ends t
	[ "$(tells t GRANTED)" = 'a GRANTED c GRANTED b GRANTED' ]
	clean
}

@test "the dead one's permit comes back when its grace is over, not before" {
	fake etcd
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'free a' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	tell etcd 'expire 1'
	told t 'b GRANTED'
	(($(when "delete:/x/lim/cfg//h/$(self a)") - $(when "put:/x/lim/cfg//s/$(self a)") >= 2000))
	does t 'release b'
	ends t
	eventually lacks_key "/x/lim/cfg//h/$(self a)"
	lacks_key "/x/lim/cfg//s/$(self a)"
	clean
}

@test "one who is not dead keeps what is marked, and is lost when it was given on" {
	fake etcd
	takers held 30 2
	makes held a
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	tell etcd 'on /v3/watch always hang'
	takers t 3 2
	makes t b
	kill -STOP "${pids[held]}"
	tell etcd clear
	does t 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	tell etcd 'expire 1'
	told t 'b GRANTED'
	kill -CONT "${pids[held]}"
	told held 'a LOST .*passed to another'
	does t 'release b'
	ends t
	ends held
	clean
}

@test "a permit that must not be given on is not" {
	fake etcd
	takers held 3 1 manual
	makes held a
	does held 'enter a n=1' 'expect a GRANTED' 'free a' quit
	told held 'a GRANTED'
	ended held
	tell etcd 'expire 1'
	takers t 3 1
	makes t b c
	does t 'enter b n=1' 'expect b QUEUED' 'sleep 2500' 'enter c n=1 nowait' 'expect c REFUSED'
	told t 'c REFUSED'
	untold t 'b GRANTED'
	lacks_key "/x/lim/cfg//s/$(self a)"
	has_key "/x/lim/cfg//h/$(self a)"
	ask etcd kv/deleterange "$(key_of "/x/lim/cfg//h/$(self a)")"
	told t 'b GRANTED'
	does t 'release b'
	ends t
	clean
}

# grace_over LETTER: the lease of its t/ was put, and has come to its end; it is in $lease.
grace_over() {
	local put
	put="put:/x/lim/cfg//t/$(self "$1") lease:[0-9]+\$"
	asked "$put"
	lease=$(grep -oE "$put" etcd.log)
	lease=${lease##*:}
	asked " over $lease\$"
}

@test "who never waits brings permits back as well" {
	fake etcd
	takers t 3 1
	makes t a b c d
	does t 'enter a n=1' 'expect a GRANTED' 'free a'
	told t 'a GRANTED'
	tell etcd 'expire 1'
	does t 'enter b n=1 nowait' 'expect b REFUSED' 'enter c n=1 nowait' 'expect c REFUSED'
	told t 'c REFUSED .*code=-11'
	grace_over a
	does t 'enter d n=1 nowait' 'expect d GRANTED' 'release d'
	ends t
	[ "$(tells t GRANTED)" = 'a GRANTED d GRANTED' ]
	clean
}

@test "a mark that comes late leaves all of the grace" {
	fake etcd
	takers t 30 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'free a'
	told t 'a GRANTED'
	tell etcd 'expire 1'
	tell etcd "on /v3/kv/txn with put:/x/lim/cfg//s/$(self a) delay 2500"
	does t 'enter b n=1 nowait'
	grace_over a
	(($(when "over $lease\$") - $(when 'done /v3/kv/txn') >= 2000))
	does t 'expect b REFUSED'
	ends t
}

@test "who marked and went no further leaves the rest to the next" {
	fake etcd
	takers t 3 1
	makes t a b c d
	does t 'enter a n=1' 'expect a GRANTED' 'free a'
	told t 'a GRANTED'
	tell etcd 'expire 1'
	tell etcd "on /v3/kv/txn with put:/x/lim/cfg//t/$(self a) refuse"
	does t 'enter b n=1 nowait' 'expect b REFUSED'
	eventually has_key "/x/lim/cfg//s/$(self a)"
	does t 'enter c n=1 nowait' 'expect c REFUSED'
	grace_over a
	does t 'enter d n=1 nowait' 'expect d GRANTED' 'release d'
	ends t
	clean
}

# has_renewed LABEL LETTER N: it was told so as often, or more.
has_renewed() {
	[ "$(grep -cE "^[0-9.]+ $2 RENEWED" "$T/$1.out")" -ge "$3" ]
}

# lease_of KEY
lease_of() {
	ask etcd kv/range "$(key_of "$1")" | grep -o '"lease":"[0-9]*"'
}

@test "an attachment that comes late does not undo a later one" {
	fake etcd
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	tell etcd "on /v3/kv/txn with put:/x/lim/cfg//l/$(self a) hold"
	tell etcd 'expire 1'
	asked "put:/x/lim/cfg//l/$(self a).* !hold"
	does t 'free a'
	ends t
	takers u 3 2
	makes u a
	does u 'adopt a held n=1' 'expect a GRANTED'
	told u 'a GRANTED'
	was=$(lease_of "/x/lim/cfg//l/$(self a)")
	tell etcd release
	asked ' done /v3/kv/txn$'
	eventually has_renewed u a 3
	[ "$(lease_of "/x/lim/cfg//l/$(self a)")" = "$was" ]
	does u 'release a'
	ends u
	clean
}

# steer JSON: how the limiter is steered.
steer() {
	ask etcd kv/put "$(put_of /x/lim/cfg "$1")"
}

@test "a closed limiter sends waiters away, and newcomers" {
	fake etcd
	takers t 3 2
	makes t a b c d
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	steer '{"v":2,"declared":1,"closed":true}'
	told t 'b REFUSED .*code=-4111'
	told t 'c REFUSED .*code=-4111'
	does t 'enter d n=1' 'expect d REFUSED' 'release a'
	ends t
	told t 'd REFUSED .*code=-4111'
	clean
}

@test "a paused one starts nothing; an override is looked at at once" {
	fake etcd
	steer '{"v":2,"declared":1,"paused":true}'
	takers t 3 2
	makes t a b c
	does t 'enter a n=1' 'expect a QUEUED' 'enter b n=2' 'expect b QUEUED' 'enter c n=2 w=2' 'expect c QUEUED'
	told t 'c QUEUED'
	untold t 'a GRANTED'
	steer '{"v":2,"declared":1}'
	told t 'a GRANTED'
	untold t 'b GRANTED'
	steer '{"v":2,"declared":1,"override":2}'
	told t 'b GRANTED .* limit=2'
	steer '{"v":2,"declared":1,"override":1}'
	does t 'release a' 'release b' 'expect c GRANTED' 'release c'
	ends t
	told t 'c GRANTED .* weight=2 limit=1'
	clean
}

@test "an evicted waiter is told by whom" {
	fake etcd
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	ask etcd kv/txn "{\"success\":[
		{\"request_delete_range\":$(key_of "/x/lim/cfg//w/$(self b)")},
		{\"request_put\":{\"key\":\"$(b64 "/x/lim/cfg//e/$(self b)")\",\"lease\":\"2\",
			\"value\":\"$(b64 '{"v":1,"pid":77,"uid":5,"host":"desk"}')\"}}]}"
	told t 'b REFUSED .*code=-4114 by=77 host=desk'
	does t 'release a'
	ends t
	clean
}

@test "a permit that an operator took back is lost at once" {
	fake etcd
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	ask etcd kv/txn "{\"success\":[
		{\"request_delete_range\":$(key_of "/x/lim/cfg//h/$(self a)")},
		{\"request_put\":{\"key\":\"$(b64 "/x/lim/cfg//e/$(self a)")\",\"lease\":\"1\",
			\"value\":\"$(b64 '{"v":1,"pid":77,"uid":5,"host":"desk"}')\"}}]}"
	told t "a LOST .*by=77 host=desk .*operator .*user $(id -nu 5 2>/dev/null || echo 5), pid 77 on desk"
	ends t
	clean
}

# gone KEY...: deleted in one txn, as by hand.
gone() {
	local key ops=()
	for key; do
		ops+=("{\"request_delete_range\":$(key_of "$key")}")
	done
	ask etcd kv/txn "{\"success\":[$(IFS=,; echo "${ops[*]}")]}"
}

@test "a permit whose record was deleted is lost for that, and not for silence" {
	fake etcd
	takers t 30 60
	makes t a b
	does t 'enter a n=2' 'expect a GRANTED' 'enter b n=2' 'expect b GRANTED'
	told t 'b GRANTED'
	gone "/x/lim/cfg//h/$(self a)"
	told t 'a LOST .*record is gone from the store'
	gone "/x/lim/cfg//h/$(self b)" "/x/lim/cfg//l/$(self b)"
	told t 'b LOST .*record is gone from the store'
	untold t '. LOST .*heard nothing'
	ends t
}

@test "a permit that was given on while its keeper was stopped is lost for silence, whatever is heard first" {
	fake etcd
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	kill -STOP "${pids[t]}"
	eventually is_state T "${pids[t]}"
	sleep 2.2
	# What it is told of first is that its lease is gone: then it asks for another.
	gone "/x/lim/cfg//l/$(self a)"
	tell etcd 'on /v3/watch always hang'
	gone "/x/lim/cfg//h/$(self a)"
	kill -CONT "${pids[t]}"
	told t 'a LOST .*heard nothing for ([2-9]|[1-9][0-9]+)[.]'
	ends t
}

@test "a permit that an older backup does not have is lost for that" {
	fake etcd
	takers t 9 7
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	tell etcd wipe
	told t 'a LOST .*older backup'
	ends t
}

@test "a permit that was gone when another keeper took over is lost without a time of silence" {
	fake etcd
	takers t 60 7
	makes t a
	does t 'enter a n=1' 'expect a GRANTED' 'free a' quit
	ended t
	# The new one finds the permit, and it is deleted before it has shown that it lives.
	tell etcd 'on /v3/lease/keepalive always hang'
	takers u 60 7
	makes u a
	does u 'adopt a held n=1'
	asked '/v3/lease/keepalive .*!hang'
	gone "/x/lim/cfg//h/$(self a)" "/x/lim/cfg//l/$(self a)"
	told u 'a LOST .*while no keeper renewed it'
	ends u
}

@test "a lease that an operator revoked is told of, and the permit is kept on another" {
	fake etcd
	takers t 9 7
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	ask etcd lease/revoke '{"ID":"1"}' --fail
	told t 'a NOTE .*lease was revoked.*kept'
	does t 'release a'
	ends t
	clean
}

# Each range of the holder's watch has its own line of events, and they come in any order.
@test "an operator who took it back is named, also if l/ is heard of first" {
	fake etcd
	takers t 9 7
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	tell etcd 'on /v3/kv/txn always with range:/x/lim/cfg//h/ delay 5000'
	ask etcd kv/txn "{\"success\":[
		{\"request_delete_range\":$(key_of "/x/lim/cfg//l/$(self a)")},
		{\"request_put\":{\"key\":\"$(b64 "/x/lim/cfg//e/$(self a)")\",\"lease\":\"1\",
			\"value\":\"$(b64 '{"v":1,"pid":77,"uid":5,"host":"desk"}')\"}}]}"
	# It has looked, or has given up its lease.
	eventually grep -qE '/v3/lease/(keepalive|revoke)' etcd.log
	ask etcd kv/deleterange "$(key_of "/x/lim/cfg//h/$(self a)")"
	told t 'a LOST .*by=77 host=desk .*operator'
	ends t
	clean
}

@test "another keeper goes on with what there is" {
	fake etcd
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'free a' 'free b' quit
	told t 'b QUEUED'
	ended t
	takers u 3 2
	makes u a b c d
	does u 'adopt a held n=1' 'adopt b n=1' 'adopt c n=1' 'adopt d held n=1'
	told u 'a GRANTED ticket=2'
	told u 'b QUEUED ticket=3'
	told u 'c REFUSED .*code=-4116'
	told u 'd LOST .*while no keeper renewed it'
	does u 'release a' 'expect b GRANTED' 'release b'
	ends u
	clean
}

@test "what was compacted away is looked up" {
	fake etcd
	takers t 3 2
	makes t a b c
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	tell etcd 'kill watches'
	tell etcd compact
	does t 'release a' 'expect b GRANTED' 'release b' 'expect c GRANTED'
	told t 'c GRANTED'
	tell etcd 'kill watches'
	tell etcd compact
	does t 'wait c RENEWED' 'release c'
	ends t
	[ "$(tells t GRANTED)" = 'a GRANTED b GRANTED c GRANTED' ]
	clean
}

@test "while the store is away nothing is lost, and it is said" {
	fake etcd
	takers t 9 7
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	tell etcd pause
	does t 'release a'
	told t 'a AWAY'
	tell etcd resume
	told t 'a RELEASED'
	does t 'expect b GRANTED' 'release b'
	ends t
	clean
}

@test "what has no rights says which, and what makes no sense where" {
	fake etcd -d /x/lim/cfg//h
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a REFUSED'
	ends t
	told t 'a REFUSED .*code=-4352 .*readwrite on all keys that begin with /x/ '
	tell etcd deny
	steer '{"v":3}'
	takers u 3 2
	makes u a
	does u 'enter a n=1' 'expect a REFUSED'
	ends u
	told u 'a REFUSED .*code=-4352 .*/x/lim/cfg'
}

@test "the proxy knows the calls that go through it, and cuts the one that it is told" {
	fake etcd
	proxy net "${ports[etcd]}"
	export URL="etcd://127.0.0.1:${ports[net]}/x"
	tell net 'cut-before-reply 2'
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED' 'release a'
	ends t
	[ "$(tell net accepted)" -ge 2 ]
	[ "$(tell net count)" -ge 5 ]
	clean
}

@test "who waits costs nothing, and who is granted what it costs alone" {
	local n
	fake etcd
	takers t 60 2
	for n in $(seq 0 50); do
		does t "new t$n" "enter t$n n=1" "sleep 1"
		does t "expect t$n $([ "$n" = 0 ] && echo GRANTED || echo QUEUED)"
	done
	told t 't50 QUEUED'
	tell etcd count >"$T/before"
	for n in $(seq 0 49); do
		does t "release t$n" "expect t$((n + 1)) GRANTED"
	done
	told t 't50 GRANTED'
	tell etcd count >"$T/after"
	# Each: release, revoke, a look or two, a watch, the grant, and the watch of the holder.
	calls=$(($(cat "$T/after") - $(cat "$T/before")))
	echo "$calls calls for 50 grants"
	((calls <= 50 * 8))
	does t 'release t50'
	ends t
	clean
}

@test "--jobserver asks no more than happens" {
	fake etcd
	printf 'all: a b c\na b c:\n\t@sleep 0.7\n' >Makefile
	run -0 timeout 300 "$FLOCKLIMIT" --store "etcd://127.0.0.1:${ports[etcd]}/x" -N lim -n 3 --jobserver make -s
	[ "$(grep -c /v3/kv/txn etcd.log)" -lt 60 ]
	# Nor when what happens can't be followed.
	tell etcd 'on /v3/watch always answer 403 {"error":"etcdserver: permission denied","message":"etcdserver: permission denied","code":7}'
	run -0 timeout 300 "$FLOCKLIMIT" --store "etcd://127.0.0.1:${ports[etcd]}/x" -N lim -n 3 --jobserver make -s
	[ "$(grep -c /v3/kv/txn etcd.log)" -lt 120 ]
}
