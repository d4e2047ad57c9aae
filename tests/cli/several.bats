#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl's verbs about several limiters: each is done, and the worst status counts.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# some: x is held, y has been used, z as well.
some() {
	hold a -N x -n 1
	"$FLOCKLIMIT" -N y -n 2 true
	"$FLOCKLIMIT" -N z -n 3 sh -c 'exit 3' || :
}

@test "show: one picture after the other, and an array for programs" {
	some
	run -0 ctl show y x
	[[ ${lines[0]} == "y: "* ]]
	[ "$(grep -c '^[xy]: ' <<<"$output")" = 2 ]
	[ "$(grep -c '^$' <<<"$output")" = 2 ] # between the two, and in the picture of x
	[ "$(ctl show y z)" = "$(ctl show y; echo; ctl show z)" ]
	[ "$(ctl show --json y x | jq -c 'map([.schema, .name, .holding])')" = '[[1,"y",0],[1,"x",1]]' ]
	[ "$(ctl show --json y -f limiters/z | jq -c 'map(.name)')" = '["y","limiters/z"]' ]
	[ "$(ctl show --json y | jq -r .name)" = y ]
	# A limiter that is not there does not keep the others from being shown.
	run -1 --separate-stderr ctl show nosuch y
	[[ ${lines[0]} == "y: "* && $stderr == "flocklimitctl: nosuch: "* && ${#stderr_lines[@]} = 1 ]]
	run -1 --separate-stderr ctl show --json nosuch y
	[ "$(jq -c 'map(.name)' <<<"$output")" = '["y"]' ]
	[ "$(jq -c . <<<"$(ctl show --json nosuch yes 2>/dev/null)")" = '[]' ]
	[ -z "$(ctl show --json nosuch 2>/dev/null)" ]
}

@test "show --all" {
	silent 0 "$CTL" show --all
	[ "$(ctl show --json --all)" = '[]' ]
	some
	echo 'this is a text of mine, and none of yours' >limiters/text
	[ "$(ctl show --all | grep -oE '^[a-z]+: [a-z]+,' | xargs)" = "x: open, y: idle, z: idle," ]
	[ "$(ctl show --all --json | jq -c 'map(.name)')" = '["x","y","z"]' ]
	[ "$(ctl -o json --all show | jq length)" = 3 ]
	ctl_line 125 show --all x
	[[ $stderr == *"'x': --all is for all limiters: name none" ]]
}

@test "check: all, and the worst counts" {
	some
	silent 0 "$CTL" check x y z
	silent 0 "$CTL" check --all
	[ "$(ctl check --json y z | jq -c 'map([.name, .whole])')" = '[["y",true],["z",true]]' ]
	[ "$(ctl check --json --all | jq length)" = 3 ]
	[ "$(ctl check --json y | jq -r .name)" = y ]
	# The first slot's seat map, in the index.
	patch limiters/x $((4096 + 4160 * 64 + 40 + 16 + 16)) '\7'
	: >limiters/empty
	run -1 --separate-stderr ctl check y x z
	[[ $output == "x: "* && $stderr == *"check --repair"* ]]
	run -1 --separate-stderr ctl check --all --json
	[ "$(jq -c 'map([.name, .whole])' <<<"$output")" = '[["x",false],["y",true],["z",true]]' ]
	run -0 ctl check --all --repair
	[ "${lines[-1]}" = "x: repaired" ]
	silent 0 "$CTL" check --all
	ctl_line 1 check nosuch y
	ctl_line 125 check ../etc y
}

@test "log: by time, with the limiter in a column" {
	"$FLOCKLIMIT" -N one -n 1 true
	"$FLOCKLIMIT" -N second -n 1 true
	"$FLOCKLIMIT" -N one -n 1 true
	run -0 ctl log one second
	[ "$(awk '{ print $3, $4 }' <<<"$output" | grep granted | xargs)" = "one granted second granted one granted" ]
	[ "$(cut -c 1-23 <<<"$output" | sort -c && echo sorted)" = sorted ]
	[ "$(cut -c 26-33 <<<"$output" | sort -u | xargs)" = "one second" ]
	[ "$(ctl log --all)" = "$output" ]
	run -0 ctl log -n 2 one second
	[ "$(awk '{ print $3, $4 }' <<<"$output" | xargs)" = "one granted one ended" ]
	[ "$(ctl log --json second one | jq -r 'select(.event == "granted").name' | xargs)" = "one second one" ]
	# As for one: no column.
	run -0 ctl log one
	[[ $output != *one* ]]
	run -1 --separate-stderr ctl log nosuch one
	[ "${#stderr_lines[@]}" = 1 ]
	[ "${#lines[@]}" -ge 4 ]
}

# The log so far has the event of this limiter so often.
tells() { [ "$(grep -cE "  $1 +$2 " log.out)" = "$3" ]; }

@test "log -f: of several, as it happens; it ends when the last of them does" {
	"$FLOCKLIMIT" -N x -n 1 true
	"$FLOCKLIMIT" -N y -n 1 true
	background log "$CTL" log -f x y nosuch
	eventually tells y ended 1
	[[ $(cat log.err) == "flocklimitctl: nosuch: there is no such limiter yet ("*"): waiting for it; "* ]]
	has_lines 1 log.err
	"$FLOCKLIMIT" -N x -n 1 true
	eventually tells x ended 2
	"$FLOCKLIMIT" -N y -n 1 true
	eventually tells y ended 2
	ctl rm x
	eventually grep -q 'flocklimitctl: x: .*removed' log.err
	"$FLOCKLIMIT" -N y -n 1 true
	eventually tells y ended 3
	ctl rm y
	"$FLOCKLIMIT" -N nosuch -n 1 true
	eventually tells nosuch ended 1
	ctl rm nosuch
	ended log
	[ "$status" = 1 ]
}

@test "log -f: what follows ends with it" {
	"$FLOCKLIMIT" -N x -n 1 true
	"$FLOCKLIMIT" -N y -n 1 true
	background log "$CTL" log -f --all
	eventually tells y ended 1
	eventually eval '[ "$(pgrep -cP "${pids[log]}")" = 2 ]'
	mapfile -t followers < <(pgrep -P "${pids[log]}")
	kill -KILL "${pids[log]}"
	ended log
	eventually eval '! kill -0 "${followers[0]}" 2>/dev/null && ! kill -0 "${followers[1]}" 2>/dev/null'
	# Nobody reads any more.
	run -0 timeout 300 bash -c '"$1" log -f x y | head -n 4 >/dev/null &
		until [ -z "$(jobs -pr)" ]; do "$2" -N x true; done' bash "$CTL" "$FLOCKLIMIT"
}

@test "log -f: a line of many at once is whole" {
	for name in a b c d; do
		"$FLOCKLIMIT" -N "$name" -n 1 true
	done
	background log "$CTL" log -f --all --json
	eventually eval '[ "$(grep -c ended log.out)" = 4 ]'
	for name in a b c d; do
		(seq 50 | xargs -I {} "$FLOCKLIMIT" -N "$name" true) 3>&- &
	done
	wait -n
	eventually eval '[ "$(grep -c ended log.out)" = 204 ]'
	[ "$(jq -r .name log.out | sort -u | xargs)" = "a b c d" ]
}

@test "wait: until all are done" {
	hold a -N x -n 1
	hold b -N y -n 1
	"$FLOCKLIMIT" -N z -n 1 true
	silent 1 "$CTL" wait x y z -t 20ms
	silent 0 "$CTL" wait z z
	background w "$CTL" wait y x z
	background all "$CTL" wait --all
	eventually eval '[ "$(pgrep -cP "${pids[w]}")" = 2 ]' # those of x and y
	eventually eval '[ "$(pgrep -cP "${pids[all]}")" = 2 ]'
	let_go a
	ended a
	eventually eval '[ "$(pgrep -cP "${pids[w]}")" = 1 ]'
	kill -0 "${pids[w]}"
	# A later taker of x does not count, although y is waited for yet.
	hold c -N x -n 1
	let_go b
	ended w
	[ "$status" = 0 ]
	ended all
	[ "$status" = 0 ]
	# The rest is waited for all the same.
	background w "$CTL" wait nosuch x
	eventually grep -q nosuch w.err
	kill -0 "${pids[w]}"
	let_go c
	ended w
	[ "$status" = 1 ]
	[ "$(wc -l <w.err)" = 1 ]
	ctl_line 125 wait --all x
}

@test "wait: children of an earlier program are not waited for" {
	"$FLOCKLIMIT" -N x -n 1 true
	"$FLOCKLIMIT" -N y -n 1 true
	run -0 timeout 300 sh -c 'sleep 1000 >/dev/null 2>&1 3>&- & exec "$0" wait x y' "$CTL"
}

@test "gantt: several in the terminal, and one SVG" {
	some
	run -0 ctl gantt --text y z
	[ "$(grep -cE '^[yz]: ' <<<"$output")" = 2 ]
	run -0 ctl gantt --text -o both y z
	[ "$(grep -cE '^[yz]: ' both)" = 2 ]
	# All: without those that have no history, and what is no limiter.
	run -125 "$FLOCKLIMIT" -N never -w 1000000 true
	echo 'a text' >limiters/text
	run -0 --separate-stderr ctl gantt --text --all
	[ "$(grep -oE '^[a-z]+: ' <<<"$output" | tr -d '\n')" = 'x: y: z: ' ]
	[ -z "$stderr" ]
	ctl_line 125 gantt --text --all y
	mv limiters/[xyz] .
	ctl_line 1 gantt --text --all
	[[ $stderr == *": nothing to draw: "* ]]
	mv [xyz] limiters/
	ctl_line 125 gantt y z
	[[ $stderr == *"an SVG is of one limiter"* ]]
	run -1 --separate-stderr ctl gantt --text nosuch y
	[[ $output == "y: "* && ${#stderr_lines[@]} = 1 ]]
}

@test "cancel, release: nothing is done where one word is no ticket" {
	hold a -N x -n 1
	waiter w 1
	"$FLOCKLIMIT" -N y -n 1 true
	ctl_line 125 cancel x 2 y 1
	[[ $stderr == *"'y': not a ticket"* ]]
	ctl_line 125 release x 1 y
	[ "$(field '[.holding, .waiting]')" = '[1,1]' ]
	silent 0 "$CTL" cancel x 2
	ended w
	[ "$status" = 75 ]
}
