#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What a command took: its peak of memory and its CPU time, in the history and in what is made of it.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/json.bash

MIB=$((1024 * 1024))

# takes MIB: a command that takes so much memory: dd reads into one buffer.
takes() { dd if=/dev/zero of=/dev/null bs="$1M" count=1 status=none; }

# ends FILTER: of the events of x that say how a command ended.
ends() { ctl log x --json | jq -sc "map(select(.event == \"ended\")) | $1"; }

# reaped N: so many takers were found dead.  Showing looks after the dead.
reaped() {
	ctl show x >/dev/null
	[ "$(ctl log x --json | jq -s 'map(select(.event == "reaped")) | length')" = "$1" ]
}

@test "flocklimit: the peak of memory, and the CPU time" {
	"$FLOCKLIMIT" -N x -n 4 dd if=/dev/zero of=/dev/null bs=40M count=1 status=none
	"$FLOCKLIMIT" -N x -n 4 true
	ctl log x --json | conforms "An event"
	ends 'map(.memory_bytes)'
	[ "$(ends "map(.memory_bytes > 40 * $MIB and .memory_bytes < 60 * $MIB)")" = '[true,false]' ]
	[ "$(ends 'map(.memory_bytes > 0 and .cpu_s >= 0 and .cpu_s < 30)')" = '[true,true]' ]
	[ "$(ctl log x --json | jq -sc 'map(select(.event == "granted") | [.memory_bytes, .cpu_s]) | unique')" = '[[null,null]]' ]
	run -0 ctl log x
	[[ ${lines[1]} =~ " dd  exit 0, peak 4"[0-9]" MiB, CPU "[0-9]+" ms"$ ]]
	run -0 ctl log x --raw
	[[ ${lines[1]} =~ " dd  exit 0, peak 4"[0-9]{7}", CPU 0."[0-9]{3}$ ]]
}

@test "CPU time: of the command and of those that it waited for" {
	local program=': "$(i=0; while [ "$i" -lt 200000 ]; do i=$((i + 1)); done)"'
	"$FLOCKLIMIT" -N x -n 4 sh -c "$program"
	[ "$(ends '.[0].cpu_s > 0.02')" = true ]
}

@test "a command that fails, one that is ended and one that is killed have it, too" {
	"$FLOCKLIMIT" -N x -n 4 sh -c 'exit 3' || :
	"$FLOCKLIMIT" -N x -n 4 -T 20ms sleep inf || :
	"$FLOCKLIMIT" -N x -n 4 sh -c 'kill -KILL $$' || :
	[ "$(ends 'map(.memory_bytes > 0)')" = '[true,true,true]' ]
}

@test "flockmap: each command; the largest of several tries, and the sum of their CPU times" {
	"${FLOCKLIMIT%limit}map" -N x -n 1 dd if=/dev/zero of=/dev/null count=1 status=none bs={} ::: 1M 40M
	[ "$(ends "map(.memory_bytes > 40 * $MIB)")" = '[false,true]' ]
	rm -f limiters/x
	# Of the two tries only the first takes much.
	run -0 "${FLOCKLIMIT%limit}map" -N x -n 1 --retries 1 sh -c \
		'[ -e tried ] || { : >tried; dd if=/dev/zero of=/dev/null bs=40M count=1 status=none; exit 1; }' ::: a
	[ "$(ends "map(.memory_bytes > 40 * $MIB)")" = '[true]' ]
}

@test "where nobody knows it, nothing stands there: no fork, a descriptor, a keeper, a killed wrapper, no command" {
	"$FLOCKLIMIT" -N x -n 4 -F true
	eventually freed 1
	hold a -N x -n 4
	kill -KILL "${pids[a]}"
	let_go a
	ended a
	eventually reaped 1
	run -127 "$FLOCKLIMIT" -N x -n 4 "$T/nosuch"
	background script sleep inf
	"$FLOCKLIMIT" -N x -n 4 --hold-for "${pids[script]}" >/dev/null
	ctl release x "$(field '.holders[0].ticket')"
	eventually idle
	exec 9<"$(ctl path x)"
	"$FLOCKLIMIT" --fd 9 -n 4
	"$FLOCKLIMIT" --fd 9 --unlock
	exec 9<&-
	ctl log x
	ctl log x --json | conforms "An event"
	[ "$(ends 'length')" = 4 ]
	[ "$(ctl log x --json | jq -sc 'map([.memory_bytes, .cpu_s]) | unique')" = '[[null,null]]' ]
	[[ $(ctl log x) != *peak* ]]
	[[ $(ctl gantt x) != *peak* ]]
	[ "$(ctl stats --json | jq -c 'map(.took)')" = '[null]' ]
	[ "$(ctl stats | grep 'measured_runs{')" = 'flocklimit_measured_runs{limiter="x"} 0' ]
	[[ $(ctl stats) != *percentile* ]]
}

# freed N: so many permits of -F were found to be over.
freed() {
	ctl show x >/dev/null
	[ "$(ends length)" = "$1" ]
}

idle() { [ "$(field .used)" = 0 ]; }

@test "gantt: a bar says what its command took" {
	"$FLOCKLIMIT" -N x -n 4 dd if=/dev/zero of=/dev/null bs=40M count=1 status=none
	[[ $(ctl gantt x) == *"peak 4"?" MiB, CPU "*" ms"$'\n'"exit 0"* ]]
}

@test "stats: the median and the 95th percentile of the runs" {
	local i
	for i in 1 1 1 40; do
		"$FLOCKLIMIT" -N x -n 4 dd if=/dev/zero of=/dev/null bs="${i}M" count=1 status=none
	done
	ctl stats --json | jq '.[]' | conforms "${COUNTED[@]}"
	[ "$(ctl stats --json | jq -c ".[0].took | [.runs, (.memory | .median < 20 * $MIB, .p95 > 40 * $MIB, .p95 == .max)]")" = \
		'[4,true,true,true]' ]
	ctl stats | metrics
	ctl stats | grep '^flocklimit_\(run\|measured\)_' | tee metrics
	[ "$(grep -c . metrics)" -eq 5 ]
	grep -qx 'flocklimit_measured_runs{limiter="x"} 4' metrics
	grep -qxE 'flocklimit_run_memory_bytes\{limiter="x",percentile="95"\} 4[0-9]{7}' metrics
	grep -qxE 'flocklimit_run_cpu_seconds\{limiter="x",percentile="50"\} [0-9.e-]+' metrics
	"$FLOCKLIMIT" -N y -n 1 true
	ctl log --all --json | conforms "An event"
	[ "$(ctl stats | grep -c '^flocklimit_measured_runs{')" -eq 2 ]
}

@test "suggest: the weight that the 95th percentile asks for" {
	local i
	for i in 1 1 40; do
		"$FLOCKLIMIT" -N x -n 4 dd if=/dev/zero of=/dev/null bs="${i}M" count=1 status=none
	done
	"$FLOCKLIMIT" -N x -n 4 true
	run -0 ctl suggest x --unit 16M
	[[ ${lines[0]} =~ ^"COMMAND  RUNS "\ +"MEDIAN "\ +"P95 "\ +"MAX  WEIGHT"$ ]]
	[[ ${lines[1]} =~ ^"dd          3  "\ *[0-9.]+" MiB   4"[0-9]" MiB   4"[0-9]" MiB       3"$ ]]
	[[ ${lines[2]} =~ ^"true        1  ".*"       1"$ ]]
	[ "${#lines[@]}" -eq 3 ]
	run -0 ctl suggest x --raw --unit 16m
	[[ ${lines[1]} =~ ^"dd          3  "\ *[0-9]{7,8}"  4"[0-9]{7}"  4"[0-9]{7}"       3"$ ]]
	run -0 ctl suggest x
	[[ ${lines[1]} == *" 1" && ${lines[2]} == *" 1" ]]
	run -0 ctl suggest x --json --unit 16MiB
	conforms Suggestions <<<"$output"
	[ "$(jq -c '[.unit_bytes, (.commands | map([.command, .runs, .weight]))]' <<<"$output")" = \
		'[16777216,[["dd",3,3],["true",1,1]]]' ]
	[ "$(jq -c '.commands[0].memory | .median < .p95 and .p95 == .max' <<<"$output")" = true ]
}

@test "suggest: several limiters, and all" {
	"$FLOCKLIMIT" -N x -n 4 true
	"$FLOCKLIMIT" -N y -n 4 false || :
	ctl path z
	run -0 ctl suggest --all
	[[ ${lines[0]} == "LIMITER  COMMAND "* && ${lines[1]} == "x        true "* && ${lines[2]} == "y        false "* ]]
	[ "${#lines[@]}" -eq 3 ]
	run -0 ctl suggest x y --json
	jq '.[]' <<<"$output" | conforms Suggestions
	[ "$(jq -c 'map(.commands[0].command)' <<<"$output")" = '["true","false"]' ]
	[ "$(ctl suggest --all --json | jq length)" -eq 3 ]
	run --separate-stderr -1 ctl suggest x z
	[[ ${lines[1]} == "x        true "* ]]
	[ "$stderr" = "flocklimitctl: z: nothing to suggest: its history has no command whose memory is known" ]
}

@test "suggest: without a memory that is known, one line" {
	ctl path x
	ctl_line 1 suggest x
	[[ $stderr == *": x: nothing to suggest: "* ]]
	ctl_line 1 suggest --all
	[[ $stderr == *"nothing to suggest: no history "* ]]
	run --separate-stderr -1 ctl suggest x --json
	[ "$(jq -c .commands <<<"$output")" = '[]' ]
	ctl_line 1 suggest nosuch
}

@test "suggest: what is no size" {
	local unit
	"$FLOCKLIMIT" -N x -n 4 true
	for unit in '' 0 0G G 1Q 1.5G -1G 1GB 1Gi 99999999999T 1T1 ' 1G'; do
		ctl_line 125 suggest x --unit "$unit"
		[ "$stderr" = "flocklimitctl: --unit '$unit': not a size: use bytes, 512M or 2G" ]
	done
	for unit in 1 4096 1k 1K 1KiB 16M 2g 1T; do
		run -0 ctl suggest x --unit "$unit"
	done
	ctl_line 125 log x --unit 1G
	[[ $stderr == *"--unit: means nothing to log"* ]]
}
