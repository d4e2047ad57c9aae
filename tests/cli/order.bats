#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# First come, first served; and what happens when somebody is killed.

load ../helpers/lib.bash

# waiter LABEL N OPTION...: one more in the line, the Nth, that writes its label to $T/order.
waiter() {
	local label=$1 n=$2
	shift 2
	background "$label" "$FLOCKLIMIT" -N x -v "$@" sh -c 'echo "$1" >>"$T/order"' sh "$label"
	eventually says "waiting: " "$T/$label.err"
	says "$((n - 1)) ahead of you" "$T/$label.err"
}

@test "50 waiters start in the order of their tickets" {
	local i
	hold a -N x -n 1
	for ((i = 1; i <= 50; i++)); do
		waiter "w$i" "$i"
	done
	let_go a
	for ((i = 1; i <= 50; i++)); do
		ended "w$i"
		[ "$status" -eq 0 ]
	done
	seq -f 'w%g' 50 | diff - order
}

@test "a heavy head holds the line until it fits" {
	hold a -N x -n 4 -w 1
	hold b -N x -n 4 -w 1
	waiter heavy 1 -n 4 -w 4
	waiter light 2 -n 4 -w 1
	let_go a
	ended a
	in_line 2
	[ ! -e order ]
	let_go b
	ended heavy
	ended light
	[ "$(cat order)" = $'heavy\nlight' ]
}

@test "--nonblock and --max-queue 0 never overtake a waiter" {
	hold a -N x -n 4 -w 2
	waiter heavy 1 -n 4 -w 4
	# There is room for it, and it is not its turn.
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 4 -w 1 --nonblock true
	[[ $stderr == *"2 of 4 in use, 1 ahead of you"* ]]
	run -75 "$FLOCKLIMIT" -N x -n 4 -w 1 -t 0 -q true
	run -75 "$FLOCKLIMIT" -N x -n 4 -w 1 --max-queue 0 -q true
	run -75 "$FLOCKLIMIT" -N x -n 4 -w 1 --max-queue 1 -q true
}

@test "a timeout at the head lets the next go on" {
	hold a -N x -n 4 -w 2
	background heavy "$FLOCKLIMIT" -N x -n 4 -w 4 -v -t 2s true
	eventually says waiting: heavy.err
	background light "$FLOCKLIMIT" -N x -n 4 -w 1 true
	ended heavy
	[ "$status" -eq 75 ]
	ended light
	[ "$status" -eq 0 ]
}

@test "the message at the timeout" {
	local pattern
	hold a -N build -n 4 -w 4
	background b "$FLOCKLIMIT" -N build -n 4 true
	eventually in_line 1 build
	background c "$FLOCKLIMIT" -N build -n 4 true
	eventually in_line 2 build
	run --separate-stderr -75 "$FLOCKLIMIT" -N build -n 4 -t 100ms true
	one_line
	pattern="^flocklimit: build: no permit after 100 ms: 4 of 4 in use, 2 ahead of you "
	pattern+="\(oldest holder: pid ${pids[a]}, [0-9.]+ (ms|s), \"sh -c echo .*\"\)\$"
	[[ $stderr =~ $pattern ]]
}

@test "killed waiters, the head and the second: the rest goes on in order" {
	hold a -N x -n 1
	waiter one 1
	waiter two 2
	waiter three 3
	waiter four 4
	kill -KILL "${pids[one]}" "${pids[two]}"
	ended one
	ended two
	eventually in_line 2
	let_go a
	ended three
	ended four
	[ "$(cat order)" = $'three\nfour' ]
}

@test "killed from the back to the front, and all at once" {
	local i all=()
	hold a -N x -n 1
	for i in 1 2 3 4 5 6 7 8; do
		waiter "w$i" "$i"
		all+=("${pids[w$i]}")
	done
	kill -KILL "${all[@]:0:7}"
	for i in 1 2 3 4 5 6 7; do
		ended "w$i"
	done
	let_go a
	ended w8
	[ "$(cat order)" = w8 ]
}

@test "a killed wrapper: its command keeps the permit until its last process is gone" {
	mkfifo child.fifo
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'cat child.fifo & echo $$ $! >a.up; exec sleep inf'
	eventually test -s a.up
	waiter b 1
	kill -KILL "${pids[a]}"
	ended a
	in_line 1
	kill -KILL "$(cut -d' ' -f1 a.up)"
	eventually is_gone "$(cut -d' ' -f1 a.up)"
	in_line 1
	[ ! -e order ]
	let_go child
	ended b
	[ "$status" -eq 0 ]
	[ "$(cat order)" = b ]
}

@test "wrapper and command killed: a parked waiter starts by itself" {
	hold a -N x -n 1
	waiter b 1
	kill -KILL "${pids[a]}" "$(up a)"
	ended b
	[ "$status" -eq 0 ]
}

@test "the same for the second in the line when it has become the first" {
	hold a -N x -n 2 -w 1
	hold b -N x -n 2 -w 1
	waiter c 1 -n 2 -w 1
	waiter d 2 -n 2 -w 2
	let_go a
	ended c # d is now the head, and must watch b
	kill -KILL "${pids[b]}" "$(up b)"
	ended d
	[ "$status" -eq 0 ]
}

@test "after a normal end a child left in the background holds nothing" {
	mkfifo child.fifo
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'cat child.fifo & echo $! >child.up'
	ended a
	[ "$status" -eq 0 ]
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	let_go child
}

@test "-F killed: the permit goes back, a waiter starts" {
	hold a -N x -n 1 -F
	waiter b 1
	kill -KILL "${pids[a]}"
	ended b
	[ "$status" -eq 0 ]
}

@test "a waiter in a limiter whose file is removed takes its place in the new one" {
	hold a -N x -n 1
	waiter b 1
	rm limiters/x
	hold c -N x -n 1
	let_go a
	eventually in_line 1 # b stands in the new line
	[ ! -e order ]
	let_go c
	ended b
	[ "$(cat order)" = b ]
}

@test "a waiter's time goes on when it takes its place in a new file" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 -v -t 400ms true
	eventually says waiting: b.err
	rm limiters/x
	hold c -N x -n 1
	let_go a
	ended b
	[ "$status" -eq 75 ]
}

@test "never over the limit, under load with kills" {
	mkdir in
	background load sh -c 'seq 300 | xargs -P 24 -I{} "$FLOCKLIMIT" -N x -n 3 sh -c "
		mkdir in/{}; n=\$(ls in | wc -l); [ \$n -le 3 ] || echo \$n >>over; rmdir in/{}" || :'
	local i pid
	for i in {1..30}; do
		# Only those that wait: the others have a command.
		for pid in $(pgrep -x flocklimit | shuf -n 2); do
			if [ -z "$(pgrep -P "$pid")" ] &&
				tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qxF "T=$T"; then
				kill -KILL "$pid" 2>/dev/null || :
			fi
		done
	done
	ended load
	[ ! -e over ]
	silent 0 "$FLOCKLIMIT" -N x -n 3 -w 3 -t 10 true
}
