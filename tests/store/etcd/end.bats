#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Clients that are killed, stopped and signalled, while they wait, at the grant, and while they hold.
# What is only local is over in milliseconds; only for a client of which nothing is left does
# anybody wait for the store to notice.

load ../../helpers/lib.bash
load store.bash

setup_file() { a_store; }
teardown_file() { end_servers; }

# Takers live long here: a busy machine may stand still for a second or two, and no lease is to end by
# that.  The cases that wait for a lease's end have a short one.
times 20

# soon FROM TO: within half a time to live, so nobody waited for a lease to end; both in ms.
soon() {
	measured "after $(($2 - $1)) ms"
	[ "$(($2 - $1))" -lt $((TTL * 500)) ]
}

# A holder, and two that wait behind it.
three() {
	watched
	holder a -n 1
	taker b 0.02 -n 1
	eventually queued 1
	line_up 2 c -n 1
}

# ---- while they wait ---------------------------------------------------------------------------

@test "a waiter is killed: its place is given up at once" {
	local before
	three
	before=$(the_clock)
	kill -KILL "${pids[b]}"
	eventually queued 1
	soon "$before" "$(the_clock)"
	over b || :
	eventually no_keeper b
	release a
	over a
	over c
	judged -n 1
	not_begun b
	spotless
}

@test "a waiter is signalled: it ends by that, and its place is given up" {
	local sig status
	watched
	holder a -n 1
	for sig in HUP TERM INT; do
		# Else a shell makes those that it runs in the background deaf to INT.
		"$STORE_BUILD/witness" -w "$LOG" "b$sig"
		background "b$sig" env --default-signal=INT TAKER="b$sig" "$FLOCKLIMIT" -N x -n 1 true
		eventually queued 1
		kill "-$sig" "${pids[b$sig]}"
		over "b$sig"
		[ "$status" -eq $((128 + $(kill -l "$sig"))) ]
		eventually queued 0
	done
	release a
	over a
	judged -n 1
	spotless
}

@test "a waiter's keeper is killed: the place is kept" {
	local ticket pid
	three
	ticket=$(ctl show --json x | jq '.waiters[0].ticket')
	pid=$(keeper_of b)
	kill -KILL "$pid"
	eventually is_gone "$pid"
	eventually another_keeper b "$pid"
	queued 2
	release a
	over a
	over b
	[ "$status" -eq 0 ]
	over c
	judged -n 1
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a b c " ]
	[ "$(awk '$1 == "BEGIN" && $8 == "b" { print $4 }' "$LOG")" = "$ticket" ]
	spotless
}
another_keeper() { [ -n "$(keeper_of "$1")" ] && [ "$(keeper_of "$1")" != "$2" ]; }

@test "a waiter is killed with its keeper: those behind it do not wait for ever" {
	local before keeper
	times 2
	three
	keeper=$(keeper_of b) # to look for it takes a busy machine a second
	before=$(the_clock)
	kill -KILL "$keeper" "${pids[b]}"
	over b || :
	release a
	over a
	over c
	# It is granted, as nobody knows better yet: its lease has to end, and then its grace.
	measured "after $(($(began c) - before)) ms"
	[ "$(($(began c) - before))" -lt "$LATEST" ]
	not_begun b
	judged -n 1
	spotless
}

@test "a waiter is killed with its keeper, and its turn comes when that is known: those behind it lose nothing" {
	times 2
	three
	kill -KILL "$(keeper_of b)" "${pids[b]}"
	over b || :
	eventually queued 1
	release a
	over a
	over c
	soon "$(stopped a)" "$(began c)"
	not_begun b
	judged -n 1
	spotless
}

@test "a waiter that is stopped keeps its place, and those behind it wait" {
	times 2
	three
	kill -STOP "${pids[b]}"
	release a
	over a
	# Its keeper took the permit for it, and keeps it alive for longer than a time to live.
	eventually holders 1
	until_clock $(($(the_clock) + TTL * 1000 + 1500))
	queued 1
	holders 1
	kill -CONT "${pids[b]}"
	over b
	[ "$status" -eq 0 ]
	over c
	judged -n 1
	spotless
}

# ---- at the grant ------------------------------------------------------------------------------

@test "a waiter is killed at about the time of its grant: all goes on" {
	local i
	watched
	for i in {1..12}; do
		holder "a$i" -n 1
		line_up 1 "b$i" -n 1
		line_up 2 "c$i" -n 1
		release "a$i"
		sleep "0.00$((RANDOM % 10))"
		kill -KILL "${pids[b$i]}" 2>/dev/null || :
		over "a$i"
		over "b$i" || :
		over "c$i"
		[ "$status" -eq 0 ]
	done
	judged -n 1
	spotless
}

# ---- while they hold ---------------------------------------------------------------------------

@test "the command is killed: its status, and the next runs at once" {
	watched
	holder a -n 1
	line_up 1 b -n 1
	end_run a 9
	over a
	[ "$status" -eq 137 ]
	over b
	soon "$(stopped a)" "$(began b)"
	judged -n 1
	spotless
}

@test "wrapper and command are killed: the keeper gives the permit back at once" {
	watched
	holder a -n 1
	line_up 1 b -n 1
	kill -KILL "${pids[a]}"
	end_run a 9
	over a || :
	over b
	soon "$(stopped a)" "$(began b)"
	judged -n 1
	spotless
}

@test "the whole process group is killed: the keeper is not in it" {
	watched
	mkfifo a.go
	as_job taker a a.go -n 1
	eventually begun a
	line_up 1 b -n 1
	"$STORE_BUILD/witness" -k "$LOG" "$(run_of a)" 0
	kill -KILL -- "-${pids[a]}"
	over a || :
	over b
	soon "$(stopped a)" "$(began b)"
	judged -n 1
	spotless
}

@test "-o: the wrapper is killed, and the permit ends with the command all the same" {
	watched
	holder a -n 1 -o
	line_up 1 b -n 1
	kill -KILL "${pids[a]}"
	over a || :
	release a
	over b
	soon "$(stopped a)" "$(began b)"
	judged -n 1
	spotless
}

@test "the wrapper is sent TERM: so is the command, and the permit comes back" {
	watched
	holder a -n 1
	line_up 1 b -n 1
	kill -TERM "${pids[a]}"
	over a
	[ "$status" -eq 143 ]
	grep -q "^SIGNAL [0-9]* $(run_of a) 15\$" "$LOG"
	over b
	soon "$(stopped a)" "$(began b)"
	judged -n 1
	spotless
}

@test "the keeper is stopped: the wrapper ends the command before anybody else runs" {
	times 2
	keeper_stops
	# It has nothing more to say of that.
	cat a.err
	has_lines 1 a.err
	spotless
}

@test "wrapper killed, wrapper stopped, keeper killed: the command runs on, and its permit is kept" {
	local before keys
	times 6
	watched
	holder killed -n 3
	holder stopped -n 3
	holder bereft -n 3
	line_up 1 b -n 3
	line_up 2 c -n 3
	keys=$(etcd_do get --prefix "$(prefix)/x/cfg//h/" --keys-only)
	before=$(keeper_of bereft)
	kill -KILL "${pids[killed]}" "$before"
	over killed || :
	kill -STOP "${pids[stopped]}"
	eventually another_keeper bereft "$before"
	# Longer than anybody keeps a permit from whom nothing is heard.
	until_clock $(($(the_clock) + LATEST))
	[ "$(etcd_do get --prefix "$(prefix)/x/cfg//h/" --keys-only)" = "$keys" ]
	queued 2
	release killed
	over b
	[ "$status" -eq 0 ]
	soon "$(stopped killed)" "$(began b)"
	over c
	kill -CONT "${pids[stopped]}"
	release stopped
	over stopped
	[ "$status" -eq 0 ]
	release bereft
	over bereft
	[ "$status" -eq 0 ]
	judged -n 3 -o 1000
	spotless
}

@test "nothing is left of a holder: the next runs after ttl and grace; --reclaim=manual: after break" {
	local before keepers
	times 2
	watched
	holder manual -n 2 --reclaim=manual
	holder a -n 2
	mkfifo b.go
	taker b b.go -n 2
	eventually queued 1
	line_up 2 c -n 2
	keepers=("$(keeper_of a)" "$(keeper_of manual)") # to look for them takes a busy machine a second
	before=$(the_clock)
	# In this order: a wrapper that outlives its keeper by a moment may have another by then.
	kill -KILL "${pids[a]}" "${keepers[0]}" "${pids[manual]}" "${keepers[1]}"
	end_run a 9
	end_run manual 9
	over a || :
	over manual || :
	eventually begun b
	measured "after $(($(began b) - before)) ms"
	[ "$(($(began b) - before))" -ge $((RECLAIM - TTL * 1000 / 3 - 300)) ]
	[ "$(($(began b) - before))" -lt "$LATEST" ]
	until_clock $(($(began b) + 1500))
	queued 1
	ctl break x "$(ctl show --json x | jq '.holders | min_by(.ticket).ticket')"
	over c
	[ "$status" -eq 0 ]
	release b
	over b
	judged -n 2
	spotless
}

@test "a holder's permit is broken: its command is ended, with 76 and one line" {
	watched
	holder a -n 1
	line_up 1 b -n 1
	ctl break x "$(ctl show --json x | jq '.holders[0].ticket')"
	over a
	[ "$status" -eq 76 ]
	cat a.err
	has_lines 1 a.err
	says "flocklimit: x: lost the permit" a.err
	over b
	spotless
}

@test "a holder's record is deleted by hand: its command is ended, with 76 and one line that says so" {
	watched
	holder a -n 1
	line_up 1 b -n 1
	etcd_do del --prefix "$(prefix)/x/cfg//h/"
	over a
	[ "$status" -eq 76 ]
	cat a.err
	has_lines 1 a.err
	says "flocklimit: x: lost the permit" a.err
	says "the permit's record is gone from the store" a.err
	over b
	[ "$status" -eq 0 ]
	spotless
}

@test "a holder's lease is revoked by hand: its permit is kept, and one line says so" {
	local life lease
	watched
	holder a -n 1
	line_up 1 b -n 1
	# The record ends with the name of its life.
	life=$(etcd_do get --prefix "$(prefix)/x/cfg//h/" --print-value-only | grep -o '[^ ]*$')
	lease=$(etcd_do get --prefix "$(prefix)/x/cfg//l/$life/" -w json | grep -o '"lease":[0-9]*')
	etcd_do lease revoke "$(printf %x "${lease#*:}")"
	eventually says "its lease was revoked" a.err
	queued 1
	release a
	over a
	[ "$status" -eq 0 ]
	cat a.err
	has_lines 1 a.err
	over b
	judged -n 1
	spotless
}
