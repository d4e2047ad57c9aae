#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What containers lack: system calls that a filter refuses, /proc, a process 1 that reaps.

load ../helpers/lib.bash

MAP=${FLOCKLIMIT%/*}/flockmap
export MAP

# refusing ERROR CALLS COMMAND...
refusing() {
	need_helper refuse
	"$HELPERS/refuse" "$@"
}

# ---- filters ----

@test "without rt_sigtimedwait: status, signals, stops and the run timeout are as ever" {
	local error
	for error in EPERM ENOSYS; do
		silent 7 timeout -k 1 60 "$HELPERS/refuse" "$error" rt_sigtimedwait "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 7'
		silent 124 timeout -k 1 60 "$HELPERS/refuse" "$error" rt_sigtimedwait "$FLOCKLIMIT" -N x -n 1 -T 100ms sleep inf
		rm -f a.up a.fifo
		mkfifo a.fifo
		background a "$HELPERS/refuse" "$error" rt_sigtimedwait "$FLOCKLIMIT" -N x -n 1 sh -c '
			trap "echo usr1 >>a.signals" USR1; echo $$ >a.up; while :; do read -r line; done <>a.fifo'
		eventually test -s a.up
		kill -USR1 "${pids[a]}"
		eventually says usr1 a.signals
		kill -STOP "$(up a)"
		eventually is_state T "${pids[a]}"
		kill -CONT "${pids[a]}"
		eventually is_state S "$(up a)"
		eventually is_state S "${pids[a]}"
		kill -TERM "${pids[a]}"
		ended a
		[ "$status" -eq 143 ]
		[ "$(cat a.signals)" = usr1 ]
		rm a.signals
	done
}

@test "without a way to hear signals: one line, the status counts, and TERM ends us alone" {
	run --separate-stderr -7 timeout -k 1 60 "$HELPERS/refuse" EPERM rt_sigtimedwait,signalfd4 \
		"$FLOCKLIMIT" -N x -n 1 sh -c 'exit 7'
	one_line
	[[ $stderr == *'cannot wait for signals: Operation not permitted'* ]]
	background a "$HELPERS/refuse" EPERM rt_sigtimedwait,signalfd4 \
		"$FLOCKLIMIT" -N x -n 1 sh -c 'echo $$ >a.up; exec sleep inf'
	eventually test -s a.up
	eventually says 'cannot wait' a.err
	eventually is_state S "${pids[a]}"
	kill -TERM "${pids[a]}"
	ended a
	[ "$status" -eq 143 ]
	eventually is_state S "$(up a)"
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "without a robust list: what is refused is said, and what to do" {
	local error
	for error in EPERM ENOSYS; do
		refused refusing "$error" set_robust_list,get_robust_list "$FLOCKLIMIT" -N x -n 1 true
		[[ $stderr == *set_robust_list*allow* ]]
		[[ $stderr != *--file* ]]
		run --separate-stderr -125 refusing "$error" set_robust_list,get_robust_list "$MAP" -N x -n 1 echo ::: a
		[[ $stderr == "flockmap: "*get_robust_list*allow* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "without pidfd_open flockmap starts nothing, and says what to do" {
	local error
	for error in EPERM ENOSYS; do
		run --separate-stderr -125 refusing "$error" pidfd_open "$MAP" -N x -n 1 touch ::: ran
		[[ $stderr == "flockmap: pidfd_open: "*allow* ]]
		[ ! -e ran ]
	done
}

# ---- without /dev/null ----

@test "without /dev/null: what can't do without says so, and a script that waits for a ticket goes on" {
	need_mount
	mkdir limiters
	run --separate-stderr timeout 60 unshare -m sh -c 'mount -t tmpfs -o mode=755 none /dev && mkdir /dev/shm
		ticket=$("$FLOCKLIMIT" -N x -n 1 --hold-for $$); echo "$?:$ticket"
		"$FLOCKLIMIT" -N x -n 1 --background true; echo $?
		"$MAP" -N x -n 1 echo ::: a; echo $?
		"$FLOCKLIMIT" -N x -n 1 echo ran'
	echo "$output, $stderr"
	[ "$output" = $'125:\n125\n125\nran' ]
	[ "${stderr_lines[0]}" = "flocklimit: x: --hold-for: /dev/null: No such file or directory" ]
	[ "${stderr_lines[1]}" = "flocklimit: x: --background: /dev/null: No such file or directory" ]
	[ "${stderr_lines[2]}" = "flockmap: /dev/null: No such file or directory" ]
}

# ---- without /proc ----

@test "without /proc flocklimit and flockmap run commands" {
	need_mount
	mkdir limiters
	run unshare -m sh -c 'mount -t tmpfs none /proc && mount -t tmpfs -o mode=700 none limiters &&
		"$FLOCKLIMIT" -N x -n 2 echo one && "$MAP" -N x -n 1 echo ::: two three'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = $'one\ntwo\nthree' ]
}

@test "without /proc the keeper of --hold-for keeps no descriptor of its caller" {
	need_mount
	mkdir limiters
	background a unshare -m sh -c 'mount -t tmpfs none /proc && mount -t tmpfs -o mode=700 none limiters
		sleep inf & echo $! >a.up; "$FLOCKLIMIT" -N x -n 1 --hold-for $! 7>&1 >a.ticket; : >a.done; wait' 3>&-
	eventually test -e a.done
	[ -s a.ticket ]
	keeper=$(pgrep -f -- "^$FLOCKLIMIT -N x -n 1 --hold-for $(cat a.up)\$")
	[ ! -e "/proc/$keeper/fd/7" ]
	kill -KILL "$(cat a.up)"
	eventually is_gone "$keeper"
}

@test "without /proc a limiter on a disk is refused, and leaves no file" {
	need_mount
	mkdir disk
	case $(stat -f -c %T disk) in tmpfs | overlayfs) skip "no disk here" ;; esac
	run --separate-stderr -125 unshare -m sh -c 'mount -t tmpfs none /proc && "$FLOCKLIMIT" -f disk/x -n 1 true'
	[[ $stderr == *"mount /proc"* ]]
	[ -z "$(ls disk)" ]
}

# ---- a user namespace without a mapping ----

@test "a user that is not mapped has no limiter directory, and harms none" {
	need_unshare -U
	env -u FLOCKLIMIT_DIR -u FLOCKLIMIT_NAME unshare -U sh -c '"$FLOCKLIMIT" -n 1 true 2>err; echo $? >code'
	[ "$(cat code)" = 125 ]
	[ "$(cat err)" = "flocklimit: true: this user namespace maps no user, and so has no limiter directory of its own: map one, or choose a directory with FLOCKLIMIT_DIR" ]
	mkdir mine
	run -0 env FLOCKLIMIT_DIR="$T/mine" unshare -U "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
}

# ---- process 1 ----

# Leaves ten orphans behind, and ends with status 7 once all of them were reaped.
leave_orphans='
	for i in 0 1 2 3 4 5 6 7 8 9; do
		(sh -c ": >orphan.$i" & )
	done
	for try in $(seq 1000); do
		if [ -e orphan.9 ] && [ "$(ls orphan.* | wc -l)" = 10 ] &&
			! grep -qs "^State:.Z" /proc/[0-9]*/status; then
			exit 7
		fi
		sleep 0.01
	done
	grep -s "^State:.Z" /proc/[0-9]*/status
	exit 1'

@test "as process 1 flocklimit reaps orphans, and exits as its command does" {
	need_unshare -pf --mount-proc
	silent 7 unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 sh -c "$leave_orphans"
	silent 143 unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 sh -c 'kill -TERM $$'
	run -127 unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 /nowhere/at/all
	silent 124 unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 -T 50ms sleep inf
}

@test "as process 1 flockmap reaps orphans" {
	need_unshare -pf --mount-proc
	run unshare -pf --mount-proc "$MAP" -N x -n 2 sh -c "$leave_orphans" sh ::: 1
	echo "$output"
	[ "$status" -eq 123 ]
	[ "$output" = "flockmap: x: 1 of 1 failed; first: item 1 '1': exit 7" ]
}

@test "as process 1 it passes signals on, from outside and from inside, while it waits as well" {
	need_unshare -pf --mount-proc
	local from
	for from in outside inside command; do
		rm -f a.up
		background a unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 sh -c '
			trap "exit 9" TERM; : >a.up
			if [ "$1" = command ]; then sh -c "kill -TERM 1"; fi
			while :; do sleep 0.01; done' sh "$from"
		eventually test -e a.up
		case $from in
		outside) kill -TERM "$(pgrep -P "${pids[a]}")" ;;
		inside) nsenter -t "$(pgrep -P "${pids[a]}")" -p -m kill -TERM 1 ;;
		esac
		eventually is_gone "${pids[a]}"
		ended a
		[ "$status" -eq 9 ]
	done
	hold b -N x -n 1
	background c unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 true
	eventually in_line 1
	kill -TERM "$(pgrep -P "${pids[c]}")"
	eventually is_gone "${pids[c]}"
	ended c
	[ "$status" -eq 143 ]
}

@test "as process 1 it does not return before its command, which would end with the namespace" {
	need_unshare -pf --mount-proc
	run --separate-stderr -125 unshare -pf --mount-proc "${FLOCKLIMIT%limit}sem" --id p touch ran
	[ "$stderr" = "flocksem: process 1 cannot return before its command, which would end with it: use --fg" ]
	refused unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 --background touch ran
	[[ $stderr == "flocklimit: x: --background: "*"process 1"* ]]
	[ ! -e ran ]
	# From another process there it does.
	silent 0 unshare -pf --mount-proc sh -c '"$FLOCKLIMIT" -N x -n 1 --background touch ran; wait; "$FLOCKLIMIT" -N x true'
	[ -e ran ]
}

@test "as process 1 with -F the command is process 1" {
	need_unshare -pf --mount-proc
	run -0 unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 -F sh -c 'echo $$'
	[ "$output" = 1 ]
}

# The guards of both are held while a first question of the jobserver waits, so that the other's
# processes, which have the numbers of its command, start in between.
@test "a dead container's permit is not kept by another's process with its command's number" {
	need_unshare -pf --mount-proc
	mkdir bin
	mkfifo answer go
	cat >bin/cargo <<-'E'
		#!/bin/sh
		case $1 in
		--version)
			: >asked
			read -r line <answer
			echo "cargo 1.80.0"
			;;
		*) echo $$ >a.up && exec sleep inf ;;
		esac
	E
	chmod +x bin/cargo
	background a env "PATH=$T/bin:$PATH" unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 --jobserver cargo build
	eventually test -e asked
	background b unshare -pf --mount-proc sh -c '
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep inf & done
		: >started
		read -r line <go
		"$FLOCKLIMIT" -N x -n 1 -t 20 echo ran'
	eventually test -e started
	echo >answer
	eventually test -s a.up
	kill -KILL "$(pgrep -P "${pids[a]}")"
	ended a
	echo >go
	ended b
	[ "$(cat b.out)" = ran ]
}
