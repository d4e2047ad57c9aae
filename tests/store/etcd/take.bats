#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Permits of a real etcd: the same words as for a limiter of this machine do the same.

load ../../helpers/lib.bash
load store.bash

# Nothing here waits for a lease to end, and none is to end because a busy machine stands still.
times 20

setup_file() { a_store; }
teardown_file() { end_servers; }

value_of() { etcd_do get "$1" -w json | jq -r '.kvs[0].value' | base64 -d; }
created() { etcd_do get "$1" -w json | jq -r '.kvs[0].create_revision'; }

@test "a command runs, its status is passed on, and nothing is left of it" {
	run -0 "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	silent 7 "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 7'
	run -0 "$FLOCKLIMIT" -N x -n 1 cat <<<"what it reads"
	[ "$output" = "what it reads" ]
	spotless
	# Nor does anything stay open that was only its.
	eventually no_leases
}
no_leases() { [ "$(etcd_do lease list | tail -n +2 | grep -c .)" = 0 ]; }

@test "the limiter by --store, without any in the environment" {
	unset FLOCKLIMIT_STORE
	run -0 "$FLOCKLIMIT" --store "$STORE" -N x -n 1 sh -c 'echo "$FLOCKLIMIT_STORE"'
	[ "$output" = "$STORE" ]
}

@test "what a command is told, and that its key is the permit" {
	local key ticket
	run -0 "$FLOCKLIMIT" -N x -n 3 -w 2 env
	[[ $output == *FLOCKLIMIT_LIMITER="${FLOCKLIMIT_STORE%%\?*}/x"* ]]
	[[ $output == *FLOCKLIMIT_WEIGHT=2* ]]
	[[ $output == *FLOCKLIMIT_LIMIT=3* ]]
	[[ $output == *FLOCKLIMIT_SEAT=0* ]]
	hold a -N x -n 3
	key=$(tr '\0' '\n' <"/proc/$(up a)/environ" | sed -n 's/^FLOCKLIMIT_STORE_KEY=//p')
	ticket=$(tr '\0' '\n' <"/proc/$(up a)/environ" | sed -n 's/^FLOCKLIMIT_TICKET=//p')
	[[ $key == "$(prefix)/x/cfg//h/"* ]]
	[ "$(created "$key")" = "$ticket" ]
	[ "$(value_of "$key" | cut -d " " -f 2)" = 1 ]
	let_go a
	ended a
	[ "$status" -eq 0 ]
	spotless
}

# counted METRIC: its value for x.
counted() {
	ctl stats x | sed -n "s/^flocklimit_$1{limiter=\"x\"} //p"
}

@test "what happened is remembered, and counted: at most one key for a run, and one for a seat" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 true
	eventually queued 1
	let_go a
	ended b
	[ "$(ctl log --json x | jq -r .event | xargs)" = "granted queued ended granted ended" ]
	[ "$(ctl log --json x | jq -r .host | sort -u)" = "$(uname -n)" ]
	[ "$(keys m) $(keys n) $(counted released_total) $(counted wait_seconds_count)" = "2 1 2 2" ]
	for _ in 1 2 3; do
		"$FLOCKLIMIT" -N x -n 1 true
	done
	[ "$(keys m) $(keys n) $(counted released_total) $(counted hold_seconds_count)" = "5 1 5 5" ]
	run -0 ctl gantt --text x
	[[ $output == "x: 5 tickets "* ]]
	ctl rm x
	[ "$(etcd_do get --prefix "$(prefix)/" --keys-only | grep -c .)" = 0 ]
}

@test "one after the other, in the order in which they came" {
	local i
	watched
	holder a -n 1
	for i in 1 2 3 4 5 6; do
		line_up "$i" "w$i" -n 1
	done
	release a
	for i in a w1 w2 w3 w4 w5 w6; do
		over "$i"
		[ "$status" -eq 0 ]
	done
	judged -n 1
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a w1 w2 w3 w4 w5 w6 " ]
	spotless
}

@test "many of all weights at once: never over the limit" {
	local i
	watched
	for i in {1..24}; do
		taker "t$i" "0.0$((RANDOM % 9))" -n 5 -w $((1 + RANDOM % 5))
	done
	for i in {1..24}; do
		over "t$i"
		[ "$status" -eq 0 ]
	done
	judged -n 5 -o 1000
	[ "$(grep -c ^BEGIN "$LOG")" = 24 ]
	spotless
}

@test "a heavy one at the head is not overtaken by a light one" {
	watched
	holder a -n 3 -w 2
	line_up 1 heavy -n 3 -w 3
	line_up 2 light -n 3
	run -75 "$FLOCKLIMIT" -N x -n 3 --nonblock true
	release a
	over a
	over heavy
	over light
	judged -n 3
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a heavy light " ]
	spotless
}

@test "-t, --nonblock, --max-queue: 75 with one line, and the place is given up" {
	watched
	holder a -n 1
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 0.2 true
	one_line
	[[ $stderr == *"x: no permit after 0.2 s"* || $stderr == *"x: no permit after 200 ms"* ]]
	eventually queued 0
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	one_line
	run -9 "$FLOCKLIMIT" -N x -n 1 -E 9 --nonblock true
	line_up 1 b -n 1
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 --max-queue 1 true
	one_line
	line_up 2 c -n 1 --max-queue 2
	release a
	over a
	over b
	over c
	[ "$status" -eq 0 ]
	judged -n 1
	spotless
}

@test "too heavy for its own limit: 125; without -n, what was declared" {
	refused "$FLOCKLIMIT" -N x -n 2 -w 3 true
	run -0 "$FLOCKLIMIT" -N x -n 4 true
	run -0 "$FLOCKLIMIT" -N x sh -c 'echo "$FLOCKLIMIT_LIMIT"'
	[ "$output" = 4 ]
	run -0 "$FLOCKLIMIT" -N x -n 2 sh -c 'echo "$FLOCKLIMIT_LIMIT"'
	[ "$output" = 2 ]
	spotless
}

@test "each holder's own limit binds while it runs" {
	watched
	holder a -n 3
	holder b -n 2
	run -75 "$FLOCKLIMIT" -N x -n 3 --nonblock true
	release b
	over b
	run -0 "$FLOCKLIMIT" -N x -n 3 --nonblock true
	release a
	over a
	judged -n 3
	spotless
}

@test "under a permit, another of the same: at once, or queued" {
	run -0 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x -n 1 echo inside
	[ "$output" = inside ]
	run -75 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x -n 1 --nested=queue --nonblock true
	run -0 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N y -n 1 echo other
	[ "$output" = other ]
	# A URL without a path names the same limiter as the URL with the default path.
	run -0 env FLOCKLIMIT_STORE="etcd://$ADDRESS" "$FLOCKLIMIT" -N paths -n 1 \
		env FLOCKLIMIT_STORE="etcd://$ADDRESS/flocklimit" "$FLOCKLIMIT" -N paths -n 1 --nonblock echo inside
	[ "$output" = inside ]
	run -0 env FLOCKLIMIT_STORE="etcd://$ADDRESS/flocklimit/" "$FLOCKLIMIT" -N paths -n 1 \
		env FLOCKLIMIT_STORE="etcd://$ADDRESS" "$FLOCKLIMIT" -N paths -n 1 --nonblock echo inside
	[ "$output" = inside ]
	# A permit that is gone is none: what says so in the environment may be old.
	run -0 "$FLOCKLIMIT" -N x -n 1 sh -c 'echo "$FLOCKLIMIT_HELD"'
	hold a -N x -n 1
	FLOCKLIMIT_HELD=$output run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	let_go a
	ended a
	spotless
}

@test "--hold-for: until that process has ended" {
	background a sleep 100
	run -0 "$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[a]}"
	[[ $output =~ ^[0-9]+$ ]]
	holders 1
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	kill "${pids[a]}"
	ended a
	run -0 "$FLOCKLIMIT" -N x -n 1 -t 5 true
	spotless
}

@test "--no-fork: the command is the process, and holds until it has ended" {
	background a "$FLOCKLIMIT" -N x -n 1 -F sh -c 'echo $$; exec sleep 100'
	eventually test -s a.out
	[ "$(cat a.out)" = "${pids[a]}" ]
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	kill "${pids[a]}"
	ended a
	run -0 "$FLOCKLIMIT" -N x -n 1 -t 5 true
	spotless
}

@test "a jobserver: make takes permits of the fleet" {
	local i
	command -v make >/dev/null || skip "needs make"
	watched
	{
		echo 'all: 1 2 3 4 5 6'
		printf '1 2 3 4 5 6:\n\t@echo + $@ >>"$T/jobs"; until [ "$$(grep -c + "$T/jobs")" -ge 2 ]; do sleep 0.01; done; echo - $@ >>"$T/jobs"\n'
	} >Makefile
	holder a -n 3
	run "$FLOCKLIMIT" -N x -n 3 --jobserver=pipe make -s
	echo "$output"
	[ "$status" -eq 0 ]
	awk '{ n += $1 == "+" ? 1 : -1; if (n > most) most = n } END { print most; exit n != 0 || most != 2 }' jobs
	release a
	over a
	spotless
}

@test "flockmap: each item under a permit of the fleet" {
	watched
	holder a -n 3
	run -0 "$MAP" --ttl "$TTL" -N x -n 3 "$STORE_BUILD/witness" "$LOG" 0.0{} ::: 1 2 3 4 5 6 7 8
	release a
	over a
	judged -n 3 -o 1000
	[ "$(grep -c ^BEGIN "$LOG")" = 9 ]
	spotless
}

@test "--local: at most so many on a machine, and the fleet's limit in all" {
	local i
	watched
	mkdir A B
	for i in 1 2 3; do
		FLOCKLIMIT_DIR=$T/A taker "a$i" 0.3 -n 3 --local 1
		FLOCKLIMIT_DIR=$T/B taker "b$i" 0.3 -n 3 --local 2
	done
	for i in 1 2 3; do
		over "a$i"
		[ "$status" -eq 0 ]
		over "b$i"
		[ "$status" -eq 0 ]
	done
	judged -n 3 -o 2000
	# By machine: two of A never ran at once.
	grep -E "^BEGIN .* a[123]\$" "$LOG" >A.log
	awk '/^BEGIN .* a[123]$/ { ours[$3] = 1 } /^END/ && ours[$3]' "$LOG" >>A.log
	"$STORE_BUILD/judge" -n 1 -o 2000 A.log
	spotless
}

@test "the limit is changed, and the limiter paused and closed, while others wait" {
	watched
	holder a -n 1
	line_up 1 b -n 1
	line_up 2 c -n 1
	"$STORE_BUILD/witness" -l "$LOG" 2
	ctl limit x 2
	over b
	over c
	ctl pause x
	line_up 1 d -n 1
	release a
	over a
	queued 1
	ctl resume x
	over d
	[ "$status" -eq 0 ]
	ctl limit x auto
	"$STORE_BUILD/witness" -l "$LOG" 1
	holder e -n 1
	taker f 0 -n 1
	eventually queued 1
	ctl close x
	over f
	[ "$status" -eq 75 ]
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 true
	release e
	over e
	ctl open x
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	judged
	spotless
}

@test "limiters nest: what is done to one reaches none of the others" {
	local below=$STORE/x name
	fl -N x -n 1 true
	for name in h w cfg licence; do
		mkfifo "$name.go"
		background "$name" "$FLOCKLIMIT" --store "$below" -N "$name" -n 1 sh -c 'echo up; cat "$1"' sh "$name.go"
		eventually says up "$name.out"
	done
	run -75 "$FLOCKLIMIT" --store "$below" -N licence -n 1 --nonblock true
	run -0 fl -N x -n 1 echo ran
	[ "$output" = ran ]
	[ "$(ctl list --json | jq -c 'map(.name)')" = '["x"]' ]
	ctl check x
	ctl rm --idle
	[ "$(ctl list --json)" = '[]' ]
	fl -N x -n 1 true
	ctl rm x
	[ "$(ctl list --json --store "$below" | jq -c 'map([.name, .holding])')" = '[["cfg",1],["h",1],["licence",1],["w",1]]' ]
	for name in h w cfg licence; do
		release "$name"
		ended "$name"
		[ "$status" -eq 0 ]
	done
	ctl --store "$below" rm --idle
	[ -z "$(etcd_do get --prefix "$(prefix)/" --keys-only)" ]
}

@test "a limiter of a newer flocklimit is refused" {
	etcd_do put "$(prefix)/x/cfg" '{"v":99}'
	run -125 "$FLOCKLIMIT" -N x -n 1 true
	[[ $output == *"is of a newer flocklimit"* ]]
}
