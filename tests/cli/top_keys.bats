#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl top: the keys that change something, and what they refuse.

load ../helpers/lib.bash
load ../helpers/top.bash

@test "top: p pauses and resumes, here and in the list" {
	"$FLOCKLIMIT" -N w true
	"$FLOCKLIMIT" -N x true
	top_in 80x24 x
	see 'x: idle'
	keys p
	see 'x: paused'
	see_line -2 'paused: nothing new starts'
	has .state '"paused"'
	keys p
	see 'x: idle'
	see_line -2 'resumed'
	has .state '"idle"'
	keys q
	over 0
	top_in 80x24
	see '2 limiters'
	keys j p
	see_line 6 'x *paused'
	has .state '"paused"'
	[ "$(field .state w)" = '"idle"' ]
	keys q
	over 0
}

@test "top: l changes the limit, and refuses what is none" {
	hold a -N x -n 4 -w 3
	line_up 1 -w 3
	top_in 80x24 x
	see 'x: open'
	keys l
	see_line -2 'limit (N, N%, auto): _'
	keys 5 5 5 BSpace
	see_line -2 'limit (N, N%, auto): 55_'
	keys C-u 2 Enter
	see 'x: draining, 3 of 2 in use (override)'
	has .override 2
	keys l lots Enter
	see_line -2 "'lots': not a number, N% or auto"
	# That the prompt has gone must be seen, or Escape and the next key could be one key to top.
	keys l 9
	see 'limit (N'
	keys Escape
	see_not 'limit (N'
	keys l Enter
	see_not 'limit (N'
	has .override 2
	keys l 5x Enter
	see_line -2 "'5x': not a number, N% or auto"
	has .override 2
	keys l auto Enter
	see_line -2 'limit: auto'
	has .override null
	keys l 6 Enter
	see 'x: open, 3 of 6 in use (override), 1 holding, 0 waiting'
	ended job1
	[ "$status" -eq 0 ]
	keys l 100% Enter
	see_line -2 'limit: [1-9]*'
	has '.override > 0' true
	# However long: what is typed beyond is not taken.
	keys l "$(printf '%0200d' 7)"
	see '0000000000000000000_'
	keys C-g q
	over 0
}

@test "top: o closes, when it is told yes, and opens" {
	hold a -N x -n 1
	line_up 2
	top_in 80x24 x
	see 'x: open'
	keys o
	see_line -2 'close it, and reject 2 waiting (y/n)? _'
	keys n
	see_not '(y/n)'
	has .state '"open"'
	keys o y
	see 'x: closed, 1 of 1 in use, 1 holding, 0 waiting'
	has .state '"closed"'
	ended job1
	[ "$status" -eq 75 ]
	keys o
	see 'x: open'
	has .state '"open"'
	keys q
	over 0
}

@test "top: c takes a waiter out of the line, and ends a holder" {
	hold a -N x -n 1
	line_up 3
	top_in 80x24 x
	see_tickets '1 2 3 4'
	keys j j c
	see_line -2 'take ticket 3 out of the line (y/n)? _'
	keys n
	see_not '(y/n)'
	keys c
	see '(y/n)'
	keys Escape
	see_not '(y/n)'
	see_tickets '1 2 3 4'
	keys c y
	see_line -2 'ticket 3: out of the line'
	see_tickets '1 2 4'
	ended job2
	[ "$status" -eq 75 ]
	says "cancelled by pid $(cat pid)" job2.err
	keys g F9
	see_line -2 "TERM to ticket 1, pid ${pids[a]}, which runs (y/n)? _"
	keys y
	ended a
	[ "$status" -eq 143 ]
	see 'x: idle'
	keys c
	see_line -2 'nobody holds or waits'
	keys q
	over 0
}

@test "top: S sends a signal to a holder, and to nobody else" {
	hold a -N x -n 1
	line_up 1
	top_in 80x24 x
	see_tickets '1 2'
	keys j S
	see_line -2 'it waits: c takes it out of the line'
	keys k S nonsense Enter
	see_line -2 "'nonsense': not a signal*"
	keys S Enter
	see_not 'signal for'
	keys S USR1
	see_line -2 "signal for ticket 1, pid ${pids[a]}: USR1_"
	keys Escape
	see_not 'signal for'
	is_there "$(up a)"
	keys S
	see_line -2 "signal for ticket 1, pid ${pids[a]}: _"
	keys 999 Enter
	see_line -2 "'999': not a signal*"
	keys S STOP Enter
	see_line -2 'ticket 1: signal STOP sent'
	eventually is_state T "$(up a)"
	keys S CONT Enter
	see_line -2 'ticket 1: signal CONT sent'
	eventually is_state SR "$(up a)"
	keys S KILL Enter
	ended a
	[ "$status" -eq 137 ]
	keys q
	over 0
}

@test "top: an orphan and a permit of --hold-for" {
	"$FLOCKLIMIT" -N x -n 2 --hold-for $$ >ticket
	hold a -N x
	kill -KILL "${pids[a]}"
	top_in 80x24 x
	see '(orphan) sh -c'
	keys j c y
	see_line -2 'its flocklimit is dead: kill what it left by its own pid'
	is_there "$(up a)"
	keys k c
	see_line -2 'release ticket 1 of --hold-for (y/n)? _'
	keys y
	see 'x: open, 1 of 2 in use, 1 holding'
	keys q
	over 0
	let_go a
}

@test "top: what is cancelled was granted, or has left, while the question was open" {
	hold a -N x -n 1
	line_up 1
	mkfifo b.fifo
	background b "$FLOCKLIMIT" -N x cat "$T/b.fifo"
	eventually has '.waiters | length' 2
	line_up_late() {
		background c "$FLOCKLIMIT" -N x true
		eventually has '.waiters | length' "$1"
	}
	line_up_late 3
	top_in 80x24 x
	see_tickets '1 2 3 4'
	keys j j c
	see_line -2 'take ticket 3 out of the line (y/n)? _'
	let_go a
	see_tickets '3 4'
	see_line -2 'take ticket 3 out of the line (y/n)? _'
	keys y
	see_line -2 'ticket 3: it runs by now'
	is_there "${pids[b]}"
	keys G c
	see_line -2 'take ticket 4 out of the line (y/n)? _'
	kill -KILL "${pids[c]}"
	see_tickets 3
	keys y
	see_line -2 'ticket 4: it is no longer in the line'
	keys c
	see_line -2 'TERM to ticket 3, *'
	let_go b
	see 'x: idle'
	keys y
	see_line -2 'it has just ended*'
	keys q
	over 0
}

@test "top: a question about a limiter that is another by now changes nothing" {
	hold a -N x -n 1
	line_up 1
	top_in 80x24 x
	see_tickets '1 2'
	keys j c
	see_line -2 'take ticket 2 out of the line (y/n)? _'
	"$CTL" cancel x 2
	let_go a
	ended a
	eventually "$CTL" rm x
	jobs=0
	hold b -N x -n 1
	line_up 1
	see_tickets '1 2'
	keys y
	see_line -2 'nothing done: that limiter was removed meanwhile'
	keys l
	see 'limit (N'
	let_go b
	ended b
	ended job1
	"$CTL" rm x
	"$FLOCKLIMIT" -N x -n 1 true
	keys 7 Enter
	see_line -2 'nothing done: that limiter was removed meanwhile'
	has .override null
	keys q
	over 0
}

@test "top: what no terminal description knows is no key" {
	"$FLOCKLIMIT" -N x true
	top_in 80x24 x
	see 'x: idle'
	asks() { keys l && shows 'limit (N'; }
	# ESC O p is 0 of a keypad; ESC p is Alt-p; ESC [ 112 ; 5 u is what some send for Ctrl-p.
	for bytes in '1b 4f 70' '1b 70' '1b 5b 31 31 32 3b 35 70'; do
		# shellcheck disable=SC2086 # words
		keys -H $bytes
		eventually asks
		keys C-g
		see_not 'limit (N'
		shows 'x: idle'
	done
	keys p
	see 'x: paused'
	# Nor is a byte that means nothing, and it says where help is.
	keys Z
	see_line -2 'h for help'
	keys q
	over 0
}

@test "top: help names every key of the page" {
	sed -n '/^\.Ss Keys of top/,/^\.El/s/^\.It Ic //p' "$TESTS_SOURCE/../man/flocklimitctl.1" |
		sed 's/\\&//; s/Ctrl-/^/g; s/ , /\n/g' >named
	[ "$(wc -l <named)" -gt 20 ]
	"$FLOCKLIMIT" -N x true
	top_in 80x24 x
	for key in h '?' F1; do
		see 'x: idle'
		keys "$key"
		see 'any key to go back'
		screen | sed 's/  *[a-z][a-z].*//;' >help
		screen | grep -o '(also [A-Z][a-z]*' >>help || :
		while read -r name; do
			grep -qwF -- "$name" help || {
				echo "help does not name $name"
				false
			}
		done <named
		keys Space
	done
	see 'x: idle'
	keys h
	see 'any key to go back'
	keys q
	see 'x: idle'
	keys q
	over 0
}
