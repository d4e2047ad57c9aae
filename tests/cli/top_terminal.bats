#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl top: the terminal is as it was, whatever ends it.

load ../helpers/lib.bash
load ../helpers/top.bash

@test "top: q and F10 leave the terminal as it was" {
	"$FLOCKLIMIT" -N x true
	for key in q F10; do
		top_in 80x24 x
		see 'x: idle'
		[ "$(flags)" = '1 0 1 1' ]
		keys $key
		over 0
	done
}

@test "top: keys that are signals: ^C, and ^\\" {
	"$FLOCKLIMIT" -N x true
	top_in 80x24 x
	see 'x: idle'
	keys C-c
	over 130
	top_in 80x24 x
	see 'x: idle'
	# shellcheck disable=SC1003 # no quote is meant
	keys l 12 'C-\'
	over 131
}

@test "top: a signal, and a crash, leave the terminal as it was" {
	"$FLOCKLIMIT" -N x true
	for signal in TERM HUP INT QUIT USR1 PIPE ALRM SEGV ABRT BUS FPE ILL TRAP SYS; do
		top_in 80x24 x
		see 'x: idle'
		[ "$(flags)" = '1 0 1 1' ]
		kill -s "$signal" "$(cat pid)"
		echo "by SIG$signal"
		over $((128 + $(kill -l "$signal")))
	done
}

@test "top: suspended, the terminal is as it was, and on it goes" {
	"$FLOCKLIMIT" -N x true
	mkfifo go
	cat >run <<-'END'
		set -m
		echo 'what was here before'
		stty -g >before
		"$@"
		stty -g >after
		echo 'and it is over'
		read -r _ <go
		until [ "$(stty size)" = '20 70' ]; do sleep 0.01; done
		stty -echo
		fg
		stty -a >later
		echo 'and now it is over'
		exec cat
	END
	in_terminal 80x24 sh "$T/run" "$CTL" top x
	see_line 24 'q quit*'
	keys C-z
	as_it_was
	resize 70x20
	echo >go
	see_line 20 'q quit*'
	see 'x: idle'
	[ "$(flags)" = '1 0 1 1' ]
	"$CTL" pause x
	see 'x: paused'
	keys q
	see 'and now it is over'
	[ "$(flags)" = '0 1 0 0' ]
	# As whoever had it meanwhile left it.
	grep -qw -- '-echo' later
}

@test "top: killed while another has the terminal, it leaves the modes to that one" {
	"$FLOCKLIMIT" -N x true
	cat >run <<-'END'
		set -m
		bash -c 'echo $$ >pid; exec "$@"' bash "$@"
		stty -echo
		read -r _ <go
		kill -TERM %1
		kill -CONT %1
		wait %1
		stty -a >later
		printf '\r\nand it is over\r\n'
		exec cat
	END
	mkfifo go
	# Suspended it has given all back; stopped by SIGSTOP, not even the screen.
	for stop in TSTP STOP; do
		in_terminal 80x24 bash "$T/run" "$CTL" top x
		see_line 24 'q quit*'
		kill -s $stop "$(cat pid)"
		eventually is_state T "$(cat pid)"
		mux pipe-pane "cat >$T/$stop"
		echo >go
		see 'and it is over'
		[ "$(flags)" = '0 1 0 0' ]
		grep -qw -- '-echo' later
		eventually says 'and it is over' $stop
		close_terminal
	done
	says $'\e[?1049l' STOP
	run -1 says $'\e[?1049l' TSTP
}

@test "top: stopped as only SIGSTOP does, it draws all anew" {
	"$FLOCKLIMIT" -N x true
	top_in 80x24 x
	see 'x: idle'
	pid=$(cat pid)
	kill -STOP "$pid"
	eventually is_state T "$pid"
	printf '\033[H\033[2Jgarbage' >"$(mux display-message -p '#{pane_tty}')"
	see garbage
	kill -CONT "$pid"
	see_line 24 'q quit*'
	shows_not garbage
	printf '\033[Hgarbage' >"$(mux display-message -p '#{pane_tty}')"
	see garbage
	keys C-l
	see_not garbage
	keys q
	over 0
}

@test "top: stopped by SIGSTOP under a shell, and the window is another when it goes on" {
	"$FLOCKLIMIT" -N x true
	mkfifo go
	cat >run <<-'END'
		set -m
		sh -c 'echo $$ >pid; exec "$@"' sh "$@"
		read -r _ <go
		until [ "$(stty size)" = '20 70' ]; do sleep 0.01; done
		fg
		exec cat
	END
	in_terminal 80x24 sh "$T/run" "$CTL" top x
	see_line 24 'q quit*'
	kill -STOP "$(cat pid)"
	resize 70x20
	echo >go
	see_line 20 'q quit*'
	see_line 1 'x: idle*'
}

@test "top: no terminal" {
	"$FLOCKLIMIT" -N x true
	run --separate-stderr -125 "$CTL" top x </dev/null
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == 'flocklimitctl: top: needs a terminal'* ]]
	run --separate-stderr -1 "$CTL" top nosuch </dev/null
	[[ $stderr == *'there is no such limiter'* ]]
	for term in dumb nosuch ''; do
		rm -f status
		in_terminal 80x24 sh -c \
			'TERM=$1 "$2" top x 2>err; echo $? >status; exec cat' sh "$term" "$CTL"
		eventually test -s status
		[ "$(cat status)" = 125 ]
		has_lines 1 err
		says "flocklimitctl: top: TERM=$term: not a terminal" err
		[ -z "$(screen | tr -d '\n')" ]
		close_terminal
	done
	rm -f status
	in_terminal 80x24 sh -c 'env -u TERM "$1" top x 2>err; echo $? >status; exec cat' sh "$CTL"
	eventually test -s status
	[ "$(cat status)" = 125 ]
	has_lines 1 err
	says 'flocklimitctl: top: TERM=: not a terminal' err
}

@test "top: a terminal that goes away, and nobody told it" {
	"$FLOCKLIMIT" -N x true
	in_terminal 80x24 sh -c 'trap "" HUP; echo $$ >pid; exec "$1" top x' sh "$CTL"
	see 'x: idle'
	mux kill-server
	eventually is_gone "$(cat pid)"
}

@test "top: idle, it sleeps" {
	hold a -N x -n 1
	line_up 2
	top_in 80x24 x
	see 'x: open'
	pid=$(cat pid)
	# asleep: how often it has gone to sleep, and the CPU time it took, in ticks.
	asleep() { awk '/^voluntary/ { print $2 }' "/proc/$pid/status"; }
	ticks() { sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }'; }
	clock() { line 1 | grep -oE '[0-9:]{8}$'; }
	moved() { [ "$(clock)" != "$then" ]; }
	# By its own clock, which it draws when it has looked.
	began=$SECONDS sleeps=$(asleep) cpu=$(ticks)
	for _ in 1 2 3; do
		then=$(clock)
		eventually moved
	done
	sleeps=$(($(asleep) - sleeps)) cpu=$(($(ticks) - cpu)) took=$((SECONDS - began))
	echo "in $took s: $sleeps sleeps, $cpu ticks"
	[ "$sleeps" -le $((7 * (took + 1))) ]
	[ "$cpu" -le $((10 * took)) ]
	keys q
	over 0
}
