#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl: its words, and what it shows.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# ---- words ----

@test "no verb, an unknown one, and what a verb does not know" {
	ctl_line 125 lsit
	[[ $stderr == *"verb 'lsit': unknown: did you mean list?"* ]]
	ctl_line 125 frobnicate
	[[ $stderr == *"verb 'frobnicate': unknown: see --help" ]]
	ctl_line 125 re
	[[ $stderr == *"verb 're': unknown: did you mean resume or release?"* ]]
	ctl_line 125 resu x
	[[ $stderr == *"verb 'resu': unknown: did you mean resume?"* ]]
	ctl_line 125 list --jsno
	[[ $stderr == *"option '--jsno': unknown: did you mean --json?"* ]]
	ctl_line 125 ramp --ra=5 x
	[[ $stderr == *"option '--ra=5': unknown: did you mean --raw or --ramp-idle?"* ]]
	ctl_line 125 list --json=1
	[[ $stderr == *"option '--json=1': takes no value: see --help" ]]
	ctl_line 125 --json pause x
	[[ $stderr == *"--json: means nothing to pause"* ]]
	ctl_line 125 list --follow
	[[ $stderr == *"--follow"*"list"* ]]
	ctl_line 125 list --bogus
	[[ $stderr == *"--bogus"* ]]
	ctl_line 125 show
	[[ $stderr == *"which limiter?"* ]]
	ctl_line 125 show a ../b
	for verb in show list stats rm pause check; do
		ctl_line 125 "$verb" ../etc
		[[ $stderr == *"'../etc': not a limiter's name; for a path: --file" ]]
		ctl_line 125 "$verb" ''
		ctl_line 125 "$verb" --file ''
		[[ $stderr == *"--file '': which path?" ]]
	done
	ctl_line 125 pause
	FLOCKLIMIT_DIR=$(printf %05000d 0) ctl_line 125 list
	ctl_line 125 wait x -t
	[[ $stderr == *"-t: needs a value"* ]]
	ctl_line 125 wait x -t soon
	[[ $stderr == *"--timeout 'soon'"* ]]
	ctl_line 125 log x -n many
	ctl_line 125 cancel x 1 -s NONSENSE
}

@test "no verb is list" {
	"$FLOCKLIMIT" -N x -n 1 true
	run -0 ctl
	[ "$output" = "$(ctl list)" ]
	run -0 ctl --json
	[ "$output" = "$(ctl list --json)" ]
	run -0 ctl -N x
	[ "$output" = "$(ctl list x)" ]
}

@test "a verb of another tool is answered with ours" {
	local typed wanted
	while read -r typed wanted; do
		ctl_line 125 "$typed" x
		[[ $stderr == "flocklimitctl: verb '$typed': unknown: did you mean $wanted"* ]]
	done <<-'END'
		status show NAME, or list?
		ps list?
		ls list?
		kill cancel
		remove rm?
		delete rm?
		describe show?
		start resume?
		stop pause?
		lock close? To take a permit, run flocklimit.
		unlock release, or open?
		run flocklimit, which runs commands?
		create limit? The first use of flocklimit creates a limiter.
	END
	"$FLOCKLIMIT" -N build -n 2 true
	ctl_line 125 --list
	[[ $stderr == *"option '--list': unknown: did you mean list?"* ]]
	ctl_line 125 --status
	[[ $stderr == *"option '--status': unknown: did you mean show NAME, or list?"* ]]
	ctl_line 125 list --format json
	[[ $stderr == *"option '--format': unknown: did you mean --json?"* ]]
	ctl_line 125 show --format=json build
	[[ $stderr == *"option '--format=json': unknown: did you mean --json?"* ]]
	ctl_line 125 limit 3 build
	[ "$stderr" = "flocklimitctl: limit: the limiter comes first: limit build 3" ]
	ctl_line 1 show biuld
	[ "$stderr" = "flocklimitctl: biuld: there is no such limiter ($FLOCKLIMIT_DIR/biuld): did you mean build?" ]
	ctl_line 1 show other
	[[ $stderr == *": flocklimitctl list shows those there are" ]]
}

@test "the help of a verb" {
	run --separate-stderr -0 ctl pause --help
	[[ ${lines[0]} == "Usage: flocklimitctl pause "* && $output != *--signal* && -z $stderr ]]
	[ "$output" = "$(ctl help pause)" ]
	[ "$output" = "$(ctl pause x -h)" ]
	run -0 ctl cancel --help
	[[ $output == *"-s, --signal SIG"* && $output != *--repair* ]]
	run -0 ctl help
	[ "$output" = "$(ctl --help)" ]
	[ "$(ctl --help | awk 'length > 80' | wc -l)" = 0 ]
	ctl_line 125 help paus
	[[ $stderr == *"did you mean pause?"* ]]
}

@test "words that are clear: -N, -o json, limit off, rate auto" {
	"$FLOCKLIMIT" -N x -n 1 true
	"$FLOCKLIMIT" -N y -n 1 true
	run -0 ctl show -N x
	[ "$output" = "$(ctl show x)" ]
	[ "$(ctl -N x -o json show | jq -r .name)" = x ]
	[ "$(ctl list -o json | jq -c 'map(.name)')" = "$(ctl list --json | jq -c 'map(.name)')" ]
	ctl_line 125 list -o yaml
	[[ $stderr == *"--output: means nothing to list"* ]]
	ctl_line 125 pause x -o json
	[[ $stderr == *"--output: means nothing to pause"* ]]
	silent 0 "$CTL" pause -N x -N y
	silent 0 "$CTL" resume --name=x y
	[ "$(ctl list --json | jq -c 'map(.state)')" = '["idle","idle"]' ]
	silent 0 "$CTL" limit -N x 3
	[ "$(field '.override')" = 3 ]
	silent 0 "$CTL" limit x off
	[ "$(field '.override')" = null ]
	for verb in 'rate 1/s' 'stagger 1s' 'ramp 1+1/1s'; do
		silent 0 "$CTL" "${verb% *}" x "${verb#* }"
		silent 0 "$CTL" "${verb% *}" x auto
	done
	[ "$(field '[.pace[]] | unique')" = '[null]' ]
	[ "$(ctl show -N x y)" = "$(ctl show x; echo; ctl show y)" ]
}

@test "options before the verb" {
	"$FLOCKLIMIT" -f a -n 1 true
	run -0 ctl --json -f a show
	[ "$(jq -r .name <<<"$output")" = a ]
	run -0 ctl --file a log
	[[ $output == *granted* ]]
	run -0 ctl -n 1 log --file a
	[ "${#lines[@]}" -eq 1 ]
	run -0 ctl log --file a -n 99999
	[ "${#lines[@]}" -eq 2 ]
	run -0 ctl -- list -f a
}

@test "what is printed and can't be" {
	"$FLOCKLIMIT" -N x -n 1 true
	for words in "list" "show x" "show --json x" "log x" "log -f x" "stats" "check --json x" "--help"; do
		# shellcheck disable=SC2086 # words
		run -125 sh -c '"$@" >/dev/full' sh "$CTL" $words
		[ "$output" = "flocklimitctl: stdout: No space left on device" ]
	done
	run -0 sh -c '"$1" stats | head -n 1' sh "$CTL"
	[ "${#lines[@]}" -eq 1 ]
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
	"$FLOCKLIMIT" -N x -n 2 true
	run --separate-stderr -125 ctl list text x
	[[ $stderr == "flocklimitctl: text: "*" is neither a limiter nor an empty file"* ]]
	[[ ${lines[2]} =~ ^x\ +0/2\  ]]
	run --separate-stderr -1 ctl list nosuch x
	[[ ${lines[1]} =~ ^x\ +0/2\  ]]
	ctl_line 1 show --file nosuch
	[ "$stderr" = "flocklimitctl: nosuch: there is no limiter in this path" ]
}

@test "another user's limiter" {
	need_root
	mkdir limiters
	chown 65534 limiters
	"$FLOCKLIMIT" -N x -n 1 true
	chown 65534 limiters/x
	run -0 ctl show x # root may read it
	[[ ${lines[0]} == x:* ]]
	run -0 ctl list
	[[ ${lines[1]} == x* ]]
	ctl_line 125 pause x
	[[ $stderr == *"belongs to user nobody: run flocklimitctl as that user"* ]]
	ctl_line 125 rm x
	silent 0 "$CTL" rm --idle
	[ -e limiters/x ]
}

@test "a limiter that is cut short is no crash" {
	"$FLOCKLIMIT" -N x -n 1 true
	truncate -s 4096 limiters/x
	ctl_line 125 show x
	[[ $stderr == *"/limiters/x: is damaged: "*"flocklimitctl rm removes it" ]]
	run --separate-stderr -1 ctl check x
	[ "$output" = "x: the file is cut short, or its header makes no sense" ]
	[[ $stderr == *"x: can't be repaired: flocklimitctl rm"* ]]
	[ "$(ctl check --repair --json x 2>/dev/null | jq '[.whole, .repaired]' -c)" = '[false,false]' ]
	# Until its time is over, it must have been seen to wait.
	local time
	for time in 5s 60s; do
		rm limiters/x
		hold "a$time" -N x -n 1
		background wait "$CTL" wait x -t "$time"
		eventually field_is .totals.last_ticket 2
		truncate -s 0 limiters/x
		is_gone "${pids[wait]}" || break
		ended wait
	done
	ended wait
	[ "$status" -eq 125 ]
	[ "$(wc -l <wait.err)" -eq 1 ]
	says "flocklimitctl: x: " wait.err
}

# It follows, has more to print than fits into a pipe, and looks at the limiter again when that is read.
@test "a limiter that is cut short while it is looked at is no crash" {
	local line='' past
	"$FLOCKLIMIT" -N x -n 1 true
	past=$(ctl log --json x | wc -l)
	mkfifo pipe
	exec 9<>pipe
	background log sh -c 'exec "$1" log -f --json x >pipe' sh "$CTL"
	read -r -t 300 -u 9 line
	"$FLOCKLIMIT" -N x -n 1 true
	until [ "$(jq .number <<<"$line")" -gt "$past" ]; do
		read -r -t 300 -u 9 line
	done
	for _ in $(seq 300); do
		"$FLOCKLIMIT" -N x -n 1 true
	done
	truncate -s 0 limiters/x
	background reader cat pipe
	exec 9>&-
	ended log
	[ "$status" -eq 125 ]
	[ "$(cat log.err)" = "flocklimitctl: the limiter's file was cut short while it was in use" ]
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
	[ "$(jq -c 'map([.name, .used, .limit, .holding, .waiting, .state])' <<<"$output")" = \
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
	[[ $output == *"The head of the line, ticket 2, wants 2 of 4 units, and 3 are in use."* ]]
	[ "$(field '[.name, .state, .limit, .declared, .override, .used]')" = \
		'["x","open",4,4,null,3]' ]
	[ "$(field '.holders[0] | [.ticket, .weight, .seat, .uid, .orphan, .stopped]')" = \
		"[1,3,0,$(id -u),false,false]" ]
	[ "$(field '.holders[0].pid')" = "${pids[a]}" ]
	before=$(jq -n now)
	[ "$(field ".holders[0] | .since + .held_s | . > $before - 1 and . < now + 1")" = true ]
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

@test "--raw: seconds, and users by number" {
	hold a -N x -n 1
	waiter w 1
	run -0 ctl list --raw
	[[ ${lines[1]} =~ ^x\ +1/1\ +1\ +1\ +[0-9]+\.[0-9]{3}\ +open$ ]]
	run -0 ctl show --raw x
	[[ ${lines[4]} =~ ^\ +1\ +1\ +0\ +${pids[a]}\ +$(id -u)\ +[0-9]+\.[0-9]{3}\ +sh ]]
	[[ ${lines[7]} =~ ^\ +1\ +2\ +1\ +${pids[w]}\ +$(id -u)\ +[0-9]+\.[0-9]{3}\ +\?\ +true$ ]]
	run -0 ctl log --raw x
	[[ ${lines[0]} =~ ^[0-9]{10,}\.[0-9]{6}\ .*\ pid\ [0-9]+\ +$(id -u)\ +sh ]]
	[ "$(ctl stats --raw x | grep -c '^flocklimit_waiters{limiter="x"} 1$')" -eq 1 ]
}

@test "show: what must be killed before an orphan's permit goes back" {
	background a "$FLOCKLIMIT" -N x -n 3 sh -c 'sleep 1000 & echo $$ $! >a.up; wait'
	eventually test -s a.up
	background b "$FLOCKLIMIT" -N x -n 3 sleep 1000
	eventually holding 2
	read -r shell sleeper <a.up
	[ "$(field '.holders[0] | [.command_pid, .kept_by]')" = "[$shell,[]]" ]
	kill -KILL "${pids[a]}"
	ended a
	[ "$(field '.holders[0] | [.pid == .command_pid, .command_pid, .orphan, (.kept_by | sort)]')" = \
		"$(jq -nc "[false, null, true, ([$shell, $sleeper] | sort)]")" ]
	[ "$(field '.holders[1] | [.orphan, .kept_by]')" = '[false,[]]' ]
	run -0 ctl show x
	[[ $output == *"ticket 1 is kept by pid $shell: sh -c sleep 1000 &"* ]]
	[[ $output == *"ticket 1 is kept by pid $sleeper: sleep 1000"* ]]
	kill "$shell"
	eventually is_gone "$shell"
	[ "$(field '.holders[0].kept_by')" = "[$sleeper]" ]
	kill "$sleeper"
	eventually holding 1
}

# In a group without a parent outside of it, the wrapper can't stop as its command does.
@test "show: a command that is stopped alone" {
	background a setsid "$FLOCKLIMIT" -N x -n 1 python3 -c '
import os, signal
os.setpgid(0, 0)
open("a.up", "w").write(str(os.getpid()))
os.kill(os.getpid(), signal.SIGTSTP)'
	eventually test -s a.up
	eventually is_state T "$(cat a.up)"
	pid=$(field '.holders[0].pid')
	eventually is_state S "$pid"
	[ "$(field '.holders[0] | [.stopped, .command_pid]')" = "[true,$(cat a.up)]" ]
	run -0 ctl show x
	[[ $output == *" (stopped)"* ]]
	kill -CONT "$(cat a.up)"
	ended a
	[ "$status" -eq 0 ]
}

@test "show: a command that runs in its taker's place" {
	background a "$FLOCKLIMIT" -N x -n 1 -F sleep 1000
	eventually holding 1
	eventually field_is '.holders[0] | [.pid, .command_pid, .orphan, .stopped]' \
		"[${pids[a]},${pids[a]},false,false]"
	kill -STOP "${pids[a]}"
	eventually is_state T "${pids[a]}"
	[ "$(field '.holders[0].stopped')" = true ]
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

@test "400 waiters" {
	hold a -N x -n 1
	local crowd=()
	for _ in $(seq 400); do
		"$FLOCKLIMIT" -N x -n 1 -q true </dev/null >/dev/null 2>&1 3>&- &
		crowd+=($!)
	done
	eventually waiting 400
	run -0 ctl show x
	[ "${#lines[@]}" -ge 404 ]
	[ "$(field '.waiters | map(.position) == [range(1; 401)]')" = true ]
	run -0 ctl list
	[[ $output == *" 400 "* ]]
	ctl close x
	eventually waiting 0
	wait "${crowd[@]}" || [ "$?" -eq 75 ]
}

@test "the help and the help of every verb fit a terminal of 80 columns" {
	local verb verbs line
	mapfile -t verbs < <("$CTL" --help | sed -nE '/^Options/q;s/^  ([a-z]+) .*/\1/p')
	[ "${#verbs[@]}" -ge 10 ]
	for verb in "" "${verbs[@]}"; do
		# shellcheck disable=SC2086 # no word for the whole
		run -0 "$CTL" $verb --help
		for line in "${lines[@]}"; do
			echo "$verb: $line"
			[ "${#line}" -le 80 ]
		done
	done
}

@test "a path with escapes reaches no terminal as it is" {
	local path=$T/x$'\e[31m' verb
	"$FLOCKLIMIT" -f "$path" -n 1 true
	for verb in show list check; do
		run "${FLOCKLIMIT}ctl" "$verb" --file "$path"
		[[ $output != *$'\e'* ]]
	done
}
