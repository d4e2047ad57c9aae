#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --jobserver: with GNU make, and with a client that does as it is told.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load jobserver.bash

@test "make: as many jobs as the limit, and no more" {
	with_tmp
	makefile 12
	run -0 "$FLOCKLIMIT" -N x -n 3 --jobserver=pipe make -s WHO=a
	[ -z "$output" ]
	has_lines 24 log
	[ "$(most)" -le 3 ]
	[ "$(most)" -ge 2 ]
	nothing_left
	used 0
}

is_given() {
	run -0 "$FLOCKLIMIT" -N x -n 3 --jobserver sh -c 'echo "$MAKEFLAGS"' || return 1
	[[ $output == *-j3\ --jobserver-auth=$1* ]]
}

@test "make: the style that it knows is chosen" {
	local style='[0-9]*,[0-9]*'
	! knows_fifo || style='fifo:*'
	patiently is_given "$style"
	run -0 "$FLOCKLIMIT" -N x -n 3 --jobserver=fifo sh -c 'echo "$MAKEFLAGS"'
	[[ $output == *-j3\ --jobserver-auth=fifo:/* ]]
	makefile 9
	if knows_fifo; then
		silent 0 "$FLOCKLIMIT" -N x -n 3 --jobserver=fifo make -s WHO=a
		[ "$(most)" -le 3 ]
	fi
}

@test "two builds and a loop side by side: never above the limit, and each gets on" {
	with_tmp
	makefile 25
	background a "$FLOCKLIMIT" -N x -n 3 --jobserver=pipe make -s WHO=a
	background b "$FLOCKLIMIT" -N x -n 3 --jobserver=pipe make -s WHO=b
	seq 25 >items
	background c xargs -P 3 -I{} -a items "$FLOCKLIMIT" -N x -n 3 \
		sh -c 'echo "+ c" >>log; sleep 0.02; echo "- c" >>log'
	for who in a b c; do
		soon "$who"
		[ "$status" = 0 ]
	done
	has_lines 150 log
	echo "at once: $(most)"
	[ "$(most)" -le 3 ]
	used 0
	nothing_left
}

# lends_first: all that is free, before the command starts.  It does not wait for that for longer than half a
# second (lender_start), so a command that began as late may find less, and is tried again.
lends_first() {
	local began i
	for i in {1..20}; do
		began=$(date +%s%N)
		lends_then
		[ "${lines[*]:1}" != "8 7" ] || return 0
		[ $((lines[0] - began)) -ge 500000000 ] || return 1
	done
	return 1
}
lends_then() {
	run -7 "$FLOCKLIMIT" -N y -n 8 --jobserver=fifo sh -c '
		date +%s%N
		"$1" show --json y | jq .used
		exec 9<>"${MAKEFLAGS##*fifo:}"
		dd bs=8 count=1 iflag=nonblock status=none <&9 | wc -c
		exit 7' sh "$CTL"
}

@test "all that is free is lent before the command starts; all comes back at the end" {
	lends_first
	client a -n 3
	eventually used 3
	took a 1
	took a 2
	tell a give
	used 3
	tell a give
	tell a end
	soon a
	[ "$status" = 7 ]
	used 0
}

@test "a limiter that was used with every other N before" {
	local n i
	for n in 1 2 3 5 8; do
		for i in $(seq 20); do
			silent 0 "$FLOCKLIMIT" -N "$n" -n "$n" true
		done
		run -7 timeout -k 1 300 "$FLOCKLIMIT" -N "$n" -n 4 --jobserver=fifo sh -c '
			exec 9<>"${MAKEFLAGS##*fifo:}"
			for i in 1 2 3; do dd bs=1 count=1 status=none <&9 >/dev/null; done
			exit 7'
		[ "$(ctl show --json "$n" | jq .used)" = 0 ]
		# So many tickets, and not hundreds of thousands.
		run -0 "$FLOCKLIMIT" -N "$n" printenv FLOCKLIMIT_TICKET
		[ "$output" -lt 100 ]
	done
}

@test "tokens are called back while another taker waits, one by one as they come in" {
	client a -n 3
	took a 1
	took a 2
	used 3
	mkfifo go
	background b "$FLOCKLIMIT" -N x -n 3 -w 2 sh -c ': >ran; cat go'
	eventually b_waits
	tell a give
	eventually used 2
	b_waits
	tell a give
	eventually test -e ran
	used 3
	: >go
	soon b
	eventually used 3 # and lent anew when it has gone
	tell a end
	soon a
}

b_waits() { [ "$(field '[.waiters[] | select(.command | startswith("sh -c"))] | length')" = 1 ]; }

@test "a token that lies there goes to a taker that waits, and not to one that only tries" {
	client a -n 2
	eventually used 2
	silent 75 "$FLOCKLIMIT" -N x -q --nonblock true
	silent 0 "$FLOCKLIMIT" -N x -t 10 true
	eventually used 2
	tell a end
	soon a
}

@test "a client that dies with a token costs that one, until the build ends" {
	client a -n 3
	took a 1
	took a 2
	tell a give
	background b "$FLOCKLIMIT" -N x -n 3 -t 20 sh -c ': >ran'
	soon b # the one given back is called back
	[ "$status" = 0 ]
	eventually used 3
	kill -KILL "$(cat a.up)"
	soon a
	[ "$status" = 137 ]
	used 0
}

@test "kill -9 of the wrapper: nothing is free until its processes have ended" {
	client a -n 3
	took a 1
	eventually used 3
	kill -KILL "${pids[a]}"
	ended a
	no_room
	kill -KILL "$(cat a.up)"
	silent 0 "$FLOCKLIMIT" -N x -n 3 -w 3 -t 20 true
	used 0
}

no_room() { silent 75 "$FLOCKLIMIT" -N x -q --nonblock true; }

# follower LABEL: the child of the wrapper that is not the command.
follower() {
	local pid
	# shellcheck disable=SC2013 # a line is of words
	for pid in $(cat "/proc/${pids[$1]}/task/${pids[$1]}/children"); do
		[ "$pid" = "$(cat "$1.up")" ] || is_gone "$pid" || echo "$pid"
	done
}

has_other_follower() {
	local now
	now=$(follower "$1")
	[ -n "$now" ] && [ "$now" != "$2" ]
}

@test "cancel -s KILL kills the command, and not the one who follows" {
	hold a -N x -n 2 --jobserver=pipe -q
	"${FLOCKLIMIT}ctl" cancel -s KILL x "$("${FLOCKLIMIT}ctl" show --json x | jq '.holders[0].ticket')"
	ended a
	[ "$status" -eq 137 ]
}

@test "kill -9 of the one who follows: another comes, and the command hears nothing" {
	local first i
	client a -n 2
	for i in 1 2 3; do
		first=$(follower a)
		[ -n "$first" ]
		silent 0 "$FLOCKLIMIT" -N other true
		kill -KILL "$first"
		eventually has_other_follower a "$first"
	done
	silent 0 "$FLOCKLIMIT" -N x -t 20 true
	tell a end
	soon a
	[ "$status" = 7 ]
}

@test "a signal that ends the command ends all" {
	local sig
	with_tmp
	for sig in TERM INT HUP; do
		rm -f a.*
		client a -n 3
		took a 1
		kill "-$sig" "${pids[a]}"
		kill -KILL "$(cat a.up)" 2>/dev/null || : # it may ignore them
		soon a
		[ "$status" -gt 128 ]
		used 0
		nothing_left
	done
}

@test "stopped and continued, it is all there" {
	client a -n 2
	eventually used 2
	as_job true
	kill -STOP "${pids[a]}"
	eventually is_state T "${pids[a]}"
	for i in 1 2 3 4 5; do
		silent 75 "$FLOCKLIMIT" -N x -q -t 10ms true
	done
	kill -CONT "${pids[a]}"
	silent 0 "$FLOCKLIMIT" -N x -t 20 true
	tell a end
	soon a
	[ "$status" = 7 ]
}

@test "the exit status is the command's, and a command that isn't there" {
	silent 3 "$FLOCKLIMIT" -N x -n 2 --jobserver=pipe sh -c 'exit 3'
	run -127 "$FLOCKLIMIT" -N x -n 2 --jobserver=pipe ./none
	run -124 "$FLOCKLIMIT" -N x -n 2 -T 50ms --jobserver=fifo sleep 100
	used 0
}

@test "under a permit of the same limiter, that one pays for the first job" {
	run -0 "$FLOCKLIMIT" -N x -n 2 "$FLOCKLIMIT" -N x --jobserver=fifo sh -c '
		until "$1" show --json x | jq -e ".used == 2" >/dev/null; do sleep 0.01; done
		"$1" show --json x | jq "[.used, .limit] | @csv"; echo "$MAKEFLAGS"' sh "$CTL"
	[[ ${lines[0]} == *2,2* ]]
	[[ ${lines[1]} == *-j2\ * ]]
}

@test "MAKEFLAGS: another jobserver's is replaced, and the rest is kept" {
	run -0 env MAKEFLAGS='ks -j9 --jobserver-auth=3,4 --no-print-directory -- A=b\ -j7 C=d' CARGO_MAKEFLAGS=-j8 \
		"$FLOCKLIMIT" -N x -n 2 --jobserver=pipe sh -c 'echo "$MAKEFLAGS $CARGO_MAKEFLAGS"'
	[[ $output =~ ^'ks --no-print-directory -j2 --jobserver-auth='[0-9]+,[0-9]+' -- A=b\ -j7 C=d '$ ]]
	printf 'all: ; @$(MAKE) -s -f inner\n' >Makefile
	printf 'all: a b c d\na b c d: ; @echo + >>log; sleep 0.05; echo - >>log; test "$(V)" = w\n' >inner
	silent 0 "$FLOCKLIMIT" -N y -n 1 make -s -j4 V=w \
		MAKE="$FLOCKLIMIT -N x -n 2 --jobserver=pipe make"
	has_lines 8 log
	[ "$(most)" = 2 ]
}

@test "with -w each token weighs as much" {
	client a -n 6 -w 2
	eventually used 6
	took a 1
	took a 2
	tell a end
	soon a
	run -0 "$FLOCKLIMIT" -N x -n 7 -w 2 --jobserver=fifo sh -c 'echo "$MAKEFLAGS"'
	[[ $output == *-j3\ * ]]
}

@test "an override below the weight: one job, and no token" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 true
	silent 0 ctl limit x 1
	client a -n 4 -w 2
	[ "$(field '.holders | length')" = 1 ]
	silent 0 ctl limit x auto
	sleep 0.1
	[ "$(field '.holders | length')" = 1 ]
	tell a end
	soon a
	[ "$status" = 7 ]
}

@test "paused, closed, or a lowered limit: what lies there comes back" {
	client a -n 4
	took a 1
	eventually used 4
	silent 0 ctl pause x
	eventually used 2
	silent 0 ctl resume x
	eventually used 4
	silent 0 ctl close x
	eventually used 2
	silent 0 ctl open x
	eventually used 4
	silent 0 ctl limit x 3
	eventually used 3
	silent 0 ctl limit x 2
	eventually used 2
	tell a give
	eventually used 2
	silent 0 ctl limit x auto
	eventually used 4
	tell a end
	soon a
}

@test "tokens are starts: they come in their time" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 --stagger 300ms true
	client a -n 4
	took a 1
	took a 2
	ctl log --json x | jq -es '[.[] | select(.event == "granted") | .time] |
		[.[1:], .[:-1]] | transpose | all(.[0] - .[1] > 0.298)'
	silent 0 ctl stagger x off
	silent 0 ctl ramp x 1+1/100ms --ramp-idle 0
	took a 3
	tell a end
	soon a
}

@test "a limiter whose file is gone lends no more" {
	client a -n 3
	eventually used 3
	mkfifo go
	background b "$FLOCKLIMIT" -N x -n 3 -w 2 sh -c ': >ran; cat go'
	eventually test -e ran
	rm limiters/x
	: >go
	silent 0 "$FLOCKLIMIT" -N x -n 3 true
	tell a take # it never comes
	sleep 0.05
	[ ! -e a.said ]
	kill -KILL "$(cat a.up)"
	soon a
}

@test "the limiter's file is cut short: the command goes on, and its end counts" {
	local size asks
	for size in 0 4096; do
		for asks in no yes; do # whether the lender sleeps in the line
			rm -f limiters/x go ./*.told ./*.up ./*.said
			mkfifo go
			background h "$FLOCKLIMIT" -N x -n 3 sh -c ': >h.up; cat go'
			eventually test -e h.up
			client a -n 3
			eventually used 3
			if [ "$asks" = yes ]; then
				took a 1
				eventually waiting 1
			fi
			truncate -s "$size" limiters/x
			[ "$asks" = yes ] || took a 1
			tell a give
			tell a end
			soon a
			echo "size $size, asks $asks: $status $(cat a.err)"
			[ "$status" = 7 ]
			[ ! -s a.err ] || [ "$(cat a.err)" = "flocklimit: x: the file was cut short while in use: let its takers end, then remove it" ]
			: >go
			soon h
		done
	done
}

# The client is no redirection of a shell, which wants a descriptor above nine for itself.
@test "few descriptors: it works, or says what to raise" {
	local n
	for n in 6 7 8 9 10 11 12 20 59 60 61 62 63; do
		# shellcheck disable=SC2016 # the command's variable
		run --separate-stderr with_descriptors "$n" "$FLOCKLIMIT" -N x -n 3 --jobserver=fifo \
			sh -c 'exec dd if="${MAKEFLAGS##*fifo:}" count=0 status=none'
		echo "$n: $status $stderr"
		[ "$status" = 0 ] && [ -z "$stderr" ] && continue
		[ "$n" -lt 20 ]
		[ "$status" = 125 ]
		one_line
		[[ $stderr == *": raise ulimit -n" ]]
	done
}

@test "what does not go together is refused in one line" {
	refused "$FLOCKLIMIT" -N x --jobserver=garbage true
	refused "$FLOCKLIMIT" -N x --jobserver= true
	refused "$FLOCKLIMIT" -N x --jobserver -o true
	refused "$FLOCKLIMIT" -N x --jobserver -F true
	refused "$FLOCKLIMIT" -N x --jobserver --hold-for $$
	[ ! -e limiters/x ] # nothing was touched
}

# ---- what the client may do wrong ----

@test "more tokens written than taken: they are swallowed, and no permit goes back before the end" {
	client a -n 4
	took a 1
	took a 2
	took a 3
	tell a give
	tell a give
	tell a give
	used 4
	tell a give
	eventually grep -q 'wrote back more tokens than it took' "${T}/a.err"
	tell a give
	eventually lie 3 a
	background b "$FLOCKLIMIT" -N x -n 4 true
	eventually waiting 1
	tell a give
	eventually lie 3 a
	waiting 1
	used 4
	[ "$(wc -l <a.err)" = 1 ]
	tell a end
	soon a
	soon b
	[ "$status" = 0 ]
	used 0
}

# empty FD: it is closed in ours, or for a moment a file of /proc that it reads.
empty() {
	! grep "^$1 " open | grep -qvE "^$1 (/proc/.*)?\$"
}

@test "where stdin, stdout or stderr is closed, nothing of the jobserver stands in its place" {
	local closed style
	for style in fifo pipe; do
		for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
			rm -f open
			# What ours closes while find looks has no name any more.
			sh -c '"$FLOCKLIMIT" -N x -n 3 --jobserver='"$style"' \
				sh -c "find /proc/\$PPID/fd -type l -printf \"%f %l\n\" >open || :" '"$closed"
			echo "$style $closed:"
			cat open
			[[ $closed != *'<'* ]] || empty 0
			[[ $closed != *' >'* && $closed != '>'* ]] || empty 1
			[[ $closed != *2* ]] || empty 2
			grep -q '^60 ' open
		done
	done
}

# lie N LABEL: so many bytes lie in its pipe.
lie() {
	[ "$(python3 -c '
import fcntl, os, sys, termios
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
print(int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), "little"))' "/proc/$(cat "$2.up")/fd/9")" = "$1" ]
}

@test "kill -9 of the client: what still runs with a token keeps that permit, and no other" {
	client a -n 4
	took a 1
	took a 2
	tell a give
	# A job of the client's, which has the guard as all that it starts.
	tell a job
	eventually test -s a.job
	kill -KILL "$(cat a.up)"
	soon a
	[ "$status" = 137 ]
	eventually used 1
	[ "$(field '.holders[0].orphan')" = true ]
	background b "$FLOCKLIMIT" -N x -n 4 -w 4 true
	eventually waiting 1
	kill -KILL "$(cat a.job)"
	soon b
	[ "$status" = 0 ]
	used 0
}
