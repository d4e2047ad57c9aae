#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The only server: stopped, killed, begun again, compacted, and with all its data lost.

load ../../helpers/lib.bash
load store.bash

# stand: a holder and three in the line, in a server of the test's own.
stand() {
	own_server
	use_store
	line_of 3
}

# A busy machine may stand still for a second or two, and a lease ends then; and a server may need ten
# seconds to begin (serves).  Where nothing is to be lost, takers have more time than that.

@test "stopped for less than the time to live: nothing happens" {
	times 6
	stand
	freeze one
	# A renewal may have been a third of it ago.
	until_clock $((gone + TTL * 500))
	thaw one
	survives
}

@test "killed, and begun again at once: nothing happens" {
	times 12
	stand
	end_server one
	again one
	survives
}

@test "stopped for longer than a command may run on: it is ended, and the line is kept" {
	stand
	freeze one
	ends
	not_begun w1
	until_clock $((gone + RECLAIM + 500))
	thaw one
	in_order
	run ! grep "the store lost the place" ./w?.err
}

@test "stopped for longer than the time to live: five waiters keep their order, and the holder its permit" {
	local i
	own_server
	use_store
	watched
	# Each with more grace than a busy machine needs to come again.
	holder a -n 1 --grace 30
	for i in 1 2 3 4 5; do
		line_up "$i" "w$i" -n 1
	done
	gone=$(the_clock)
	freeze one
	until_clock $((gone + LATEST))
	thaw one
	until_clock $((gone + 2 * LATEST))
	not_begun w1
	release a
	all_run a w1 w2 w3 w4 w5
	judged -n 1
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a w1 w2 w3 w4 w5 " ]
	run ! grep -E "lost the (permit|place)" ./*.err
	spotless
}

@test "killed, and begun again too late: the command is ended, and the line is kept" {
	times 6
	stand
	end_server one
	ends
	until_clock $((gone + RECLAIM + 500))
	again one
	in_order
	measured "the next ran after $(($(began w1) - gone)) ms"
}

@test "all its data lost: the holder is told, and the others queue anew" {
	stand
	end_server one
	rm -rf "$SERVERS/one"
	again one
	over a
	[ "$status" -eq 76 ]
	all_run w1 w2 w3
	# Tickets begin anew with the store; so only the weights can be judged.
	sed -i '/^BEGIN .* a$/d; /^END '"[0-9]* $(run_of a)"'$/d; /^DEAD '"[0-9]* $(run_of a)"'$/d; /^SIGNAL/d' "$LOG"
	judged -n 1
	spotless
}

@test "compacted while some wait, also while they can't hear of it" {
	local revision
	times 12
	stand
	revision=$(etcd_do get x -w json | jq .header.revision)
	etcd_do compact "$revision"
	freeze one
	until_clock $(($(the_clock) + 1000))
	thaw one
	for i in 1 2 3 4 5; do
		etcd_do put other "$i"
	done
	revision=$(etcd_do get x -w json | jq .header.revision)
	etcd_do compact "$revision"
	end_server one
	again one
	revision=$(etcd_do put other 6 -w json | jq .header.revision)
	etcd_do compact "$revision"
	release a
	over a
	[ "$status" -eq 0 ]
	in_order
}

@test "not there when they come: they retry, and say so; with -t: 75" {
	own_server
	use_store
	watched
	end_server one
	taker a 0 -n 1
	eventually has_lines 1 a.err
	cat a.err
	says "flocklimit: x: " a.err
	says "$ADDRESS" a.err
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 0.3 true
	one_line
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	one_line
	[[ $stderr == *"$ADDRESS"* ]]
	again one
	over a
	[ "$status" -eq 0 ]
	has_lines 2 a.err
	spotless
}

@test "gone when a permit is given back: the command's status all the same" {
	local before
	times 12
	own_server
	use_store
	watched
	holder a -n 1
	end_server one
	release a
	before=$(the_clock)
	over a
	cat a.err
	[ "$status" -eq 0 ]
	# It did not wait for the store, which is away for as long as that.
	[ "$(($(the_clock) - before))" -lt $((TTL * 1000)) ]
	says "flocklimit: x: " a.err
	# The keeper goes on trying.
	again one
	spotless
}
