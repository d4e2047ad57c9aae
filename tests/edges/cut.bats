#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A limiter's file that is cut short under its takers, of every size, or something else.

load ../helpers/lib.bash

cut="flocklimit: lim: the file was cut short while in use: let its takers end, then remove it"

# said LABEL: the last line on its stderr is one of the two that a cut file gets.
said() {
	local last
	last=$(tail -n 1 "$T/$1.err")
	echo "$1: $last"
	[ "$last" = "flocklimit: lim: $T/lim: is damaged: run flocklimitctl check --repair, or let its takers end and flocklimitctl rm it" ] ||
		[ "$last" = "$cut" ]
}

# One holds; one waits as long as it must, one with -v, and one with a time limit, which is stopped in the
# line until go_on: on a busy machine its time may be over before anything is done.
line_up() {
	rm -f lim ./*.fifo ./*.up ./*.err
	hold a -f lim -n 1
	background plain "$FLOCKLIMIT" -f lim echo ran
	eventually waits 1
	background talks "$FLOCKLIMIT" -f lim -v echo ran
	eventually waits 2
	stop_in_line timed 3
}

go_on() { kill -CONT "${pids[timed]}"; }

@test "cut to any size under those who wait and one who holds" {
	local size
	for size in 0 1 4096 5000 8191; do
		line_up
		truncate -s "$size" lim
		go_on
		for label in timed talks; do
			ended "$label"
			echo "size $size: $label $status: $(cat "$label.err")"
			[ "$status" -eq 125 ]
			said "$label"
		done
		has_lines 1 timed.err
		has_lines 2 talks.err # that it waits, and that
		# The command was not touched, and its status is what counts.
		kill -0 "$(up a)"
		let_go a
		ended a
		[ "$status" -eq 0 ]
		[ ! -s a.err ] || has_lines 1 a.err
		[ ! -s a.err ] || said a
		# What woke it may be gone with the file: a signal ends it, or the look that follows.
		kill -TERM "${pids[plain]}" 2>/dev/null || :
		ended plain
		echo "size $size: plain $status: $(cat plain.err)"
		[ "$status" -eq 125 ] || [ "$status" -eq 143 ]
		[ "$status" -ne 125 ] || said plain
		[ ! -s plain.out ]
		[ ! -s timed.out ]
		[ ! -s talks.out ]
	done
}

@test "cut short under a command: its end counts, whatever it is" {
	local code
	for code in 0 1 42; do
		rm -f lim go err
		mkfifo go
		background a "$FLOCKLIMIT" -f lim -n 1 sh -c 'echo up >up; read -r x <go; exit '"$code"
		eventually test -s up
		rm up
		truncate -s 0 lim
		timeout 300 sh -c 'echo >go'
		ended a
		[ "$status" -eq "$code" ]
		[ "$(cat a.err)" = "$cut" ]
	done
}

@test "cut short by the command as it begins: its end counts" {
	local i cpu
	cpu=$(taskset -cp $$)
	cpu=${cpu##*[ ,-]}
	# On one processor the command runs before its wrapper goes on, once in a hundred times or so.
	for i in {1..200}; do
		rm -f lim
		taskset -c "$cpu" "$FLOCKLIMIT" -f lim -n 1 truncate -s 0 lim 2>err
		[ "$(cat err)" = "$cut" ]
	done
}

@test "cut short under a command that a signal ends, and under --run-timeout" {
	hold a -f lim -n 1
	truncate -s 0 lim
	kill -TERM "${pids[a]}"
	ended a
	[ "$status" -eq 143 ]
	[ "$(cat a.err)" = "$cut" ]
	rm lim
	background b "$FLOCKLIMIT" -f lim -n 1 -T 3s sh -c 'echo $$ >b.up; exec sleep 60'
	eventually test -s b.up
	truncate -s 0 lim
	ended b
	[ "$status" -eq 124 ]
	[ "$(cat b.err)" = "$cut" ]
}

# orphan LABEL: a holder whose wrapper is killed.
orphan() {
	hold "$1" -f lim -n 2
	kill -KILL "${pids[$1]}"
	ended "$1"
}

# has_threads N PID
has_threads() { [ "$(awk '$1 == "Threads:" { print $2 }' "/proc/$2/status")" = "$1" ]; }

@test "emptied while a thread waits for an orphan: a waiter says so, a command's end counts" {
	mkfifo c.go
	orphan a
	orphan b
	background c "$FLOCKLIMIT" -f lim -n 2 sh -c 'echo up >c.up; read -r x <c.go; exit 3'
	eventually has_threads 3 "${pids[c]}" # one for each orphan
	let_go b
	eventually test -s c.up
	background waiter "$FLOCKLIMIT" -f lim -n 2 echo ran
	eventually has_threads 2 "${pids[waiter]}"
	truncate -s 0 lim
	let_go a
	ended waiter
	[ "$status" -eq 125 ]
	said waiter
	# Its thread woke up as well: it sleeps for ever, or has seen that there is nothing to wait for.
	timeout 300 sh -c 'echo >c.go'
	ended c
	[ "$status" -eq 3 ]
	[ "$(cat c.err)" = "$cut" ]
}

@test "emptied under its takers: newcomers begin anew, those who waited join them" {
	line_up
	# Nobody looks at the file while it is empty: that would be its damage, and not a new beginning.
	kill -STOP "${pids[plain]}" "${pids[talks]}"
	eventually is_state T "${pids[plain]}"
	eventually is_state T "${pids[talks]}"
	truncate -s 0 lim
	# As with a removed limiter, the old holder's command is not known to the new one.
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
	go_on
	kill -CONT "${pids[talks]}"
	kill -KILL "${pids[plain]}"
	ended plain
	ended timed
	# Each looks once in a while at what became of its file; this one within a second, as it talks.
	[ "$status" -eq 75 ] || [ "$(cat timed.out)" = ran ]
	background b "$FLOCKLIMIT" -f lim -n 1 echo ran
	let_go a
	ended a
	[ "$status" -eq 0 ]
	for label in talks b; do
		ended "$label"
		[ "$status" -eq 0 ]
		[ "$(cat "$label.out")" = ran ]
	done
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
}

# ---- what it may be instead ----

@test "a limiter of many sizes: afresh, or a line" {
	local size afresh=0 refusals=0 status
	for size in 0 1 7 8 9 47 48 500 4088 4095 4096 4097 4351 4352 4353 6000 8192 278527 278528; do
		rm -f lim # a copy would begin afresh
		"$FLOCKLIMIT" -f lim -n 1 true
		truncate -s "$size" lim
		status=0
		timeout 300 "$FLOCKLIMIT" -f lim -n 1 -t 1 true 2>err || status=$?
		case $status in
		0)
			[ ! -s err ]
			[ "$size" -eq 0 ] || [ "$size" -eq 278528 ]
			[ "$(stat -c %s lim)" -eq 278528 ]
			afresh=$((afresh + 1))
			;;
		125)
			has_lines 1 err
			grep -q "^flocklimit: lim: $T/lim: is " err
			[ "$(stat -c %s lim)" -eq "$size" ] # not changed
			refusals=$((refusals + 1))
			;;
		*)
			echo "size $size: status $status: $(cat err)"
			return 1
			;;
		esac
	done
	[ "$afresh" -eq 2 ]
	[ "$refusals" -eq 17 ]
}

@test "zeros of any size are a limiter that was never born, or none" {
	local size status
	for size in 1 100 4095 4096 4097 5000 8192 278527 278528 278529 300000; do
		rm -f lim
		truncate -s "$size" lim
		status=0
		timeout 300 "$FLOCKLIMIT" -f lim -n 1 -t 1 true 2>err || status=$?
		echo "size $size: status $status: $(cat err)"
		case $size in
		4096 | 278528) [ "$status" -eq 0 ] ;;
		*)
			[ "$status" -eq 125 ]
			[ "$(cat err)" = "flocklimit: lim: $T/lim: is neither a limiter nor an empty file: choose another path" ]
			;;
		esac
	done
}

@test "a limiter with more behind its end" {
	"$FLOCKLIMIT" -f lim -n 1 true
	printf 'more' >>lim
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
	truncate -s 400000 lim
	silent 0 "$FLOCKLIMIT" -f lim -n 1 -t 0 true
}

@test "another layout, other sizes, another byte order: refused, and not changed" {
	local offset
	for offset in 8 12 16 20; do
		rm -f lim
		"$FLOCKLIMIT" -f lim true
		patch lim "$offset" '\143'
		cp lim before
		refused "$FLOCKLIMIT" -f lim true
		[ "$stderr" = "flocklimit: lim: $T/lim: is a limiter of another version of flocklimit: let its takers end, then flocklimitctl rm removes it" ]
		cmp lim before
	done
	rm lim
	silent 0 "$FLOCKLIMIT" -f lim true
}

@test "another boot's limiter of another version is still refused: it may be in use by that version" {
	"$FLOCKLIMIT" -f lim true
	patch lim 8 '\377'
	patch lim 24 'abcdefghijklmnop'
	refused "$FLOCKLIMIT" -f lim true
	[[ $stderr == *"another version"* ]]
}

@test "another boot's limiter, large and in use then, begins anew and whole" {
	case $(stat -f -c %T "$T") in
	tmpfs | ramfs) skip "what is in memory has no other boot" ;;
	esac
	local i
	for ((i = 0; i < 20; i++)); do hold "h$i" -f lim -n 20; done
	cp lim old
	for ((i = 0; i < 20; i++)); do let_go "h$i"; done
	for ((i = 0; i < 20; i++)); do ended "h$i"; done
	[ "$(stat -c %s old)" -gt 278528 ]
	patch old 24 'abcdefghijklmnop'
	# Many at once: only one of them makes it anew.
	seq 30 | timeout 300 xargs -P 30 -I{} "$FLOCKLIMIT" -f old -n 100 sh -c 'echo "$FLOCKLIMIT_TICKET"' >tickets
	seq 30 | cmp - <(sort -n tickets)
	for ((i = 0; i < 20; i++)); do hold "g$i" -f old -n 20; done
	run -75 "$FLOCKLIMIT" -f old -n 20 -t 0 -q true
	for ((i = 0; i < 20; i++)); do let_go "g$i"; done
	for ((i = 0; i < 20; i++)); do ended "g$i"; done
}

@test "a block device, a socket, a link to a limiter, one in a loop" {
	need_root
	mknod block b 7 200 2>/dev/null || skip "may not make devices"
	refused timeout 300 "$FLOCKLIMIT" -f block true
	mknod char c 1 3
	refused timeout 300 "$FLOCKLIMIT" -f char true
	[ "$stderr" = "flocklimit: char: $T/char: is not a regular file: choose another path" ]
	"$FLOCKLIMIT" -f lim true
	ln -s lim link
	refused "$FLOCKLIMIT" -f link true
	[ "$stderr" = "flocklimit: link: $T/link: is a symbolic link: name the file itself" ]
	ln -s loop loop
	refused "$FLOCKLIMIT" -f loop true
	[ "$stderr" = "flocklimit: loop: $T/loop: is a symbolic link: name the file itself" ]
	ln lim second
	hold a -f lim -n 1
	run --separate-stderr -75 "$FLOCKLIMIT" -f second -n 1 -t 0 true # the same, by its other name
}
