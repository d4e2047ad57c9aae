#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --keep-place: a place in the line that outlives its caller.

load ../helpers/lib.bash
load ../helpers/ctl.bash

KEEP=(-N x -n 1 --keep-place 5m)

# tickets: of those that wait, in the order of the line.
tickets() {
	"$CTL" show --json x | jq -c '[.waiters[].ticket]'
}

# line_is TICKETS: as jq prints them.
line_is() {
	[ "$(tickets)" = "$1" ]
}

# holds TICKET: it is the only holder's.
holds() {
	[ "$("$CTL" show --json x | jq -c '[.holders[].ticket]')" = "[$1]" ]
}

is_free() {
	[ "$("$CTL" show --json x | jq '(.holders + .waiters) | length')" = 0 ]
}

# keeper: its pid, where there is one.
keeper() {
	"$CTL" show --json x | jq '[(.holders + .waiters)[] | select(.command | startswith("--keep-place"))][0].pid'
}

# a_front LABEL WORD...: waits, attached to the keeper.
a_front() {
	background "$1" "$FLOCKLIMIT" "${@:2}"
	eventually connected "${pids[$1]}"
}

connected() {
	[ -n "$(find "/proc/$1/fd" -lname 'socket:*' 2>/dev/null)" ]
}

@test "ten calls that are killed keep one place, and one ticket" {
	words=(sh -c 'echo ticket $FLOCKLIMIT_TICKET; ! [ -s later.out ]')
	hold a -N x -n 1
	for i in 1 2 3 4 5 6 7 8 9 10; do
		a_front call "${KEEP[@]}" "${words[@]}"
		eventually line_is '[2]'
		kill -KILL "${pids[call]}"
		ended call
		[ "$status" = 137 ]
		[ ! -s call.out ]
	done
	# Whoever comes later stands behind.
	background later "$FLOCKLIMIT" -N x -n 1 echo later
	eventually line_is '[2,3]'
	a_front call "${KEEP[@]}" "${words[@]}"
	line_is '[2,3]'
	let_go a
	ended call
	[ "$status" = 0 ]
	[ "$(cat call.out)" = "ticket 2" ]
	ended later
	eventually is_free
}

@test "without a wait it is as without it: the permit, the status, the environment" {
	run -7 "$FLOCKLIMIT" "${KEEP[@]}" sh -c 'echo $FLOCKLIMIT_TICKET $FLOCKLIMIT_WEIGHT $FLOCKLIMIT_SEATS; exit 7'
	[ "$output" = '1 1 0' ]
	eventually is_free
	run -0 "$FLOCKLIMIT" "${KEEP[@]}" "$FLOCKLIMIT" -N x sh -c 'echo inner $FLOCKLIMIT_TICKET' # joins
	[ "$output" = 'inner 2' ]
	run -0 "$FLOCKLIMIT" "${KEEP[@]}" -F echo exec
	run -0 "$FLOCKLIMIT" "${KEEP[@]}" -o -c 'echo closed'
	run -127 "$FLOCKLIMIT" "${KEEP[@]}" nosuch
	run -125 "$FLOCKLIMIT" "${KEEP[@]}" -w 2 true
	[[ $output == *"-w 2 is above -n 1"* ]]
	eventually is_free
}

@test "the permit that comes meanwhile waits for the call, and no longer than it was told" {
	hold a -N x -n 1
	for time in 1m 300ms; do
		run -75 "$FLOCKLIMIT" -N x -n 1 --keep-place "$time" -t 0 sh -c 'echo "$FLOCKLIMIT_TICKET"'
		[[ $output == *"1 of 1 in use, "*" ahead of you"*"the place stays for "* ]]
	done
	let_go a
	ended a
	# The first has it, and nobody else; then its call comes.
	eventually holds 2
	run -75 "$FLOCKLIMIT" -q -N x --nonblock true
	run -0 "$FLOCKLIMIT" -N x -n 1 --keep-place 1m -t 0 sh -c 'echo "$FLOCKLIMIT_TICKET"'
	[ "$output" = 2 ]
	eventually is_free # the other one has gone by itself
}

@test "a place without its caller ends after that time" {
	hold a -N x -n 1
	run -75 "$FLOCKLIMIT" -q -N x -n 1 --keep-place 200ms -t 0 true
	eventually line_is '[]'
	let_go a
}

@test "the second call at once is told, and not doubled" {
	hold a -N x -n 1
	a_front call "${KEEP[@]}" echo mine
	eventually line_is '[2]'
	run -75 "$FLOCKLIMIT" "${KEEP[@]}" echo mine
	[ "$output" = "flocklimit: x: --keep-place: pid ${pids[call]} waits with this place already: wait for it, or give each its own --place" ]
	line_is '[2]'
	# A word says which place it is, whatever is called from wherever; and without it the directory does.
	run -75 "$FLOCKLIMIT" -q "${KEEP[@]}" --place w -t 0 echo other
	(cd / && run -75 "$FLOCKLIMIT" -q "${KEEP[@]}" --place w --nonblock echo words)
	line_is '[2,3]'
	(cd / && run -75 "$FLOCKLIMIT" -q -t 0 "${KEEP[@]}" echo mine)
	line_is '[2,3,4]'
	let_go a
	ended call
	[ "$(cat call.out)" = mine ]
	run -0 "$FLOCKLIMIT" "${KEEP[@]}" --place w echo words
}

@test "TERM and ^C keep it as well, and say so" {
	hold a -N x -n 1
	for sig in TERM INT HUP; do
		background call env --default-signal=INT "$FLOCKLIMIT" -v "${KEEP[@]}" true
		eventually says waiting: call.err # by now it catches them
		kill -"$sig" "${pids[call]}"
		ended call
		[ "$status" = "$((128 + $(kill -l "$sig")))" ]
		[[ $(tail -n 1 call.err) == "flocklimit: x: no permit after "*"; the place stays for 5 min" ]]
		line_is '[2]'
	done
	let_go a
}

@test "it is shown, cancelled, and refused by a closed limiter as any waiter" {
	hold a -N x -n 1
	a_front call "${KEEP[@]}" echo mine
	eventually line_is '[2]'
	run -0 "$CTL" show x
	[[ $output == *"--keep-place: echo mine"* ]]
	"$CTL" cancel x 2
	ended call
	[ "$status" = 75 ]
	[[ $(cat call.err) == "flocklimit: x: no permit: an operator cancelled the place" ]]
	a_front call "${KEEP[@]}" echo mine
	"$CTL" close x
	ended call
	[ "$status" = 75 ]
	[[ $(cat call.err) == *"the limiter is closed"* ]]
	"$CTL" open x
	run -75 "$FLOCKLIMIT" "${KEEP[@]}" --max-queue 0 echo mine
	[[ $output == *"no permit, as --max-queue is 0"* ]]
	line_is '[]'
	let_go a
}

@test "a keeper that is killed costs its place: the call begins anew" {
	hold a -N x -n 1
	a_front call "${KEEP[@]}" sh -c 'echo $FLOCKLIMIT_TICKET'
	eventually line_is '[2]'
	kill -KILL "$(keeper)"
	eventually line_is '[3]'
	let_go a
	ended call
	[ "$(cat call.out)" = 3 ]
	[ "$(cat call.err)" = "flocklimit: x: --keep-place: the keeper of the place has died: waiting anew, behind all others" ]
	# One that gets TERM leaves the line, or gives its permit back.
	hold b -N x -n 1
	run -75 "$FLOCKLIMIT" -q "${KEEP[@]}" -t 0 true
	kill "$(keeper)"
	eventually line_is '[]'
	run -75 "$FLOCKLIMIT" -q "${KEEP[@]}" -t 0 true
	let_go b
	eventually holds 6
	kill "$(keeper)"
	eventually is_free
}

@test "the command keeps the permit when flocklimit is killed" {
	mkfifo go
	background call "$FLOCKLIMIT" "${KEEP[@]}" sh -c 'echo $$ >up; read -r _ <go'
	eventually test -s up
	kill -KILL "${pids[call]}"
	ended call
	run -75 "$FLOCKLIMIT" -q -N x --nonblock true
	echo >go
	eventually is_free
}

@test "the keeper is small, and keeps nothing of its caller open" {
	hold a -N x -n 1
	# The pipe of $(...) would stay open, and the command substitution not end.
	[ -z "$("$FLOCKLIMIT" -q "${KEEP[@]}" -t 0 true 2>&1)" ]
	pid=$(keeper)
	[ "$(readlink "/proc/$pid/cwd")" = / ]
	[ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ]
	[ "$(readlink "/proc/$pid/fd/"[012] | sort -u)" = /dev/null ]
	if [ -r "/proc/$pid/smaps_rollup" ] && ! grep -qE '__[at]san_init' "$FLOCKLIMIT"; then
		kilobytes=$(awk '/^Private_/ { n += $2 } END { print n }' "/proc/$pid/smaps_rollup")
		echo "$kilobytes kB of its own"
		[ "$kilobytes" -lt 200 ]
	fi
	let_go a
}

# names: of the places that there are, as the kernel lists them.
names() {
	grep -o '@flocklimit-place-.*' /proc/net/unix | sort -u
}

@test "where another user has the name of the place, the wait is an ordinary one" {
	[ "$(id -u)" = 0 ] || skip "needs root, to be another user"
	command -v setpriv >/dev/null || skip "no setpriv"
	hold a -N x -n 1
	names >before
	run -75 "$FLOCKLIMIT" "${KEEP[@]}" -t 0 echo mine
	name=$(names | comm -13 before -)
	[ "$(wc -l <<<"$name")" = 1 ]
	kill "$(keeper)"
	eventually line_is '[]'
	background other setpriv --reuid=65534 --regid=65534 --clear-groups "$(type -P /usr/bin/python3 python3 | head -n 1)" -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\0" + sys.argv[1])
s.listen(8)
print("up", flush=True)
while True:
    s.accept()' "${name#@}"
	eventually says up other.out
	run -75 "$FLOCKLIMIT" "${KEEP[@]}" -t 0 echo mine
	[ "${lines[0]}" = "flocklimit: x: --keep-place: no place is kept: another user has its name: use --place" ]
	[[ ${lines[1]} == *"no permit without waiting"* ]]
	line_is '[]'
	run -75 "$FLOCKLIMIT" -q "${KEEP[@]}" --place w -t 0 echo mine
	[ "$(tickets | jq length)" = 1 ]
	let_go a
}

@test "what does not go with it is refused" {
	for words in '--keep-place 1m --fd 9' '--keep-place 1m --hold-for 1' '--keep-place 1m --and y true' \
		'--keep-place 1m --when-run true true' '--keep-place 1m --until-ready true' '--place w true'; do
		# shellcheck disable=SC2086 # several words
		run -125 "$FLOCKLIMIT" -N x $words
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == *--keep-place* ]]
	done
	run -125 "$FLOCKLIMIT" -N x --keep-place soon true
	[[ $output == *"--keep-place 'soon'"* ]]
	[ ! -e limiters ]
	hold a -N x -n 1
	run -75 "$FLOCKLIMIT" -N x --keep-place 0 -t 0 true # turns off what a limits file says
	[[ $output != *"the place stays"* ]]
	line_is '[]'
	let_go a
}

@test "a limits file gives it to a command, and a shim keeps its place" {
	export FLOCKLIMIT_LIMITS=$T/limits
	echo 'command tool -N x -n 1 --keep-place 5m' >limits
	chmod 600 limits
	mkdir shims bin
	printf '#!/bin/sh\necho real $FLOCKLIMIT_TICKET "$@"\n' >bin/tool
	chmod +x bin/tool
	PATH=$T/shims:$T/bin:$PATH
	"$CTL" shim shims tool
	hold a -N x -n 1
	a_front call tool build
	eventually line_is '[2]'
	kill -KILL "${pids[call]}"
	ended call
	a_front call tool build
	line_is '[2]'
	let_go a
	ended call
	[ "$(cat call.out)" = "real 2 build" ]
}
