#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --pin: the command's share of the CPUs is what its tools see.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# Two of this machine's CPUs; tests run on these two, whatever else there is.
need_two_cpus() {
	local all
	all=$(taskset -cp $$) || skip "no taskset(1)"
	mapfile -t CPU < <(
		for range in $(tr ',' ' ' <<<"${all##*: }"); do seq "${range%-*}" "${range#*-}"; done | head -n 2
	)
	[ "${#CPU[@]}" = 2 ] || skip "this machine lets us use one CPU only"
	taskset -cp "${CPU[0]},${CPU[1]}" $$ >/dev/null
}

# cpus_of PID: as 0 and 1, the first and the second of the two.
cpus_of() {
	local i list
	list=$(taskset -cp "$1") || return 1
	list=,$(for range in $(tr ',' ' ' <<<"${list##*: }"); do seq "${range%-*}" "${range#*-}"; done | tr '\n' ',')
	for i in 0 1; do
		[[ $list != *",${CPU[i]},"* ]] || printf %s "$i"
	done
}
runs_on() { [ "$(cpus_of "$1")" = "$2" ]; }
weighs() { [ "$(field '.holders[0].weight')" = "$1" ]; }

# holds LABEL OPTION...: it has its permit, and a child that writes its pid to LABEL.child.
holds() {
	mkfifo "$1.go"
	background "$1" "$FLOCKLIMIT" -N x -n 2 "${@:2}" sh -c '
		sleep 1000 &
		echo $! >"$1.child"
		echo $$ >"$1.up"
		read -r x <"$1.go"
		kill $!' sh "$1"
	eventually test -s "$1.up"
}
goes() { timeout 300 sh -c 'echo >"$1.go"' sh "$1"; }

@test "a command sees as many CPUs as it has units" {
	need_two_cpus
	run -0 "$FLOCKLIMIT" -N x -n 2 --pin nproc
	[ "$output" = 1 ]
	run -0 "$FLOCKLIMIT" -N x -n 2 -w 2 --pin nproc
	[ "$output" = 2 ]
	run -0 "$FLOCKLIMIT" -N x -n 2 --pin -F nproc
	[ "$output" = 1 ]
	run -0 "$FLOCKLIMIT" -N x -n 100% -w 2- --pin sh -c 'echo "$(nproc) $FLOCKLIMIT_WEIGHT"'
	[ "$output" = "2 2" ]
}

@test "two at once are on different CPUs" {
	need_two_cpus
	holds a --pin
	holds b --pin
	runs_on "$(cat a.up)" 0
	runs_on "$(cat b.up)" 1
	runs_on "$(cat b.child)" 1
	runs_on "${pids[a]}" 01 # flocklimit itself is not pinned
	goes a
	goes b
	ended a
	ended b
}

@test "more seats than CPUs are refused, before any wait" {
	need_two_cpus
	hold a -N x -n 3
	refused "$FLOCKLIMIT" -N x -n 3 --pin true
	[[ $stderr == "flocklimit: x: --pin: the limit of 3 is above the 2 usable CPUs"*": use -n 100%, or less" ]]
	refused "$FLOCKLIMIT" -N x --pin true
	refused taskset -c "${CPU[0]}" "$FLOCKLIMIT" -N y -n 2 --pin true
	[[ $stderr == *"above the 1 usable CPUs"* ]]
	run -0 "$FLOCKLIMIT" -N x -n 3 --pin --or-run -q true
}

@test "an elastic one gives CPUs back while another waits, and takes them again" {
	need_two_cpus
	holds a -w 1-2 --pin
	runs_on "$(cat a.child)" 01
	holds b --pin
	weighs 1
	runs_on "$(cat a.up)" 0
	runs_on "$(cat a.child)" 0
	runs_on "$(cat b.up)" 1
	goes b
	ended b
	eventually weighs 2
	eventually runs_on "$(cat a.up)" 01
	eventually runs_on "$(cat a.child)" 01
	run "$CTL" log x
	[[ $output == *" released "*"1 units"* ]]
	[[ $output == *" grew "*"1 units, seats 0,1"* ]]
	goes a
	ended a
	[ "$(field .used)" = 0 ]
}

@test "a command that forks all the time is nowhere that it gave away" {
	need_two_cpus
	as_job background a "$FLOCKLIMIT" -N x -n 2 -w 1-2 --pin sh -c 'echo $$ >a.up; while :; do (:) & done'
	eventually test -s a.up
	# The other one sees who may run on its CPU; it is not alone with what runs for the test itself.
	run -0 "$FLOCKLIMIT" -N x -n 2 --pin bash -c '
		cpu=$(taskset -cp $$); cpu=${cpu##*: }
		for i in {1..20}; do
			for p in $(pgrep -g "$1" 2>/dev/null); do
				[ "$p" != "$1" ] || continue # flocklimit, which leads the group
				list=$(taskset -cp "$p" 2>/dev/null) || continue
				[[ ,${list##*: }, != *,$cpu,* ]] || { echo "$p: $list"; exit 1; }
				seen=$((seen + 1))
			done
		done
		[ "$seen" -ge 20 ]' bash "${pids[a]}"
	kill "${pids[a]}"
	ended a
}

# forks: what a command does that forks all the time, in N rounds; 0: for ever.
FORKS='i=0; while [ "$1" = 0 ] || [ $i -lt "$1" ]; do i=$((i + 1)); (:) & (sleep 0.001) & [ $((i % 40)) != 0 ] || wait; done; wait'

@test "a witness: no CPU is ever in two of many that come, give and take" {
	need_two_cpus
	need_helper cpuwatch
	local i
	mkdir pids
	background watch "$HELPERS/cpuwatch" pids
	background a "$FLOCKLIMIT" -N x -n 2 -w 1-2 --pin sh -c "$FORKS" sh 0
	echo "${pids[a]}" >pids/a.pid
	eventually weighs 2
	for i in 1 2 3 4; do
		background "b$i" "$FLOCKLIMIT" -N x -n 2 -w 1-2 --pin sh -c "$FORKS" sh 200
		background "c$i" "$FLOCKLIMIT" -N x -n 2 --pin sh -c "$FORKS" sh 100
		echo "${pids[b$i]}" >pids/b.pid
		echo "${pids[c$i]}" >pids/c.pid
		ended "b$i"
		[ "$status" = 0 ]
		ended "c$i"
		[ "$status" = 0 ]
		rm pids/b.pid pids/c.pid
		eventually weighs 2
	done
	: >pids/stop
	ended watch
	cat watch.out
	[ "$status" = 0 ]
	[ "$(grep -oE '^[0-9]+' watch.out)" -ge 100 ]
	kill "${pids[a]}"
	ended a
}

@test "a task that chose its own CPUs keeps what is left of them" {
	need_two_cpus
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 2 -w 1-2 --pin sh -c '
		taskset -c "$1" sleep 1000 & echo $! >one
		taskset -c "$2" sleep 1000 & echo $! >two
		: >up; read -r x <go; kill %1 %2 $(cat one two)' sh "${CPU[0]}" "${CPU[1]}"
	eventually test -e up
	eventually runs_on "$(cat two)" 1
	holds b --pin
	runs_on "$(cat one)" 0
	runs_on "$(cat two)" 0
	goes b
	ended b
	eventually weighs 2
	eventually test "$(field .used)" = 2
	echo >go
	ended a
}

@test "what an operator takes from it stays taken" {
	need_two_cpus
	holds a -w 1-2 --pin
	"$CTL" shrink x 1 1
	eventually runs_on "$(cat a.child)" 0
	# Another one, which has given a CPU back itself, has taken it again before we look.
	background c "$FLOCKLIMIT" -N y -n 2 -w 1-2 --pin sh -c 'echo $$ >c.up; exec sleep 1000'
	eventually test -s c.up
	"$FLOCKLIMIT" -N y -n 2 true
	eventually runs_on "$(cat c.up)" 01
	weighs 1
	kill "${pids[c]}"
	ended c
	goes a
	ended a
}

@test "threads, and processes that were left behind, move with the command" {
	need_two_cpus
	local tid tids
	background a "$FLOCKLIMIT" -N x -n 2 -w 1-2 --pin sh -c '
		python3 -c "
import threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
print(*[t.native_id for t in threading.enumerate()], flush=True)
time.sleep(1000)" >threads &
		(setsid sleep 1000 & echo $! >left)
		wait'
	eventually test -s threads
	eventually test -s left
	holds b --pin
	[ "$(wc -w <threads)" = 2 ]
	tids="$(xargs <threads) $(cat left)"
	for tid in $tids; do
		runs_on "$tid" 0
	done
	goes b
	ended b
	for tid in $tids; do
		eventually runs_on "$tid" 01
	done
	kill "$(cut -d ' ' -f 1 threads)" "$(cat left)"
	ended a
}

@test "one in another has the CPUs of the outer one, and follows it" {
	need_two_cpus
	run -0 "$FLOCKLIMIT" -N x -n 2 --pin "$FLOCKLIMIT" -N y -n 1 --pin nproc
	[ "$output" = 1 ]
	refused "$FLOCKLIMIT" -N x -n 2 --pin "$FLOCKLIMIT" -N y -n 2 --pin true
	[[ $stderr == *"above the 1 usable CPUs"* ]]
	background a "$FLOCKLIMIT" -N x -n 2 -w 1-2 --pin "$FLOCKLIMIT" -N y -n 2 -w 1-2 --pin sh -c '
		echo $$ >a.up; exec sleep 1000'
	eventually test -s a.up
	holds b --pin
	# Three looks of the inner one, which must not move it back.
	for _ in 1 2 3; do
		runs_on "$(cat a.up)" 0
		background w "$FLOCKLIMIT" -N y -n 2 -t 300ms true
		ended w
	done
	goes b
	ended b
	eventually runs_on "$(cat a.up)" 01
	kill "$(cat a.up)"
	ended a
}

@test "a process that can't be moved: said once, and no CPU is given" {
	need_two_cpus
	need_setgid
	public
	cp "$(command -v sleep)" "$PUBLIC/sleeps"
	chmod 4755 "$PUBLIC/sleeps"
	export PUBLIC
	background a as_nobody "$PUBLIC/flocklimit" -N x -n 2 -w 1-2 --pin sh -c '"$PUBLIC/sleeps" 1000; :'
	eventually as_nobody test -e "$PUBLIC/limiters/x"
	background w as_nobody "$PUBLIC/flocklimit" -q -N x -n 2 true
	eventually grep -q "not all of the command's processes can be moved, or stay where they are: they run on CPUs that others may have, and it gives no CPU back" a.err
	run -75 as_nobody "$PUBLIC/flocklimit" -q -N x -n 2 -t 300ms true
	pkill -f "^$PUBLIC/sleeps"
	ended a
	[ "$(grep -c "can be moved" a.err)" = 1 ]
	ended w
	[ "$status" = 0 ]
}

@test "with --tree, --background, --keep-place, --and, and in the words of -c" {
	need_two_cpus
	local with
	for with in --tree '--keep-place 1m' '--and y'; do
		# shellcheck disable=SC2086 # words
		run -0 "$FLOCKLIMIT" -N x -n 2 --pin $with nproc
		[ "$output" = 1 ]
	done
	run -0 "$FLOCKLIMIT" -N x -n 2 --pin -c 'nproc; echo "$FLOCKLIMIT_SEAT"'
	[ "$output" = $'1\n0' ]
	"$FLOCKLIMIT" -N x -n 2 --pin --background sh -c 'nproc >back'
	eventually test -s back
	[ "$(cat back)" = 1 ]
}

@test "a lower limit takes CPUs from an elastic one, also while nobody waits" {
	need_two_cpus
	holds a -w 1-2 --pin
	"$CTL" limit x 1
	eventually weighs 1
	runs_on "$(cat a.child)" 0
	"$CTL" limit x auto
	eventually weighs 2
	eventually runs_on "$(cat a.child)" 01
	goes a
	ended a
}

@test "what helps nobody who waits is not given" {
	need_two_cpus
	holds a -w 1-2 --pin
	"$CTL" pause x
	run -75 "$FLOCKLIMIT" -q -N x -n 2 -t 1 true
	weighs 2
	"$CTL" resume x
	# One unit is never enough for these.
	run -75 "$FLOCKLIMIT" -q -N x -n 2 -w 2 -t 1 true
	run -75 "$FLOCKLIMIT" -q -N x -n 1 -t 1 true
	weighs 2
	run -0 "$FLOCKLIMIT" -q -N x -n 2 true
	goes a
	ended a
}

@test "a command that takes its CPUs back: said once, and none is given" {
	need_two_cpus
	background a "$FLOCKLIMIT" -N x -n 2 -w 1-2 --pin python3 -c '
import os, sys, time
open("a.up", "w").close()
while True:
    os.sched_setaffinity(0, {int(cpu) for cpu in sys.argv[1:]})
    time.sleep(0.001)' "${CPU[@]}"
	eventually test -e a.up
	weighs 2
	run -75 "$FLOCKLIMIT" -q -N x -n 2 -t 20 true
	weighs 2
	kill "${pids[a]}"
	ended a
	[ "$(grep -c "it gives no CPU back" a.err)" = 1 ]
}

@test "a limiter that a limits file pins can be held without a command" {
	need_two_cpus
	echo 'limiter x -n 2 -w 1- --pin --tree' >limits
	chmod 600 limits
	export FLOCKLIMIT_LIMITS=$T/limits
	run -0 "$FLOCKLIMIT" -N x nproc
	[ "$output" = 2 ]
	exec 9<limiters/x
	silent 0 "$FLOCKLIMIT" -N x --fd 9
	exec 9>&-
	refused "$FLOCKLIMIT" -N x --fd 9 --pin
}

@test "an operator's limit above the CPUs is refused" {
	need_two_cpus
	"$FLOCKLIMIT" -N x -n 2 true
	"$CTL" limit x 64
	refused "$FLOCKLIMIT" -N x -n 2 --pin true
	[[ $stderr == *"--pin: the limit of 64 that an operator set is above the 2 usable CPUs"*": use flocklimitctl limit x 2, or auto" ]]
}

@test "a fixed weight gives nothing back" {
	need_two_cpus
	holds a -w 2 --pin
	run -75 "$FLOCKLIMIT" -q -N x -n 2 -t 1 true
	runs_on "$(cat a.child)" 01
	goes a
	ended a
}

@test "the file cut short under it: the command runs on" {
	need_two_cpus
	holds a -w 1-2 --pin
	truncate -s 0 limiters/x
	sleep 1 # some looks
	kill -0 "${pids[a]}"
	goes a
	ended a
	[ "$status" = 0 ] || [ "$status" = 143 ]
}

@test "where it has no effect, or none that can be had, it says so" {
	need_two_cpus
	run -0 "$FLOCKLIMIT" -N x -n 2 "$FLOCKLIMIT" -N x --pin true
	[[ $output == *"--pin has no effect: this command joins the permit"* ]]
	refused "$FLOCKLIMIT" -N x -n 2 --pin --until-ready true
	refused "$FLOCKLIMIT" -N x -n 2 --pin --jobserver true
	refused "$FLOCKLIMIT" -N x -n 2 --pin -F -w 1- true
	[[ $stderr == *"with -F no process is left that could give CPUs back: use one weight, or drop -F" ]]
	refused "$FLOCKLIMIT" -N x -n 2 --pin --hold-for $$
	refused "$FLOCKLIMIT" --store etcd://127.0.0.1:1/a -N x --pin true
	[[ $stderr == *"a store's seats are no CPUs of this machine" ]]
}
