#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# The JSON of flocklimitctl is what its page promises: these fields, of these types, and no other.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/json.bash

@test "one name has one type in all tables, and each object of its own has the schema" {
	json_schema >schema
	[ "$(jq length schema)" -ge 11 ]
	[ "$(jq -c '[.[] | to_entries[]] | group_by(.key) | map([.[0].key, ([.[].value[]] | unique - ["null"])])
		| map(select(.[1] | length != 1))' schema)" = '[]' ]
	jq -e '[.["A limiter"], .["An event"], .["A check"]] | all(.schema == ["number"])' schema
	[ "$(jq -c '[.[][][]] | unique' schema)" = '["array","boolean","null","number","object","string"]' ]
}

@test "these verbs print JSON, and no other" {
	local verb
	for verb in $(ctl --help | grep -oE '^  [a-z]+(, [a-z]+)*' | tr -d ' ' | tr ',' '\n'); do
		run ctl "$verb" --json nosuch </dev/null
		[[ $output == *"means nothing to"* ]] || echo "$verb"
	done | sort | xargs >verbs
	[ "$(cat verbs)" = "check limits list log show stats suggest why" ]
}

# some: x is held and has waiters and a pace, idle nobody uses, damaged and text can't be used.
some() {
	"$FLOCKLIMIT" -N idle -n 7 true
	hold a -N x -n 1
	waiter w1 1
	waiter w2 2
	ctl rate x 10/s
	ctl ramp x 1+1/30s
	"$FLOCKLIMIT" -N damaged -n 1 true
	truncate -s 4096 limiters/damaged
	echo 'this is a text of mine, and none of yours' >limiters/text
}

@test "list: as the page has it" {
	some
	run -0 ctl list --json
	jq '.[]' <<<"$output" | conforms "A limiter"
	[ "$(jq -c 'map([.name, .state, .holding, .waiting])' <<<"$output")" = \
		'[["damaged","damaged",null,null],["idle","idle",0,0],["text","unusable",null,null],["x","open",1,2]]' ]
	[ "$(jq -c 'map([.name, .error != null, .oldest_wait_s != null])' <<<"$output")" = \
		'[["damaged",true,false],["idle",false,false],["text",true,false],["x",false,true]]' ]
}

@test "show: as the page has it, with a pace and without, with an orphan" {
	some
	ctl show --json x | conforms "${SHOWN[@]}"
	ctl show --json idle | conforms "${SHOWN[@]}"
	[ "$(field '[.holding, .waiting, (.holders | length), (.waiters | length)]')" = '[1,2,1,2]' ]
	[ "$(field '[.pace.interval_s, .pace.burst, .pace.stagger_s, .pace.ramp.period_s]')" = '[0.1,1,null,30]' ]
	[ "$(ctl show --json idle | jq -c '[.holders, .waiters, .blocked, .pace.ramp]')" = '[[],[],null,null]' ]
	# The command outlives its flocklimit.
	kill -KILL "${pids[a]}"
	eventually field_is '.holders[0].orphan' true
	ctl show --json x | conforms "${SHOWN[@]}"
	[ "$(field '.holders[0].kept_by')" = "[$(up a)]" ]
}

@test "list of a declared limiter: as the page has it" {
	echo 'limiter x -n 3' >limits
	FLOCKLIMIT_LIMITS=$T/limits ctl list --json >listed
	jq '.[]' listed | conforms "A limiter"
	[ "$(jq -c '.[0] | [.state, .error, .declared, .used]' listed)" = '["declared",null,3,null]' ]
}

@test "a pace is told to the nanosecond" {
	"$FLOCKLIMIT" -N x -n 1 true
	ctl rate x 300000/s
	[ "$(field '.pace.interval_s * 1e9 | round')" = 3334 ]
}

@test "stats: as the page has it" {
	some
	run -0 ctl stats --json
	jq '.[]' <<<"$output" | conforms "${COUNTED[@]}"
	[ "$(jq -c 'map(.name)' <<<"$output")" = '["damaged","idle","x"]' ]
	[ "$(jq -c 'map(.totals != null)' <<<"$output")" = '[false,true,true]' ]
	jq -e '.[1].totals | .hold_times.count == 1 and (.hold_times.buckets | map(.count) | add) == 1 and
		(.hold_times.buckets | map(.up_to_s) | .[0] == 0.001 and .[-1] == null)' <<<"$output"
}

@test "log: as the page has it, of takers and of operators" {
	some
	ctl cancel x "$(field '.waiters[1].ticket')"
	ctl log --json x | conforms "An event"
	ctl log --json x >events
	[ "$(jq -r .event events | sort -u | xargs)" = "cancelled granted pace queued" ]
	[ "$(jq -c 'select(.event == "granted") | [.schema, .name, .path, .ticket, .weight, .seat]' events)" = \
		"[1,\"x\",\"$T/limiters/x\",1,1,0]" ]
	jq -se 'map(select(.event == "pace")) | .[0].pace.interval_s == 0.1 and .[1].pace.ramp.from == 1' events
	[ "$(jq -sc 'map(select(.event == "pace"))[0] | [.ticket, .weight, .command, .seat]' events)" = \
		'[null,null,null,null]' ]
}

@test "check: as the page has it, whole, damaged and repaired" {
	"$FLOCKLIMIT" -N x -n 1 true
	ctl check --json x | conforms "A check"
	hold a -N x -n 2
	# The first slot's seat map, in the index.
	patch limiters/x $((4096 + 4160 * 64 + 40 + 16 + 16)) '\7'
	run -1 --separate-stderr ctl check --json x
	conforms "A check" <<<"$output"
	[ "$(jq -c '[.whole, .repaired, (.failures | length > 0)]' <<<"$output")" = '[false,false,true]' ]
	ctl check --json --repair x >checked
	conforms "A check" <checked
	[ "$(jq -c '[.whole, .repaired]' checked)" = '[false,true]' ]
}
