#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The network between a client and the store, as a proxy makes it bad: nothing gets through, it is
# slow, or it breaks at the worst moment.

load ../../helpers/lib.bash
load store.bash
load ../fake/fake.bash

setup_file() { a_store; }
teardown_file() { end_servers; }

# through PROXY CMD...: with a store that is reached by it; several: one after the other.
through() {
	local p address=
	# shellcheck disable=SC2153 # of store.bash
	for p in ${1//,/ }; do
		[ "$p" = direct ] || [ -e "$p.ctl" ] || proxy "$p" "${ADDRESS##*:}"
		[ "$p" = direct ] && address+=,$ADDRESS || address+=,127.0.0.1:${ports[$p]}
	done
	shift
	FLOCKLIMIT_STORE=etcd://${address#,}$(prefix) "$@"
}

# lost_in_time LABEL SINCE: its command was ended before anybody else could have run, and it says so.
lost_in_time() {
	over "$1"
	cat "$1.err"
	[ "$status" -eq 76 ]
	measured "$1: the command was ended after $(($(stopped "$1") - $2)) ms"
	[ "$(($(stopped "$1") - $2))" -le "$DEADLINE" ]
	says "flocklimit: x: lost the permit" "$1.err"
}

@test "holders cut off by a black hole, a refusal, and of all answers: ended in time, and the next run then" {
	local i
	local -A cut
	watched
	through hole holder hole -n 3
	through shut holder shut -n 3
	through deaf holder deaf -n 3
	mkfifo b.go c.go d.go
	for i in b c d; do
		taker "$i" "$i.go" -n 3
	done
	eventually queued 3
	# Each is cut off a moment later than the one before: a busy machine takes its time.
	tell hole stop
	cut[hole]=$(the_clock)
	tell shut refuse
	tell shut kill
	cut[shut]=$(the_clock)
	tell deaf oneway
	cut[deaf]=$(the_clock)
	for i in hole shut deaf; do
		lost_in_time "$i" "${cut[$i]}"
	done
	for i in b c d; do
		eventually begun "$i"
		measured "the next ran after $(($(began "$i") - cut[hole])) ms"
	done
	for i in b c d; do
		release "$i"
		over "$i"
		[ "$status" -eq 0 ]
	done
	judged -n 3 -o 1000
	for i in hole shut deaf; do
		tell "$i" go
	done
	spotless
}

@test "cut off for a moment in the same ways: nothing happens" {
	local i
	times 6
	watched
	for i in hole shut deaf reset; do
		through "$i" holder "$i" -n 4
	done
	line_up 1 b -n 4
	gone=$(the_clock)
	tell hole stop
	tell shut refuse
	tell shut kill
	tell deaf oneway
	tell reset kill
	until_clock $((gone + 1000))
	for i in hole shut deaf; do
		tell "$i" go
	done
	until_clock $((gone + RECLAIM))
	queued 1
	for i in hole shut deaf reset; do
		release "$i"
		over "$i"
		[ "$status" -eq 0 ]
		[ ! -s "$i.err" ] || ! says "lost" "$i.err" || false
	done
	over b
	judged -n 4
	spotless
}

@test "--on-lost=warn: the command runs on, and keeps the permit if nobody wanted it" {
	watched
	through hole holder a -n 1 --on-lost=warn
	gone=$(the_clock)
	tell hole stop
	eventually has_lines 1 a.err
	says "flocklimit: x: lost the permit" a.err
	until_clock $((gone + RECLAIM))
	tell hole go
	eventually says "it was kept" a.err
	release a
	over a
	[ "$status" -eq 0 ]
	judged -n 1
	spotless
}

@test "a waiter's endpoint is a black hole: it waits on at the other, and runs in its turn" {
	times 6
	watched
	holder a -n 1
	through hole,direct line_up 1 b -n 1
	line_up 2 c -n 1
	tell hole stop
	# It must notice by itself, as nothing comes: give it the time of two renewals.
	until_clock $(($(the_clock) + TTL * 1000))
	queued 2
	release a
	over a
	over b
	[ "$status" -eq 0 ]
	over c
	judged -n 1
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a b c " ]
	[ "$(($(began b) - $(stopped a)))" -lt 4000 ]
	spotless
}

@test "a holder's endpoint is a black hole: it goes on at the other" {
	watched
	through hole,direct holder a -n 1
	line_up 1 b -n 1
	tell hole stop
	until_clock $(($(the_clock) + RECLAIM))
	queued 1
	release a
	over a
	[ "$status" -eq 0 ]
	over b
	judged -n 1
	spotless
}

@test "a waiter is cut off for longer than it is taken for alive: it queues anew, and runs" {
	watched
	holder a -n 1
	through hole line_up 1 b -n 1
	line_up 2 c -n 1
	through hole taker t 0 -n 1 -t 15
	eventually queued 3
	tell hole stop
	# c takes back what stands before it; what is behind it is in nobody's way.
	eventually queued 2
	release a
	over a
	over c
	over t
	[ "$status" -eq 75 ]
	tell hole go
	over b
	[ "$status" -eq 0 ]
	judged -n 1
	spotless
}

@test "far away, and a thin line: all goes on" {
	local i
	watched
	for i in far thin; do
		through "$i" true
	done
	tell far "delay 40"
	tell thin "drip 20000"
	for i in 1 2 3; do
		through far taker "f$i" 0.02 -n 2
		through thin taker "t$i" 0.02 -n 2
		taker "d$i" 0.02 -n 2
	done
	for i in f1 f2 f3 t1 t2 t3 d1 d2 d3; do
		over "$i"
		[ "$status" -eq 0 ]
	done
	judged -n 2 -o 1000
	spotless
}

# broken HOW: a taker each, whose nth call to the store breaks so; alone, and with one before it.
broken() {
	local n
	watched
	for n in {1..9}; do
		through "p$n" true
		tell "p$n" "$1 $n"
		through "p$n" taker "alone$n" 0.01 -n 1
		over "alone$n"
		[ "$status" -eq 0 ]
	done
	for n in {1..12}; do
		holder "a$n" -n 1
		through "q$n" true
		tell "q$n" "$1 $n"
		through "q$n" taker "b$n" 0.01 -n 1
		eventually queued 1
		line_up 2 "c$n" -n 1
		release "a$n"
		over "a$n"
		over "b$n"
		[ "$status" -eq 0 ]
		over "c$n"
		[ "$status" -eq 0 ]
	done
	judged -n 1
	spotless
}

@test "cut before the reply, at every call in turn: done once, and no more" {
	broken cut-before-reply
}

@test "cut after the request, at every call in turn" {
	broken cut-after-request
}

@test "cut within an answer, at every piece in turn" {
	broken cut-in-chunk
}
