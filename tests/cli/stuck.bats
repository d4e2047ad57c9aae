#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# Another taker keeps everyone out of the limiter: it was stopped there, or gets no CPU time.

load ../helpers/lib.bash

# keep_out [sleep|spin]: a process that has the lock of $limiter until let_in; it is pids[inside] or, of
# another limiter than x, pids[inside.LIMITER].
limiter=x
keep_out() {
	need_helper inside
	"$FLOCKLIMIT" -N "$limiter" -n 1 --nonblock true 3>&- || :
	background "$(inside)" "$HELPERS/inside" "$FLOCKLIMIT_DIR/$limiter" "${1:-sleep}"
	eventually says inside "$(inside).out"
}

inside() { [ "$limiter" = x ] && echo inside || echo "inside.$limiter"; }

# stop_inside: it is stopped there.
stop_inside() {
	keep_out
	kill -STOP "${pids[$(inside)]}"
	eventually is_state T "${pids[$(inside)]}"
}

# let_in: it goes on, and leaves.
let_in() {
	kill -USR1 "${pids[$(inside)]}"
	kill -CONT "${pids[$(inside)]}" 2>/dev/null || : # it may have gone
	ended "$(inside)"
	[ "$status" -eq 0 ]
}

# is_up LABEL: it has not ended.
is_up() {
	! is_gone "${pids[$1]}"
}

@test "a newcomer says once which process keeps it out, and waits on" {
	stop_inside
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 7'
	eventually says "flocklimit: x: waiting: pid ${pids[inside]} is stopped and keeps everyone out: kill -CONT ${pids[inside]}" a.err
	sleep 1 # it must stay so
	is_up a
	has_lines 1 a.err
	let_in
	ended a
	[ "$status" -eq 7 ]
	has_lines 1 a.err
}

@test "with -q it says nothing, and waits on" {
	stop_inside
	background a "$FLOCKLIMIT" -N x -n 1 -q sh -c 'exit 7'
	background b "$FLOCKLIMIT" -N x -n 1 true
	eventually says waiting: b.err
	sleep 0.5 # it must stay so
	is_up a
	let_in
	ended a
	[ "$status" -eq 7 ]
	[ ! -s a.err ]
	ended b
	[ "$status" -eq 0 ]
}

@test "a waiter keeps its place, and a holder gives back" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 sh -c 'echo b >>order'
	eventually in_line 1
	stop_inside
	background c "$FLOCKLIMIT" -N x -n 1 sh -c 'echo c >>order'
	let_go a
	ended a # its command has ended: nobody waits for that
	[ "$status" -eq 0 ]
	[ ! -s a.err ]
	eventually says waiting: b.err
	eventually says waiting: c.err
	[ ! -e order ]
	let_in
	ended b
	[ "$status" -eq 0 ]
	ended c
	[ "$status" -eq 0 ]
	[ "$(tr -d '\n' <order)" = bc ]
	"$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "the process inside is killed: the waiter is served" {
	stop_inside
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 7'
	eventually says waiting: a.err
	kill -KILL "${pids[inside]}"
	ended a
	[ "$status" -eq 7 ]
}

@test "-t and --nonblock give up, with the status of no permit" {
	stop_inside
	background a "$FLOCKLIMIT" -N x -n 1 --nonblock true
	background b "$FLOCKLIMIT" -N x -n 1 -t 6 -E 33 true
	background c "$FLOCKLIMIT" -N x -n 1 -t 1 -q true
	ended a
	[ "$status" -eq 75 ]
	says "flocklimit: x: no permit without waiting: pid ${pids[inside]} is stopped " a.err
	has_lines 1 a.err
	ended b
	[ "$status" -eq 33 ]
	says "flocklimit: x: waiting: pid ${pids[inside]} is stopped " <(sed -n 1p b.err)
	says "flocklimit: x: no permit after 6 s: pid ${pids[inside]} is stopped " <(sed -n 2p b.err)
	has_lines 2 b.err
	ended c
	[ "$status" -eq 75 ]
	[ -z "$(cat {a,b,c}.out c.err)" ]
	let_in
	"$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "a waiter whose deadline comes gives up" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 -t 10 true
	eventually in_line 1
	stop_inside
	ended b
	[ "$status" -eq 75 ]
	says "no permit after 10 s: pid ${pids[inside]} is stopped" b.err
	let_in
	eventually in_line 0
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

@test "a signal ends a newcomer and a waiter" {
	local limiter # three, side by side
	for limiter in INT TERM HUP; do
		hold "a.$limiter" -N "$limiter" -n 1
		background "b.$limiter" env --default-signal=INT,QUIT "$FLOCKLIMIT" -N "$limiter" -n 1 true
		eventually in_line 1 "$limiter"
		stop_inside
		background "c.$limiter" env --default-signal=INT,QUIT "$FLOCKLIMIT" -N "$limiter" -n 1 true
		let_go "a.$limiter" # which wakes b, and it comes to the lock
	done
	for limiter in INT TERM HUP; do
		ended "a.$limiter"
		eventually says waiting: "b.$limiter.err"
		eventually says waiting: "c.$limiter.err"
		kill -s "$limiter" "${pids[b.$limiter]}" "${pids[c.$limiter]}"
		ended "b.$limiter"
		[ "$status" -eq $((128 + $(kill -l "$limiter"))) ]
		ended "c.$limiter"
		[ "$status" -eq $((128 + $(kill -l "$limiter"))) ]
		let_in
		"$FLOCKLIMIT" -N "$limiter" -n 1 --nonblock true
	done
}

@test "a process that is not stopped is not to be killed" {
	keep_out sleep
	background a "$FLOCKLIMIT" -N x -n 1 true
	eventually says "waiting: pid ${pids[inside]} keeps everyone out: it is asleep" a.err
	run ! says kill a.err
	let_in
	ended a
	[ "$status" -eq 0 ]
}

@test "a process whose cgroup gives it no CPU time: its quota is named" {
	local group=
	need_root
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		group=/sys/fs/cgroup/flocklimit-${TMPDIR##*/} # which goes with $TMPDIR
		echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || :
		mkdir "$group" && echo "1000 1000000" >"$group/cpu.max" || group=
	elif [ -w /sys/fs/cgroup/cpu ]; then
		group=/sys/fs/cgroup/cpu/flocklimit-${TMPDIR##*/}
		mkdir "$group" && echo 1000000 >"$group/cpu.cfs_period_us" &&
			echo 1000 >"$group/cpu.cfs_quota_us" || group=
	fi 2>/dev/null
	[ -n "$group" ] || skip "no cgroup with a CPU quota can be made here"
	keep_out spin
	echo "${pids[inside]}" >"$group/cgroup.procs"
	background a "$FLOCKLIMIT" -N x -n 1 true
	eventually says "pid ${pids[inside]} keeps everyone out: it is running, but its cgroup may use only 0.1 % of a CPU" a.err
	# It gets its CPU time back.
	echo "${pids[inside]}" >"${group%/*}/cgroup.procs"
	rmdir "$group"
	run ! says kill a.err
	is_up a
	let_in
	ended a
	[ "$status" -eq 0 ]
}

@test "operators give up after two seconds, and say why" {
	stop_inside
	run --separate-stderr -125 "${FLOCKLIMIT%/*}/flocklimitctl" limit x 3
	[[ $stderr == "flocklimitctl: x: pid ${pids[inside]} is stopped and keeps everyone out: kill -CONT ${pids[inside]}" ]]
	let_in
}

declare -gA numbers # of the signals that has_signal was asked for

# has_signal FIELD SIGNAL FILE: this field of a status file in /proc has the signal.  It starts no
# process: flockmap is inside for 100 ms at a time, and a fork can take longer on a busy machine.
has_signal() {
	local key mask number
	: "${numbers[$2]:=$(kill -l "$2")}"
	number=${numbers[$2]}
	while read -r key mask; do
		[ "$key" != "$1:" ] || return $((!(0x$mask >> (number - 1) & 1)))
	done 2>/dev/null <"$3"
	return 1
}

# blocks SIGNAL PID: it has blocked it.
blocks() {
	has_signal SigBlk "$1" "/proc/$2/task/$2/status"
}

# pends SIGNAL PID: it was sent and has not been let in.
pends() {
	has_signal ShdPnd "$1" "/proc/$2/status"
}

# sent SIGNAL LABEL: it has that signal, and is not stopped.  If it is, it was not inside: once more.
sent() {
	kill -s "$1" "${pids[$2]}"
	if blocks "$1" "${pids[$2]}" && pends "$1" "${pids[$2]}" && ! is_state T "${pids[$2]}"; then
		return 0
	fi
	kill -CONT "${pids[$2]}"
	return 1
}

blocks_or_gone() { blocks "$1" "${pids[$2]}" || is_gone "${pids[$2]}"; }

# ctl_gets SIGNAL: flocklimitctl has it while it waits to come inside.  It gives up after two seconds,
# which may be over before that on a busy machine: once more.
ctl_gets() {
	as_job background ctl "${FLOCKLIMIT%/*}/flocklimitctl" limit x 3
	eventually blocks_or_gone "$1" ctl
	! sent "$1" ctl 2>/dev/null || return 0
	ended ctl
	return 1
}

@test "what a terminal sends does not stop flocklimitctl where it keeps everyone out, but after it" {
	local sig
	for sig in TSTP TTIN TTOU; do
		keep_out
		eventually ctl_gets "$sig"
		let_in
		eventually is_state T "${pids[ctl]}"
		"$FLOCKLIMIT" -N x -n 1 --nonblock true # and has left
		kill -CONT "${pids[ctl]}"
		ended ctl
		[ "$status" -eq 0 ] || says "keeps everyone out" ctl.err # which took two seconds
	done
}

@test "what a terminal sends does not stop flockmap while a thread of its keeps everyone out, but after it" {
	local map=${FLOCKLIMIT%/*}/flockmap sig
	keep_out
	# It is inside for two seconds, and later for 100 ms at a time.
	for sig in TSTP TTIN TTOU; do
		as_job background "$sig" "$map" -N x -n 2 sh -c 'echo "$1" >>"$2"' sh '{}' "ran.$sig" ::: a b c
		eventually sent "$sig" "$sig"
	done
	let_in
	for sig in TSTP TTIN TTOU; do
		eventually is_state T "${pids[$sig]}"
	done
	run --separate-stderr "$FLOCKLIMIT" -N x -n 9 --nonblock true # nobody is kept out
	[[ $stderr != *"keeps everyone out"* ]]
	for sig in TSTP TTIN TTOU; do
		kill -CONT "${pids[$sig]}"
	done
	for sig in TSTP TTIN TTOU; do
		ended "$sig"
		[ "$status" -eq 0 ]
		has_lines 3 "ran.$sig"
	done
}

@test "^Z at any moment of flocklimitctl and flockmap: nobody is kept out" {
	local dir=${FLOCKLIMIT%/*}
	"$FLOCKLIMIT" -N x -n 1 true
	for _ in {1..40}; do
		as_job background ctl sh -c 'while "$1/flocklimitctl" limit x 3; do :; done' sh "$dir"
		as_job background map sh -c 'seq 999999 | "$1/flockmap" -N x -n 3 true' sh "$dir"
		sleep "0.0$((RANDOM % 90 + 10))"
		kill -TSTP -- "-${pids[ctl]}" "-${pids[map]}"
		run --separate-stderr "$FLOCKLIMIT" -N x -n 9 --nonblock true
		[[ $stderr != *"keeps everyone out"* ]]
		kill -KILL -- "-${pids[ctl]}" "-${pids[map]}"
		ended ctl
		ended map
	done
}

@test "a ^Z and a continue: flockmap goes on" {
	local map=${FLOCKLIMIT%/*}/flockmap
	as_job background map sh -c 'seq 300 | "$1" -N x -n 3 sh -c "echo \$1 >>ran" sh' sh "$map"
	for _ in {1..20}; do
		sleep 0.02
		kill -TSTP -- "-${pids[map]}" 2>/dev/null || break
		sleep 0.02
		kill -CONT -- "-${pids[map]}" 2>/dev/null || break
	done
	ended map
	[ "$status" -eq 0 ]
	has_lines 300 ran
}
