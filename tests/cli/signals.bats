#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Signals: while it waits, while the command runs; stops; terminals; what is inherited.

load ../helpers/lib.bash

# logger LABEL OPTION...: a command that logs each signal that comes to it, in $T/LABEL.log.
logger() {
	local label=$1
	shift
	need_helper signals
	background "$label" env --default-signal=INT,QUIT \
		"$FLOCKLIMIT" -N x -n 1 "$@" "$HELPERS/signals" "$T/$label.log"
	eventually test -s "$T/$label.log.up"
}

# logged N LABEL
logged() {
	grep -qx "$1" "$T/$2.log"
}

# ---- while it waits ----

@test "a signal while waiting: it leaves the line and dies by that signal" {
	local sig
	hold a -N x -n 1
	for sig in HUP INT QUIT TERM USR1 USR2 PIPE ALRM XCPU IO RTMIN+5; do
		background b env --default-signal=INT,QUIT "$FLOCKLIMIT" -N x -v true
		eventually says waiting: b.err
		kill -s "$sig" "${pids[b]}"
		ended b
		[ "$status" -eq $((128 + $(kill -l "$sig"))) ]
		has_lines 1 b.err
		in_line 0
	done
	[ -z "$(find . -name 'core*')" ]
}

@test "it really died by the signal, it did not exit with 143" {
	hold a -N x -n 1
	background b python3 -c '
import os, subprocess
print(subprocess.call([os.environ["FLOCKLIMIT"], "-N", "x", "-v", "true"]))'
	eventually says waiting: b.err
	kill -TERM "$(pgrep -P "${pids[b]}")"
	ended b
	[ "$(cat b.out)" = -15 ]
}

@test "the next in the line gets the turn of one who left" {
	hold a -N x -n 4 -w 2
	background big "$FLOCKLIMIT" -N x -n 4 -w 4 true
	eventually in_line 1
	background small "$FLOCKLIMIT" -N x -n 4 -w 2 true
	eventually in_line 2
	kill -TERM "${pids[big]}"
	ended big
	[ "$status" -eq 143 ]
	ended small
	[ "$status" -eq 0 ]
}

@test "a waiter killed with KILL, at the head: the line goes on by itself" {
	hold a -N x -n 4 -w 2
	background big "$FLOCKLIMIT" -N x -n 4 -w 4 true
	eventually in_line 1
	background small "$FLOCKLIMIT" -N x -n 4 -w 2 true
	eventually in_line 2
	kill -KILL "${pids[big]}"
	ended small
	[ "$status" -eq 0 ]
}

@test "a waiter stops and goes on like any process" {
	hold a -N x -n 1
	as_job background b "$FLOCKLIMIT" -N x -v echo ran
	eventually says waiting: b.err
	kill -TSTP "${pids[b]}"
	eventually is_state T "${pids[b]}"
	kill -CONT "${pids[b]}"
	eventually is_state S "${pids[b]}"
	let_go a
	ended b
	[ "$(cat b.out)" = ran ]
}

@test "a waiter ignores what was ignored: nohup, background jobs" {
	hold a -N x -n 1
	background b env --ignore-signal=HUP,INT,TERM "$FLOCKLIMIT" -N x -v echo ran
	eventually says waiting: b.err
	kill -HUP "${pids[b]}"
	kill -INT "${pids[b]}"
	kill -TERM "${pids[b]}"
	let_go a
	ended b
	[ "$status" -eq 0 ]
	[ "$(cat b.out)" = ran ]
}

@test "a waiter keeps for the command what was blocked" {
	need_helper signals
	hold a -N x -n 1
	background b env --block-signal=TERM "$FLOCKLIMIT" -N x -v "$HELPERS/signals" "$T/b.log"
	eventually says waiting: b.err
	kill -TERM "${pids[b]}"
	let_go a
	eventually logged 15 b
}

# ---- while the command runs ----

@test "each signal reaches the command once" {
	local sig
	logger a
	for sig in 1 2 3 10 12 13 14 15 16 23 24 25 26 27 28 29 30 31 34 35 36 50 63; do
		kill -"$sig" "${pids[a]}"
		eventually logged "$sig" a
	done
	kill -64 "${pids[a]}"
	ended a
	[ "$status" -eq 0 ]
	grep -vx -e 18 -e 64 a.log >got
	printf '%s\n' 1 2 3 10 12 13 14 15 16 23 24 25 26 27 28 29 30 31 34 35 36 50 63 | cmp - got
}

@test "TERM is followed by CONT, nothing else is" {
	logger a
	kill -HUP "${pids[a]}"
	eventually logged 1 a
	kill -TERM "${pids[a]}"
	eventually logged 18 a
	kill -64 "${pids[a]}"
	ended a
	[ "$(grep -cx 18 a.log)" -eq 1 ]
}

@test "a signal ends the command, and the shell sees 128+N" {
	local sig
	for sig in HUP TERM USR1 KILL; do
		hold "a$sig" -N x -n 1
		kill -s "$sig" "$(up "a$sig")"
		ended "a$sig"
		[ "$status" -eq $((128 + $(kill -l "$sig"))) ]
	done
	for sig in HUP TERM USR1 ALRM; do
		hold "b$sig" -N x -n 1
		kill -s "$sig" "${pids[b$sig]}"
		ended "b$sig"
		[ "$status" -eq $((128 + $(kill -l "$sig"))) ]
	done
}

@test "flocklimit & kill \$! in a script of our own group" {
	# No job control: all of it is one process group.
	run -0 timeout 300 sh -c '"$FLOCKLIMIT" -N x sh -c "echo \$\$ >a.up; exec cat" <>/dev/zero >/dev/null & pid=$!
		until [ -s a.up ]; do sleep 0.01; done
		kill $pid; wait $pid; echo $?'
	[ "$output" = 143 ]
}

# For bash: waits until flocklimit sleeps again, and no signal is left for it.
until_heard='until_heard() {
	until grep -qE "^State:[[:space:]]*S" /proc/$1/status &&
		! grep -qE "^(Sig|Shd)Pnd:.*[1-9a-f]" /proc/$1/status; do
		sleep 0.01
	done
}
'

@test "what the command sends to its whole group it gets once" {
	local i
	for i in 1 2 3 4 5; do
		run -0 setsid -w "$FLOCKLIMIT" -N x bash -c "$until_heard"'
			trap "echo term" TERM
			kill -TERM 0
			until_heard $PPID
			exit 0'
		[ "$output" = term ]
	done
}

@test "what a child of the command sends to the whole group it gets once" {
	local i
	for i in 1 2 3 4 5; do
		run -0 setsid -w "$FLOCKLIMIT" -N x bash -c "export wrapper=\$PPID; $until_heard"'
			trap "echo usr1" USR1
			export -f until_heard
			# the sender must be there still when it is asked who it is below
			bash -c "trap : USR1; kill -USR1 0; until_heard \$wrapper"
			exit 0'
		[ "$(grep -cx usr1 <<<"$output")" = 1 ]
	done
}

@test "a run timeout ends a command that is stopped" {
	run -124 "$FLOCKLIMIT" -N x -T 100ms sh -c 'kill -STOP $$'
}

@test "a signal that comes at once is not lost" {
	local i
	for i in {1..20}; do
		background a "$FLOCKLIMIT" -N x -n 1 sleep inf
		# before the exec it would be the shell's to lose
		until [ "$(tr '\0' ' ' <"/proc/${pids[a]}/cmdline" | cut -d' ' -f1)" = "$FLOCKLIMIT" ]; do
			:
		done
		kill -TERM "${pids[a]}"
		ended a
		[ "$status" -eq 143 ]
		silent 0 "$FLOCKLIMIT" -N x -n 1 -t 10 true
	done
}

# ---- stops ----

@test "when the command stops we stop, and CONT continues both" {
	hold a -N x -n 1
	kill -STOP "$(up a)"
	eventually is_state T "${pids[a]}"
	run -75 "$FLOCKLIMIT" -N x --nonblock true
	kill -CONT "${pids[a]}"
	eventually is_state S "$(up a)"
	eventually is_state S "${pids[a]}"
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

@test "a stopped command is continued by its own pid, or killed: we notice" {
	local cont
	local -A status_of=([CONT]=0 [KILL]=137)
	for cont in CONT KILL; do
		rm -f a.fifo a.up
		hold a -N x -n 1
		kill -STOP "$(up a)"
		eventually is_state T "${pids[a]}"
		kill -s $cont "$(up a)"
		[ $cont = KILL ] || { eventually is_state S "${pids[a]}" && let_go a; }
		ended a
		[ "$status" -eq "${status_of[$cont]}" ]
	done
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 10 true
}

@test "a command that is stopped and continued again and again ends as any" {
	local i
	hold a -N x -n 1
	for i in {1..30}; do
		kill -STOP "$(up a)"
		kill -CONT "$(up a)"
	done
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

@test "a run timeout ends a command that is stopped, also where no timer can be made" {
	run -124 bash -c 'ulimit -i 0; exec "$FLOCKLIMIT" -N x -T 300ms sh -c "kill -STOP \$\$"'
}

@test "TSTP, TTIN and TTOU to us stop both, as often as they come" {
	local sig
	as_job hold a -N x -n 1
	for sig in TSTP TTIN TTOU TSTP; do
		kill -s "$sig" "${pids[a]}"
		eventually is_state T "$(up a)"
		eventually is_state T "${pids[a]}"
		kill -CONT "${pids[a]}"
		eventually is_state S "$(up a)"
		eventually is_state S "${pids[a]}"
	done
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

@test "TERM and CONT to us end a stopped command" {
	hold a -N x -n 1
	kill -STOP "$(up a)"
	eventually is_state T "${pids[a]}"
	kill -TERM "${pids[a]}"
	kill -CONT "${pids[a]}"
	ended a
	[ "$status" -eq 143 ]
}

@test "stopped and killed at once: the end is not lost" {
	local i
	for i in {1..50}; do
		rm -f a.fifo a.up
		hold a -N x -n 1
		kill -STOP "$(up a)"
		kill -KILL "$(up a)"
		# We may have stopped first; the next CONT is a shell's fg.
		until is_gone "${pids[a]}"; do
			kill -CONT "${pids[a]}" 2>/dev/null || :
		done
		ended a
		[ "$status" -eq 137 ]
	done
}

# ---- terminals ----

@test "^C on a terminal reaches the command once" {
	need_helper signals
	terminal a "$FLOCKLIMIT" -N x -n 1 "$HELPERS/signals" "$T/a.log"
	eventually test -s a.log.up
	printf '\003' >&8
	eventually logged 2 a
	printf '\034' >&8
	eventually logged 3 a
	kill -64 "$(cat a.log.up)"
	exec 8>&-
	ended a
	[ "$status" -eq 0 ]
	[ "$(grep -cx 2 a.log)" -eq 1 ]
	[ "$(grep -cx 3 a.log)" -eq 1 ]
}

@test "^S on the terminal of a waiter: its deadline is kept, and so is its turn" {
	hold h -N x -n 1
	terminal a "$FLOCKLIMIT" -N x -n 1 -t 8 true
	eventually says "next in line" a.out
	printf '\023' >&8
	ended a
	exec 8>&-
	[ "$status" -eq 75 ]
	let_go h
	ended h
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 20 true
}

@test "^C on a terminal ends command and wrapper, and the permit" {
	terminal a "$FLOCKLIMIT" -N x -n 1 sh -c 'echo up; exec sleep inf'
	eventually says up a.out
	printf '\003' >&8
	ended a
	exec 8>&-
	[ "$status" -eq 130 ]
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 true
}

@test "^C on a terminal ends the wait, and clears the line" {
	hold a -N x -n 1
	terminal b "$FLOCKLIMIT" -N x true
	eventually in_line 1
	printf '\003' >&8
	ended b
	exec 8>&-
	[ "$status" -eq 130 ]
	in_line 0
}

@test "^Z in an interactive shell, and fg" {
	terminal a bash --norc --noprofile -i
	printf '"$FLOCKLIMIT" -N x -n 1 sh -c '\''echo $$ >a.up; exec cat'\''\n' >&8
	eventually test -s a.up
	printf '\032' >&8
	eventually is_state T "$(up a)"
	eventually grep -q 'Stopped' a.out
	printf 'fg\n' >&8
	eventually is_state S "$(up a)"
	printf '\004' >&8
	eventually is_gone "$(up a)"
	printf 'echo "it was $?"; exit 0\n' >&8
	eventually says 'it was 0' a.out
	exec 8>&-
	ended a
}

@test "the command is in the foreground of its terminal, and reads it" {
	terminal a "$FLOCKLIMIT" -N x sh -c 'test -t 0 && test -t 1 && test -t 2 && read -r line </dev/tty && echo "got $line"'
	printf 'words\n' >&8
	eventually says 'got words' a.out
	exec 8>&-
	ended a
	[ "$status" -eq 0 ]
}

@test "a status line on a terminal when the wait is long, cleaned away at the grant" {
	hold a -N x -n 1
	terminal b "$FLOCKLIMIT" -N x echo ran
	terminal_line() { grep -q 'x: waiting [0-9.]* s for pid [0-9]* .*; next in line' b.out; }
	eventually terminal_line
	let_go a
	ended b
	exec 8>&-
	# What is written last is the clearing, and then the command's own.
	[[ $(cat b.out) == *$'\r\033[Kran'* ]]
}

# ---- what is inherited ----

@test "masks and ignored signals of the command are what they would be without us" {
	local how
	for how in '' --ignore-signal=CHLD --ignore-signal=HUP,INT,QUIT,PIPE,TERM --block-signal=TERM,CHLD,USR1 \
		--block-signal=INT,BUS,SEGV,ABRT --ignore-signal=BUS,CONT,TSTP --block-signal --ignore-signal \
		--block-signal=RTMIN,RTMAX --ignore-signal=RTMIN,RTMAX; do
		env $how grep ^Sig[BIC] /proc/self/status >without
		env $how "$FLOCKLIMIT" -N x grep ^Sig[BIC] /proc/self/status >with
		diff without with
		env $how "$FLOCKLIMIT" -N x -F grep ^Sig[BIC] /proc/self/status >with
		diff without with
		hold a -N x -n 1
		background b env $how "$FLOCKLIMIT" -N x -n 1 grep ^Sig[BIC] /proc/self/status
		eventually in_line 1
		let_go a
		ended b
		rm -f a.fifo a.up
		# A job of the shell's has INT and QUIT ignored.
		background c env $how grep ^Sig[BIC] /proc/self/status
		ended c
		diff c.out b.out
	done
}

@test "an ignored SIGCHLD does not confuse us" {
	silent 7 env --ignore-signal=CHLD "$FLOCKLIMIT" -N x sh -c 'exit 7'
	silent 124 env --ignore-signal=CHLD "$FLOCKLIMIT" -N x -T 20ms sleep inf
}

@test "everything blocked: it still works, and TERM reaches the command's pending set" {
	silent 7 env --block-signal "$FLOCKLIMIT" -N x sh -c 'exit 7'
	hold a -N x -n 1
	background b env --block-signal "$FLOCKLIMIT" -N x -t 50ms true
	ended b
	[ "$status" -eq 75 ]
}

@test "under nohup a HUP ends neither us nor the command" {
	mkfifo a.fifo
	background a nohup "$FLOCKLIMIT" -N x -n 1 sh -c 'echo $$ >a.up; exec cat a.fifo'
	eventually test -s a.up
	kill -HUP "${pids[a]}"
	kill -HUP "$(up a)"
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

@test "a job in the background of a script is deaf to INT, and so is its command" {
	hold a -N x -n 1
	kill -INT "${pids[a]}"
	kill -QUIT "${pids[a]}"
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

@test "KILL for the wrapper leaves the command alone, and its permit with it" {
	hold a -N x -n 1
	kill -KILL "${pids[a]}"
	ended a
	[ "$status" -eq 137 ]
	kill -0 "$(up a)"
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	[[ $stderr == *", orphaned"* ]]
}

@test "a line that nobody can read any more ends no command" {
	mkfifo err
	run -5 bash -c 'exec 7<>err 2>err 7>&-; exec "$FLOCKLIMIT" -v -N x sh -c "sleep 0.1; exit 5"'
	# One that somebody sends is passed on.
	hold a -N x
	kill -PIPE "${pids[a]}"
	ended a
	[ "$status" -eq 141 ]
}
