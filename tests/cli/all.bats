#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl VERB --all: all limiters of the directory, and those that are made later.

load ../helpers/lib.bash
load ../helpers/ctl.bash

states() { ctl list --json | jq -c 'if type == "array" then . else .limiters end | map(.state) | unique'; }

@test "pause --all: those that are there, and new ones; resume --all" {
	"$FLOCKLIMIT" -N x -n 1 true
	"$FLOCKLIMIT" -N y -n 1 true
	silent 0 "$CTL" pause --all
	[ "$(states)" = '["paused"]' ]
	waiter w 1 -n 1
	background v "$FLOCKLIMIT" -N new -n 1 true
	background u "${FLOCKLIMIT%limit}map" -N mapped true ::: a
	eventually in_line 1 new
	run --separate-stderr -75 "$FLOCKLIMIT" -N newer --nonblock true
	[[ $stderr == *paused* ]]
	silent 0 "$CTL" resume --all
	ended w
	[ "$status" -eq 0 ]
	ended v
	[ "$status" -eq 0 ]
	ended u
	[ "$status" -eq 0 ]
	silent 0 "$FLOCKLIMIT" -N newest -n 1 true
	[ "$(states)" = '["idle"]' ]
}

@test "pause --all: where there is no limiter yet" {
	silent 0 "$CTL" pause --all
	run --separate-stderr -75 "$FLOCKLIMIT" -N x --nonblock true
	run -0 ctl list
	[ "${lines[-1]}" = "New limiters begin paused (flocklimitctl resume --all ends that)." ]
	run -0 ctl list --raw
	[ "${#lines[@]}" -eq 2 ]
	silent 0 "$CTL" resume x
	silent 0 "$FLOCKLIMIT" -N x true
	run --separate-stderr -75 "$FLOCKLIMIT" -N y --nonblock true
}

@test "close --all, open --all, limit --all" {
	"$FLOCKLIMIT" -N x -n 1 true
	silent 0 "$CTL" close --all
	run --separate-stderr -75 "$FLOCKLIMIT" -N x true
	run --separate-stderr -75 "$FLOCKLIMIT" -N y true
	[[ $stderr == *"the limiter is closed, until flocklimitctl open "[xyz]* ]]
	run -0 ctl list
	[[ ${lines[-1]} == "New limiters begin closed ("*" open --all"* ]]
	silent 0 "$CTL" open --all
	silent 0 "$CTL" limit --all 3
	silent 0 "$FLOCKLIMIT" -N z -n 9 true
	[ "$(for name in x y z; do ctl show --json "$name" | jq .override; done | xargs)" = "3 3 3" ]
	run -0 ctl list
	[[ ${lines[-1]} == "New limiters begin with the limit 3 ("*" limit --all auto"* ]]
	silent 0 "$CTL" limit --all auto
	silent 0 "$FLOCKLIMIT" -N zz -n 9 true
	[ "$(for name in x y z zz; do ctl show --json "$name" | jq .override; done | sort -u)" = null ]
}

@test "--all: what is no limiter does not matter, what can't be steered does" {
	"$FLOCKLIMIT" -N x -n 1 true
	echo 'this is a text of mine, and none of yours' >limiters/text
	: >limiters/empty
	mkdir limiters/directory
	silent 0 "$CTL" pause --all
	[ ! -s limiters/empty ]
	[ "$(field .state)" = '"paused"' ]
	"$FLOCKLIMIT" -N cut -n 1 --nonblock true 2>/dev/null || :
	truncate -s 4096 limiters/cut
	ctl_line 125 resume --all
	[[ $stderr == *"cut is damaged"* || $stderr == *"/cut: is damaged"* ]]
	[ "$(field .state)" = '"idle"' ]
	ctl_line 125 pause --all x
	[[ $stderr == *"'x': --all is for all limiters: name none" ]]
	ctl_line 125 limit --all
	ctl_line 125 limit --all some
	ctl_line 125 gantt --all
	[[ $stderr == *"an SVG is of one limiter"* ]]
	# A pace suits one limiter.
	for verb in 'rate --all 1/s' 'stagger --all 1s' 'ramp --all 1+1/s'; do
		# shellcheck disable=SC2086 # words
		ctl_line 125 $verb
		[[ $stderr == *"--all: means nothing to ${verb%% *}"* ]]
	done
	[ "$(field .state)" = '"idle"' ]
}

@test "a limiter that is kept in a file elsewhere is not meant" {
	silent 0 "$CTL" pause --all
	silent 0 "$FLOCKLIMIT" -f elsewhere -n 1 true
}

@test "pause --all while limiters are made reaches each of them" {
	background makers sh -c 'seq 300 | xargs -P 4 -I {} "$FLOCKLIMIT" -N n{} -n 1 --nonblock true 2>/dev/null'
	eventually test -e limiters/n20
	silent 0 "$CTL" pause --all
	ended makers
	[ "$(ctl list --raw | wc -l)" = 301 ]
	[ "$(states)" = '["paused"]' ]
}

@test "limit, rate and the like take several names" {
	"$FLOCKLIMIT" -N x -n 1 true
	"$FLOCKLIMIT" -N y -n 1 true
	silent 0 "$CTL" limit x y 7
	[ "$(for name in x y; do ctl show --json "$name" | jq .limit; done | xargs)" = "7 7" ]
	silent 0 "$CTL" rate x --file limiters/y 1/s
	[ "$(for name in x y; do ctl show --json "$name" | jq '.pace.interval_s == 1'; done | xargs)" = "true true" ]
	ctl_line 125 limit 4
	[[ $stderr == *"which limiter?"* ]]
	ctl_line 1 limit nosuch x 4
	[ "$(field .limit)" = 4 ]
}
