#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap: ends before the end: failures, signals, kills.

load ../helpers/lib.bash
load ../helpers/map.bash

# fast LABEL ARG...: a flockmap of two at once: says `up' with the pid, and then runs on.
two() {
	local label=$1
	shift
	background "$label" env --default-signal=INT,QUIT "$MAP" -N x -n 2 "$@"
}

# A command that takes its time, and one that also does not care.
sleeper='echo $$ >"$T/up.$1"; exec sleep 60'
stubborn='trap "echo $1 >>\"$T/terms\"" TERM; echo $$ >"$T/up.$1"; while :; do sleep 0.05; done'

# all_gone: the commands that said they were up.
all_gone() {
	local pid
	while read -r pid; do
		is_gone "$pid" || return 1
	done < <(cat "$T"/up.*)
}

ends_of_int() {
	kill -INT "$1"
	is_gone "$1"
}

# ---- failures ----

@test "--fail-fast: nothing more is started, what runs is waited for" {
	make_go
	two m --fail-fast sh -c '[ $1 != 1 ] || exit 3; echo $$ >up.$1; read -r _ <go; echo "done" $1' sh ::: 0 1 2 3
	eventually says "item 2 '1' failed: exit 3" m.err
	run ! is_gone "${pids[m]}"
	eventually up_to 1
	go
	ended m
	[ "$status" -eq 123 ]
	[ "$(cat m.out)" = "done 0" ]
	has_lines 1 m.err
	is_free
}

@test "--fail-fast names a signal, and an end by -T" {
	run --separate-stderr -123 "$MAP" -N x -n 1 --fail-fast sh -c 'kill -SEGV $$' sh ::: a b
	[ "$stderr" = "flockmap: x: item 1 'a' failed: signal 11" ]
	run --separate-stderr -123 "$MAP" -N x -n 1 -T 50ms --fail-fast sleep ::: 60 61
	[ "$stderr" = "flockmap: x: item 1 '60' failed: it ran longer than --run-timeout" ]
}

@test "--fail-fast=now: TERM for what runs" {
	two m --fail-fast=now sh -c "[ \$1 != 1 ] || { while [ ! -s up.0 ]; do sleep 0.05; done; exit 1; }; $sleeper" sh ::: 0 1 2
	ended m
	[ "$status" -eq 123 ]
	all_gone
	up_to 1
	[ "$(cat m.err)" = "flockmap: x: item 2 '1' failed: exit 1" ]
	is_free
}

@test "--fail-fast=now: KILL for who does not care, after -k" {
	two m --fail-fast=now -k 100ms sh -c \
		"[ \$1 != 1 ] || { while [ ! -s up.0 ]; do sleep 0.05; done; exit 1; }; $stubborn" sh ::: 0 1 2
	ended m
	[ "$status" -eq 123 ]
	all_gone
	is_free
}

@test "one line at the end says how many failed, and how the first of the items did" {
	map_line 123 "$MAP" -N x -n 2 false ::: a b c
	[ "$stderr" = "flockmap: x: 3 of 3 failed; first: item 1 'a': exit 1" ]
	map_line 123 "$MAP" -N x -n 2 sh -c '[ $1 = 2 ] && exit 3; [ $1 = 3 ] && kill -9 $$; :' sh ::: 1 2 3 4
	[ "$stderr" = "flockmap: x: 2 of 4 failed; first: item 2 '2': exit 3" ]
	map_line 123 "$MAP" -N x -n 1 -T 50ms sleep ::: 60
	[ "$stderr" = "flockmap: x: 1 of 1 failed; first: item 1 '60': it ran longer than --run-timeout" ]
	map_line 123 "$MAP" -N x -n 2 -L 2 --retries 1 false ::: $'a\nb' c d
	[ "$stderr" = "flockmap: x: 2 of 2 failed; first: item 1 'a?b': exit 1" ]
	silent 123 "$MAP" -N x -n 2 -q false ::: a b c
	silent 0 "$MAP" -N x -n 2 true ::: a b c
}

@test "after a resume, it speaks of what was run" {
	run -123 "$MAP" -N x -n 1 --joblog log false ::: a b
	run --separate-stderr -123 "$MAP" -N x -n 1 --joblog log --resume false ::: a b c d
	[ "${#stderr_lines[@]}" -eq 2 ]
	[[ ${stderr_lines[0]} == "flockmap: x: 2 skipped items had failed before: "* ]]
	[ "${stderr_lines[1]}" = "flockmap: x: 2 of 2 failed; first: item 3 'c': exit 1" ]
}

@test "--fail-fast: what it said is not said twice, and what failed later is counted" {
	map_line 123 "$MAP" -N x -n 1 --fail-fast false ::: a b
	[ "$stderr" = "flockmap: x: item 1 'a' failed: exit 1" ]
	make_go
	# The first fails once the second runs; if it failed before, the second would not start.
	two m --fail-fast sh -c 'echo $$ >up.$1
		if [ $1 = 2 ]; then read -r _ <go; else until [ -s up.2 ]; do sleep 0.01; done; fi
		exit $1' sh ::: 1 2
	eventually says "item 1 '1' failed: exit 1" m.err
	eventually up_to 2
	go
	ended m
	[ "$status" -eq 123 ]
	[ "$(tail -n 1 m.err)" = "flockmap: x: 2 of 2 failed; first: item 1 '1': exit 1" ]
	has_lines 2 m.err
}

# ---- signals ----

@test "TERM, INT, HUP, QUIT: TERM for what runs, nothing new, and it dies of it" {
	local sig
	for sig in TERM INT HUP QUIT; do
		two m sh -c "$sleeper" sh ::: 1 2 3
		eventually up_to 2
		kill -s "$sig" "${pids[m]}"
		ended m
		[ "$status" -eq $((128 + $(kill -l "$sig"))) ]
		all_gone
		up_to 2
		is_free
		[ ! -s m.err ]
		rm up.*
	done
	[ -z "$(find . -name 'core*')" ]
}

@test "a second one kills" {
	two m sh -c "$stubborn" sh ::: 1 2 3
	eventually up_to 2
	kill -TERM "${pids[m]}"
	eventually has_lines 2 terms
	run ! is_gone "${pids[m]}"
	kill -INT "${pids[m]}"
	ended m
	[ "$status" -eq 130 ]
	all_gone
	is_free
}

@test "one is enough with -k" {
	two m -k 100ms sh -c "$stubborn" sh ::: 1 2 3
	eventually up_to 2
	kill -TERM "${pids[m]}"
	ended m
	[ "$status" -eq 143 ]
	all_gone
}

@test "^C on a terminal, once" {
	terminal m "$MAP" -N x -n 2 --joblog log sh -c "$sleeper" sh ::: 1 2 3
	eventually up_to 2
	printf '\003' >&8
	exec 8>&-
	ended m
	[ "$status" -eq 130 ]
	# The terminal may tell the commands an instant before it tells us: then a third has begun.
	all_gone
	is_free
	# What was interrupted is to be done again.
	has_lines 1 log
}

@test "^C on a terminal, twice" {
	terminal m "$MAP" -N x -n 2 sh -c "trap '' INT; $stubborn" sh ::: 1 2 3
	eventually up_to 2
	printf '\003' >&8
	eventually has_lines 2 terms
	printf '\003' >&8
	exec 8>&-
	ended m
	[ "$status" -eq 130 ]
	all_gone
	is_free
}

@test "^C while it waits for a permit, and while it waits for items" {
	hold a -N x -n 1
	two m -n 1 echo ::: 1 2
	eventually in_line 1
	kill -INT "${pids[m]}"
	ended m
	[ "$status" -eq 130 ]
	eventually in_line 0
	mkfifo in
	background m env --default-signal=INT sh -c 'exec "$MAP" -N y -n 1 echo <in'
	exec 7>in
	echo one >&7
	eventually says one m.out
	kill -INT "${pids[m]}"
	ended m
	[ "$status" -eq 130 ]
	exec 7>&-
}

@test "^C while nobody reads: the second one ends it" {
	mkfifo pipe
	background m env --default-signal=INT sh -c 'exec "$MAP" -N x -n 1 sh -c "head -c 200000 /dev/zero; : >ran" sh ::: 1 >pipe'
	exec 7<pipe
	eventually test -e ran
	eventually is_free
	# Two that are pending at once are one.
	eventually ends_of_int "${pids[m]}"
	ended m
	[ "$status" -eq 130 ]
	exec 7<&-
}

@test "what was ignored stays ignored" {
	make_go
	background m env --ignore-signal=INT,HUP "$MAP" -N x -n 1 sh -c "$wait_for_go" sh ::: 1
	eventually up_to 1
	kill -INT "${pids[m]}"
	kill -HUP "${pids[m]}"
	kill -INT "$(cat up.1)"
	go
	ended m
	[ "$status" -eq 0 ]
}

@test "it stops and goes on" {
	make_go
	as_job background m "$MAP" -N x -n 1 sh -c "$wait_for_go; echo ran" sh ::: 1
	eventually up_to 1
	kill -TSTP "${pids[m]}"
	eventually is_state T "${pids[m]}"
	holding 1
	kill -CONT "${pids[m]}"
	eventually is_state S "${pids[m]}"
	go
	ended m
	[ "$(cat m.out)" = ran ]
}

@test "a stopped command can be ended" {
	two m sh -c "$sleeper" sh ::: 1
	eventually up_to 1
	kill -STOP "$(cat up.1)"
	eventually is_state T "$(cat up.1)"
	kill -TERM "${pids[m]}"
	ended m
	[ "$status" -eq 143 ]
	all_gone
}

# ---- kills ----

@test "kill -9 of flockmap: the commands keep their permits until they end" {
	make_go
	two m sh -c "$wait_for_go" sh ::: 1 2 3 4
	eventually up_to 2
	kill -KILL "${pids[m]}"
	ended m
	run -75 "$FLOCKLIMIT" -N x -n 2 --nonblock true
	background w "$FLOCKLIMIT" -N x -n 2 echo ran
	eventually in_line 1
	go 2
	ended w
	[ "$(cat w.out)" = ran ]
	eventually is_free
	all_gone
	up_to 2
}

@test "kill -9 of flockmap while it waits: the next in the line goes on" {
	hold a -N x -n 1
	two m -n 1 echo ::: 1 2
	eventually in_line 1
	background w "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually in_line 2
	kill -KILL "${pids[m]}"
	eventually in_line 1
	let_go a
	ended w
	[ "$(cat w.out)" = ran ]
	is_free
}

@test "kill -9 of a command: it has failed, the others go on" {
	make_go
	two m sh -c "$wait_for_go; echo \$1" sh ::: 1 2 3
	eventually up_to 2
	kill -KILL "$(cat up.1)"
	eventually up_to 3
	go 2
	ended m
	[ "$status" -eq 123 ]
	[ "$(cat m.out)" = $'2\n3' ]
}

@test "the limiter's file is cut short under it: one line, 125" {
	make_go
	two m sh -c "$wait_for_go" sh ::: 1 2 3
	eventually up_to 2
	truncate -s 0 limiters/x
	go 2
	ended m
	[ "$status" -eq 125 ]
	has_lines 1 m.err
	says "cut short" m.err
}

# ---- no room ----

# one_end: it went well, or there is one line and 125.
one_end() {
	echo "$1: $status: $output"
	[ "$status" -eq 0 ] || { [ "$status" -eq 125 ] && [ "$(wc -l <<<"$output")" -eq 1 ]; }
}

@test "few descriptors: one line says what to do, and nothing stays held" {
	local n good=0
	"$MAP" -N x -n 4 true ::: a
	for n in $(seq 8 24) 40; do
		run sh -c "ulimit -n $n; exec \"\$MAP\" -N x -n 4 true ::: 1 2 3 4"
		one_end "$n"
		[ "$status" -eq 0 ] || [[ $output == *"ulimit -n"* || $output == *"Too many open files"* ]]
		good=$((good + !status))
		is_free
	done
	[ "$good" -gt 0 ]
}

@test "few processes: one line says what to do, and nothing stays held" {
	need_root
	local n
	public
	cp "$MAP" "$PUBLIC/flockmap"
	for n in 2 3 5 8; do
		run as_nobody bash -c "ulimit -u $n; exec \"$PUBLIC/flockmap\" -N x -n 4 /bin/true ::: 1 2 3 4"
		one_end "$n"
		[ "$status" -eq 0 ] || [[ $output == *"Resource temporarily unavailable: raise ulimit -u"* ]]
	done
	run -0 as_nobody "$PUBLIC/flockmap" -N x -n 4 --nonblock -w 4 /bin/true ::: 1
}
