#!/usr/bin/env bats
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl: its verbs, one by one.

load lib.bash

CTL=${TESTS_BUILD:-$BATS_TEST_DIRNAME}/../flocklimitctl

ctl() { "$CTL" "$@"; }

# ctl_line STATUS CMD...: that status, nothing on stdout, one line of flocklimitctl's on stderr.
ctl_line() {
	local expected=$1
	shift
	run --separate-stderr "-$expected" "$CTL" "$@"
	echo "stdout: $output"
	echo "stderr: $stderr"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "flocklimitctl: "* ]]
}

# waiter LABEL N OPTION...: one more in the line of x, the Nth.
waiter() {
	local label=$1 n=$2
	shift 2
	background "$label" "$FLOCKLIMIT" -N x "$@" true
	eventually waiting "$n"
}

waiting() { [ "$(ctl show --json x | jq '.waiters | length')" = "$1" ]; }

holding() { [ "$(ctl show --json x 2>/dev/null | jq '.holders | length')" = "$1" ]; }

# field FILTER: what jq makes of show --json x.
field() { ctl show --json x | jq -c "$1"; }

# ---- words ----

@test "no verb, an unknown one, and what a verb does not know" {
	ctl_line 125
	[[ $stderr == *"which verb?"* ]]
	ctl_line 125 lsit
	[[ $stderr == *"verb 'lsit': unknown"* ]]
	ctl_line 125 list --follow
	[[ $stderr == *"--follow"*"list"* ]]
	ctl_line 125 list --bogus
	[[ $stderr == *"--bogus"* ]]
	ctl_line 125 show
	[[ $stderr == *"which limiter?"* ]]
	ctl_line 125 show a b
	ctl_line 125 show ../etc
	ctl_line 125 wait x -t soon
	[[ $stderr == *"--timeout 'soon'"* ]]
	ctl_line 125 log x -n many
	ctl_line 125 cancel x 1 -s NONSENSE
}

@test "help and version" {
	run -0 ctl --help
	for verb in list show top limit pause resume close open wait cancel release log gantt stats check rm; do
		[[ $output == *" $verb"* ]]
	done
	run -0 ctl show --help
	[[ $output == Usage:* ]]
	run -0 ctl --version
	[[ $output == "flocklimitctl "* ]]
}

@test "a limiter that is not there" {
	for verb in show pause resume close open wait log check "limit x 3"; do
		# shellcheck disable=SC2086 # words
		set -- $verb
		ctl_line 1 "$1" nosuch "${@:3}"
		[[ $stderr == *"nosuch: there is no such limiter"* ]]
	done
	ctl_line 1 list nosuch
	ctl_line 1 rm nosuch
	[ ! -e limiters ]
}

@test "what is no limiter" {
	mkdir limiters
	echo 'this is a text of mine, and none of yours' >limiters/text
	ctl_line 125 show text
	ctl_line 125 rm text
	[ -s limiters/text ]
	run -0 ctl list
	[[ $output == *"text"*"not"* ]]
	run -0 ctl list --json
	[ "$(jq -r '.[0].state' <<<"$output")" = unusable ]
	: >limiters/empty
	run -0 ctl list
	[ "$(grep -c '^empty' <<<"$output")" -eq 0 ]
	[ ! -s limiters/empty ]
}

@test "looking makes nothing" {
	run -0 ctl list
	[ "${#lines[@]}" -eq 1 ]
	run -0 ctl list --json
	[ "$output" = "[]" ]
	run -0 ctl stats
	[ ! -e limiters ]
}

# ---- list and show ----

@test "list: each limiter in one line" {
	hold a -N x -n 4 -w 3
	waiter w 1 -w 2
	"$FLOCKLIMIT" -N idle -n 7 true
	"$FLOCKLIMIT" -f other -n 2 true
	run -0 ctl list
	[[ ${lines[0]} == NAME*USED*HOLDERS*WAITERS*"OLDEST WAIT"*STATE ]]
	[[ ${lines[1]} =~ ^idle\ +0/7\ +0\ +0\ +-\ +idle$ ]]
	[[ ${lines[2]} =~ ^x\ +3/4\ +1\ +1\ +[0-9.]+\ m?s\ +open$ ]]
	[ "${#lines[@]}" -eq 3 ]
	run -0 ctl list -f other
	[[ ${lines[1]} == other* ]]
	run -0 ctl list --json
	[ "$(jq -c 'map([.name, .used, .limit, .holders, .waiters, .state])' <<<"$output")" = \
		'[["idle",0,7,0,0,"idle"],["x",3,4,1,1,"open"]]' ]
	[ "$(jq '.[1].oldest_wait_s > 0' <<<"$output")" = true ]
	[ "$(jq -r '.[1].path' <<<"$output")" = "$T/limiters/x" ]
}

@test "show: who holds, who waits, and why" {
	hold a -N x -n 4 -w 3
	waiter w1 1 -w 2
	waiter w2 2
	run -0 ctl show x
	[[ ${lines[0]} == "x: open, 3 of 4 in use, 2 waiting" ]]
	[[ $output == *"holding"*"TICKET"*"SEAT"*"sh -c"* ]]
	[[ $output == *"waiting"*"TICKET"*"STARTS IN"*"true"* ]]
	[[ $output == *"The first in the line, ticket 2, wants 2 of 4 units, and 3 are in use."* ]]
	[ "$(field '[.name, .state, .limit, .declared, .override, .used]')" = \
		'["x","open",4,4,null,3]' ]
	[ "$(field '.holders[0] | [.ticket, .weight, .seat, .uid, .orphan, .stopped]')" = \
		"[1,3,0,$(id -u),false,false]" ]
	[ "$(field '.holders[0].pid')" = "${pids[a]}" ]
	[ "$(field '.holders[0] | (now - .since - .held_s) | fabs < 1')" = true ]
	[ "$(field '.waiters | map([.ticket, .weight, .position, .command])')" = \
		'[[2,2,1,"true"],[3,1,2,"true"]]' ]
	[ "$(field '.waiters[0].waited_s >= .waiters[1].waited_s')" = true ]
	[ "$(field '.totals.granted')" = 1 ]
}

@test "show: an estimate from the past" {
	for _ in 1 2 3; do
		"$FLOCKLIMIT" -N x -n 1 sleep 0.02
	done
	hold a -N x -n 1
	waiter w1 1
	waiter w2 2
	[ "$(field '.waiters[0].starts_in_s | . != null and . < 10')" = true ]
	[ "$(field '.waiters[1].starts_in_s > .waiters[0].starts_in_s')" = true ]
	ctl pause x
	[ "$(field '.waiters[0].starts_in_s')" = null ]
}

@test "show: whom a promise of another holds up" {
	hold a -N x -n 2 -w 1
	waiter w 1 -n 8 -w 4
	run -0 ctl show x
	[[ $output == *"wants 4 of 2 units"*"ticket 1, which runs, was promised -n 2"* ]]
}

@test "show: an orphan, and who is stopped" {
	hold a -N x -n 1
	kill -KILL "${pids[a]}"
	ended a
	waiter w 1
	[ "$(field '.holders[0].orphan')" = true ]
	run -0 ctl show x
	[[ $output == *"(outlived its flocklimit)"* ]]
	kill -STOP "${pids[w]}"
	eventually is_state T "${pids[w]}"
	[ "$(field '.waiters[0].stopped')" = true ]
	run -0 ctl show x
	[[ $output == *"is stopped, and everybody waits for it: kill -CONT ${pids[w]}"* ]]
	kill -CONT "${pids[w]}"
	let_go a
	ended w
	[ "$status" -eq 0 ]
}

@test "show: no byte of a command line reaches the terminal raw" {
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'read x <go' $'\e[31m\nname' $'\xff'
	eventually holding 1
	run -0 ctl show x
	[ "$(LC_ALL=C grep -c $'[\e\xff]' <<<"$output")" -eq 0 ]
	[ "$(ctl show x | grep -c .)" -eq 5 ]
	ctl show --json x | jq -e '.holders[0].command' >/dev/null
	: >go
	ended a
}

@test "1,000 waiters" {
	hold a -N x -n 1
	local crowd=()
	for _ in $(seq 1000); do
		"$FLOCKLIMIT" -N x -n 1 -q true </dev/null >/dev/null 2>&1 3>&- &
		crowd+=($!)
	done
	eventually waiting 1000
	run -0 ctl show x
	[ "${#lines[@]}" -ge 1004 ]
	[ "$(field '.waiters | map(.position) == [range(1; 1001)]')" = true ]
	run -0 ctl list
	[[ $output == *" 1000 "* ]]
	ctl close x
	eventually waiting 0
	wait "${crowd[@]}" || [ "$?" -eq 75 ]
}

# ---- steering ----

@test "limit: up starts, down drains, auto is every -n again" {
	hold a -N x -n 1
	waiter w 1
	ctl limit x 2
	ended w
	[ "$status" -eq 0 ]
	[ "$(field '[.limit, .declared, .override]')" = '[2,1,2]' ]
	run -0 ctl show x
	[[ ${lines[0]} == *"(by flocklimitctl limit; auto: 1)"* ]]
	ctl limit x 0
	[ "$(field '.state')" = '"paused"' ]
	waiter w 1
	let_go a
	ended a
	waiting 1
	run -0 ctl show x
	[[ $output == *"the limit is 0"* ]]
	ctl limit x auto
	ended w
	[ "$(field '.override')" = null ]
	ctl limit x 100%
	[ "$(field '.override')" = "$(nproc)" ]
	ctl_line 125 limit x
	ctl_line 125 limit x -- -1
	ctl_line 125 limit x 2000000000
	ctl_line 125 limit x some
}

@test "pause and resume" {
	"$FLOCKLIMIT" -N x -n 2 true
	ctl pause x
	waiter w 1
	[ "$(field '.state')" = '"paused"' ]
	run -0 ctl show x
	[[ $output == *"the limiter is paused"* ]]
	ctl resume x
	ended w
	[ "$status" -eq 0 ]
}

@test "close and open" {
	hold a -N x -n 1
	waiter w 1
	ctl close x
	ended w
	[ "$status" -eq 75 ]
	says "closed" w.err
	run -75 "$FLOCKLIMIT" -N x -q true
	[ "$(field '.state')" = '"closed"' ]
	let_go a
	ended a
	[ "$status" -eq 0 ]
	ctl open x
	"$FLOCKLIMIT" -N x true
}

@test "wait: for what is there, and not for what comes" {
	hold a -N x -n 2
	waiter w 1 -w 2
	background wait "$CTL" wait x
	run -1 ctl wait x -t 20ms
	[ -z "$output" ]
	let_go a
	ended wait
	[ "$status" -eq 0 ]
	run -0 ctl wait x
}

@test "cancel: a waiter hears by whom; the next moves up" {
	hold a -N x -n 1
	waiter w1 1
	waiter w2 2
	ctl cancel x 2
	ended w1
	[ "$status" -eq 75 ]
	says "flocklimit: x: no permit: cancelled by pid " w1.err
	says " of user $(id -u)" w1.err
	waiting 1
	ctl_line 1 cancel x 2
	[[ $stderr == *"ticket 2: nobody waits or holds with it"* ]]
	ctl_line 1 cancel x 1
	[[ $stderr == *"--signal TERM"* ]]
	ctl_line 1 cancel x 3 -s TERM
	[[ $stderr == *"without --signal"* ]]
	ctl_line 125 cancel x
	ctl_line 125 cancel x two
	let_go a
	ended w2
	[ "$status" -eq 0 ]
}

@test "cancel --signal: the command gets it, once" {
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 1 sh -c 'trap "echo usr1; exit 4" USR1; echo up; read x <go'
	eventually says up a.out
	ctl cancel x 1 --signal USR1
	ended a
	[ "$status" -eq 4 ]
	[ "$(cat a.out)" = $'up\nusr1' ]
}

@test "cancel --signal KILL: the command, not its wrapper alone" {
	hold a -N x -n 1
	waiter w 1
	ctl cancel x 1 -s KILL
	ended a
	[ "$status" -eq 137 ]
	ended w
	[ "$status" -eq 0 ]
}

@test "release: the permit of --hold-for" {
	background holder sleep 100
	ticket=$("$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[holder]}")
	waiter w 1
	[ "$(field '.holders[0].ticket')" = "$ticket" ]
	ctl release x "$ticket"
	ended w
	[ "$status" -eq 0 ]
	ctl_line 1 release x "$ticket"
	hold a -N x -n 1
	ctl_line 1 release x "$(field '.holders[0].ticket')"
	[[ $stderr == *"not a permit of --hold-for"* ]]
	kill -0 "${pids[holder]}"
}

# ---- the past ----

@test "log: what happened, in order" {
	run -3 "$FLOCKLIMIT" -N x -n 1 sh -c 'exit 3'
	run -124 "$FLOCKLIMIT" -N x -n 1 -T 10ms sleep 10
	hold a -N x -n 1
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 10ms -q true
	let_go a
	ended a
	ctl limit x 5
	run -0 ctl log x
	[[ ${lines[0]} =~ ^20[0-9-]+\ [0-9:.]+\ +granted\ +1\  ]]
	[[ ${lines[1]} == *" ended "*"exit 3" ]]
	[[ ${lines[3]} == *"run timeout, signal 15 (TERM)" ]]
	[[ ${lines[6]} == *" left "*"timed out" ]]
	[[ ${lines[7]} == *" ended "*"exit 0" ]]
	[[ ${lines[8]} == *" limit "*"5" ]]
	run -0 ctl log x -n 2
	[ "${#lines[@]}" -eq 2 ]
	run -0 ctl log x --json
	[ "$(jq -sc 'map(.event)' <<<"$output")" = \
		'["granted","ended","granted","ended","granted","queued","left","ended","limit"]' ]
	[ "$(jq -sc 'map(.number)' <<<"$output")" = '[1,2,3,4,5,6,7,8,9]' ]
	[ "$(jq -s '(now - .[8].time) | fabs < 10' <<<"$output")" = true ]
}

@test "log -f: as it happens" {
	"$FLOCKLIMIT" -N x -n 1 true
	background log "$CTL" log -f x
	eventually has_lines 2 log.out
	"$FLOCKLIMIT" -N x -n 1 true
	eventually has_lines 4 log.out
	ctl pause x
	eventually says paused log.out
	kill "${pids[log]}"
	ended log
	[ "$status" -eq 143 ]
}

@test "a killed wrapper is in the log" {
	hold a -N x -n 1
	kill -KILL "$(up a)" "${pids[a]}"
	ended a
	"$FLOCKLIMIT" -N x true
	run -0 ctl log x
	[[ $output == *reaped*"killed while it ran"* ]]
}

@test "stats: as Prometheus wants it" {
	"$FLOCKLIMIT" -N x -n 3 true
	"$FLOCKLIMIT" -N y -n 3 true
	run -0 ctl stats
	[ "$(grep -c '^flocklimit_granted_total{limiter="[xy]"} 1$' <<<"$output")" -eq 2 ]
	# Each family once, its help and type first, and every line of it together.
	awk '/^# HELP/ { help = $3; next }
		/^# TYPE/ { if ($3 != help || seen[$3]++) exit 1; family = $3; next }
		index($1, family) != 1 { exit 1 }
		$NF !~ /^[0-9.e+-]+$/ { exit 1 }' <<<"$output"
	grep -q '^flocklimit_hold_seconds_bucket{limiter="x",le="+Inf"} 1$' <<<"$output"
	grep -q '^flocklimit_hold_seconds_count{limiter="x"} 1$' <<<"$output"
	run -0 ctl stats x --json
	[ "$(jq -c '.[0] | [.name, .totals.granted, (.held | map(.count) | add)]' <<<"$output")" = '["x",1,1]' ]
	run -0 ctl stats x
	[[ $output != *'"y"'* ]]
}

# ---- check and rm ----

@test "check: whole, damaged, repaired" {
	hold a -N x -n 2
	silent 0 "$CTL" check x
	[ "$(ctl check --json x | jq -c '[.whole, .failures]')" = '[true,[]]' ]
	# the first slot's seat map, in the index
	offset=$(python3 -c 'print(4096 + 4160 * 64 + 40 + 16 + 24)')
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

@test "rm: not while somebody holds or waits" {
	hold a -N x -n 1
	ctl_line 1 rm x
	[[ $stderr == *"somebody holds or waits"* ]]
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

@test "rm against newcomers: nobody is left behind in a dead limiter" {
	for _ in $(seq 20); do
		background rm sh -c 'for i in $(seq 20); do "$0" rm --idle; done' "$CTL"
		for _ in $(seq 10); do
			"$FLOCKLIMIT" -N x -n 1 true
		done
		ended rm
		[ "$status" -eq 0 ]
	done
}
