#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What a terminal sends: to a command that has left our process group, and when it hangs up.

load ../helpers/lib.bash

MAP=${FLOCKLIMIT%/*}/flockmap
export MAP

# logged N LABEL: how often signal N came is in $times; it did come.
logged() {
	times=$(grep -cx "$1" "$T/$2.log")
}

# logger_at_terminal LABEL COMMAND...: COMMAND on a terminal; it ends up as the logger of signals.
logger_at_terminal() {
	local label=$1
	shift
	need_helper signals
	terminal "$label" "$@" "$HELPERS/signals" "$T/$label.log"
	eventually test -s "$T/$label.log.up"
}

# hang_up LABEL: the terminal is gone, as when its window is closed or its connection breaks.
hang_up() {
	kill -KILL "${pids[$1]}"
	exec 8>&-
	ended "$1"
}

# wrapper LABEL: the process that the terminal was made for.
wrapper() {
	pgrep -P "${pids[$1]}"
}

own_group='import os, sys; os.setpgid(0, 0); os.execvp(sys.argv[1], sys.argv[1:])'

# ---- keys ----

@test "keys and size reach a command in a session or a process group of its own, each once" {
	local how key
	for how in session group; do
		if [ "$how" = session ]; then
			logger_at_terminal "$how" "$FLOCKLIMIT" -N x -n 1 setsid
		else
			logger_at_terminal "$how" "$FLOCKLIMIT" -N x -n 1 python3 -c "$own_group"
		fi
		for key in '\003 2' '\034 3' '\032 20'; do
			# shellcheck disable=SC2059 # the format is the data
			printf "${key% *}" >&8
			eventually logged "${key#* }" "$how"
			[ "$times" -eq 1 ]
		done
		stty -F "$(readlink "/proc/$(cat "$how.log.up")/fd/0")" rows 30
		eventually logged 28 "$how"
		[ "$times" -eq 1 ]
		kill -64 "$(cat "$how.log.up")"
		exec 8>&-
		ended "$how"
		[ "$status" -eq 0 ]
	done
}

@test "^C ends a command in a session of its own, and gives the permit back" {
	terminal a "$FLOCKLIMIT" -N x -n 1 setsid sh -c 'echo up; exec sleep inf'
	eventually says up a.out
	printf '\003' >&8
	eventually is_gone "${pids[a]}"
	exec 8>&-
	ended a
	[ "$status" -eq 130 ]
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 true
}

@test "^C ends timeout(1), which makes a process group of its own, and all below it" {
	terminal a "$FLOCKLIMIT" -N x -n 1 timeout 600 sh -c '
		sh -c "echo \$\$ >a.up; exec sleep 600"; echo ended'
	eventually test -s a.up
	printf '\003' >&8
	eventually is_gone "${pids[a]}"
	exec 8>&-
	ended a
	eventually is_gone "$(cat a.up)"
}

@test "a signal from below a command in a session of its own is passed on: it was for us" {
	need_helper signals
	background a "$FLOCKLIMIT" -N x -n 1 setsid sh -c '
		(until [ -s a.log.up ]; do sleep 0.01; done; kill -USR1 '"\$PPID"'; exec sleep 600) &
		exec "$HELPERS/signals" "$T/a.log"'
	eventually logged 10 a
	[ "$times" -eq 1 ]
	kill -64 "${pids[a]}"
	ended a
}

# has_stopped N: so often did the shell say it of its job.
has_stopped() {
	[ "$(grep -c Stopped a.out)" -eq "$1" ]
}

@test "^Z stops a job whose command has a process group of its own, and fg continues it" {
	local i
	terminal a bash --norc --noprofile -i
	printf '"$FLOCKLIMIT" -N x -n 1 timeout 600 sh -c '\''echo $$ >a.up; exec sleep 600'\''\n' >&8
	eventually test -s a.up
	for i in 1 2 3; do
		printf '\032' >&8
		eventually is_state T "$(cat a.up)"
		eventually has_stopped "$i"
		printf 'fg\n' >&8
		eventually is_state S "$(cat a.up)"
	done
	printf '\003' >&8
	eventually is_gone "$(cat a.up)"
	printf 'exit 0\n' >&8
	eventually is_gone "${pids[a]}"
	exec 8>&-
	ended a
}

@test "^Z gives the prompt back, though the kernel stops no command in a session of its own" {
	local wrapper
	terminal a bash --norc --noprofile -i
	printf '"$FLOCKLIMIT" -N x -n 1 setsid sh -c '\''echo $PPID $$ >a.up; exec sleep 600'\''\n' >&8
	eventually test -s a.up
	read -r wrapper command <a.up
	printf '\032' >&8
	eventually has_stopped 1
	is_state T "$wrapper"
	eventually is_state S "$command" # it may still be becoming sleep(1)
	printf 'fg\n' >&8
	eventually is_state S "$wrapper"
	printf '\003' >&8
	eventually is_gone "$command"
	printf 'exit 0\n' >&8
	eventually is_gone "${pids[a]}"
	exec 8>&-
	ended a
}

# ---- hangups ----

@test "a hangup ends the command and us, where we are the leader of the session" {
	local how wrapper command
	for how in '' setsid 'timeout 600' nice; do
		# shellcheck disable=SC2086 # words
		terminal a "$FLOCKLIMIT" -N x -n 1 $how sh -c 'echo $$ >a.up; exec sleep 600'
		eventually test -s a.up
		wrapper=$(wrapper a)
		command=$(cat a.up)
		hang_up a
		eventually is_gone "$command"
		eventually is_gone "$wrapper"
		silent 0 "$FLOCKLIMIT" -N x -n 1 -t 10 true
		rm a.up a.keys
	done
}

@test "a hangup reaches the command once, whoever is the leader of the session" {
	local how
	for how in us shell; do
		if [ "$how" = us ]; then
			logger_at_terminal "$how" "$FLOCKLIMIT" -N x -n 1
		else
			logger_at_terminal "$how" sh -c '"$@"; :' sh "$FLOCKLIMIT" -N x -n 1
		fi
		hang_up "$how"
		eventually logged 1 "$how"
		eventually logged 18 "$how"
		[ "$times" -eq 1 ]
		kill -64 "$(cat "$how.log.up")"
		eventually is_gone "$(cat "$how.log.up")"
		logged 1 "$how"
		[ "$times" -eq 1 ]
	done
}

@test "a hangup ends a stopped command" {
	terminal a "$FLOCKLIMIT" -N x -n 1 sh -c 'echo $$ >a.up; exec sleep 600'
	eventually test -s a.up
	kill -STOP "$(cat a.up)"
	eventually is_state T "$(wrapper a)"
	hang_up a
	eventually is_gone "$(cat a.up)"
}

@test "a hangup ends a wait" {
	local waiter
	hold a -N x -n 1
	terminal b "$FLOCKLIMIT" -N x true
	eventually in_line 1
	waiter=$(wrapper b)
	hang_up b
	eventually is_gone "$waiter"
	in_line 0
}

@test "under nohup a hangup ends nothing" {
	local wrapper
	terminal a nohup "$FLOCKLIMIT" -N x -n 1 sh -c 'echo $$ >a.up; exec sleep 600'
	eventually test -s a.up
	wrapper=$(wrapper a)
	hang_up a
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 100ms true
	eventually is_state S "$wrapper"
	kill "$wrapper"
	eventually is_gone "$(cat a.up)"
}

@test "the end of tmux ends what runs in its windows" {
	need_terminal
	command -v tmux >/dev/null || skip 'needs tmux'
	local wrapper command
	TMUX='' tmux -S "$T/tmux" -f /dev/null new-session -d \
		"exec '$FLOCKLIMIT' -N x -n 1 sh -c 'echo \$PPID \$\$ >$T/a.up; exec sleep 600'"
	eventually test -s a.up
	read -r wrapper command <a.up
	tmux -S "$T/tmux" kill-server
	eventually is_gone "$command"
	eventually is_gone "$wrapper"
}

# ---- flockmap ----

@test "flockmap: ^C ends commands in sessions of their own" {
	terminal a "$MAP" -N x -n 2 setsid sh -c 'echo $$ >up.{}; exec sleep 600' ::: 1 2
	eventually test -s up.1
	eventually test -s up.2
	printf '\003' >&8
	eventually is_gone "${pids[a]}"
	exec 8>&-
	ended a
	[ "$status" -eq 130 ]
	is_gone "$(cat up.1)"
	is_gone "$(cat up.2)"
}

@test "flockmap: a hangup ends its commands and itself" {
	local how map
	for how in '' setsid; do
		rm -f up.1 up.2 a.keys
		# shellcheck disable=SC2086 # words
		terminal a "$MAP" -N x -n 2 $how sh -c 'echo $$ >up.{}; exec sleep 600' ::: 1 2
		eventually test -s up.1
		eventually test -s up.2
		map=$(wrapper a)
		hang_up a
		eventually is_gone "$map"
		eventually is_gone "$(cat up.1)"
		eventually is_gone "$(cat up.2)"
	done
}

@test "flockmap: in the background it stops before it reads the terminal, and under tostop before it writes" {
	mkfifo go
	terminal a bash -c 'set -m
		"$MAP" -N x -n 1 sh -c "echo read \$1" sh & echo $! >a.up; cat go; fg
		stty tostop
		"$MAP" -N x -n 1 sh -c "echo wrote \$1" sh ::: c & echo $! >b.up; cat go; fg'
	eventually test -s a.up
	printf 'a\nb\n\004' >&8
	eventually is_state T "$(cat a.up)"
	run ! says 'read a' a.out
	timeout 300 sh -c ': >go'
	eventually says 'read b' a.out
	eventually test -s b.up
	eventually is_state T "$(cat b.up)"
	run ! says 'wrote c' a.out
	timeout 300 sh -c ': >go'
	eventually says 'wrote c' a.out
	ended a
	[ "$status" -eq 0 ]
	exec 8>&-
}
