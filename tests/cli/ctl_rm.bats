#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl: check and rm, and how safe they are.

load ../helpers/lib.bash
load ../helpers/ctl.bash

@test "check: whole, damaged, repaired" {
	hold a -N x -n 2
	silent 0 "$CTL" check x
	[ "$(ctl check --json x | jq -c '[.whole, .failures]')" = '[true,[]]' ]
	# the first slot's seat map, in the index
	offset=$(python3 -c 'print(4096 + 4160 * 64 + 40 + 16 + 16)')
	patch limiters/x "$offset" '\7'
	run --separate-stderr -1 ctl check x
	[[ $output == *"x: a seat is taken by nobody"* ]]
	[[ $stderr == *"check --repair"* ]]
	run -1 ctl check --json x
	run --separate-stderr -0 ctl check --repair x
	[[ $output == *"x: repaired"* ]]
	silent 0 "$CTL" check x
	[ "$(field '.used')" = 1 ]
	let_go a
	ended a
	[ "$status" -eq 0 ]
}

@test "rm: not while a taker holds or waits" {
	hold a -N x -n 1
	ctl_line 1 rm x
	[[ $stderr == *"it is in use"* ]]
	let_go a
	ended a
	silent 0 "$CTL" rm x
	[ ! -e limiters/x ]
	ctl_line 1 rm x
	ctl_line 125 rm
}

@test "rm --idle: those that nobody uses, and only those" {
	hold a -N x -n 1
	for name in p q r; do
		"$FLOCKLIMIT" -N $name -n 1 true
	done
	silent 0 "$CTL" rm --idle
	[ "$(ls limiters)" = x ]
	silent 0 "$CTL" rm --idle
}

@test "rm --idle: what an operator has said stays" {
	for name in p q r s; do
		"$FLOCKLIMIT" -N $name -n 1 true
	done
	ctl pause p
	ctl close q
	ctl limit r 3
	silent 0 "$CTL" rm --idle
	[ "$(echo limiters/*)" = "limiters/p limiters/q limiters/r" ]
	ctl limit r auto
	silent 0 "$CTL" rm --idle
	[ "$(echo limiters/*)" = "limiters/p limiters/q" ]
	silent 0 "$CTL" rm p q
}

@test "rm: a damaged one, when nobody has it open" {
	hold a -N x -n 1
	truncate -s 5000 limiters/x
	ctl_line 1 rm x
	[[ $stderr == *"/limiters/x: it can't be used any more, but processes have it open:"*" ${pids[a]} "* ||
		$stderr == *"have it open:"*" ${pids[a]}: let them end" ]]
	silent 0 "$CTL" rm --idle
	[ -e limiters/x ]
	# Its command counts as well.
	kill -KILL "${pids[a]}"
	ended a
	ctl_line 1 rm x
	[[ $stderr == *"have it open: $(up a): let them end" ]]
	let_go a
	eventually is_gone "$(up a)"
	silent 0 "$CTL" rm x
	[ ! -e limiters/x ]
	"$FLOCKLIMIT" -N x -n 1 true
	truncate -s 4097 limiters/x
	silent 0 "$CTL" rm --idle
	[ ! -e limiters/x ]
}

@test "rm: one of another version, and an empty file; but no text" {
	"$FLOCKLIMIT" -f old -n 1 true
	patch old 8 '\1'
	ctl_line 125 show -f old
	[[ $stderr == *"is a limiter of another version of flocklimit"*"flocklimitctl rm removes it" ]]
	exec 8<>old
	ctl_line 1 rm -f old
	exec 8>&-
	silent 0 "$CTL" rm -f old
	[ ! -e old ]
	: >empty
	silent 0 "$CTL" rm -f empty
	[ ! -e empty ]
	ctl_line 1 rm -f empty
	for text in 'a' 'a text of mine that is longer than the first few words of a header'; do
		echo "$text" >text
		ctl_line 125 rm -f text
	done
	# Zeros of this size may become a limiter, but may be anything else.
	head -c 4096 /dev/zero >zeros
	ctl_line 125 rm -f zeros
	ln -s text link
	ctl_line 125 rm -f link
	mkdir limiters
	mv text zeros limiters
	silent 0 "$CTL" rm --idle
	[ -s limiters/text ]
	[ -s limiters/zeros ]
}

# While rm asks the kernel whether anybody has the file open, nobody can open it.
@test "a taker that comes while somebody has a lease on the file waits for it" {
	"$FLOCKLIMIT" -N x -n 1 true
	lease limiters/x F_WRLCK give
	silent 0 "$FLOCKLIMIT" -N x -n 1 true
	ended lease
	[ "$status" -eq 0 ]
}

@test "a verb names the lease that another process does not give up" {
	"$FLOCKLIMIT" -N x -n 1 true
	lease limiters/x F_WRLCK
	ctl_line 125 show x
	[[ $stderr == *'another process has a lease on the file'* ]]
	ctl_line 125 rm x
	[[ $stderr == *'another process has a lease on the file'* ]]
	[ -e limiters/x ]
	kill "${pids[lease]}"
	ended lease
	silent 0 "$CTL" rm x
}

@test "rm against newcomers: nobody is left behind in a dead limiter, and never two at once" {
	background rm sh -c 'until [ -e enough ]; do "$0" rm --idle || exit; done' "$CTL"
	for label in a b c; do
		background $label sh -c 'for i in $(seq 100); do
			"$FLOCKLIMIT" -N x -n 1 sh -c "mkdir alone && rmdir alone" || exit; done'
	done
	for label in a b c; do
		ended $label
		[ "$status" -eq 0 ]
	done
	: >enough
	ended rm
	[ "$status" -eq 0 ]
}

@test "check --repair, and steering by two operators, while others come and go" {
	"$FLOCKLIMIT" -N x -n 2 true
	background repair sh -c 'until [ -e enough ]; do "$0" check --repair x || exit; done' "$CTL"
	for label in up down; do
		background $label sh -c 'until [ -e enough ]; do
			"$0" limit x 3 && "$0" pause x && "$0" resume x && "$0" limit x auto || exit; done' "$CTL"
	done
	for label in a b c; do
		background $label sh -c 'for i in $(seq 50); do
			"$FLOCKLIMIT" -N x -n 2 true || exit; done'
	done
	for label in a b c; do
		ended $label
		[ "$status" -eq 0 ]
	done
	: >enough
	for label in repair up down; do
		ended $label
		[ "$status" -eq 0 ]
	done
	silent 0 "$CTL" check x
	[ "$(field '[.state, .used, .override]')" = '["idle",0,null]' ]
}
