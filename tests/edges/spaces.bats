#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Namespaces, users, and time that passes while nobody runs.

load ../helpers/lib.bash

need_pidns() { need_unshare -pf; }

# In a PID namespace of its own, where the shell is process 1 and the wrapper process 2.  If that
# is killed, the shell stays for LABEL.end, if there is such a FIFO.
contained() {
	local label=$1
	shift
	background "$label" env LABEL="$label" unshare -pf --kill-child \
		sh -c '"$@"; s=$?; [ ! -p "$LABEL.end" ] || read -r x <"$LABEL.end"; exit $s' sh "$FLOCKLIMIT" -f "$T/lim" "$@"
}

# pids_of LABEL COMM: pids of LABEL's processes with this name, in this test.
pids_of() {
	local pid
	# shellcheck disable=SC2013 # a line is a word here
	for pid in $(grep -lzxF "LABEL=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		grep -qzxF "T=$T" "/proc/$pid/environ" 2>/dev/null &&
			[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] && echo "$pid"
	done
}

# Says so if it is not alone, and stays until its FIFO is opened.  Its witness is the kernel's,
# and ends with it however that comes: before the guard does, since a process that ends has its
# highest descriptor closed first.
alone='exec 200>witness; flock -n 200 || echo "$LABEL is not alone" >>over; echo "$LABEL" >>order
	echo in >"$LABEL.in"; read -r x <"$LABEL.go"'

go() {
	timeout 300 sh -c 'echo >"$1.go"' sh "$1"
}

@test "three PID namespaces, the same pids in each: one at a time, in order, whoever is killed" {
	need_pidns
	local label
	for label in a b c d e; do mkfifo "$label.go"; done
	contained a -n 1 bash -c "$alone"
	eventually test -s a.in
	contained b -n 1 bash -c "$alone"
	eventually waits 1
	contained c -n 1 bash -c "$alone"
	eventually waits 2
	contained d -n 1 bash -c "$alone"
	eventually waits 3
	background e env LABEL=e "$FLOCKLIMIT" -f lim -n 1 bash -c "$alone" # and one outside
	eventually waits 4
	# One that waits, in the middle of the line: nobody starts.
	kill -KILL "$(pids_of c flocklimit)"
	ended c
	[ "$status" -eq 137 ]
	eventually waits 3
	[ ! -e b.in ]
	# The one that holds, with all of its namespace.
	kill -KILL "$(pids_of a unshare)"
	ended a
	eventually test -s b.in
	[ ! -e d.in ]
	go b
	ended b
	eventually test -s d.in
	[ ! -e e.in ]
	go d
	ended d
	eventually test -s e.in
	go e
	ended e
	[ ! -e over ] || { cat over order; false; }
	[ "$(tr -d '\n' <order)" = abde ]
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
}

@test "an orphan in another PID namespace keeps its permit, until it ends" {
	need_pidns
	mkfifo a.go b.go a.end
	contained a -n 1 bash -c "$alone"
	eventually test -s a.in
	contained b -n 1 bash -c "$alone"
	eventually waits 1
	kill -KILL "$(pids_of a flocklimit)"
	# Whoever looks, sees the same: it is held, and the line is as it was.
	run -75 "$FLOCKLIMIT" -f lim -n 1 -t 300ms -q true
	run -75 unshare -pf "$FLOCKLIMIT" -f lim -n 1 -t 300ms -q true
	waits 1
	[ ! -e b.in ]
	go a
	eventually test -s b.in
	go b
	ended b
	[ "$status" -eq 0 ]
	[ ! -e over ] || { cat over order; false; }
	timeout 300 sh -c 'echo >a.end'
	ended a
}

# There our /proc shows other processes, and one of them, which does not end, has the number of this one.
@test "a command in place of flocklimit, in a PID namespace without a /proc of its own, gives its permit back" {
	need_pidns
	silent 0 unshare -pf "$FLOCKLIMIT" -f lim -n 1 --no-fork true
	silent 0 "$FLOCKLIMIT" -f lim -n 1 --nonblock true
}

@test "in two PID namespaces each is killed in turn while the other comes and goes" {
	need_pidns
	local i
	mkfifo a.go b.go
	for ((i = 0; i < 6; i++)); do
		contained a -n 1 bash -c "$alone"
		eventually test -s a.in
		contained b -n 1 bash -c "$alone"
		eventually waits 1
		# both wrappers are process 2 in theirs
		if ((i % 2)); then
			kill -KILL "$(pids_of b flocklimit)"
			ended b
			go a
			ended a
			[ "$status" -eq 0 ]
			[ ! -e b.in ]
		else
			kill -KILL "$(pids_of a unshare)"
			ended a
			eventually test -s b.in
			go b
			ended b
			[ "$status" -eq 0 ]
		fi
		rm -f a.in b.in
	done
	[ ! -e over ] || { cat over order; false; }
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
}

# ---- users ----

# shared MODE: a directory of group 4242 with this mode, in $S.
shared() {
	need_root
	setpriv --reuid 1 --regid 1 --groups 4242 true 2>/dev/null || skip "may not change users"
	public
	S=$PUBLIC/shared
	mkdir "$S"
	chgrp 4242 "$S"
	chmod "$1" "$S"
}

# as UID CMD...: a member of the group; as_stranger: not.
as() {
	local uid=$1
	shift
	setpriv --reuid "$uid" --regid "$uid" --groups 4242 "$@"
}

as_stranger() {
	setpriv --reuid 3 --regid 3 --clear-groups "$@"
}

two_users() {
	local limiter=$S/lim
	mkfifo -m 666 "$S/a" "$S/b" "$S/c" # one each: a writer's end that is still open would be the next one's
	background a setpriv --reuid 1 --regid "$1" --groups 4242 \
		"$PUBLIC/flocklimit" -f "$limiter" --mode 0660 -n 1 sh -c 'echo in; read -r x <"$1"' sh "$S/a"
	eventually says in a.out
	[ "$(stat -c '%a %u %g' "$limiter")" = '660 1 4242' ]
	# The other waits for it, and the first for the other, and each survives the other's death.
	background b setpriv --reuid 65534 --regid 65534 --groups 4242 \
		"$PUBLIC/flocklimit" -f "$limiter" -v -n 1 sh -c 'echo in; read -r x <"$1"' sh "$S/b"
	eventually says 'waiting: 1 of 1 in use, 0 ahead' b.err
	background c setpriv --reuid 1 --regid 1 --groups 4242 \
		"$PUBLIC/flocklimit" -f "$limiter" -v -n 1 sh -c 'echo in; read -r x <"$1"' sh "$S/c"
	eventually says 'waiting: 1 of 1 in use, 1 ahead' c.err
	kill -KILL "${pids[a]}"
	ended a
	[ ! -s b.out ]                                  # the first's command runs on
	timeout 300 sh -c 'echo >"$1"' sh "$S/a"        # now it ends
	eventually says in b.out
	[ ! -s c.out ]
	run -75 as 1 "$PUBLIC/flocklimit" -f "$limiter" -n 1 -t 0 -q true
	timeout 300 sh -c 'echo >"$1"' sh "$S/b"
	ended b
	[ "$status" -eq 0 ]
	eventually says in c.out
	kill -KILL "${pids[c]}"
	timeout 300 sh -c 'echo >"$1"' sh "$S/c"
	ended c
	eventually as 65534 "$PUBLIC/flocklimit" -f "$limiter" -n 1 -t 0 -q true
	# Who is not of the group is told so.
	refused as_stranger "$PUBLIC/flocklimit" -f "$limiter" -n 1 true
	[ "$stderr" = "flocklimit: $limiter: Permission denied: choose another path with --file, or another directory with FLOCKLIMIT_DIR" ]
	[ "$(ls "$S")" = $'a\nb\nc\nlim' ]
}

@test "two users and a group, in a directory with the set-group-ID bit" {
	shared 2775
	umask 077 # is for the others' files, not for --mode
	two_users 1
}

@test "two users and a group that is the first one's own" {
	shared 1777
	umask 0777
	two_users 4242
}

@test "root shares it too, and its own file is theirs by the group" {
	shared 2775
	"$PUBLIC/flocklimit" -f "$S/lim" --mode 0660 -n 1 true
	[ "$(stat -c '%a %u %g' "$S/lim")" = '660 0 4242' ]
	hold a -f "$S/lim" -n 1
	run -75 as 1 "$PUBLIC/flocklimit" -f "$S/lim" -n 1 -t 0 -q true
	let_go a
	ended a
	silent 0 as 1 "$PUBLIC/flocklimit" -f "$S/lim" -n 1 -t 0 true
	refused as_stranger "$PUBLIC/flocklimit" -f "$S/lim" true
}

@test "another user's file that is his alone, read with root's rights or not" {
	shared 1777
	as 1 "$PUBLIC/flocklimit" -f "$S/lim" -n 1 true
	[ "$(stat -c %a "$S/lim")" = 600 ]
	refused as 65534 "$PUBLIC/flocklimit" -f "$S/lim" true
	[[ $stderr == *"Permission denied"* ]]
	refused "$PUBLIC/flocklimit" -f "$S/lim" true
	[[ $stderr == *"belongs to another user: let its owner share it with a group of yours (--mode 0660), or choose another path" ]]
}

@test "a user namespace: its root is the user outside" {
	shared 1777
	as 1 unshare -Ur true 2>/dev/null || skip "may not make user namespaces"
	mkfifo -m 666 "$S/go"
	background a setpriv --reuid 1 --regid 1 --clear-groups unshare -Ur \
		"$PUBLIC/flocklimit" -f "$S/lim" -n 1 sh -c 'echo in $(id -u); read -r x <"$1"' sh "$S/go"
	eventually says 'in 0' a.out
	[ "$(stat -c '%a %u' "$S/lim")" = '600 1' ]
	run -75 setpriv --reuid 1 --regid 1 --clear-groups "$PUBLIC/flocklimit" -f "$S/lim" -n 1 -t 0 -q true
	run -75 setpriv --reuid 1 --regid 1 --clear-groups unshare -Ur -pf "$PUBLIC/flocklimit" -f "$S/lim" -n 1 -t 0 -q true
	# Of another user's, root in there has nothing.
	refused as_stranger unshare -Ur "$PUBLIC/flocklimit" -f "$S/lim" -n 1 true
	timeout 300 sh -c 'echo >"$1"' sh "$S/go"
	ended a
	[ "$status" -eq 0 ]
	silent 0 setpriv --reuid 1 --regid 1 --clear-groups "$PUBLIC/flocklimit" -f "$S/lim" -n 1 -t 0 true
}

@test "one who is in a user namespace is killed: the next outside runs" {
	shared 1777
	as 1 unshare -Ur true 2>/dev/null || skip "may not make user namespaces"
	background a setpriv --reuid 1 --regid 1 --clear-groups unshare -Ur \
		"$PUBLIC/flocklimit" -f "$S/lim" -n 1 sh -c 'echo $$; exec sleep 60'
	eventually test -s a.out
	background b setpriv --reuid 1 --regid 1 --clear-groups "$PUBLIC/flocklimit" -f "$S/lim" -v -n 1 echo b
	eventually says waiting: b.err
	kill -KILL "$(cat a.out)" "${pids[a]}"
	ended b
	[ "$status" -eq 0 ]
}

# ---- where nothing can be written ----

why_not() {
	echo "flocklimit: $1: $2: choose another path with --file, or another directory with FLOCKLIMIT_DIR"
}

@test "a directory that may not be written: its limiter serves, and none is made" {
	shared 755
	chown 1 "$S"
	as 1 "$PUBLIC/flocklimit" -f "$S/lim" -n 1 true
	chmod 555 "$S"
	silent 0 as 1 "$PUBLIC/flocklimit" -f "$S/lim" -n 1 true
	silent 0 as 1 env FLOCKLIMIT_DIR="$S" "$PUBLIC/flocklimit" -N lim -n 1 true
	refused as 1 "$PUBLIC/flocklimit" -f "$S/new" -n 1 true
	[ "$stderr" = "$(why_not "$S/new" 'Permission denied')" ]
	refused as 1 env FLOCKLIMIT_DIR="$S/sub" "$PUBLIC/flocklimit" -N x true
	[[ $stderr == "flocklimit: x: $S/sub/x: Permission denied: choose"* ]]
	chmod 444 "$S/lim"
	refused as 1 "$PUBLIC/flocklimit" -f "$S/lim" -n 1 true
	[ "$stderr" = "$(why_not "$S/lim" 'Permission denied')" ]
	[ "$(ls "$S")" = lim ]
}

@test "a read-only file system, with a limiter and without" {
	need_mount
	mkdir ro
	run -0 timeout 300 unshare -m sh -c 'mount -t tmpfs none ro
		"$FLOCKLIMIT" -f "$T/ro/old" true
		mount -o remount,ro ro
		for name in old new; do "$FLOCKLIMIT" -f "$T/ro/$name" true; echo $?; done
		FLOCKLIMIT_DIR=$T/ro/dir "$FLOCKLIMIT" -N x true; echo $?
		ls ro'
	[ "${#lines[@]}" -eq 7 ]
	[ "${lines[0]}" = "$(why_not "$T/ro/old" 'Read-only file system')" ]
	[ "${lines[1]}" = 125 ]
	[ "${lines[2]}" = "$(why_not "$T/ro/new" 'Read-only file system')" ]
	[ "${lines[3]}" = 125 ]
	[[ "${lines[4]}" == "flocklimit: x: $T/ro/dir/x: Read-only file system: choose"* ]]
	[ "${lines[5]}" = 125 ]
	[ "${lines[6]}" = old ]
}

# ---- time ----

@test "time namespaces: clocks days apart, and each waits as long as it says" {
	need_unshare -T --monotonic 1000000
	local shift start
	hold a -f lim -n 1
	for shift in 1000000 -100; do
		start=${EPOCHREALTIME/./}
		run -75 timeout 300 unshare -T --monotonic "$shift" "$FLOCKLIMIT" -f lim -n 1 -t 300ms -q true
		((${EPOCHREALTIME/./} - start >= 300000))
		((${EPOCHREALTIME/./} - start < 10000000))
	done
	background b unshare -T --monotonic 1000000 "$FLOCKLIMIT" -f lim -v -n 1 sh -c 'echo b >>order'
	eventually says waiting: b.err
	background c "$FLOCKLIMIT" -f lim -v -n 1 sh -c 'echo c >>order'
	eventually says '1 ahead' c.err
	background d unshare -T --monotonic -100 "$FLOCKLIMIT" -f lim -v -n 1 sh -c 'echo d >>order'
	eventually says '2 ahead' d.err
	kill -KILL "${pids[c]}"
	let_go a
	ended a
	ended b
	[ "$status" -eq 0 ]
	ended d
	[ "$status" -eq 0 ]
	[ "$(tr -d '\n' <order)" = bd ]
}

# Everybody stops, as in a suspend, for longer than the waiter's time; then goes on.
@test "all are stopped for longer than -t, and no permit was free: no permit, at once" {
	hold a -f lim -n 1
	stop_in_line b 1
	kill -STOP "${pids[a]}" "$(up a)"
	sleep "$time" # it passes
	kill -CONT "$(up a)" "${pids[a]}" "${pids[b]}"
	ended b
	[ "$status" -eq 75 ]
	[ ! -s b.out ]
	has_lines 1 b.err
	let_go a
	ended a
	[ "$status" -eq 0 ]
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
}

@test "a permit that was given to one who is stopped is his, even after his time" {
	hold a -f lim -n 1
	stop_in_line b 1
	background c "$FLOCKLIMIT" -f lim -n 1 echo ran
	eventually waits 2
	let_go a
	ended a
	sleep "$time" # it passes
	run -75 "$FLOCKLIMIT" -f lim -n 1 -t 0 -q true
	[ ! -s c.out ]
	kill -CONT "${pids[b]}"
	ended b
	# It is run, or it is given back; never both, never neither.
	echo "status $status"
	[ "$status" -eq 0 ] || [ "$status" -eq 75 ]
	[ "$status" -ne 0 ] || [ "$(cat b.out)" = ran ]
	[ "$status" -ne 75 ] || [ ! -s b.out ]
	ended c
	[ "$status" -eq 0 ]
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
}

@test "a run timeout counts the time in which all were stopped" {
	background a "$FLOCKLIMIT" -f lim -n 1 -T 3 sh -c 'echo $$ >up; exec sleep 60'
	eventually test -s up
	kill -STOP "${pids[a]}" "$(cat up)"
	sleep 3 # the time that passes
	kill -CONT "${pids[a]}"
	ended a
	[ "$status" -eq 124 ]
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
}
