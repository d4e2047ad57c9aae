#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The wrapper and its keeper, over an engine that keeps permits in a directory: store-yes.

load ../helpers/lib.bash

setup() {
	T=$BATS_TEST_TMPDIR
	export T FLOCKLIMIT_DIR=$T/limiters FLOCKLIMIT_KEEPER=${FLOCKLIMIT_KEEPER:-own}
	export ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0:handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0
	unset FLOCKLIMIT_NAME FLOCKLIMIT_HELD SHELL MAKEFLAGS MFLAGS MAKELEVEL
	DB=$T/db
	mkdir "$DB"
	export FLOCKLIMIT_STORE="yes://local/team?dir=$DB"
	declare -gA pids=()
	cd "$T" || return 1
}

# held N: so many permits are in the store; waiting N: so many waiters.
held() {
	[ "$(find "$DB" -name 'h.*' | wc -l)" = "$1" ]
}

waiting() {
	[ "$(find "$DB" -name 'w.*' | wc -l)" = "$1" ]
}

# keepers: the pids of this test's keepers.
keepers() {
	grep -lzxF "T=$T" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | while read -r pid; do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != store-keeper ] || echo "$pid"
	done
}

no_keeper() {
	[ -z "$(keepers)" ]
}

keepers_are() {
	[ "$(keepers | wc -l)" = "$1" ]
}

# of_one: the test is about the keeper of one wrapper.
of_one() {
	[ "$FLOCKLIMIT_KEEPER" = own ] || skip "about the keeper of one wrapper"
}

# adopted N: the one permit in the store was taken over by another keeper so many times; a host's does so
# by its ledger, and again when the wrapper has come.
adopted() {
	local n=$1
	[ "$FLOCKLIMIT_KEEPER" = own ] || n=$((2 * n))
	[ "$(cat "$DB"/h.* | wc -c)" = "$n" ]
}

# one_keeper_but PID: there is one, and it is another.
one_keeper_but() {
	local now
	now=$(keepers)
	[ -n "$now" ] && [ "$now" != "$1" ]
}

# at_rest: nothing is held, nothing waits, no process is left.
at_rest() {
	eventually held 0
	eventually waiting 0
	eventually no_keeper
}

@test "a command runs under a permit of the store, and leaves nothing" {
	run -7 "$FLOCKLIMIT" -N x -n 2 sh -c 'ls "$1" | grep -c ^h; exit 7' sh "$DB"
	[ "$output" = 1 ]
	at_rest
	run -143 "$FLOCKLIMIT" -N x sh -c 'kill -TERM $$'
	run -127 "$FLOCKLIMIT" -N x /nonexistent
	at_rest
}

@test "a program that cannot be run makes nothing in the store" {
	run -127 "$FLOCKLIMIT" -N x -n 2 nosuch
	run -126 "$FLOCKLIMIT" -N x -n 2 "$T"
	run -127 "${FLOCKLIMIT%/*}/flockmap" -N x -n 2 nosuch ::: a
	[ -z "$(ls -A "$DB")" ]
	no_keeper
}

@test "the command is told of its permit and of the store" {
	run -0 "$FLOCKLIMIT" -N x -n 3 -w 2 sh -c \
		'echo "$FLOCKLIMIT_LIMITER $FLOCKLIMIT_LIMIT $FLOCKLIMIT_WEIGHT $FLOCKLIMIT_SEAT $FLOCKLIMIT_TICKET"
		[ -e "$1/$FLOCKLIMIT_STORE_KEY" ] && echo key; echo "$FLOCKLIMIT_STORE"' sh "$DB"
	[ "${lines[0]}" = "${FLOCKLIMIT_STORE%%\?*}/x 3 2 0 1" ]
	[ "${lines[1]}" = key ]
	[ "${lines[2]}" = "$FLOCKLIMIT_STORE" ]
	unset_store=$FLOCKLIMIT_STORE
	unset FLOCKLIMIT_STORE
	run -0 "$FLOCKLIMIT" --store "$unset_store" -N x sh -c 'echo "$FLOCKLIMIT_STORE"'
	[ "$output" = "$unset_store" ]
}

# is_named NAME PID: as ps and pgrep have it.
is_named() {
	[ "$(cat "/proc/$2/comm")" = "$1" ]
}

@test "ps and pgrep know the wrapper by its command's name, and not the keeper by that" {
	hold a -N x -n 1
	is_named flocklimit "${pids[a]}"
	[[ $(pgrep -x flocklimit) == *"${pids[a]}"* ]]
	keepers_are 1
	background m "${FLOCKLIMIT%limit}map" -N x -n 1 echo ::: ran
	background w "${FLOCKLIMIT}ctl" log -f x
	eventually is_named flockmap "${pids[m]}"
	eventually is_named flocklimitctl "${pids[w]}"
	kill "${pids[w]}"
	ended w
	let_go a
	ended a
	ended m
	says ran m.out
	at_rest
}

# line_of PID: its command line.
line_of() {
	ps -o args= -p "$1"
}

@test "the keeper's command line names it and has none of the command's words, so pkill -f spares it" {
	of_one
	mkfifo never
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'echo $$ >up; read -r _ <never' "words of $T"
	eventually test -s up
	keeper=$(keepers)
	line_of "$keeper"
	[ "$(line_of "$keeper")" = "flocklimit: keeper of x" ]
	background b "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually waiting 1
	pkill -KILL -f "words of $T"
	ended a
	[ "$status" = 137 ]
	ended b
	[ "$status" = 0 ]
	at_rest
	# Where the command line is shorter than that, the name still fits.
	background a env PATH="${FLOCKLIMIT%/*}:$PATH" flocklimit cat never
	eventually held 1
	[ "$(line_of "$(keepers)")" = "keeper of cat" ]
	kill "${pids[a]}"
	ended a
	at_rest
}

@test "descriptors, working directory and signals of the command are as without a store" {
	cat >look <<-'END'
		for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -ge 50 ] || echo "$n"; done | sort -n
		ls /proc/self/fd | awk '$1 >= 50' | wc -l
		grep -E '^(Sig|Shd)' /proc/self/status | grep -v SigQ
		pwd; ps -o pgid=,sid= -p $$ | awk -v me=$$ '{ print ($1 == me), ($2 == me) }'
	END
	for options in "" "-o"; do
		# shellcheck disable=SC2086 # none, or one
		run -0 env -u FLOCKLIMIT_STORE "$FLOCKLIMIT" -N x $options sh look 3>&-
		local_look=$output
		# shellcheck disable=SC2086
		run -0 "$FLOCKLIMIT" -N x $options sh look 3>&-
		diff <(echo "$local_look") <(echo "$output")
	done
	at_rest
}

@test "a second one waits, and is next as soon as the first has ended" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually waiting 1
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	[[ $output == *"no permit without waiting: 1 of 1 in use, 1 ahead of you"* ]]
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 50ms true
	[[ $output == *"no permit after 50 ms"* ]]
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --max-queue 1 true
	[ -z "$output" ]
	eventually waiting 1
	let_go a
	ended a
	ended b
	[ "$status" = 0 ]
	says ran b.out
	at_rest
}

@test "a nested one joins the permit, by the store's word" {
	run -0 timeout 300 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x -n 1 sh -c 'echo "$FLOCKLIMIT_TICKET"
		[ -e "$1/$FLOCKLIMIT_STORE_KEY" ] && echo key' sh "$DB"
	[ "${lines[0]}" = 1 ]
	[ "${lines[1]}" = key ]
	run -75 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x -n 1 -q --nested=queue --nonblock true
	held=$("$FLOCKLIMIT" -N x -n 1 sh -c 'echo "$FLOCKLIMIT_HELD"')
	hold a -N x -n 1
	FLOCKLIMIT_HELD=$held run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	let_go a
	ended a
	at_rest
}

@test "kill -9 of the wrapper: the command keeps the permit, and its end gives it back" {
	hold a -N x -n 1
	kill -KILL "${pids[a]}"
	ended a
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	kill -0 "$(up a)"
	held 1
	background b "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually waiting 1
	let_go a
	ended b
	[ "$status" = 0 ]
	at_rest
}

@test "kill -9 of the wrapper with -o: the command keeps the permit all the same" {
	hold a -N x -n 1 -o
	kill -KILL "${pids[a]}"
	ended a
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	let_go a
	at_rest
}

@test "what the command left behind keeps the permit of a killed wrapper, and only that" {
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 1 sh -c '(cat go >/dev/null) & echo $$ >up; exec sleep 1000'
	eventually test -s up
	kill -KILL "${pids[a]}"
	ended a
	kill -KILL "$(cat up)"
	eventually is_gone "$(cat up)"
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	timeout 300 sh -c ': >go'
	at_rest
	run -0 "$FLOCKLIMIT" -N x -n 1 sh -c 'cat go >/dev/null 2>&1 3>&- & :'
	at_rest
	timeout 300 sh -c ': >go'
}

# is_tended: the keeper has a descriptor for the command itself.
is_tended() {
	readlink "/proc/$(keepers)/fd/"* 2>/dev/null | grep -q pidfd
}

# undead ID: a command that has closed its guard and is on its way out, until somebody kills it; its pid
# is in ID.ready.  Its wrapper is killed, once it has told the keeper of the command.
undead() {
	background "$1" "$FLOCKLIMIT" -N x -n 1 -q "$TESTS_BUILD/chaos/hangup.t" \
		undead "$T/$1.ready"
	eventually test -s "$1.ready"
	eventually is_tended
	kill -KILL "${pids[$1]}"
	ended "$1"
}

@test "kill -9 of the wrapper: a command without its guard has the permit until it is past its exit" {
	undead a
	began=$SECONDS
	run -75 "$FLOCKLIMIT" -N x -n 1 -q -t 300ms true
	background b "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually waiting 1
	kill -KILL "$(cat a.ready)"
	ended b
	[ "$status" = 0 ]
	says ran b.out
	# Not by the bound of the wait, which is ten seconds.
	[ $((SECONDS - began)) -le 8 ]
	at_rest
}

@test "kill -9 of the wrapper: the wait for a command's exit is bounded" {
	began=$SECONDS
	undead a
	run -0 timeout 300 "$FLOCKLIMIT" -N x -n 1 -q true
	[ $((SECONDS - began)) -ge 9 ]
	kill -0 "$(cat a.ready)"
	at_rest
	kill -KILL "$(cat a.ready)"
}

@test "kill -9 of wrapper and command: the next one starts when all of the command's descriptors are closed" {
	local command i
	hangup=$TESTS_BUILD/chaos/hangup.t
	mkfifo device
	for i in {1..12}; do
		background a "$FLOCKLIMIT" -N x -n 1 -q "$hangup" device device
		exec 7<device
		read -r -t 300 command <&7
		background b "$FLOCKLIMIT" -N x -n 1 -q "$hangup" next 7 "$command"
		exec 7<&-
		eventually waiting 1
		kill -KILL "${pids[a]}" "$command"
		ended a
		ended b
		# 2: /proc had lent the device to a reader of it, which gave it back after the exit.
		[ "$status" = 0 ] || [ "$status" = 2 ]
	done
	at_rest
}

@test "kill -9 of a waiter: its place is given up" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 true
	eventually waiting 1
	kill -KILL "${pids[b]}"
	ended b
	eventually waiting 0
	let_go a
	ended a
	at_rest
}

@test "kill -9 of the keeper: another goes on, with the same permit" {
	hold a -N x -n 1
	ticket=$(ls "$DB"/h.*)
	first=$(keepers)
	kill -KILL "$first"
	eventually one_keeper_but "$first"
	eventually adopted 1
	[ "$(ls "$DB"/h.*)" = "$ticket" ]
	second=$(keepers)
	kill -KILL "$second"
	eventually one_keeper_but "$second"
	eventually adopted 2
	# Its guard, too: the wrapper's end is survived.
	kill -KILL "${pids[a]}"
	ended a
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	let_go a
	at_rest
}

@test "kill -9 of a waiter's keeper: it stands where it stood" {
	of_one
	hold a -N x -n 1
	first=$(keepers)
	background b "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually waiting 1
	place=$(ls "$DB"/w.*)
	kill -KILL "$(keepers | grep -vx "$first")"
	eventually keepers_are 2
	[ "$(ls "$DB"/w.*)" = "$place" ]
	let_go a
	ended b
	[ "$status" = 0 ]
	at_rest
}

@test "kill -9 of wrapper, keeper and command: the store has to find out by itself" {
	of_one
	hold a -N x -n 1
	kill -KILL "${pids[a]}" "$(keepers)" "$(up a)"
	ended a
	eventually no_keeper
	held 1
}

@test "kill -9 of keeper and wrapper at once, and of the keeper before a release" {
	hold a -N x -n 1
	kill -STOP "${pids[a]}"
	kill -KILL "$(keepers)"
	let_go a
	kill -CONT "${pids[a]}"
	ended a
	[ "$status" = 0 ]
	at_rest
}

@test "a broken permit: TERM to the command, a line, and 76" {
	hold a -N x -n 1
	rm "$DB"/h.*
	ended a
	[ "$status" = 76 ]
	says "flocklimit: x: lost the permit at" a.err
	says "somebody broke it" a.err
	says "pid $(up a) is sent TERM" a.err
	has_lines 1 a.err
	eventually no_keeper
}

@test "a broken permit: who ignores TERM gets KILL, all who have the guard" {
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'trap "" TERM; sleep 1000 & echo $! >below; wait; wait'
	eventually test -s below
	eventually held 1
	rm "$DB"/h.*
	ended a
	[ "$status" = 76 ]
	eventually is_gone "$(cat below)"
	eventually no_keeper
}

@test "a broken permit under --on-lost=warn: a line, and the command's status" {
	hold a -N x -n 1 --on-lost=warn
	rm "$DB"/h.*
	eventually says "the command continues" a.err
	kill -0 "$(up a)"
	let_go a
	ended a
	[ "$status" = 0 ]
	eventually no_keeper
}

@test "a store that does not answer: TERM before the permit can be another's" {
	hold a -N x -n 1 --ttl 2s
	touch "$DB/away"
	began=$SECONDS
	ended a
	[ "$status" = 76 ]
	[ $((SECONDS - began)) -le 7 ]
	says "can't be reached" a.err
	rm "$DB/away"
	eventually no_keeper
}

@test "a stopped keeper: the wrapper ends the command in its last moment" {
	of_one
	hold a -N x -n 1 --ttl 2s
	keeper=$(keepers)
	kill -STOP "$keeper"
	ended a
	[ "$status" = 76 ]
	says "sent KILL" a.err
	has_lines 1 a.err
	# Its own line would be a second one, about a process that is long gone.
	kill -CONT "$keeper"
	at_rest
	has_lines 1 a.err
}

@test "a stopped keeper, whose permit the store gave on meanwhile: one line all the same" {
	of_one
	hold a -N x -n 1 --ttl 2s
	keeper=$(keepers)
	kill -STOP "$keeper"
	ended a
	[ "$status" = 76 ]
	rm "$DB"/h.*
	kill -CONT "$keeper"
	at_rest
	has_lines 1 a.err
}

@test "a stopped keeper, and a wrapper that was killed: the keeper says that the permit was lost" {
	of_one
	hold a -N x -n 1 --ttl 60s
	keeper=$(keepers)
	kill -STOP "$keeper"
	kill -KILL "${pids[a]}"
	ended a
	rm "$DB"/h.*
	kill -CONT "$keeper"
	eventually is_gone "$(up a)"
	at_rest
	has_lines 1 a.err
	says "pid $(up a) is sent TERM" a.err
}

@test "a keeper is killed when it has said that the permit is lost: another says nothing more" {
	background a "$FLOCKLIMIT" -N x -n 1 --ttl 60s sh -c \
		'trap ": >termed" TERM; echo $$ >up; while :; do sleep 0.1; done'
	eventually test -s up
	eventually held 1
	keeper=$(keepers)
	rm "$DB"/h.*
	eventually says "is sent TERM" a.err
	eventually test -e termed
	kill -KILL "$keeper"
	ended a
	[ "$status" = 76 ]
	has_lines 1 a.err
	at_rest
}

@test "a stopped keeper, after it has sent TERM: the wrapper sends KILL" {
	background a "$FLOCKLIMIT" -N x -n 1 --ttl 60s sh -c \
		'trap "" TERM; echo $$ >up; while :; do sleep 0.1; done'
	eventually test -s up
	eventually held 1
	keeper=$(keepers)
	rm "$DB"/h.*
	eventually says "is sent TERM" a.err
	kill -STOP "$keeper"
	ended a
	[ "$status" = 76 ]
	has_lines 1 a.err
	kill -CONT "$keeper"
	eventually no_keeper
}

@test "a stopped keeper: KILL is sent before anything is said to who does not read" {
	of_one
	mkfifo full
	exec 7<>full
	head -c 65536 /dev/zero >&7
	"$FLOCKLIMIT" -N x -n 1 --ttl 2s sh -c 'echo $$ >up; exec sleep 1000' </dev/null 2>full \
		3>&- 7>&- &
	pids[a]=$!
	eventually test -s up
	eventually held 1
	keeper=$(keepers)
	kill -STOP "$keeper"
	eventually is_gone "$(cat up)"
	exec 7>&-
	ended a
	kill -CONT "$keeper"
	at_rest
}

# naps PID: how often it has begun to sleep.
naps() { sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/status"; }

has_napped() { [ "$(naps "$1")" -gt "$2" ]; }

@test "no keeper can be had: the wrapper has one later" {
	of_one
	local limit naps
	hold a -N x -n 1 --ttl 60
	# The wrapper gets no socket for another keeper: it hears of the first one's end, and sleeps.
	limit=$(prlimit --pid "${pids[a]}" --nofile --noheadings --output SOFT)
	prlimit --pid "${pids[a]}" --nofile=0:
	naps=$(naps "${pids[a]}")
	keepers | xargs kill -KILL
	eventually has_napped "${pids[a]}" "$naps"
	eventually no_keeper
	prlimit --pid "${pids[a]}" --nofile="$limit":
	eventually keepers_are 1
	kill -0 "$(up a)"
	let_go a
	ended a
	[ "$status" = 0 ]
	at_rest
}

@test "a wrapper that was stopped for long hears of its permit" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 -q echo ran
	eventually waiting 1
	kill -STOP "${pids[b]}"
	for _ in {1..150}; do
		touch "$DB/away"
		sleep 0.01
		rm "$DB/away"
		sleep 0.01
	done
	let_go a
	ended a
	eventually waiting 0
	held 1
	kill -CONT "${pids[b]}"
	ended b
	says ran b.out
	at_rest
}

@test "an unreachable store: 75 within -t, and who has patience is told once" {
	of_one
	touch "$DB/away"
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 100ms true
	[[ $output == *"can't be reached"* ]]
	run -75 "$FLOCKLIMIT" -N x -n 1 -q -t 100ms true
	[ -z "$output" ]
	background a "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually says "can't be reached; retrying" a.err
	rm "$DB/away"
	ended a
	[ "$status" = 0 ]
	says ran a.out
	says "can be reached again" a.err
	has_lines 2 a.err
	at_rest
}

@test "a store that can't be used: 125, and why" {
	echo "yes://: wrong word: use another" >"$DB/wrong"
	refused "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr == *"use another"* ]]
	rm "$DB/wrong"
	refused "$FLOCKLIMIT" -N x --ttl 1s true
	refused "$FLOCKLIMIT" -N x --grace 1s true
	refused "$FLOCKLIMIT" -N x --local 0 true
	refused "$FLOCKLIMIT" -N x --on-lost=cry true
	refused "$FLOCKLIMIT" -N x --when mem\>1G true
	refused "$FLOCKLIMIT" -N .x true
	at_rest
}

@test "who has more rights than his caller runs no program that this one names" {
	need_setgid
	cp "$FLOCKLIMIT" secure
	chgrp nogroup secure
	chmod 2755 secure
	run ./secure -N x -n 1 true
	[ "$status" = 125 ]
	[[ $output == *"no store yes:// is installed"* && $output != *"$FLOCKLIMIT_LIBEXEC"* ]]
	run -0 "$FLOCKLIMIT" -N x -n 1 true
}

@test "the permit can't be given back: a line, the command's status, and the keeper keeps retrying" {
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'touch "$1/away"; exit 3' sh "$DB"
	ended a
	[ "$status" = 3 ]
	says "could not be given back yet" a.err
	says "if it cannot, the permit expires by itself" a.err
	held 1
	rm "$DB/away"
	at_rest
	background a "$FLOCKLIMIT" -N x -n 1 --reclaim=manual sh -c 'touch "$1/away"' sh "$DB"
	ended a
	says "if it cannot, flocklimitctl break ends the permit" a.err
	rm "$DB/away"
	at_rest
}

@test "a permit that can't be given back for longer than it lives is given back by the same keeper" {
	background a "${FLOCKLIMIT%limit}map" -N x -n 1 --ttl 2s \
		sh -c 'echo "$2" >>ran; [ "$2" = 2 ] || touch "$1/away"' sh "$DB" ::: 1 2
	eventually test -e "$DB/away"
	sleep 9 # ttl, grace, and the second that a keeper went on before
	rm "$DB/away"
	ended a
	[ "$status" = 0 ]
	has_lines 2 ran
	at_rest
}

@test "signals: an end in the line leaves it; the command has what comes to it" {
	hold a -N x -n 1
	background b env --default-signal=INT "$FLOCKLIMIT" -N x -n 1 true
	eventually waiting 1
	kill -INT "${pids[b]}"
	ended b
	[ "$status" = 130 ]
	eventually waiting 0
	kill -TERM "${pids[a]}"
	ended a
	[ "$status" = 143 ]
	at_rest
}

@test "signals: who waits for a store that does not answer can be ended at any time" {
	of_one
	run -0 "$FLOCKLIMIT" -N x -n 1 sh -c 'echo "$FLOCKLIMIT_HELD" >was'
	touch "$DB/mute"
	for held in "" "$(cat was)"; do
		for patience in "--nonblock" "-t 1m" ""; do
			# shellcheck disable=SC2086 # words
			FLOCKLIMIT_HELD=$held background a env --default-signal=INT,TERM "$FLOCKLIMIT" -N x -n 1 \
				--ttl 60s $patience true
			eventually keepers_are 1
			eventually is_state S "${pids[a]}"
			kill -INT "${pids[a]}"
			began=$SECONDS
			ended a
			[ "$status" = 130 ]
			[ $((SECONDS - began)) -le 15 ] # a call of these takers may take 20 s
			keepers | xargs -r kill -KILL || :
			eventually no_keeper
		done
	done
	rm "$DB/mute"
}

@test "--run-timeout ends the command, and the permit with it" {
	run -124 "$FLOCKLIMIT" -N x -n 1 -T 50ms sleep 1000
	at_rest
}

@test "--no-fork: the command has the permit until it has ended" {
	background a "$FLOCKLIMIT" -N x -n 1 --no-fork sh -c 'echo $$ >up; exec sleep 1000'
	eventually test -s up
	[ "$(cat up)" = "${pids[a]}" ]
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	kill "$(cat up)"
	ended a
	at_rest
	run -127 "$FLOCKLIMIT" -N x -n 1 --no-fork /nonexistent
	at_rest
}

@test "--no-fork: a lost permit ends it" {
	background a "$FLOCKLIMIT" -N x -n 1 --no-fork sleep 1000
	eventually held 1
	eventually grep -qx sleep "/proc/${pids[a]}/comm"
	rm "$DB"/h.*
	ended a
	[ "$status" = 143 ]
	eventually no_keeper
}

@test "--hold-for: the permit is that process's, and nothing of the caller's is kept" {
	sleep 1000 3>&- &
	pids[for]=$!
	ticket=$(timeout 300 "$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[for]}" 2>&1)
	[ "$ticket" = 1 ]
	held 1
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	kill "${pids[for]}"
	ended for
	at_rest
}

@test "--hold-for: its keeper's end is survived, and its own" {
	sleep 1000 3>&- &
	pids[for]=$!
	timeout 300 "$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[for]}"
	first=$(keepers)
	kill -KILL "$first"
	eventually one_keeper_but "$first"
	eventually adopted 1
	held 1
	second=$(keepers)
	grep -lzxF -- --hold-for /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 >all
	while read -r pid; do
		if [ "$pid" != "$second" ] && grep -qzxF "T=$T" "/proc/$pid/environ" 2>/dev/null; then
			kill -KILL "$pid"
			eventually is_gone "$pid"
			echo "$pid" >killed
		fi
	done <all
	test -s killed
	run -75 "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	kill "${pids[for]}"
	ended for
	at_rest
}

@test "--hold-for: a lost permit ends that process, unless --on-lost=warn" {
	for on_lost in warn kill; do
		sleep 1000 3>&- &
		pids[for]=$!
		timeout 300 "$FLOCKLIMIT" -N x -n 1 --on-lost=$on_lost --hold-for "${pids[for]}"
		rm "$DB"/h.*
		if [ "$on_lost" = warn ]; then
			run -0 timeout 300 "$FLOCKLIMIT" -N x -n 1 true
			kill -0 "${pids[for]}"
			kill -KILL "${pids[for]}"
		fi
		ended for
		[ "$status" = "$([ "$on_lost" = warn ] && echo 137 || echo 143)" ]
		eventually no_keeper
	done
}

@test "the output of a command substitution ends with the command" {
	out=$(timeout 300 "$FLOCKLIMIT" -N x -n 1 sh -c 'echo ran' 2>&1)
	[ "$out" = ran ]
	at_rest
}

@test "closed stdio is no trouble" {
	"$FLOCKLIMIT" -N x -n 1 sh -c 'echo ran >out' <&- >&- 2>&-
	says ran out
	at_rest
}

waits_here() {
	[ "$(env -u FLOCKLIMIT_STORE "${FLOCKLIMIT}ctl" show --json x | jq '.waiters | length')" = 1 ]
}

@test "--local: so many here, whatever the store would allow" {
	hold a -N x -n 5 --local 1
	held 1
	run -75 "$FLOCKLIMIT" -N x -n 5 --local 1 --nonblock true
	[[ $output == "flocklimit: x: no permit without waiting on this machine (--local): 1 of 1 in use, "* ]]
	run -75 "$FLOCKLIMIT" -N x -n 5 --local 1 -t 10ms true
	[[ $output == "flocklimit: x: no permit after 10 ms on this machine (--local): 1 of 1 in use, "* ]]
	run -125 "$FLOCKLIMIT" -N x -n 5 -w 2 --local 1 true
	[[ $output == "flocklimit: x: -w 2 is above --local 1: "* ]]
	held 1
	background b "$FLOCKLIMIT" -N x -n 5 --local 1 echo ran
	eventually waits_here
	env -u FLOCKLIMIT_STORE "${FLOCKLIMIT}ctl" cancel x \
		"$(env -u FLOCKLIMIT_STORE "${FLOCKLIMIT}ctl" show --json x | jq '.waiters[0].ticket')"
	ended b
	[ "$status" = 75 ]
	grep -E "cancelled by pid [1-9][0-9]* of user $(id -un)" b.err
	background b "$FLOCKLIMIT" -N x -n 5 --local 1 echo ran
	# Without its wrapper the command keeps both.
	kill -KILL "${pids[a]}"
	ended a
	run -75 "$FLOCKLIMIT" -N x -n 5 --local 1 -q --nonblock true
	let_go a
	ended b
	[ "$status" = 0 ]
	at_rest
}

@test "--local: who waits for this machine's permit is told who cancelled it" {
	hold a -N x -n 5 --local 1
	background b "$FLOCKLIMIT" -N x -n 5 --local 1 true
	eventually env -u FLOCKLIMIT_STORE sh -c '"$1" -N x --nonblock true 2>&1 | grep -q " 1 ahead of you"' sh "$FLOCKLIMIT"
	ticket=$(env -u FLOCKLIMIT_STORE "${FLOCKLIMIT}ctl" show x --json | jq '.waiters[0].ticket')
	env -u FLOCKLIMIT_STORE "${FLOCKLIMIT}ctl" cancel x "$ticket"
	ended b
	[ "$status" = 75 ]
	grep -qE "no permit: cancelled by pid [1-9][0-9]* of user $(id -un)$" b.err
	let_go a
	ended a
	at_rest
}

@test "flockmap: each item has a permit, and a keeper's end is survived" {
	MAP=${FLOCKLIMIT%/*}/flockmap
	background a "$MAP" -N x -n 3 sh -c 'echo $$ >>up; exec sleep 1000' ::: 1 2 3 4
	eventually held 3
	eventually has_lines 3 up
	first=$(keepers)
	kill -KILL "$first"
	eventually one_keeper_but "$first"
	held 3
	sed -n 1p up | xargs kill
	eventually has_lines 4 up
	held 3
	sed -n '2,$p' up | xargs kill
	ended a
	[ "$status" = 123 ]
	at_rest
}

@test "flockmap: an item whose permit was lost has failed, with 76" {
	MAP=${FLOCKLIMIT%/*}/flockmap
	mkfifo fifo
	background a "$MAP" -N x -n 1 --joblog log sh -c 'echo $$ >>up; exec cat "$1"' sh ::: fifo
	eventually test -s up
	rm "$DB"/h.*
	ended a
	[ "$status" = 123 ]
	says "lost the permit" a.err
	awk 'NR == 2' log | grep -qw 76
	eventually no_keeper
}

@test "--jobserver: each token is a permit" {
	# The first waits for the second, whose permit is there beside its own.
	printf 'all: a b c\na b c:\n\t@ls "$(DB)" | grep -c ^h >>seen; %s\n' \
		'until [ "$$(wc -l <seen)" -ge 2 ]; do sleep 0.05; done' >Makefile
	run -0 timeout 300 "$FLOCKLIMIT" -N x -n 3 --jobserver make -s DB="$DB"
	[ "$(sort -n seen | tail -n 1)" -ge 2 ]
	at_rest
}
