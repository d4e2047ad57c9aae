#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for eval
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# What flocklimitctl does with limiters that are kept in a store.

load ../helpers/lib.bash
load memory/memory.bash
load ../helpers/ctl.bash
load ../helpers/json.bash
load ../helpers/top.bash

# store: a store in memory, where all look for it.
store() {
	serve
	export FLOCKLIMIT_STORE=$STORE/team
}

# put KEY VALUE [LEASE]: below the path of the URL.
put() {
	raw put "/team/$1" "$2" "${3-0}"
}

# elsewhere ID [LEASE]: another machine holds one unit of x; with a lease it is alive.  ID is the name of its
# life, too.
elsewhere() {
	put "x/cfg//h/$1" "3 1 2 2 1 0 10 3600 0 1000 $1"
	put "x/cfg//p/$1" '{"v":1,"host":"db1","pid":77,"uid":0,"role":1,"cmd":"/bin/dump all"}'
	[ -z "${2-}" ] || put "x/cfg//l/$1/$(printf %016x "$2")" '' "$2"
}

nothing_under() { [ "$(count "$1")" = 0 ]; }

# wait_in_line LABEL OPTION...: one more in the line of x.
wait_in_line() {
	local label=$1 n
	shift
	n=$(ctl show --json x | jq '.waiters | length')
	background "$label" "$FLOCKLIMIT" -N x "$@" true
	eventually waiting $((n + 1))
}

@test "a limiter that is made without -n: a line warns of this machine's CPUs, once, unless -q" {
	local cpus
	cpus=$(nproc)
	store
	run --separate-stderr -0 "$FLOCKLIMIT" -N x true
	echo "$stderr"
	[[ $stderr == "flocklimit: x: the limiter is new and no -n was given: its limit on all machines is now $cpus, "*"use -n to set it" ]]
	[ "${#stderr_lines[@]}" = 1 ]
	run --separate-stderr -0 "$FLOCKLIMIT" -N x true
	[ -z "$stderr" ]
	run --separate-stderr -0 "$FLOCKLIMIT" -q -N y true
	[ -z "$stderr" ]
	run --separate-stderr -0 "$FLOCKLIMIT" -N z -n 2 true
	[ -z "$stderr" ]
	run --separate-stderr -0 "$FLOCKLIMIT" -N z true
	[ -z "$stderr" ]
	run --separate-stderr -0 "$FLOCKLIMIT" -N percent -n 100% true
	[ -z "$stderr" ]
	run --separate-stderr -0 "${FLOCKLIMIT}ctl" limit z auto
	[ -z "$stderr" ]
	run --separate-stderr -0 "${FLOCKLIMIT%limit}map" -N m true ::: a b
	[[ $stderr == *"m: the limiter is new"*"use -n to set it"* ]]
	run --separate-stderr -0 "${FLOCKLIMIT%limit}map" -q -N n true ::: a b
	[ -z "$stderr" ]
}

@test "store: list and show tell who holds and who waits" {
	store
	run -0 ctl list
	[ "$(wc -l <<<"$output")" = 1 ]
	hold a -N x -n 2 -w 2
	wait_in_line b
	run -0 ctl list
	[[ ${lines[1]} == x*"2/2"*1*1*open ]]
	run -0 ctl show x
	echo "$output"
	[ "${lines[0]}" = "x: open, 2 of 2 in use, 1 waiting" ]
	[ "${lines[1]}" = "store: $FLOCKLIMIT_STORE/x" ]
	[[ $output != *HOST* ]]
	[[ ${lines[-1]} == "The head of the line, ticket "*", wants 1 of 2 units, and 2 are in use." ]]
	[ "$(field .path)" = "\"$FLOCKLIMIT_STORE/x\"" ]
	[ "$(field '.holders[0].host')" = "\"$(uname -n)\"" ]
	[ "$(field '[.holders[0], .waiters[0]] | map(.pid)')" = "[${pids[a]},${pids[b]}]" ]
	[ "$(field '.holders[0].command_pid')" = "$(up a)" ]
	[ "$(field '.holders[0] | [.weight, .declared, .silent, .stopped]')" = '[2,2,false,false]' ]
	[ "$(field .totals.released)" = 0 ]
	ctl show --json x | conforms "${SHOWN[@]}"
	ctl list --json | jq '.[]' | conforms "A limiter"
	ctl stats --json | jq '.[]' | conforms "${COUNTED[@]}"
	run -0 ctl stats
	[[ $output == *'flocklimit_used_units{limiter="x"} 2'* ]]
	[[ $output == *'flocklimit_released_total{limiter="x"} 0'* ]]
	[[ $output != *left_total* ]]
	let_go a
	ended b
	[ "$status" = 0 ]
	ctl_line 1 show y
	[[ $stderr == *"$FLOCKLIMIT_STORE/y"* ]]
}

# in_local_line N: so many wait for this machine's limiter x, for --local or not.
in_local_line() {
	[ "$(env -u FLOCKLIMIT_STORE "$CTL" show --json x | jq '.waiters | length')" = "$1" ]
}

@test "store: show counts who waits on this machine for --local, and nobody else" {
	store
	hold a -N x -n 5 --local 1
	[ "$(field .waiting_local)" = 0 ]
	[[ $(ctl show x) != *local:* ]]
	background b "$FLOCKLIMIT" -N x -n 5 --local 1 true
	background c "$FLOCKLIMIT" -N x -n 5 --local 1 true
	background d env -u FLOCKLIMIT_STORE "$FLOCKLIMIT" -N x true
	eventually in_local_line 3
	run -0 ctl show x
	echo "$output"
	[ "${lines[0]}" = "x: open, 1 of 5 in use, 0 waiting" ]
	[ "${lines[2]}" = "local: 2 waiting on this machine (--local)" ]
	[ "$(field '[.waiting, .waiting_local]')" = '[0,2]' ]
	ctl show --json x | conforms "${SHOWN[@]}"
	[ "$(env -u FLOCKLIMIT_STORE "$CTL" show --json x | jq .waiting_local)" = null ]
	let_go a
	ended b
	ended c
	ended d
	eventually eval '[ "$(field .waiting_local)" = 0 ]'
	"$FLOCKLIMIT" -N y -n 5 true
	[ "$(field .waiting_local y)" = 0 ]
}

@test "store: --store before and after the verb, and its own limiters only" {
	store
	local url=$FLOCKLIMIT_STORE
	unset FLOCKLIMIT_STORE
	"$FLOCKLIMIT" --store "$url" -N one true
	"$FLOCKLIMIT" --store "$url/sub" -N two true
	"$FLOCKLIMIT" -N here true
	run -0 ctl --store "$url" list --json
	[ "$(jq -c 'map(.name)' <<<"$output")" = '["one"]' ]
	run -0 ctl list --json --store "$url/sub"
	[ "$(jq -c 'map(.name)' <<<"$output")" = '["two"]' ]
	run -0 ctl list --json
	[ "$(jq -c 'map(.name)' <<<"$output")" = '["here"]' ]
	[ "$(ctl show --json here | jq -c 'has("host")')" = false ]
	ctl_line 125 list --store "$url" --file here
}

@test "store: many limiters, of which some have many takers" {
	store
	local i n
	for n in a a-b a.b; do
		for i in $(seq 4); do
			# 100 keys at once; a transaction has room for 128.
			# shellcheck disable=SC2046 # words
			raw $(seq -f "put /team/$n/cfg//w/$i%015g x 0" 100)
		done
	done
	[ "$(count /team/)" = 1200 ]
	run -0 ctl list --json
	[ "$(jq -c 'map([.name, .waiting])' <<<"$output")" = '[["a",400],["a-b",400],["a.b",400]]' ]
}

@test "store: all questions of an operator share a connection, whatever the limiters" {
	store
	local i before
	for i in $(seq 9); do
		put "x$i/cfg" 'n=2'
	done
	before=$(log_count ' connection$')
	run -0 ctl list
	[ "${#lines[@]}" -gt 9 ]
	[ "$(log_count ' connection$')" = $((before + 1)) ]
}

@test "store: who is on another machine is told by its name, and signalled there" {
	store
	hold a -N x -n 2
	raw lease 9
	elsewhere 00000000000000aa 9
	run -0 ctl show x
	echo "$output"
	[[ $output == *" HOST "* ]]
	[[ $output == *" db1 "*" 77 "*"/bin/dump all"* ]]
	[[ $output == *" $(uname -n) "* ]]
	[ "$(field '.holders[] | select(.pid == 77) | [.host, .stopped, .command_pid, .silent]')" = '["db1",null,null,false]' ]
	ticket=$(field '.holders[] | select(.pid == 77).ticket')
	ctl_line 1 cancel --signal TERM x "$ticket"
	[[ $stderr == *"ticket $ticket: its process, pid 77, is on db1: "*"flocklimitctl break" ]]
	ctl_line 1 cancel x "$ticket"
	ctl_line 1 release x "$ticket"
	ctl cancel -s TERM x "$(field '.holders[] | select(.pid != 77).ticket')"
	ended a
	[ "$status" = 143 ]
}

@test "store: a signal for one of many commands of a flockmap ends just that one" {
	store
	background m "${FLOCKLIMIT%limit}map" -N x -n 3 sh -c 'echo $$ >"$1"; exec sleep 60' sh ::: one two
	eventually test -s one
	eventually test -s two
	holding 2
	[ "$(field '.holders | map(.command_pid) | sort')" = "$(jq -cn '[$a, $b] | sort' --argjson a "$(cat one)" --argjson b "$(cat two)")" ]
	ctl cancel -s TERM x "$(field ".holders[] | select(.command_pid == $(cat one)).ticket")"
	eventually is_gone "$(cat one)"
	eventually is_state S "$(cat two)"
	ctl cancel -s KILL x "$(field ".holders[] | select(.command_pid == $(cat two)).ticket")"
	ended m
	[ "$status" != 0 ]
}

@test "store: top has a column for machines" {
	store
	hold a -N x -n 2
	top_in 110x16 x
	eventually shows 'q quit'
	shows_not HOST
	raw lease 9
	elsewhere 00000000000000aa 9
	eventually shows HOST
	shows db1
	shows "$(uname -n)"
	keys /
	eventually shows 'find:'
	keys db1 Enter S
	eventually shows 'signal for ticket'
	keys TERM Enter
	eventually shows 'it is on db1'
	close_terminal
}

@test "store: limit, pause, close, and the opposite of each" {
	store
	hold a -N x -n 1
	wait_in_line b -n 1
	ctl limit x 2
	ended b
	[ "$status" = 0 ]
	[ "$(field '[.limit, .override, .declared]')" = '[2,2,1]' ]
	ctl limit x auto
	[ "$(field '[.limit, .override]')" = '[1,null]' ]
	let_go a
	ended a
	ctl pause x
	wait_in_line c
	[ "$(field .state)" = '"paused"' ]
	[[ $(ctl show x) == *"waits because the limiter is paused"* ]]
	ctl resume x
	ended c
	[ "$status" = 0 ]
	hold d -N x -n 1
	wait_in_line e
	ctl close x
	ended e
	[ "$status" = 75 ]
	says "is closed" e.err
	run -75 "$FLOCKLIMIT" -N x true
	ctl open x
	let_go d
	"$FLOCKLIMIT" -N x true
	ctl_line 1 pause nosuch
	[ "$(count /team/nosuch/)" = 0 ]
}

@test "store: cancel takes a waiter out of the line, and it is told by whom" {
	store
	hold a -N x -n 1
	wait_in_line b
	wait_in_line c
	ctl cancel x "$(field '.waiters[0].ticket')"
	ended b
	[ "$status" = 75 ]
	has_lines 1 b.err
	says "cancelled by pid " b.err
	says "user $(id -un)" b.err
	waiting 1
	ctl_line 1 cancel x "$(field '.holders[0].ticket')"
	[[ $stderr == *"it holds its permit"* ]]
	ctl_line 1 cancel x 999999
	let_go a
	ended c
	[ "$status" = 0 ]
}

@test "store: break takes a permit away, and its command is ended" {
	store
	hold a -N x -n 1
	wait_in_line b
	ctl_line 1 break x "$(field '.waiters[0].ticket')"
	[[ $stderr == *"no holder has this ticket" ]]
	ctl break x "$(field '.holders[0].ticket')"
	ended a
	[ "$status" = 76 ]
	ended b
	[ "$status" = 0 ]
	elsewhere 00000000000000ab
	[ "$(field '.holders[0].silent')" = true ]
	[[ $(ctl show x) == *"/bin/dump all (silent)" ]]
	ctl break x "$(field '.holders[0].ticket')"
	holding 0
	eventually nothing_under /team/x/cfg//h/
	eventually nothing_under /team/x/cfg//e/
}

@test "break and check --repair are refused where they mean nothing" {
	"$FLOCKLIMIT" -N x true
	ctl_line 125 break x 1
	[[ $stderr == *"only for stores"* ]]
	store
	"$FLOCKLIMIT" -N x true
	put x/cfg//odd ''
	ctl_line 125 check --repair x
	[[ $stderr == *"is not repaired"* ]]
}

@test "store: wait is for what is there, and for nothing that comes later" {
	store
	hold a -N x -n 2
	hold b -N x -n 2
	background w "$CTL" wait x
	eventually follows
	run -1 ctl wait -t 50ms x
	let_go a
	ended a
	hold c -N x -n 2
	eventually is_state S "${pids[w]}"
	let_go b
	ended w
	[ "$status" = 0 ]
	holding 1
	let_go c
	ended c
	eventually holding 0
	ctl wait x
	ctl_line 1 wait nosuch
}

@test "store: several limiters, of which one is not there" {
	store
	hold a -N x -n 1
	hold b -N y -n 1
	[ "$(ctl show --json y x | jq -c 'map([.name, .holding])')" = '[["y",1],["x",1]]' ]
	[ "$(ctl show --json --all | jq -c 'map(.name)')" = '["x","y"]' ]
	ctl check --all
	run -1 ctl check nosuch x
	run -1 ctl wait -t 50ms x y
	background w "$CTL" wait --all
	background f "$CTL" log -f --all
	eventually eval '[ "$(pgrep -cP "${pids[w]}")" = 2 ] && [ "$(pgrep -cP "${pids[f]}")" = 2 ]'
	let_go a
	ended a
	eventually eval '[ "$(pgrep -cP "${pids[w]}")" = 1 ]'
	let_go b
	ended w
	[ "$status" = 0 ]
	eventually eval 'ctl pause --all 2>pause.err || :; grep -q "  x  *paused" f.out && grep -q "  y  *paused" f.out'
}

# hears EVENT: follower f was told.
hears() { grep -q "\"event\":\"$1\"" f.out; }

# events: what f was told, but what the steering was that showed that it listens.
events() {
	jq -r 'select(.event != "resumed" and .event != "paused").event' f.out | tr '\n' ' '
}

# follows: f watches all of x.
follows() { grep -q ' watch .*of:/team/x/cfg[.][.]' store.log; }

listens() {
	ctl pause x
	ctl resume x
	[ -s f.out ]
}

@test "store: log -f tells what happened, what happens from now on, and where" {
	store
	hold a -N x -n 1
	background f "$CTL" log -f --json x
	eventually listens
	wait_in_line b
	wait_in_line c
	ctl cancel x "$(field '.waiters[1].ticket')"
	ended c
	let_go a
	ended b
	eventually eval '[ "$(grep -c "\"ended\"" f.out)" = 2 ]'
	ctl limit x 5
	eventually hears limit
	hold d -N x -n 1
	ctl break x "$(field '.holders[0].ticket')"
	ended d
	[ "$status" = 76 ]
	eventually eval '[ "$(grep -c cancelled f.out)" = 2 ]'
	eventually eval '[ "$(grep -c ended f.out)" = 2 ]'
	events
	[ "$(events)" = "granted queued queued cancelled ended granted ended limit granted cancelled " ]
	conforms "An event" <f.out
	[ "$(jq -r .host f.out | sort -u)" = "$(uname -n)" ]
	[ "$(jq -c 'select(.event == "limit") | [.code, .uid]' f.out)" = "[5,$(id -u)]" ]
	[ "$(jq -c 'select(.event == "queued").command' f.out | sort -u)" = '"true"' ]
}

# ends N: f was told of so many.
ends() { [ "$(grep -c '"ended"' f.out)" = "$1" ]; }

@test "store: log -f tells how a command ended, and does not if its flocklimit was killed" {
	store
	"$FLOCKLIMIT" -N x -n 1 true
	background f "$CTL" log -f --json x
	eventually follows
	"$FLOCKLIMIT" -N x true
	run -3 "$FLOCKLIMIT" -N x sh -c 'exit 3'
	run -143 "$FLOCKLIMIT" -N x sh -c 'kill -TERM $$'
	run -124 "$FLOCKLIMIT" -N x -T 10ms sleep 60
	run -123 "${FLOCKLIMIT%limit}map" -N x sh -c 'exit 4' ::: one
	hold a -N x
	command=$(up a)
	kill -KILL "${pids[a]}"
	ended a
	let_go a
	eventually is_gone "$command"
	# The store refuses the status, and releases the permit.
	order deny 1 put:/team/x/cfg//m/
	run -5 "$FLOCKLIMIT" -N x sh -c 'exit 5'
	eventually ends 8
	[ "$(jq -r 'select(.event == "ended").detail' f.out | paste -sd,)" = \
		"exit 0,exit 0,exit 3,signal 15 (TERM),run timeout, signal 15 (TERM),exit 4,status unknown,status unknown" ]
	[ "$(jq -c 'select(.event == "ended").code' f.out | xargs)" = "0 0 768 15 65551 1024 -1 -1" ]
	eventually eval '[ "$(count /team/x/)" = 1 ]'
}

# told: the events that are remembered, each with its ticket's place among those of the test.
told() {
	ctl log --json x | jq -r '.event + (if .ticket then ":" + .command else "" end)' | xargs
}

@test "store: log, why, gantt and suggest know the past, in its order, and where it was" {
	store
	ctl_line 1 log x
	hold a -N x -n 1
	wait_in_line b
	run -75 "$FLOCKLIMIT" -N x -t 50ms sleep 9
	ctl limit x 1
	let_go a
	ended b
	[ "$(told)" = "granted:sh queued:true queued:sleep left:sleep limit ended:sh granted:true ended:true" ]
	ctl log --json x | conforms "An event"
	ticket=$(ctl log --json x | jq 'select(.event == "left").ticket')
	run -0 ctl why x "$ticket"
	[[ $output == "x: ticket $ticket (sleep, weight 1) waited "*", then gave up"* ]]
	run -0 ctl why x 2
	[[ $output == "x: ticket 2 (sh, weight 1) did not wait" ]]
	run -0 ctl gantt --text x
	[[ $output == "x: 3 tickets "* ]]
	run -0 ctl suggest --json x
	[ "$(jq -c '[.commands[] | [.command, .runs]]' <<<"$output")" = '[["sh",1],["true",1]]' ]
	[ "$(ctl log -n 2 --json x | jq -r .event | xargs)" = "granted ended" ]

	# Another machine's clock is an hour behind.
	local ms=$((($(date +%s) - 3600) * 1000))
	put x/cfg//m/0000000000000001 '{"v":1,"ticket":1,"weight":1,"limit":1,"held":1,
		"since":'$ms',"end":2,"code":1,"ended":'$ms',"who":{"v":1,"host":"db1","pid":7,"uid":0,"cmd":"/bin/du\u001bmp all"}}'
	put x/cfg//m/00000000000001f0 '{"v":2}'
	run -0 ctl log x
	[ "$(grep -c . <<<"$output")" = 10 ]
	[[ ${lines[9]} == *" reaped "*"  db1  pid 7 "*"du?mp"*"killed while it ran" ]]
	ctl log --json x | jq -s -e '[.[].time] | . == sort'
	ctl log --json x | jq -s -e '[.[].number] | . == (sort | unique)'

	hold d -N x
	ctl break x "$(field '.holders[0].ticket')"
	ended d
	[ "$(ctl log -n 1 --json x | jq -c '[.event, .detail, .uid]')" = "[\"cancelled\",\"by an operator\",$(id -u)]" ]
}

# counter METRIC: its value for x.
counter() {
	ctl stats x | sed -n "s/^flocklimit_$1{limiter=\"x\"} //p"
}

@test "store: what is released is counted, whoever had the seat, until the limiter is removed" {
	store
	for _ in 1 2 3; do
		run -0 "$FLOCKLIMIT" -N x -n 2 true
	done
	hold a -N x -n 2
	hold b -N x -n 2
	wait_in_line c
	[ "$(counter released_total)" = 3 ]
	let_go b
	ended c
	let_go a
	ended a
	ended b
	[ "$(counter released_total) $(counter wait_seconds_count) $(counter hold_seconds_count)" = "6 6 6" ]
	ctl stats --json x | jq -e '.[0].totals | .wait_times.sum_s > 0 and .hold_times.sum_s > .wait_times.sum_s and .left == null'
	[ "$(raw keys /team/x/cfg//n/ | wc -l)" = 2 ]
	# What makes no sense counts nothing, and does not hide the rest.
	put x/cfg//n/0000000000000009 '1 2 3'
	[ "$(counter released_total)" = 6 ]
	ctl rm x
	"$FLOCKLIMIT" -N x -n 2 true
	[ "$(counter released_total)" = 1 ]
}

@test "store: log -f waits for a limiter that does not exist yet, and says so" {
	store
	"$FLOCKLIMIT" -N xy -n 1 true
	background f "$CTL" log -f x
	eventually says "x: there is no such limiter yet ($FLOCKLIMIT_STORE/x): waiting for it; did you mean xy?" f.err
	eventually follows
	hold a -N x -n 1
	wait_in_line b
	let_go a
	ended b
	eventually eval '[ "$(grep -c ended f.out)" = 2 ]'
	cat f.out
	[ "$(awk '$3 != "declared" { print $3 }' f.out | xargs)" = "granted queued ended granted ended" ]
	has_lines 1 f.err
}

@test "store: log -f goes on when the watch was cut, and nothing is missing" {
	store
	hold a -N x -n 1
	background f "$CTL" log -f --json x
	eventually follows
	kill -STOP "${pids[f]}"
	eventually is_state T "${pids[f]}"
	order cut
	wait_in_line b
	let_go a
	ended b
	kill -CONT "${pids[f]}"
	eventually hears granted
	eventually eval '[ "$(grep -c ended f.out)" = 2 ]'
	[ "$(events)" = "granted queued ended granted ended " ]
	[ "$(log_count ' watch .*of:/team/x/cfg[.][.]')" = 2 ]
}

@test "store: log -f tells what is different after a compaction" {
	store
	hold a -N x -n 2
	background f "$CTL" log -f --json x
	eventually follows
	kill -STOP "${pids[f]}"
	eventually is_state T "${pids[f]}"
	order cut
	let_go a
	ended a
	eventually nothing_under /team/x/cfg//h/
	hold b -N x -n 2
	order compact
	kill -CONT "${pids[f]}"
	eventually hears granted
	[ "$(events)" = "granted ended granted " ]
	[ "$(log_count ' watch .*of:/team/x/cfg[.][.]')" = 3 ]
	let_go b
	eventually eval '[ "$(grep -c ended f.out)" = 2 ]'
}

@test "store: rm removes what nobody uses" {
	store
	hold a -N x -n 1
	ctl_line 1 rm x
	[[ $stderr == *"it is in use"* ]]
	"$FLOCKLIMIT" -N y -n 1 true
	"$FLOCKLIMIT" -N z -n 1 true
	ctl pause z
	eventually eval '[ "$(count /team/y/)" = 1 ]'
	ctl rm --idle
	[ "$(count /team/y/)" = 0 ]
	[ "$(ctl list --json | jq -c 'map(.name)')" = '["x","z"]' ]
	ctl rm z
	[ "$(count /team/z/)" = 0 ]
	ctl_line 1 rm z
	let_go a
	ended a
	eventually eval '[ "$(count /team/x/)" = 1 ]'
	ctl rm x
	[ -z "$(raw keys /team/)" ]
}

# waits_below N PATH NAME: so many wait for that limiter of another path.
waits_below() { [ "$(ctl --store "$2" show --json "$3" | jq '.waiters | length')" = "$1" ]; }

# all_hold LABEL...: the commands of these holders run.
all_hold() {
	local label
	for label; do
		is_state SR "$(up "$label")" || return 1
	done
}

@test "store: limiters of a path that another limiter is the beginning of are not removed with it" {
	store
	local below=$FLOCKLIMIT_STORE/x
	"$FLOCKLIMIT" -N x -n 1 true
	hold a --store "$below" -N licence -n 1
	background b "$FLOCKLIMIT" --store "$below" -N licence -n 1 echo ran
	eventually waits_below 1 "$below" licence
	[ "$(ctl list --json | jq -c 'map(.name)')" = '["x"]' ]
	ctl rm --idle
	[ "$(ctl list --json)" = '[]' ]
	"$FLOCKLIMIT" -N x -n 1 true
	ctl rm x
	[ "$(ctl --store "$below" show --json licence | jq -c '[.holders, .waiters] | map(length)')" = '[1,1]' ]
	all_hold a
	eventually is_state S "${pids[b]}"
	[ ! -s b.out ]
	let_go a
	ended a
	[ "$status" = 0 ]
	ended b
	[ "$status" = 0 ]
	says ran b.out
	ctl --store "$below" rm --idle
	[ "$(count /team/)" = 0 ]
}

@test "store: no name below a limiter's path is taken for one of its keys" {
	store
	local name url=$FLOCKLIMIT_STORE labels=() digits=0123456789abcdef
	for name in x/cfg x/bell x/tail x/e x/h x/l x/p x/s x/t x/w x/x x/h/$digits x/w/$digits x/cfg/h/$digits x/cfg/%h x/cfg-x; do
		labels+=("${name//\//_}")
		mkdir -p "$T/${name%/*}"
		hold "${name//\//_}" --store "$url/${name%/*}" -N "${name##*/}" -n 1
	done
	[ "$(ctl list --json)" = '[]' ]
	ctl_line 1 show x
	"$FLOCKLIMIT" -N x -n 1 true
	ctl check x
	[ "$(field '[.holders, .waiters] | map(length)')" = '[0,0]' ]
	[ "$(ctl list --json | jq -c 'map(.name)')" = '["x"]' ]
	[ "$(ctl list --json --store "$url/x" | jq -c 'map(.name)')" = '["bell","cfg","cfg-x","e","h","l","p","s","t","tail","w","x"]' ]
	hold a -N x -n 1
	wait_in_line b -n 1
	ctl check x
	let_go a
	ended b
	[ "$status" = 0 ]
	eventually eval '[ "$(field "[.holders, .waiters] | map(length)")" = "[0,0]" ]'
	for name in x/h x/w x/cfg; do
		ctl --store "$url/${name%/*}" check "${name##*/}"
	done
	ctl rm x
	all_hold "${labels[@]}"
	for name in "${labels[@]}"; do
		let_go "$name"
		ended "$name"
		[ "$status" = 0 ]
	done
	for name in x x/h x/w x/cfg x/cfg/h; do
		ctl --store "$url/$name" rm --idle
	done
	[ "$(count /team/)" = 0 ]
}

@test "store: a limiter of a version to come is left alone" {
	store
	put x/cfg '{"v":99,"n":1}'
	run -125 "$FLOCKLIMIT" -N x -n 1 true
	[[ $output == *"/team/x/cfg is of a newer flocklimit than this one: use that"* ]]
	ctl_line 125 rm x
	[ "$(count /team/)" = 1 ]
}

@test "store: a path that leaves no room for keys is refused" {
	store
	local path
	path=$(printf '%0399d' 0)
	run -0 "$FLOCKLIMIT" --store "$STORE/$path" \
		-N "$(printf '%064d' 0)" -n 1 sh -c 'echo "$FLOCKLIMIT_STORE_KEY"'
	[[ $output == "/$path/$(printf '%064d' 0)/cfg//h/"???????????????? ]]
	refused "$FLOCKLIMIT" --store "$STORE/0$path" -N x -n 1 true
	[[ $stderr == *"its path is longer than 400 bytes" ]]
}

@test "store: rm deletes the limiter's own keys, and none that stands beside them" {
	store
	"$FLOCKLIMIT" -N x -n 1 true
	eventually eval '[ "$(count /team/x/)" = 1 ]'
	put x/notes 'not ours'
	put xy/cfg '{"v":3,"declared":1}'
	ctl rm x
	[ "$(count /team/x/)" = 1 ]
	[ "$(count /team/xy/)" = 1 ]
	ctl_line 1 rm x
}

@test "store: check knows what a pace and turns have counted" {
	local key
	store
	hold h -N x -n 1 --ramp 1+1/1h
	"$FLOCKLIMIT" -N x -n 1 -q true &
	eventually waiting 1
	ctl fair x user
	let_go h
	wait $!
	silent 0 ctl check x # the waiter had come before the limiter was fair
	for key in again around at-rest; do
		put "x/cfg//$key" nonsense
		run --separate-stderr -1 ctl check x
		[[ $output == *"/team/x/cfg//$key makes no sense"* ]]
		put "x/cfg//$key" '1 1 1 1'
	done
	put x/cfg//again "1 0 0 $(($(date +%s) + 3600))000000000"
	run --separate-stderr -1 ctl check x
	[[ $output == *"/team/x/cfg//again is from a machine whose clock is "3[56]??" s ahead"* ]]
	put x/cfg//again '1 1 1 1'
	put x/cfg//at-rest "1 $(($(date +%s) + 3600))000000000"
	run --separate-stderr -1 ctl check x
	[[ $output == *"/team/x/cfg//at-rest is from a machine whose clock is "3[56]??" s ahead"* ]]
	[ "$(grep -c ahead <<<"$output")" = 1 ]
}

@test "store: in a fair limiter, a waiter that nobody else may grant has its turn when it is the first in the line" {
	local n=0
	store
	hold h -N x -n 1 --fair=key --key=a
	stand a --key=a
	stand manual --key=b --reclaim=manual # whose turn it is
	stand b --key=a
	let_go h
	ended b
	[ "$(xargs <order)" = 'a manual b' ]
}

# stand LABEL OPTION...: the next in the line of x, which writes its label into `order'.
stand() {
	background "$1" "$FLOCKLIMIT" -N x "${@:2}" sh -c 'echo "$1" >>order' sh "$1"
	eventually waiting $((++n))
}

@test "store: check tells of the silent, and of what makes no sense" {
	store
	hold a -N x -n 2
	ctl check x
	elsewhere 00000000000000aa
	run --separate-stderr -1 ctl check x
	echo "$output"
	[ "${#lines[@]}" = 1 ]
	[[ $output == "x: ticket "*" holds a permit, and the store has no contact with pid 77 on db1" ]]
	raw lease 9
	put x/cfg//w/00000000000000ab nonsense 9
	put x/cfg//l/00000000000000ac/0000000000000001 ''
	put x/cfg//s/00000000000000ad ''
	put x/cfg//t/00000000000000ad ''
	put x/cfg//p/00000000000000ae '{"v":1}'
	put x/cfg//m/00000000000000ae '{"v":1}'
	put x/cfg//h/00000000000000af '3 1 2'
	put x/cfg//tail '00000000000000b0 00000000000000b1'
	put x/cfg//bell ''
	put x/cfg//w/00000000000000ba '3 1 1 2 0 0 10 3600 0 0 00000000000000aa'
	put x/cfg//batch 7fffffffffffffff' 00000000000000ba'
	put x/cfg//odd ''
	run --separate-stderr -1 ctl check --json x
	echo "$output"
	[ "$(jq .whole <<<"$output")" = false ]
	[ "$(jq -r '.failures[]' <<<"$output" | sed 's|^/team/x/cfg//||; s/^ticket [0-9]*/ticket/; s/ticket [0-9]*\(:.*\)*$/ticket\1/')" = \
"batch lacks ticket: delete this key
ticket holds a permit, and the store has no contact with pid 77 on db1
h/00000000000000af makes no sense: nothing is granted beside ticket
l/00000000000000ac/0000000000000001 is on no lease: it says so for ever
m/00000000000000ae makes no sense: flocklimitctl log leaves it out
odd is no key of a limiter
p/00000000000000ae belongs to no taker
s/00000000000000ad belongs to no taker
t/00000000000000ad is on no lease: it is left behind
tail names a taker that does not wait
w/00000000000000ab makes no sense: cancel ticket
w/00000000000000ab is on a lease, and may be gone while its taker waits" ]
	put x/cfg nonsense
	ctl_line 125 show x
	[[ $stderr == *"/team/x/cfg makes no sense"* ]]
	run --separate-stderr -1 ctl check x
	[[ $output == *"/team/x/cfg makes no sense"* ]]
}

@test "store: what an answer that is lost was about is found out, and not done twice" {
	store
	hold a -N x -n 1
	wait_in_line b
	wait_in_line c
	order cut 1 put:/team/x/cfg//e/
	ctl cancel x "$(field '.waiters[0].ticket')"
	ended b
	[ "$status" = 75 ]
	waiting 1
	order cut 1 put:/team/x/cfg
	ctl limit x 2
	ended c
	[ "$status" = 0 ]
	let_go a
	ended a
	eventually eval '[ "$(count /team/x/)" = 1 ]'
	order cut 1 delete:/team/x/cfg
	ctl rm x
	[ "$(count /team/x/)" = 0 ]
	[ "$(log_count '!cut$')" = 3 ]
}

@test "store: one that can't be reached is named, and what is wrong" {
	store
	kill "${pids[store]}"
	ended store
	background f "$CTL" log -f x
	eventually says "flocklimitctl: x: can't be reached: $STORE: " f.err
	kill "${pids[f]}"
	ended f
	ctl_line 125 show x
	[[ $stderr == "flocklimitctl: x: $FLOCKLIMIT_STORE/x: can't be reached: $STORE: "* ]]
	ctl_line 125 list
	[[ $stderr == "flocklimitctl: $FLOCKLIMIT_STORE: can't be reached: "* ]]
	FLOCKLIMIT_STORE=etcd:/nowhere ctl_line 125 list
	FLOCKLIMIT_STORE=nosuch://db1/ ctl_line 125 list
	FLOCKLIMIT_STORE='etcd://db1/team?colour=red' ctl_line 125 show x
	[[ $stderr == *"there is no parameter colour=: there are user=, "* ]]
	ctl_line 125 --store '' list
	[[ $stderr == "flocklimitctl: --store is no URL: "* ]]
	ctl_line 125 --store http://db1:2379/team list
	[[ $stderr == *": for etcd use etcd://, or with TLS etcd+https://" ]]
}

@test "store: what others write there obeys no terminal, and ends no line of ours" {
	store
	odd='\u001b]0;x\u0007\u009b31m\n\u007f'
	# Numbers beyond all bounds, the greatest that make sense, and a life that is none.
	put x/cfg//h/0000000000000001 '3 1 1 1 4294967295 9223372036854775807 4294967295 4294967295 0 9223372036854775807 0000000000000001'
	put x/cfg//h/0000000000000002 '3 1 1 1 1000000000 9223372036854775807 4294967295 4294967294 0 9223372036854 0000000000000002'
	put x/cfg//w/0000000000000003 '3 1 1 1 1000000000 0 4294967295 4294967294 0 9223372036854 0000000000000003'
	put x/cfg//h/0000000000000004 $'3 1 1 1 0 0 10 7 0 1 \e]0;x\a\u009b31m\n\x7f'
	put x/cfg//tail $'\e]0;x\a000000000 \e]0;x\a000000000'
	for self in 1 2 3 4; do
		put "x/cfg//p/000000000000000$self" '{"v":1,"host":"h'$odd'","pid":4294967295,"uid":4294967295,"role":1,"cmd":"c'$odd'"}'
	done
	put $'x/cfg//\e[31m\n' ''
	put $'e\e[31mvil/cfg' '{"v":3,"declared":5}'
	for verb in list 'list --json' 'show x' 'show --json x' 'check x' stats; do
		# shellcheck disable=SC2086 # words
		run ctl $verb
		echo "$verb: $status $output"
		[ "$status" -le 1 ]
		[[ $output != *[$'\e\a\x7f']* && $output != *$'\xc2\x9b'* ]]
		[[ $output == *x* ]]
	done
	run ctl list
	[ "${#lines[@]}" = 2 ]
	run -1 ctl check x
	[[ $output != *$'\nx: is'* ]]
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	[[ $output != *[$'\e\a']* ]]
	[ "${#lines[@]}" = 1 ]
}

@test "store: keys that are longer than any of ours do not keep list from its end" {
	store
	long=$(printf '%03000d' 0)
	# More than are asked for at once.
	for n in {1..11}; do
		# shellcheck disable=SC2046 # words
		raw $(seq -f "put /team/a$long$n-%g x 0" 100)
	done
	put x/cfg '{"v":3,"declared":5}'
	run -0 timeout 300 "$CTL" list
	[[ $output == *x* ]]
}

@test "store: closed stdio is told of, and nothing else is written there" {
	store
	put x/cfg '{"v":3,"declared":5}'
	run -125 sh -c '"$0" show x >&-' "$CTL"
	[[ $output == *"stdout: Bad file descriptor"* ]]
	run -125 sh -c '"$0" show x <&- >&- 2>&-' "$CTL"
	run -0 sh -c '"$0" show x <&- 2>&-' "$CTL"
	[ "${lines[1]}" = "store: $FLOCKLIMIT_STORE/x" ]
}

@test "store: setup says that this store needs none" {
	store
	run --separate-stderr -0 ctl setup
	[ -z "$output" ]
	[[ $stderr == "flocklimitctl: setup: this store needs none"* ]]
	[ "${#stderr_lines[@]}" = 1 ]
	run -125 ctl setup --apply nothing
}
