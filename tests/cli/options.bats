#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Every option, in its short and its long form.

load ../helpers/lib.bash

# allows N: the limiter x lets N run at once, and no more.
allows() {
	local i
	for ((i = 1; i <= $1; i++)); do
		hold "slot$i" -N x -t 0
	done
	run -75 "$FLOCKLIMIT" -N x --nonblock true
	for ((i = 1; i <= $1; i++)); do
		let_go "slot$i"
		ended "slot$i"
	done
}

limit_of() {
	"$FLOCKLIMIT" -N "l$RANDOM$RANDOM" "$@" sh -c 'echo "$FLOCKLIMIT_LIMIT"'
}

@test "-n, -j and --limit" {
	[ "$(limit_of -n 3)" = 3 ]
	[ "$(limit_of -n3)" = 3 ]
	[ "$(limit_of -j 3)" = 3 ]
	[ "$(limit_of -j3)" = 3 ]
	[ "$(limit_of --limit 3)" = 3 ]
	[ "$(limit_of --limit=3)" = 3 ]
	[ "$(limit_of -n 1000000000)" = 1000000000 ]
	[ "$(limit_of -n 007)" = 7 ]
}

@test "-n holds: two run, a third does not" {
	silent 0 "$FLOCKLIMIT" -N x -n 2 true
	allows 2
}

@test "the last -n counts" {
	[ "$(limit_of -n 50% -n 3)" = 3 ]
	[ "$(limit_of -n 3 -j 9)" = 9 ]
}

@test "-n N% is of the CPUs that the process may use, rounded up" {
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -n 100% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 1 ]
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -n 1% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 1 ]
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -n 101% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 2 ]
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x -j 350% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 4 ]
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x --limit=100000% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 1000 ]
}

@test "a new limiter without -n has the CPUs that its first taker may use, with each command" {
	local tell='echo "$FLOCKLIMIT_LIMIT"'
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N one sh -c "$tell")" = 1 ]
	[ "$(taskset -c 0 "${FLOCKLIMIT%limit}map" -N two sh -c "$tell" sh ::: item)" = 1 ]
	run --separate-stderr -125 taskset -c 0 "$FLOCKLIMIT" -N three -w 2 true
	[[ $stderr == *"three: -w 2 is above the limit of 1"* ]]
	taskset -c 0,1 true || skip "needs two CPUs"
	! grep -qs '^[0-9]' /sys/fs/cgroup/cpu.max || skip "this cgroup has a CPU quota"
	[ "$(taskset -c 0,1 "$FLOCKLIMIT" -N four sh -c "$tell")" = 2 ]
	# It was declared so, by the first.
	[ "$(taskset -c 0,1 "$FLOCKLIMIT" -N one sh -c "$tell")" = 1 ]
}

@test "-n N% with two CPUs" {
	taskset -c 0,1 true || skip "needs two CPUs"
	! grep -qs '^[0-9]' /sys/fs/cgroup/cpu.max || skip "this cgroup has a CPU quota"
	[ "$(taskset -c 0,1 "$FLOCKLIMIT" -N x -n 100% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 2 ]
	[ "$(taskset -c 0,1 "$FLOCKLIMIT" -N x -n 50% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 1 ]
	[ "$(taskset -c 0,1 "$FLOCKLIMIT" -N x -n 51% sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 2 ]
}

@test "-n N% with the quota of a cgroup of version 1: the controller cpu, and not cpuset" {
	taskset -c 0,1 true || skip "needs two CPUs"
	need_mount
	[ -d /sys/fs/cgroup ] || skip "no /sys/fs/cgroup here"
	# limit_under LINE...: the limit that 100% makes where /proc/self/cgroup has these lines.
	limit_under() {
		printf '%s\n' "$@" >cgroup
		# shellcheck disable=SC2016 # for the inner shell
		taskset -c 0,1 unshare -m sh -ec '
			mount -t tmpfs none /sys/fs/cgroup
			mkdir -p /sys/fs/cgroup/cpu/a /sys/fs/cgroup/cpu/b
			echo 50000 | tee /sys/fs/cgroup/cpu/a/cpu.cfs_quota_us >/sys/fs/cgroup/cpu/b/cpu.cfs_quota_us
			echo 100000 >/sys/fs/cgroup/cpu/a/cpu.cfs_period_us
			echo 40000 >/sys/fs/cgroup/cpu/b/cpu.cfs_period_us
			mount --bind cgroup /proc/$$/cgroup
			exec "$FLOCKLIMIT" -N x -n 200% sh -c "echo \$FLOCKLIMIT_LIMIT"'
	}
	[ "$(limit_under 4:cpu,cpuacct:/a)" = 1 ]
	[ "$(limit_under 4:cpuacct,cpu:/a)" = 1 ]
	[ "$(limit_under 4:cpu:/b)" = 3 ]
	[ "$(limit_under 4:memory:/a)" = 4 ]
	[ "$(limit_under 7:cpuset:/a 4:cpuacct:/a 3:cpu:/b)" = 3 ]
	[ "$(limit_under 7:cpuacct,cpuset:/a)" = 4 ]
}

@test "without -n: the CPUs for a new limiter, then the latest declared" {
	[ "$(taskset -c 0 "$FLOCKLIMIT" -N x sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 1 ]
	[ "$(limit_of -n 5 true && "$FLOCKLIMIT" -N y -n 5 true && "$FLOCKLIMIT" -N y sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 5 ]
	"$FLOCKLIMIT" -N y -n 3 true
	[ "$("$FLOCKLIMIT" -N y sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 3 ]
}

@test "a limit that was asked for and not granted is not the latest" {
	hold a -N x -n 2 -w 2
	run -75 "$FLOCKLIMIT" -N x -n 9 --nonblock true
	let_go a
	ended a
	[ "$("$FLOCKLIMIT" -N x sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 2 ]
}

@test "the strictest that runs decides" {
	hold a -N x -n 1
	run -75 "$FLOCKLIMIT" -N x -n 100 --nonblock true
	let_go a
	ended a
	hold b -N x -n 100
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	silent 0 "$FLOCKLIMIT" -N x -n 2 --nonblock true
}

@test "-w and --weight add up" {
	hold a -N x -n 10 -w 7
	run -75 "$FLOCKLIMIT" -N x -n 10 --weight=4 -t 0 true
	silent 0 "$FLOCKLIMIT" -N x -n 10 --weight 3 -t 0 true
	silent 0 "$FLOCKLIMIT" -N x -n 10 -w3 -t 0 true
	silent 0 "$FLOCKLIMIT" -N x -n 10 -t 0 true
}

@test "-w as large as -n can be" {
	silent 0 "$FLOCKLIMIT" -N x -n 1000000000 -w 1000000000 true
}

@test "-w above the limit is refused" {
	refused "$FLOCKLIMIT" -N x -n 2 -w 3 true
	[[ $stderr == *x* && $stderr == *3* && $stderr == *2* ]]
	silent 0 "$FLOCKLIMIT" -N x -n 2 true
	refused "$FLOCKLIMIT" -N x -w 3 true
	[[ $stderr == *x* && $stderr == *3* && $stderr == *2* && $stderr == *-n* ]]
	refused taskset -c 0 "$FLOCKLIMIT" -N y -n 100% -w 3 true
	refused taskset -c 0 "$FLOCKLIMIT" -N z -w 3 true
}

@test "a weight refused at the door leaves the limiter as it was" {
	refused "$FLOCKLIMIT" -N x -n 2 -w 3 true
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 true
	allows 1
}

@test "-N, --name, \$FLOCKLIMIT_NAME, the command's name: each a limiter of its own" {
	name='echo "$FLOCKLIMIT_LIMITER"'
	[ "$("$FLOCKLIMIT" -N one sh -c "$name")" = one ]
	[ "$("$FLOCKLIMIT" -None sh -c "$name")" = one ]
	[ "$("$FLOCKLIMIT" --name one sh -c "$name")" = one ]
	[ "$("$FLOCKLIMIT" --name=one sh -c "$name")" = one ]
	[ "$(FLOCKLIMIT_NAME=two "$FLOCKLIMIT" sh -c "$name")" = two ]
	[ "$(FLOCKLIMIT_NAME=two "$FLOCKLIMIT" -N one sh -c "$name")" = one ]
	[ "$("$FLOCKLIMIT" sh -c "$name")" = sh ]
	[ "$("$FLOCKLIMIT" /bin/sh -c "$name")" = sh ]
	[ "$(FLOCKLIMIT_NAME='' "$FLOCKLIMIT" /bin/sh -c "$name")" = sh ]
	[ "$(cd limiters && echo *)" = "one sh two" ]
}

@test "what a name can't hold becomes _ in the default name" {
	ln -s "$(command -v sh)" 'a b,c'
	[ "$("$FLOCKLIMIT" './a b,c' -c 'echo "$FLOCKLIMIT_LIMITER"')" = a_b_c ]
	ln -s "$(command -v sh)" .hidden
	[ "$("$FLOCKLIMIT" ./.hidden -c 'echo "$FLOCKLIMIT_LIMITER"')" = _hidden ]
	long=$(printf 'a%.0s' {1..100})
	ln -s "$(command -v sh)" "$long"
	[ "$("$FLOCKLIMIT" "./$long" -c 'echo "$FLOCKLIMIT_LIMITER"')" = "${long:0:64}" ]
}

@test "a name of 64 letters, and each letter that is allowed" {
	silent 0 "$FLOCKLIMIT" -N "$(printf 'a%.0s' {1..64})" true
	silent 0 "$FLOCKLIMIT" -N 'AZaz09._+@%:-' true
	refused "$FLOCKLIMIT" -N -x true
	[ -e limiters/AZaz09._+@%:- ]
}

@test "-f and --file, absolute and relative" {
	silent 0 "$FLOCKLIMIT" -f "$T/abs" true
	silent 0 "$FLOCKLIMIT" -f rel true
	silent 0 "$FLOCKLIMIT" --file ./dot true
	mkdir sub
	silent 0 "$FLOCKLIMIT" --file=sub/below true
	[ -s abs ]
	[ -s rel ]
	[ -s dot ]
	[ -s sub/below ]
	[ ! -e limiters ]
}

@test "-f is one limiter by whatever path" {
	hold a -n 1 -f "$T/lim"
	run -75 "$FLOCKLIMIT" -n 1 -f lim --nonblock true
	ln lim other
	run -75 "$FLOCKLIMIT" -n 1 -f ./other --nonblock true
}

@test "-f wins over any name" {
	FLOCKLIMIT_NAME=other silent 0 "$FLOCKLIMIT" -f "$T/lim" -N name true
	[ -s lim ]
	[ ! -e limiters ]
}

@test "the command finds a limiter of -f again by FLOCKLIMIT_LIMITER, from another directory" {
	silent 0 "$FLOCKLIMIT" -f lim -n 1 sh -c 'cd / && "$FLOCKLIMIT" -f "$FLOCKLIMIT_LIMITER" -n 1 --nonblock true'
	run -75 "$FLOCKLIMIT" -f lim -n 1 sh -c 'cd / && "$FLOCKLIMIT" -f "$FLOCKLIMIT_LIMITER" --nested=queue -q --nonblock true'
}

@test "--mode makes the mode, whatever the umask" {
	(umask 077 && "$FLOCKLIMIT" -f shared --mode 0660 true)
	[ "$(stat -c %a shared)" = 660 ]
	(umask 000 && "$FLOCKLIMIT" -f private true)
	[ "$(stat -c %a private)" = 600 ]
	silent 0 "$FLOCKLIMIT" -f private --mode=0660 true
	[ "$(stat -c %a private)" = 600 ]
	silent 0 "$FLOCKLIMIT" -N named --mode 640 true
	[ "$(stat -c %a limiters/named)" = 640 ]
}

@test "the limiter directory is made, for its owner only" {
	(umask 000 && "$FLOCKLIMIT" -N x true)
	[ "$(stat -c %a limiters)" = 700 ]
}

@test "-t in all its forms" {
	local dur
	hold a -N x -n 1
	for dur in 0 0ms 0s 0m 0h 0d 1ms 10ms 0.01 .01 0.01s 0.0001m 0.000003h 0.0000001d 5.ms 00.010; do
		run -75 "$FLOCKLIMIT" -N x -t "$dur" true
		run -75 "$FLOCKLIMIT" -N x --timeout="$dur" true
	done
	let_go a
	ended a
	for dur in 1 1s 1m 1h 1d 1.5h 36500d; do
		silent 0 "$FLOCKLIMIT" -N x -n 1 -t "$dur" true
	done
}

@test "-t waits as long as it says, and no longer" {
	local before after
	hold a -N x -n 1
	before=$(date +%s%N)
	run -75 "$FLOCKLIMIT" -N x -t 150ms true
	after=$(date +%s%N)
	[ $((after - before)) -ge 150000000 ]
	[ $((after - before)) -lt 60000000000 ]
	[[ $output == *"no permit after 150 ms: 1 of 1 in use, 0 ahead of you"* ]]
}

@test "-t is for the wait only" {
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 1ms sleep 0.05
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 sleep 0.05
}

@test "-t 0 and --nonblock run when there is room" {
	run -0 "$FLOCKLIMIT" -N x -n 1 -t 0 echo ran
	[ "$output" = ran ]
	run -0 "$FLOCKLIMIT" -N x -n 1 --nonblock echo ran
	[ "$output" = ran ]
}

@test "a permit in time is a permit" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 -t 60 echo ran
	eventually in_line 1
	let_go a
	ended b
	[ "$status" -eq 0 ]
	[ "$(cat b.out)" = ran ]
	[ ! -s b.err ]
}

@test "--max-queue" {
	run -0 "$FLOCKLIMIT" -N x -n 1 --max-queue 0 echo ran
	[ "$output" = ran ]
	hold a -N x -n 1
	run --separate-stderr -75 "$FLOCKLIMIT" -N x --max-queue 0 true
	one_line
	[[ $stderr == *max-queue* && $stderr == *"1 of 1 in use"* ]]
	background b "$FLOCKLIMIT" -N x --max-queue 1 true
	eventually in_line 1
	run -75 "$FLOCKLIMIT" -N x --max-queue=0 true
	run -75 "$FLOCKLIMIT" -N x --max-queue=1 true
	background c "$FLOCKLIMIT" -N x --max-queue=2 true
	eventually in_line 2
	let_go a
	ended b
	[ "$status" -eq 0 ]
	ended c
	[ "$status" -eq 0 ]
}

# ends_by NAME WORDS...: with these, the run timeout ends the command by that signal.
ends_by() {
	local name=$1 status=0 output
	shift
	output=$(env --default-signal=INT "$FLOCKLIMIT" -N x -T "$TIME" "$@" \
		sh -c 'trap "echo $0; exit" "$0"; while :; do sleep 0.01; done' "$name") || status=$?
	[ "$status" -eq 124 ] && [ "$output" = "$name" ]
}

@test "-T, -s and -k, in both forms" {
	silent 124 "$FLOCKLIMIT" -N x -T 20ms sleep inf
	silent 124 "$FLOCKLIMIT" -N x --run-timeout 20ms sleep inf
	in_time ends_by USR1 -s USR1
	in_time ends_by USR1 --signal=SIGUSR1
	in_time ends_by USR1 -s 10
	in_time ends_by INT -s int
	silent 137 env --ignore-signal=TERM "$FLOCKLIMIT" -N x -T 20ms --kill-after 20ms sleep inf
	# As timeout(1) has it, the command hears nothing of 0.
	silent 137 "$FLOCKLIMIT" -N x -T 20ms -s 0 -k 20ms sleep inf
	silent 0 "$FLOCKLIMIT" -N x -T 0 -k 0 sleep 0.05
}

ends_with_three() {
	local status=0
	"$FLOCKLIMIT" -N x -T "$TIME" --preserve-status \
		sh -c 'trap "exit 3" TERM; while :; do sleep 0.01; done' || status=$?
	[ "$status" -eq 3 ]
}

@test "--preserve-status exits as the command did that -T ended" {
	in_time ends_with_three
	silent 143 "$FLOCKLIMIT" -N x -T 20ms --preserve-status sleep inf
	silent 7 "$FLOCKLIMIT" -N x -T 300s --preserve-status sh -c 'exit 7'
	refused "$FLOCKLIMIT" -N x --preserve-status true
	[[ $stderr == *--preserve-status*-T* ]]
}

logged_or_gone() { grep -qs . log || is_gone "${pids[a]}"; }

gets_real_time_signal() {
	rm -f log
	background a "$FLOCKLIMIT" -N x -T "$TIME" -s RTMIN+1 "$HELPERS/signals" "$T/log"
	eventually logged_or_gone
	grep -qx "$(kill -l RTMIN+1)" log
}

@test "-s RTMIN+N is the number that the shell has for it" {
	need_helper signals
	in_time gets_real_time_signal
}

# waits_longer_than_it_may_run: b waits for twice $TIME, and then has $TIME to run in.
waits_longer_than_it_may_run() {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -T "$TIME" sh -c 'echo ran'
	eventually in_line 1
	sleep "${TIME/ms/e-3}" "${TIME/ms/e-3}"
	let_go a
	ended a
	ended b
	rm a.*
	[ "$status" -eq 0 ] && [ "$(cat b.out)" = ran ]
}

@test "the run timeout begins with the run" {
	in_time waits_longer_than_it_may_run
}

@test "-c and --command: by \$SHELL, or /bin/sh" {
	run -0 "$FLOCKLIMIT" -N x -c 'echo "$0" | tr a-z A-Z'
	[ "$output" = /BIN/SH ]
	run -3 "$FLOCKLIMIT" -N x --command='exit 3'
	printf '#!/bin/sh\necho "shell: $1 $2"\n' >myshell
	chmod +x myshell
	SHELL=$T/myshell run -0 "$FLOCKLIMIT" -N x -c 'a line'
	[ "$output" = "shell: -c a line" ]
	SHELL='' run -0 "$FLOCKLIMIT" -N x -c 'echo "$0"'
	[ "$output" = /bin/sh ]
	refused "$FLOCKLIMIT" -N x -c 'echo a' b
	silent 0 "$FLOCKLIMIT" -N x -c ''
}

@test "-F and --no-fork: the command is the process that was started" {
	background a "$FLOCKLIMIT" -N x -n 1 -F sh -c 'echo $$; :'
	local pid=${pids[a]}
	ended a
	[ "$(cat a.out)" = "$pid" ]
	run -7 "$FLOCKLIMIT" -N x --no-fork sh -c 'exit 7'
}

@test "-F: the permit goes back when its processes are gone" {
	hold a -N x -n 1 -F
	[ "$(up a)" = "${pids[a]}" ]
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	let_go a
	ended a
	[ "$status" -eq 0 ]
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "-F: a waiter starts by itself, when the last process is gone" {
	mkfifo bg.fifo
	background a "$FLOCKLIMIT" -N x -n 1 -F sh -c 'cat bg.fifo & echo $! >bg.up'
	ended a
	[ "$status" -eq 0 ]
	background b "$FLOCKLIMIT" -N x -n 1 -v echo ran
	eventually says 'waiting: 1 of 1 in use' b.err
	[ ! -s b.out ]
	let_go bg
	ended b
	[ "$(cat b.out)" = ran ]
}

@test "-F goes neither with -o nor with -T" {
	refused "$FLOCKLIMIT" -N x -F -o true
	refused "$FLOCKLIMIT" -N x -F -T 1 true
}

@test "-o and --close: no descriptor for the command" {
	ls /proc/self/fd >without
	"$FLOCKLIMIT" -N x -o ls /proc/self/fd >short
	"$FLOCKLIMIT" -N x --close ls /proc/self/fd >long
	cmp without short
	cmp without long
}

@test "-o: a killed wrapper's permit goes back though the command lives" {
	hold a -N x -n 1 -o
	kill -KILL "${pids[a]}"
	ended a
	eventually "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	kill -0 "$(up a)"
}

@test "--hold-for: prints the ticket, holds until the process ends" {
	sleep inf 3>&- &
	pids[sleep]=$!
	run -0 "$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[sleep]}" 3>&-
	[[ $output =~ ^[0-9]+$ ]]
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	[[ $stderr == *"--hold-for ${pids[sleep]}"* ]]
	background b "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually in_line 1
	kill "${pids[sleep]}"
	ended sleep
	ended b
	[ "$(cat b.out)" = ran ]
}

@test "--hold-for: in a command substitution, for the script itself" {
	background a bash -c 'ticket=$("$FLOCKLIMIT" -N x -n 1 --hold-for $$) || exit; echo "$ticket"
		mkfifo go; cat go'
	eventually test -s a.out
	[[ $(cat a.out) =~ ^[0-9]+$ ]]
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	eventually test -p go
	timeout 300 sh -c ': >go'
	ended a
	eventually "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
}

# keeper: the pid of who keeps the permit of x, as the line at a timeout tells it.
keeper() {
	"$FLOCKLIMIT" -N x --nonblock true 2>&1 | sed -n 's/.*oldest holder: pid \([0-9]*\),.*/\1/p'
}

@test "--hold-for: SIGTERM to the keeper gives the permit back" {
	sleep inf 3>&- &
	pids[sleep]=$!
	"$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[sleep]}" 3>&-
	kill -TERM "$(keeper)"
	eventually "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
	kill -0 "${pids[sleep]}"
}

@test "--hold-for: the keeper has nothing of the caller's" {
	local pid
	exec 9<>file
	sleep inf 3>&- 9>&- &
	pids[sleep]=$!
	"$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[sleep]}" 3>&-
	exec 9>&-
	pid=$(keeper)
	[ "$(readlink "/proc/$pid/cwd")" = / ]
	run ls -l "/proc/$pid/fd"
	[[ $output != *"$T/file"* ]]
	[[ $output != *pipe:* ]]
	[[ $output != *pts/* ]]
}

@test "--hold-for with closed stdin holds on" {
	sleep inf 3>&- &
	pids[sleep]=$!
	"$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[sleep]}" 3>&- <&- >ticket
	[ -s ticket ]
	sleep 0.1 # it must last
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "--hold-for: no such process, no limiter, not with a command" {
	sleep 0 &
	wait $!
	refused "$FLOCKLIMIT" -N x --hold-for $!
	[[ $stderr == *$!* ]]
	refused "$FLOCKLIMIT" --hold-for $$
	refused "$FLOCKLIMIT" -N x --hold-for $$ true
	refused "$FLOCKLIMIT" -N x --hold-for $$ -c true
	refused "$FLOCKLIMIT" --fd 9 -c true 9>file
	refused "$FLOCKLIMIT" -N x --hold-for 0
	refused "$FLOCKLIMIT" -N x --hold-for -1
	refused "$FLOCKLIMIT" -N x --hold-for 99999999999
	refused "$FLOCKLIMIT" -N x --hold-for me
}

@test "--hold-for: no permit is 75, as with a command" {
	hold a -N x -n 1
	run --separate-stderr -75 "$FLOCKLIMIT" -N x --hold-for $$ --nonblock
	[ -z "$output" ]
	one_line
	run -75 "$FLOCKLIMIT" -N x --hold-for $$ -t 20ms
	run -9 "$FLOCKLIMIT" -N x --hold-for $$ -t 20ms -E 9 -q
	[ -z "$output" ]
}

@test "--hold-for: the process ends while it waits" {
	hold a -N x -n 1
	sleep inf 3>&- &
	pids[sleep]=$!
	background b "$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[sleep]}"
	eventually in_line 1
	kill "${pids[sleep]}"
	ended sleep
	ended b
	[ "$status" -eq 125 ]
	[ ! -s b.out ]
	has_lines 1 b.err
	eventually in_line 0
}

@test "--hold-for: who asks is killed while it waits, and its place goes too" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 --hold-for $$
	eventually in_line 1
	kill -KILL "${pids[b]}"
	ended b
	eventually in_line 0
	let_go a
	ended a
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 true
}

@test "-v and --verbose: how long it waited, and for whom" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 -v true
	eventually says 'flocklimit: x: waiting: 1 of 1 in use, 0 ahead of you (oldest holder: pid ' b.err
	let_go a
	ended b
	[ "$status" -eq 0 ]
	has_lines 2 b.err
	says 'flocklimit: x: waited ' b.err
	run -0 "$FLOCKLIMIT" -N x -n 1 --verbose true
	[[ $output == "flocklimit: x: waited 0 ms" ]]
}

@test "-q and --quiet: no line at 75, but those for what is wrong" {
	hold a -N x -n 1
	silent 75 "$FLOCKLIMIT" -N x -q -t 0 true
	silent 75 "$FLOCKLIMIT" -N x --quiet -t 5ms true
	silent 75 "$FLOCKLIMIT" -N x -q --max-queue 0 true
	refused "$FLOCKLIMIT" -N x -q -n 0 true
	run --separate-stderr -127 "$FLOCKLIMIT" -N y -q ./missing
	one_line
}

@test "-h and --help" {
	run --separate-stderr -0 "$FLOCKLIMIT" -h
	[ -z "$stderr" ]
	help=$output
	run --separate-stderr -0 "$FLOCKLIMIT" --help
	[ "$output" = "$help" ]
	local option
	for option in --name --file --mode --limit --weight --timeout --nonblock --max-queue \
		--conflict-exit-code --run-timeout --signal --kill-after --preserve-status --command --no-fork --close \
		--background --nested --hold-for --until-ready --and --verbose --quiet --help --version; do
		[[ $help == *"$option"* ]]
	done
	[ ! -e limiters ]
}

@test "-V and --version are configure.ac's" {
	local version
	version=$(sed -n 's/^AC_INIT(\[[^]]*\], *\[\([^]]*\)\].*/\1/p' "$TESTS_SOURCE/../configure.ac")
	[ -n "$version" ]
	run --separate-stderr -0 "$FLOCKLIMIT" -V
	[ "$output" = "flocklimit $version" ]
	run --separate-stderr -0 "$FLOCKLIMIT" --version
	[ "$output" = "flocklimit $version" ]
}

@test "--help that can't be written is a failure with a line" {
	[ -c /dev/full ] || skip "no /dev/full"
	run -125 sh -c '"$FLOCKLIMIT" --help >/dev/full'
	[[ $output == "flocklimit: "* ]]
}

@test "options end at the first word that is none, and at --" {
	run -0 "$FLOCKLIMIT" -N x echo -n 5 --version
	[ "$output" = '5 --version' ] || [ "$output" = '-n 5 --version' ]
	run -0 "$FLOCKLIMIT" -N x -- echo -- a
	[ "$output" = '-- a' ]
	run -0 "$FLOCKLIMIT" -N x printf '<%s>' -h -V -- ''
	[ "$output" = '<-h><-V><--><>' ]
	printf '#!/bin/sh\necho dashed\n' >-x
	chmod +x -- -x
	PATH=$T:$PATH run -0 "$FLOCKLIMIT" -N x -- -x
	[ "$output" = dashed ]
	POSIXLY_CORRECT=1 run -0 "$FLOCKLIMIT" -N x -n 1 echo a -h
	[ "$output" = 'a -h' ]
}

@test "short options in one word" {
	run -0 "$FLOCKLIMIT" -qoNx -n1 echo ran
	[ "$output" = ran ]
	run -0 "$FLOCKLIMIT" -qot0 -Nx echo ran
	[ "$output" = ran ]
}

@test "GNU abbreviations of long options either work or are refused" {
	run "$FLOCKLIMIT" --nam x echo ran
	[ "$status:$output" = 0:ran ] || [ "$status" -eq 125 ]
	refused "$FLOCKLIMIT" --n x echo ran
}

@test "numbers that are none" {
	local word
	for word in abc -1 0 1e3 99999999999999999999 '' ' 1' '1 ' +1 0x10 1.5 1000000001 4294967297 18446744073709551617; do
		refused "$FLOCKLIMIT" -N x -n "$word" true
		[[ $stderr == *"-n '$word'"* ]]
		refused "$FLOCKLIMIT" -N x --limit="$word" true
		refused "$FLOCKLIMIT" -N x -n 10 -w "$word" true
		[[ $stderr == *"-w '$word'"* ]]
	done
	for word in % 0% -5% abc% 1.5% 100001% 99999999999999999999% %5 5%%; do
		refused "$FLOCKLIMIT" -N x -n "$word" true
	done
	for word in abc -1 256 '' 1e2 99999999999999999999; do
		refused "$FLOCKLIMIT" -N x -E "$word" true
	done
	for word in abc -1 '' 1e2 99999999999999999999; do
		refused "$FLOCKLIMIT" -N x --max-queue "$word" true
		[[ $stderr == *"--max-queue '$word'"* ]]
	done
	[ ! -e limiters ]
}

@test "-n as flock(1) has it gets a hint at --nonblock" {
	: >file
	refused "$FLOCKLIMIT" -n file true
	[[ $stderr == *--nonblock* ]]
	refused "$FLOCKLIMIT" -n /var/lock/file true
	[[ $stderr == *--nonblock* ]]
}

@test "names that are none" {
	local name
	for name in a/b /abs .hidden . .. 'a b' '' "$(printf 'a%.0s' {1..65})" $'a\nb' 'é' 'a*'; do
		refused "$FLOCKLIMIT" -N "$name" true
	done
	refused env FLOCKLIMIT_NAME='a b' "$FLOCKLIMIT" true
	refused env FLOCKLIMIT_NAME="$T/lim" "$FLOCKLIMIT" true
	[[ $stderr == *"FLOCKLIMIT_NAME '$T/lim': not a name: for a path use --file"* ]]
	[ -z "$(ls limiters 2>/dev/null)" ]
}

@test "durations: numbers, units, several of them, and more than anyone lives" {
	local word
	for word in 90 .5 5. 1e3 1e+3 1.5e-3s 4000000000 1e30 99999999999999999999 99999999d 10min 2hr 30sec \
		250us 1h30m 1h30min10.5s 1d1e1ms; do
		silent 0 "$FLOCKLIMIT" -N x -t "$word" -T 1h -k "$word" true
		silent 0 "$FLOCKLIMIT" -N paced --ramp 1+1/1s --ramp-idle "$word" true
		silent 0 "$FLOCKLIMIT" -N "stagger$word" --stagger "$word" true
	done
	# A number that was misread would end it too early, or too late for the time limit of the test.
	silent 0 "$FLOCKLIMIT" -N x -T 1e3 sleep 0.1
	silent 124 timeout 100 "$FLOCKLIMIT" -N x -T 0m0.02e1s sleep inf
	hold a -N x -n 1
	run -75 timeout 100 "$FLOCKLIMIT" -N x -n 1 -t 0h100ms0s true
	refused "$FLOCKLIMIT" -N x --rate 1/4d true
	[[ $stderr == *"DUR/N is at most 3 days" ]]
	refused "$FLOCKLIMIT" -N x --ramp 1+1/50d true
	[[ $stderr == *"DUR is 1ms to 49 days" ]]
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -t soon true
	[ "$stderr" = "flocklimit: -t 'soon': not a duration: use seconds, 500ms, 10m or 1h30m" ]
}

@test "durations that are none" {
	local word
	for word in 1x -1 '' 1.2.3 1e . .s s ms 1S '1 s' ' 1' +1 1..2 0x1 1ss nan inf 1h30 1h-30m h1m 1e+ 1e+-3 1E3; do
		refused "$FLOCKLIMIT" -N x -t "$word" true
		[[ $stderr == *"-t '$word'"* ]]
		refused "$FLOCKLIMIT" -N x --run-timeout "$word" true
		refused "$FLOCKLIMIT" -N x -T 1 -k "$word" true
	done
	[ ! -e limiters ]
}

@test "signals and modes that are none" {
	local word
	for word in '' NOPE 65 -1 SIG SIGSIGTERM 99999999999999999999 RTMIN+99 'TERM ' 9x; do
		refused "$FLOCKLIMIT" -N x -T 1 -s "$word" true
	done
	for word in '' rw 9 0668 01777 1 0 0400 0666 0777 0602 -600 99999999999; do
		refused "$FLOCKLIMIT" -f lim --mode "$word" true
	done
	[ ! -e lim ]
}

@test "--nested takes join or queue" {
	refused "$FLOCKLIMIT" -N x --nested=maybe true
	refused "$FLOCKLIMIT" -N x --nested= true
	silent 0 "$FLOCKLIMIT" -N x --nested=join true
	silent 0 "$FLOCKLIMIT" -N x --nested queue true
}

@test "no command, unknown options, missing values" {
	refused "$FLOCKLIMIT"
	refused "$FLOCKLIMIT" -n 1
	refused "$FLOCKLIMIT" --
	refused "$FLOCKLIMIT" -Z true
	[[ $stderr == *-Z* ]]
	refused "$FLOCKLIMIT" -Zq true
	[[ $stderr == *-Z* ]]
	refused "$FLOCKLIMIT" -qZ true
	[[ $stderr == *Z* ]]
	refused "$FLOCKLIMIT" --zzz true
	[[ $stderr == *--zzz* ]]
	refused "$FLOCKLIMIT" --quiet=yes true
	[[ $stderr == *--quiet* ]]
	local option
	for option in -N -f -n -j -w -t -E -T -s -k -c --name --file --mode --limit --weight --timeout \
		--max-queue --conflict-exit-code --run-timeout --signal --kill-after --command --nested \
		--hold-for; do
		refused "$FLOCKLIMIT" "$option"
		[[ $stderr == *"$option"* ]]
	done
	refused "$FLOCKLIMIT" -f '' true
	[ ! -e limiters ]
}

@test "argv of nothing at all" {
	python3 -c '' 2>/dev/null || skip "needs python3"
	run -125 timeout 300 python3 -c '
import os
try:
    os.execv(os.environ["FLOCKLIMIT"], [""])
except ValueError:
    raise SystemExit(125)'
}

@test "no byte of a command line can move the terminal'\''s cursor" {
	run -127 "$FLOCKLIMIT" -N x $'./a\033[2J\nb'
	[ "${#lines[@]}" -eq 1 ]
	[[ $output != *$'\033'* ]]
	refused "$FLOCKLIMIT" -N $'x\033[2J' true
	[[ $stderr != *$'\033'* ]]
	# As one byte, and what turns the line around; what is only not UTF-8, or not ASCII, stays.
	run -127 "$FLOCKLIMIT" -N x $'./a\x9b2J\xe2\x80\xae\xc2\x9b\xe9\xc3\xa4'
	LC_ALL=C grep -qaF $'./a?2J?????\xe9\xc3\xa4' <<<"$output"
}

@test "no line of a help is wider than a terminal" {
	local program
	for program in flocklimit flockmap flocksem flocklimitctl; do
		"${FLOCKLIMIT%/*}/$program" --help >help
		awk -v p="$program" 'length > 80 { print p ": " $0; bad = 1 } END { exit bad }' help
	done
}
