#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl why: what a wait was made of, in limiters that are really used.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/json.bash

# why FILTER TICKET: of the wait of x; its parts add up to the wait.
why() {
	ctl why x --json "$2" >why.json
	cat why.json
	conforms "A wait" <why.json
	jq -e '(.parts | map(.span_s) | add // 0) - .waited_s | fabs < 1e-6' why.json
	jq -e '.waited_s == 0 or ((.parts | map(.share) | add) - 1 | fabs < 1e-6)' why.json
	[ "$(jq -c "$1" why.json)" = "$3" ]
}

REASONS='[.state, .whole, (.parts | map(.reason) | sort)]'

@test "units: names the holder with the most; the next in the line waits for the head" {
	hold a -N x -n 3 -w 2
	hold b -N x -n 3 -w 1
	waiter w1 1 -n 3
	waiter w2 2 -n 3 -w 2
	why "$REASONS" 3 '["waiting",true,["units"]]'
	why '.parts[0] | [.ticket, .command, .weight, .declared]' 3 '[1,"sh",2,3]'
	why "$REASONS" 4 '["waiting",true,["line"]]'
	why '.parts[0] | [.ticket, .command]' 4 '[3,"true"]'
	run -0 ctl why x 3
	[[ ${lines[0]} == "x: ticket 3 (true, weight 1) waited "*" so far" ]]
	[[ ${lines[1]} == *"  100.0 %  holders had the units, the most of them ticket 1 (sh, weight 2)" ]]
	[ "${#lines[@]}" -eq 2 ]
	let_go a
	let_go b
	ended w1
	ended w2
	why '[.state, .command, .weight, (.parts | map(.reason) | contains(["units"]))]' 3 '["granted","true",1,true]'
	run -0 ctl why x --raw 4
	[[ ${lines[0]} =~ ^"x: ticket 4 (true, weight 2) waited "[0-9]+\.[0-9]{3}", then got its permit"$ ]]
	[[ ${lines[1]} =~ ^\ *[0-9]+\.[0-9]{3}\ +[0-9.]+" %  " ]]
	why "$REASONS" 1 '["granted",true,[]]'
	run -0 ctl why x 1
	[ "$output" = "x: ticket 1 (sh, weight 2) did not wait" ]
}

@test "a stricter -n of a holder" {
	hold a -N x -n 1
	waiter w 1 -n 4
	why "$REASONS" 2 '["waiting",true,["promise"]]'
	run -0 ctl why x 2
	[[ ${lines[1]} == *"a holder has a stricter -n: ticket 1 (sh, weight 1, -n 1)" ]]
	why '.parts[0].declared' 2 1
}

@test "the seats that a taker excludes are the free ones" {
	hold a -N x -n 3
	waiter w 1 -n 3 --not-seat 1-2
	why "$REASONS" 2 '["waiting",true,["seats"]]'
	run -0 ctl why x 2
	[[ ${lines[1]} == *"holders had the seats that it does not exclude, the most of them ticket 1 (sh, weight 1)" ]]
	let_go a
	ended w
	# Nobody knows any more but the history.
	why "$REASONS" 2 '["granted",true,["seats"]]'
	run -0 ctl log x
	[[ $output == *'queued'*'not seat 1,2'* ]]
	run -0 sh -c '"$1" log --json x | jq -c "select(.event == \"queued\") | [.detail, .not_seats]"' sh "$CTL"
	[ "$output" = '["not seat 1,2",[1,2]]' ]
}

@test "a pause; units and a pause; a wait that is given up" {
	"$FLOCKLIMIT" -N x -n 1 true
	ctl pause x
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 30ms true
	why "$REASONS" 2 '["left",true,["paused"]]'
	waiter w 1 -n 1
	ctl resume x
	ended w
	why '[.state, (.parts | max_by(.span_s) | .reason)]' 3 '["granted","paused"]'
	hold a -N x -n 1
	waiter v 1 -n 1
	ctl limit x 0
	ctl cancel x 5
	ended v
	why "$REASONS" 5 '["cancelled",true,["paused","units"]]'
	run -0 ctl why x 5
	[[ ${lines[0]} == *", then was cancelled" ]]
	run -0 ctl why x 2
	[[ ${lines[0]} == *", then gave up" && ${lines[1]} == *"it was paused, or its limit was 0" ]]
}

@test "a limiter that begins paused" {
	ctl pause --all
	background w "$FLOCKLIMIT" -N x -n 1 true
	eventually waiting 1
	why "$REASONS" 1 '["waiting",true,["paused"]]'
	ctl resume --all
	ended w
	why "$REASONS" 1 '["granted",true,["paused"]]'
}

@test "the pace: a stagger, a rate and a ramp" {
	"$FLOCKLIMIT" -N x -n 4 true
	ctl stagger x 1h
	"$FLOCKLIMIT" -N x -n 4 true
	waiter w 1 -n 4
	why "$REASONS" 3 '["waiting",true,["pace"]]'
	run -0 ctl why x 3
	[[ ${lines[1]} == *"the pace allowed no start" ]]
	ctl stagger x 10ms
	ended w
	why '[.state, (.parts | map(.reason) | index("pace") != null)]' 3 '["granted",true]'
	ctl stagger x off
	ctl rate x 1/h
	"$FLOCKLIMIT" -N x -n 4 true
	waiter v 1 -n 4
	why "$REASONS" 5 '["waiting",true,["pace"]]'
	ctl rate x off
	ended v
	ctl ramp x 1+1/1h
	hold a -N x -n 4
	waiter u 1 -n 4
	why "$REASONS" 7 '["waiting",true,["pace"]]'
}

@test "behind a head that is stopped" {
	"$FLOCKLIMIT" -N x -n 4 true
	ctl stagger x 1h
	"$FLOCKLIMIT" -N x -n 4 true
	waiter w 1 -n 4
	waiter v 2 -n 4
	kill -STOP "${pids[w]}"
	ctl stagger x 1us
	ended v
	why '[.state, (.parts | map(.reason) | index("line") != null)]' 4 '["granted",true]'
	kill -CONT "${pids[w]}"
	ended w
}

@test "tickets without a wait in the history" {
	hold a -N x -n 8
	waiter w 1 -n 1
	why "$REASONS" 2 '["waiting",true,["units"]]'
	ctl_line 1 why x 77
	[[ $stderr == *": x: ticket 77: no taker has drawn it yet" ]]
	run -75 "$FLOCKLIMIT" -N x -n 8 --nonblock true
	ctl_line 1 why x 3
	[[ $stderr == *": x: ticket 3: its wait is not in the history, which has the last events only" ]]
}

@test "several tickets, by a file, and words that are none" {
	hold a -N x -n 1
	waiter w1 1 -n 1
	waiter w2 2 -n 1
	run -0 ctl why -f limiters/x 2 3
	[[ ${lines[0]} == "limiters/x: ticket 2 "* && ${lines[2]} == "limiters/x: ticket 3 "* ]]
	[ "$(ctl why x --json 2 3 | jq -c 'map(.ticket)')" = '[2,3]' ]
	[ "$(ctl why -f limiters/x --json 2 | jq -c '.ticket')" = 2 ]
	run --separate-stderr -1 ctl why x 2 99
	[[ ${lines[0]} == "x: ticket 2 "* && $stderr == *"ticket 99: no taker has drawn it yet" ]]
	ctl_line 125 why x
	[[ $stderr == *"which ticket?"* ]]
	ctl_line 125 why x y
	[[ $stderr == *"'y': not a ticket"* ]]
	ctl_line 1 why nosuch 1
	ctl_line 125 why --all 1
	ctl_line 125 why
}
