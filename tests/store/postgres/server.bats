#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2153,SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Limiters in a real PostgreSQL: the engine's cases, the contract's, the commands, and a server that is
# killed, stopped or cut off.

load ../../helpers/lib.bash
load ../etcd/store.bash
load ../fake/fake.bash
load postgres.bash

setup_file() {
	need_postgres
	a_store
}
teardown_file() { end_servers; }

eval "lib_$(declare -f teardown)"
teardown() {
	lib_teardown
	[ -z "${OWN-}" ] || end_servers
}

@test "the cases of every engine" {
	cat >compact <<-END
		#!/bin/sh
		exec psql -XqAt -h '$SERVERS' -p $(cat "$SERVERS/one.port") -U postgres -d fl -c "SELECT flocklimit.forget(\$1)"
	END
	chmod +x compact
	run "$TESTS_BUILD/store/postgres/records" "$STORE" ./compact
	echo "$output" | grep -v '^ok'
	[ "$status" -eq 0 ]
}

@test "the cases of flocklimit.h" {
	# The URL of that program has a path at its end.
	POSTGRES_URL=postgres://fl@$ADDRESS run "$TESTS_BUILD/store/postgres/contract"
	echo "$output" | grep -v '^ok'
	[ "$status" -eq 0 ]
}

@test "the commands: a status, a list, and nothing is left" {
	run -7 "$FLOCKLIMIT" -N x -n 2 sh -c 'exit 7'
	run -0 "$MAP" -N x -n 2 echo ::: a
	[ "$output" = a ]
	run -0 ctl list
	[[ $output == *x*0/2* ]]
	spotless
	eventually no_leases
}
no_leases() { [ "$(sql "SELECT count(*) FROM flocklimit.leases" fl)" = 0 ]; }

@test "what is wrong is said, and not waited for" {
	use_store "" other
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *"GRANT flocklimit TO"* ]]
	use_store "" nobody
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	FLOCKLIMIT_STORE="postgres://fl@$ADDRESS/x?database=postgres"
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *"is not set up"* ]]
	run --separate-stderr -125 "$FLOCKLIMIT" --store "postgres://fl@$ADDRESS/x?nonsense=1" -N x -n 1 true
	one_line
}

# as USER DATABASE: the store is that database, by that user.
as() {
	FLOCKLIMIT_STORE="postgres://$1@$ADDRESS/x?database=$2"
	export FLOCKLIMIT_STORE
}

@test "setup prints SQL, and with --apply runs it; again, it changes nothing" {
	sql "CREATE DATABASE printed"
	sql "CREATE DATABASE applied"
	as fl printed
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *"flocklimitctl --store URL setup --apply"* ]]
	"$CTL" setup >setup.sql
	psql -Xq -v ON_ERROR_STOP=1 -h "$SERVERS" -p "$(cat "$SERVERS/one.port")" -U postgres -d printed \
		-f setup.sql
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	as other applied
	run --separate-stderr -125 "$CTL" setup --apply
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"permission denied"*"an administrator"* ]]
	as postgres applied
	run --separate-stderr -0 "$CTL" setup --apply
	[ -z "$output$stderr" ]
	as fl applied
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	before=$(sql "SELECT revision FROM flocklimit.state" applied)
	as postgres applied
	run -0 "$CTL" setup --apply
	[ "$(sql "SELECT revision FROM flocklimit.state" applied)" = "$before" ]
}

@test "a taker's role may call the functions, and read or write no table" {
	local table
	for table in state turn leases records log watchers; do
		run ! psql -XqAt -h "$SERVERS" -p "$(cat "$SERVERS/one.port")" -U fl -d fl \
			-c "SELECT FROM flocklimit.$table"
		[[ $output == *"permission denied"* ]]
	done
	run ! psql -XqAt -h "$SERVERS" -p "$(cat "$SERVERS/one.port")" -U fl -d fl -c "SELECT flocklimit.forget(9)"
	[[ $output == *"permission denied"* ]]
}

@test "a role without rights can't notify a waiter of a permit" {
	local held place
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'echo >up; exec sleep 60'
	eventually test -s up
	background b "$FLOCKLIMIT" -N x -n 1 touch ran
	eventually in_line 1
	held=$(sql "SELECT encode(value, 'hex') FROM flocklimit.records WHERE convert_from(key, 'UTF8') LIKE '%//h/%'" fl)
	place=$(sql "SELECT encode(convert_to(replace(convert_from(key, 'UTF8'), '//w/', '//h/'), 'UTF8'), 'hex')
		FROM flocklimit.records WHERE convert_from(key, 'UTF8') LIKE '%//w/%'" fl)
	sql "CREATE ROLE stranger LOGIN"
	run ! sql "SELECT client FROM flocklimit.watchers" fl stranger
	sql "SELECT pg_notify('flocklimit:' || pid, s.n || ' 0 ' || s.n || ' 0 $place $held')
		FROM pg_stat_activity, (SELECT 1000000 AS n) s WHERE usename = 'fl'" fl stranger
	# It has heard of that before it hears of this.
	"$CTL" cancel x "$("$CTL" show --json x | jq '.waiters[0].ticket')"
	ended b
	[ "$status" = 75 ]
	[ ! -e ran ]
	kill "${pids[a]}"
	ended a
}

@test "a password from a file, also one that is changed" {
	(umask 077 && echo right >password && echo wrong >other)
	use_store "&password-file=$T/other" secret
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *"user or password is wrong"* ]]
	use_store "&password-file=$T/password" secret
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	run ! grep -raF right /proc/self/environ
}

@test "a socket in a directory, and a name" {
	local port=${ADDRESS##*:} url
	for url in "fl@${SERVERS//\//%2F}:$port/x?database=fl" "fl@/x?database=fl&host=$SERVERS&port=$port" \
		"fl@localhost:$port/x?database=fl"; do
		FLOCKLIMIT_STORE="postgres://$url" run --separate-stderr -7 "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 7'
		[ -z "$stderr" ]
	done
	FLOCKLIMIT_STORE="postgres:///x?host=$T" run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 0.3 true
	one_line
	[[ $stderr == *"$T:5432: "* ]]
	FLOCKLIMIT_STORE="postgres://h/x?host=$T" run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
}

# by_pooler BACKENDS: the store's URL leads to a pooler.
by_pooler() {
	"$TESTS_SOURCE/store/postgres/pooler" "${ADDRESS##*:}" "$1" >port 3>&- &
	pids[pooler]=$!
	eventually has_lines 1 port
	FLOCKLIMIT_STORE="postgres://fl@127.0.0.1:$(cat port)/x?database=fl"
	export FLOCKLIMIT_STORE
}

@test "a pooler that changes the backend between transactions is refused" {
	by_pooler 2
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *"a pooler is between"* ]]
}

@test "a pooler that lends a backend to one client after another is refused" {
	by_pooler 1
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *"a pooler is between"* ]]
}

@test "killed, and begun again at once: nothing happens" {
	own 12
	line_of 2
	end_server one
	launch one
	survives
}

@test "stopped for less than the time to live: nothing happens" {
	own 6
	line_of 2
	freeze one
	until_clock $((gone + TTL * 500))
	thaw one
	survives
}

@test "stopped for longer than a command may run on: it is ended, and the line is kept" {
	own 2
	line_of 2
	freeze one
	ends
	not_begun w1
	until_clock $((gone + RECLAIM + 500))
	thaw one
	in_order
}

@test "killed, and begun again too late: the command is ended, and the line is kept" {
	own 4
	line_of 2
	end_server one
	ends
	until_clock $((gone + RECLAIM + 500))
	launch one
	in_order
}

@test "all its data lost: the holder is told, and the others queue anew" {
	own 4
	line_of 2
	end_server one
	rm -rf "$SERVERS/one"
	one_server
	over a
	[ "$status" -eq 76 ]
	all_run w1 w2
	spotless
}

@test "not there when they come: they retry, and say so; with -t: 75" {
	own 6
	watched
	end_server one
	taker a 0 -n 1
	eventually has_lines 1 a.err
	says "$ADDRESS: Connection refused" a.err
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 0.3 true
	one_line
	launch one
	over a
	[ "$status" -eq 0 ]
	spotless
}

@test "one server process is killed: all of them end, and nothing happens" {
	own 12
	line_of 2
	kill -KILL "$(sql "SELECT min(pid) FROM pg_stat_activity WHERE application_name = 'flocklimit'" fl)"
	eventually health one
	survives
}

@test "the server ends all connections: nothing happens" {
	times 12
	line_of 2
	sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'flocklimit'" fl
	survives
}

@test "a holder cut off by a black hole: ended in time, and the next runs then" {
	local b
	times 2
	watched
	proxy hole "${ADDRESS##*:}"
	FLOCKLIMIT_STORE="postgres://fl@127.0.0.1:${ports[hole]}$(prefix)?database=fl" holder a -n 1
	mkfifo b.go
	taker b b.go -n 1
	eventually queued 1
	tell hole stop
	gone=$(the_clock)
	ends
	eventually begun b
	b=$(($(began b) - gone))
	measured "the next ran after $b ms"
	[ "$b" -ge $((RECLAIM - 1000)) ]
	[ "$b" -le "$LATEST" ]
	release b
	over b
	[ "$status" -eq 0 ]
	judged -n 1
}

@test "a waiter is killed with its keeper: its lease ends, and those behind it run" {
	times 2
	line_of 2
	# Before it is released, only a lease that ends wakes w2.
	kill -KILL "$(keeper_of w1)" "${pids[w1]}"
	over w1 || :
	eventually queued 1
	measured "its place was taken back after $(($(the_clock) - gone)) ms"
	[ "$(($(the_clock) - gone))" -le $((LATEST + 2000)) ]
	release a
	over a
	over w2
	[ "$status" -eq 0 ]
	not_begun w1
	judged -n 1
	spotless
}

@test "the keeper is stopped: its lease ends, and the next runs after the command" {
	times 2
	keeper_stops
	spotless
}

@test "a standby is not used, and its promotion is followed" {
	own 12
	standby two
	ADDRESS=$(address_of two)
	use_store
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 0.3 true
	one_line
	ADDRESS=$ADDRESS,$(address_of one)
	use_store
	line_of 2
	in_step two
	end_server one
	promote two
	survives
}

@test "a standby that lacks the last permits: their holders register again before anything is granted" {
	local promoted
	own 8
	standby two
	ADDRESS=$(address_of one),$(address_of two)
	use_store
	watched
	holder a -n 2
	in_step two
	cut_off two
	holder b -n 2
	line_up 1 c -n 2
	end_server one
	promoted=$(the_clock)
	promote two
	eventually says "registered there again" b.err
	eventually queued 1
	holders 2
	release a
	over a
	[ "$status" -eq 0 ]
	over c
	[ "$status" -eq 0 ]
	measured "the next ran after $(($(began c) - promoted)) ms"
	[ "$(($(began c) - promoted))" -ge "$RECLAIM" ]
	release b
	over b
	[ "$status" -eq 0 ]
	judged -n 2
	spotless
}

@test "restored from a dump while some hold and wait: the holder registers again" {
	own 8
	pg_dump -h "$SERVERS" -p "$(cat "$SERVERS/one.port")" -U postgres fl >dump.sql
	line_of 2
	# Of it and a keeper's transaction the server may end either, as they lock in different orders.
	eventually sql "DROP SCHEMA flocklimit CASCADE" fl
	psql -Xq -v ON_ERROR_STOP=1 -h "$SERVERS" -p "$(cat "$SERVERS/one.port")" -U postgres -d fl -f dump.sql
	eventually says "registered there again" a.err
	# In which order they came again, nobody knows.
	eventually queued 2
	release a
	all_run a w1 w2
	judged -n 1
	spotless
}

@test "a permit deleted by hand: its holder is told, and the next runs" {
	times 6
	line_of 2
	sql "SELECT flocklimit.txn(0, '{6}', ARRAY[key], ARRAY[key || '\\x00'::bytea], '{0}', '{NULL}')
		FROM flocklimit.records WHERE convert_from(key, 'UTF8') LIKE '$(prefix)/x/cfg//h/%'" fl
	over a
	[ "$status" -eq 76 ]
	says "somebody deleted it" a.err
	all_run w1 w2
	spotless
}
