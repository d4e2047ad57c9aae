#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The gate: nothing starts unless the machine has room.  A test opens and shuts it by a directory,
# as free space where there is no directory is not known, and so not enough.

load ../helpers/lib.bash

CTL=${FLOCKLIMIT%/*}/flocklimitctl
MAP=${FLOCKLIMIT%/*}/flockmap

# gate OPTION...: x has a gate that holds while there is the directory room.
gate() {
	[ -d room ] || mkdir room
	"$FLOCKLIMIT" -N x -n 4 --when "disk:$T/room>1" "$@" true
}

shut() { rmdir room; }
opens() { mkdir room; }

waiting() {
	"$CTL" show --json x | jq '.waiters | length'
}

line_is() {
	[ "$(waiting)" = "$1" ]
}

# waits_for LABEL WORDS...: it waits in the line of x.
waits_for() {
	local label=$1 ahead
	shift
	ahead=$(waiting)
	background "$label" "$FLOCKLIMIT" -N x -n 4 "$@"
	eventually line_is $((ahead + 1))
}

# gated [TICKETS]: the history has this many waiters that the gate kept.
gated() {
	[ "$("$CTL" log --json x | jq -s 'map(select(.event == "gated")) | length')" -ge "${1-1}" ]
}

# kept_by WORDS: show says that the head waits for that.
kept_by() { [[ $("$CTL" show x) == *"waits for $1"* ]]; }

# times KIND: when these events happened, in seconds, a line each.
times() {
	"$CTL" log --json x | jq "select(.event == \"$1\") | .time"
}

@test "while the conditions hold, a command starts at once" {
	run -0 "$FLOCKLIMIT" -N x --when 'mem>1K, disk:/>1, running<1000000' --settle 0 echo ran
	[ "$output" = ran ]
	run -0 "$FLOCKLIMIT" -N x -t 0 echo ran
	[ "$output" = ran ]
}

@test "the gate is the limiter's: it keeps takers that say nothing of it" {
	gate --settle 0
	shut
	run -75 "$FLOCKLIMIT" -N x -n 4 -t 0 true
	[[ $output == *"0 of 4 in use, 0 ahead of you"* ]]
	waits_for a echo ran
	eventually gated
	run -75 "$FLOCKLIMIT" -N x -n 4 -t 0 true
	[[ $output == *"1 ahead of you, waits for 1 bytes free in $T/room"* ]]
	opens
	ended a
	[ "$status" = 0 ]
	[ "$(cat a.out)" = ran ]
}

@test "show, log, json and -v say what it waits for" {
	gate --settle 5s --gate-patience never
	shut
	waits_for a -v true
	eventually gated
	run -0 "$CTL" show x
	[[ $output == *"gate: disk:$T/room>1, settle 5 s, patience never"* ]]
	[[ $output == *"The head of the line, ticket 2, waits for 1 bytes free in "* ]]
	run -0 "$CTL" show --json x
	[ "$(jq -r .gate.when <<<"$output")" = "disk:$T/room>1" ]
	[ "$(jq '.gate.settle_s == 5 and .gate.patience_s == null' <<<"$output")" = true ]
	run -0 "$CTL" log x
	[[ $output == *"  when "*"disk:"* ]]
	[[ $output == *"  gated  "*"waits for "* ]]
	eventually says "waiting: 0 of 4 in use, 0 ahead of you" a.err
}

@test "memory is said in the unit of the condition" {
	"$FLOCKLIMIT" -N x -n 4 --when 'mem>4000T' --gate-patience never -t 0 true 2>/dev/null || :
	waits_for a true
	eventually gated
	run -0 "$CTL" show x
	[[ $output =~ waits\ for\ 4000\ TiB\ free,\ [0-9.]+\ [KMG]iB\ now ]]
	"$CTL" when x 'running<1'
	eventually test "$("$CTL" log --json x | jq -s 'map(select(.event == "when")) | length')" = 2
}

@test "a start makes the next one wait until it has settled" {
	local n
	gate --settle 1s
	for n in 1 2 3; do
		background "$n" "$FLOCKLIMIT" -N x -n 4 true
	done
	for n in 1 2 3; do
		ended "$n"
		[ "$status" = 0 ]
	done
	times granted | jq -s '[.[1:], .[:-1]] | transpose | map(.[0] - .[1]) | min' >least
	[ "$(jq '. >= 0.99' least)" = true ]
}

@test "where nothing runs, the head starts when its patience is over" {
	gate --settle 0 --gate-patience 1s
	shut
	run -0 "$FLOCKLIMIT" -N x -n 4 -t 100 echo ran
	[ "$output" = ran ]
	hold a -N x -n 4 -t 100
	waits_for b true
	eventually gated
	run -75 "$FLOCKLIMIT" -N x -n 4 -t 3 true # a runs: patience does not count
	[ "$(waiting)" = 1 ]
	let_go a
	ended b
	[ "$status" = 0 ]
}

@test "--gate-patience never: it waits on" {
	gate --gate-patience never
	shut
	run -75 "$FLOCKLIMIT" -N x -n 4 -t 3 true
	[[ $stderr$output == *"no permit after 3 s"* ]]
}

@test "the order is as ever, and a killed head is followed by the next" {
	local n
	gate --settle 0
	shut
	for n in a b c; do
		waits_for "$n" -w 4 sh -c 'echo "$1" >>order' sh "$n" # one at a time
	done
	eventually gated
	kill -KILL "${pids[a]}"
	ended a
	opens
	for n in b c; do
		ended "$n"
	done
	[ "$(tr -d '\n' <order)" = bc ]
}

@test "where the head is stopped, the second in the line looks" {
	gate --settle 0
	shut
	waits_for a sh -c 'echo a >>order'
	waits_for b sh -c 'echo b >>order'
	eventually gated
	kill -STOP "${pids[a]}"
	eventually is_state T "${pids[a]}"
	opens
	ended b
	[ "$status" = 0 ]
	[ "$(cat order)" = b ]
	kill -CONT "${pids[a]}"
	ended a
	[ "$(tr -d '\n' <order)" = ba ]
}

@test "why says gate, of a waiter and of one that has started; the picture has its weight" {
	gate --settle 0
	shut
	waits_for a -w 3 true
	eventually gated
	run -0 "$CTL" why --json x 2
	[ "$(jq -r '[.state, .weight, .parts[0].reason] | join(" ")' <<<"$output")" = "waiting 3 gate" ]
	opens
	ended a
	run -0 "$CTL" why --json x 2
	[ "$(jq -r '[.state, .weight, .parts[0].reason] | join(" ")' <<<"$output")" = "granted 3 gate" ]
	run -0 "$CTL" gantt x
	[[ $output == *"ticket 2: true"*"weight 3"* ]]
}

@test "an operator sets it and ends it; the waiters hear of both" {
	run -0 "$FLOCKLIMIT" -N x -n 4 true
	run -0 "$CTL" when x 'mem>4000T' --gate-patience never
	waits_for a echo ran
	run -0 "$CTL" when x off
	ended a
	[ "$(cat a.out)" = ran ]
	run -0 "$CTL" show x
	[[ $output != *gate:* ]]
	run -0 "$CTL" when x 'mem>1K' --settle 0
	run -0 "$FLOCKLIMIT" -N x -n 4 --when off echo ran
	[ "$("$CTL" show --json x | jq -c .gate)" = null ]
}

@test "the same gate again is no event" {
	gate
	gate
	gate
	[ "$(times when | wc -l)" = 1 ]
}

# A machine on which something always waits for a CPU has a pressure of 100.
open_or_pressed() {
	"$FLOCKLIMIT" -q -N x -t 0 true ||
		awk '/^some/ { sub("avg10=", "", $2); exit !($2 > 95) }' /proc/pressure/cpu
}

@test "pressure: of two seconds" {
	[ -e /proc/pressure/cpu ] || skip "this kernel has no pressure files"
	run -0 "$FLOCKLIMIT" -N x --when 'psi.cpu<100 psi.mem<100 psi.io<100%' --settle 0 -t 100 echo ran
	[ "$output" = ran ]
	eventually open_or_pressed
}

@test "what is wrong is one line, and starts nothing" {
	local word
	for word in 'mem<4G' 'memory>4G' 'mem>much' 'psi.io<101' 'psi.io<0' 'disk>4G' 'disk:room>1' \
		'running<0' 'mem' 'mem>' 'mem>1.2.3M' 'mem>1.M.' 'mem>1.5' "disk:$T/none>1" "$(printf 'mem>1K,%.0s' {1..30})"; do
		refused "$FLOCKLIMIT" -N x --when "$word" true
		[[ $stderr == "flocklimit: --when "* ]]
		run -125 --separate-stderr "$CTL" when x "$word"
		[ "${#stderr_lines[@]}" = 1 ]
	done
	refused "$FLOCKLIMIT" -N x --settle 1s true
	[[ $stderr == *"--settle has no effect without --when"* ]]
	refused "$FLOCKLIMIT" -N x --gate-patience 1s true
	refused "$FLOCKLIMIT" -N x --when 'mem>1K' --gate-patience soon true
	[[ $stderr == *"or never"* ]]
	run -125 "$CTL" when x
	[ ! -e "$FLOCKLIMIT_DIR/x" ]
}

@test "--when-run: the head asks, and starts after a yes" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 --when-run 'echo b >>asked; test -e yes' echo b ran
	eventually line_is 1
	background c "$FLOCKLIMIT" -N x -n 1 --when-run 'echo c >>asked' echo c ran
	eventually line_is 2
	[ ! -e asked ]
	let_go a
	eventually says b asked
	[ "$(cat b.out)" = "" ]
	: >yes
	ended b
	ended c
	[ "$(cat b.out c.out)" = $'b ran\nc ran' ]
	[ "$(tail -n 1 asked)" = c ]
}

@test "--when-run: nothing is asked while the limiter's own gate is shut" {
	gate --settle 0
	shut
	waits_for a --when-run 'echo >>asked' echo ran
	eventually gated
	# The head looks a second time: it is said to be kept by another condition.
	"$CTL" when x 'mem>9000000G'
	eventually kept_by '9000000 GiB free'
	[ ! -e asked ]
	opens
	"$CTL" when x "disk:$T/room>1"
	ended a
	[ "$(cat a.out)" = ran ]
	has_lines 1 asked
}

@test "--when-run: it has no part in the permit, and its output goes to stderr" {
	run -0 --separate-stderr "$FLOCKLIMIT" -N x \
		--when-run 'echo out; cat; test -z "$FLOCKLIMIT_HELD"; ! [ /proc/$$/fd/* -ef '"$FLOCKLIMIT_DIR"'/x ] 2>/dev/null' echo ran
	[ "$output" = ran ]
	[ "$stderr" = out ]
}

@test "--when-run: -t 0 asks once; a deadline, or a signal, ends the question" {
	run -75 "$FLOCKLIMIT" -N x -t 0 --when-run false true
	run -0 "$FLOCKLIMIT" -N x -t 0 --when-run true echo ran
	[ "$output" = ran ]
	run -75 "$FLOCKLIMIT" -N x -t 1 --when-run 'exec sleep 1000' true
	background a "$FLOCKLIMIT" -N x --when-run 'echo $$ >up; exec sleep 1000' true
	eventually test -s up
	kill -TERM "${pids[a]}"
	ended a
	[ "$status" = 143 ]
	eventually is_gone "$(cat up)"
}

# asks LABEL LINE: LABEL waits for a yes, and LINE has begun, which writes a pid to the file up.
asks() {
	rm -f up
	background "$1" "$FLOCKLIMIT" -N x -n 1 --when-run "$2" true
	eventually test -s up
}

@test "--when-run: the end of a question ends all that it started" {
	asks a 'sh -c "echo \$\$ >up; exec sleep 1000" | cat; true'
	kill -TERM "${pids[a]}"
	ended a
	[ "$status" = 143 ]
	eventually is_gone "$(cat up)"
	# What waits for the end of the output does not wait for the line.
	in_time asked_in_time
	eventually is_gone "$(cat up)"
}

# asked_in_time: its time is over after the line has begun.
asked_in_time() {
	rm -f up
	run -75 "$FLOCKLIMIT" -N x -n 1 -q -t "$TIME" --when-run 'sh -c "echo \$\$ >up; exec sleep 1000"; true' true
	[ -s up ]
}

@test "--when-run: without a pidfd, and without stdout and stderr" {
	need_helper refuse
	run -0 "$HELPERS/refuse" EPERM pidfd_open "$FLOCKLIMIT" -N x -n 1 -t 60 --when-run 'test -e up || { : >up; false; }' echo ran
	[ "$output" = ran ]
	"$FLOCKLIMIT" -N x -n 1 -t 60 --when-run true touch ran >&- 2>&-
	[ -e ran ]
}

@test "--when-run: a no is called by its name" {
	asks a 'echo $$ >up; exit 1'
	eventually kept_by "a yes to its --when-run"
	run -0 "$CTL" log --json x
	[ "$(jq -r 'select(.event == "gated").when' <<<"$output")" = question ]
}

@test "--when-run: patience, and no effect under a permit" {
	run -0 "$FLOCKLIMIT" -N x --when-run false --gate-patience 1s -t 100 echo ran
	[ "$output" = ran ]
	run -0 --separate-stderr "$FLOCKLIMIT" -N x "$FLOCKLIMIT" -N x --when-run false echo ran
	[[ $stderr == *"--when-run has no effect"* ]]
}

@test "flockmap has both" {
	run -0 "$MAP" -N x -n 2 --when 'mem>1K' --settle 0 --when-run true echo ::: 1 2 3
	[ "$output" = $'1\n2\n3' ]
	[ "$("$CTL" show --json x | jq -r .gate.when)" = 'mem>1K' ]
	run -125 "$MAP" -N x --when 'mem<1K' echo ::: 1
	run -75 "$MAP" -N x -t 1 --when-run false echo ::: 1
}

@test "a store has no gate" {
	refused "$FLOCKLIMIT" --store etcd://127.0.0.1:1/a -N x --when 'mem>1K' true
	[[ $stderr == *"--when is for limiters of one machine"* ]]
}
