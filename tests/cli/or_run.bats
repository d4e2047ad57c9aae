#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Commands without a permit: --or-run, and FLOCKLIMIT=off.

load ../helpers/lib.bash
load ../helpers/ctl.bash

MAP=${FLOCKLIMIT%/*}/flockmap
TAIL='; the command runs without a permit'

# runs PATTERN OPTION...: one line that fits the pattern, and the command with its own status.
runs() {
	local pattern=$1
	shift
	run --separate-stderr -7 "$FLOCKLIMIT" --or-run "$@" sh -c 'echo "ran ${FLOCKLIMIT_TICKET-bare}"; exit 7'
	echo "output: $output, stderr: $stderr"
	[ "$output" = 'ran bare' ]
	one_line
	# shellcheck disable=SC2053 # it is a pattern
	[[ $stderr == $pattern"$TAIL" ]]
}

@test "with a permit --or-run changes nothing" {
	run --separate-stderr -0 "$FLOCKLIMIT" --or-run -N a -n 1 sh -c 'echo "$FLOCKLIMIT_TICKET"'
	[ "$output" = 1 ]
	[ -z "$stderr" ]
	run -127 "$FLOCKLIMIT" --or-run -N a -n 1 nosuch
	[ "$output" = "flocklimit: a: cannot run 'nosuch': No such file or directory" ]
}

@test "without a permit the command runs, after one line" {
	hold one -N a -n 1
	runs 'flocklimit: a: no permit after 10 ms: 1 of 1 in use*' -N a -n 1 -t 10ms
	runs 'flocklimit: a: no permit without waiting: *' -N a -n 1 --nonblock
	runs 'flocklimit: a: no permit, as --max-queue is 0: *' -N a -n 1 --max-queue 0
	runs 'flocklimit: a: no permit without waiting: *' -N a -n 1 --nonblock -F
	runs 'flocklimit: a: no permit without waiting: *' -N a -n 1 --nonblock -T 100
	runs 'flocklimit: a: no permit without waiting: *' -N a -n 1 --nonblock -E 9
	runs 'flocklimit: a: no permit without waiting: *' -N b -n 1 --and a --nonblock
	"$CTL" close a
	runs 'flocklimit: a: no permit: the limiter is closed, until flocklimitctl open a' -N a -n 1
	let_go one
	ended one
}

@test "one that is cancelled runs" {
	hold one -f lim -n 1
	background two "$FLOCKLIMIT" --or-run -f lim sh -c 'echo "ran ${FLOCKLIMIT_TICKET-bare}"'
	eventually waits 1
	"$CTL" cancel -f lim "$("$CTL" show --json -f lim | jq '.waiters[0].ticket')"
	ended two
	[ "$status" = 0 ]
	[ "$(cat two.out)" = 'ran bare' ]
	[[ $(cat two.err) == "flocklimit: lim: no permit: cancelled by "*"$TAIL" ]]
	let_go one
	ended one
}

@test "with -q nothing is said of it" {
	hold one -N a -n 1
	run --separate-stderr -0 "$FLOCKLIMIT" --or-run -q -N a --nonblock echo ran
	[ "$output" = ran ]
	[ -z "$stderr" ]
	let_go one
	ended one
}

@test "without a limiter that can be used the command runs, after one line" {
	mkdir -m 700 limiters
	head -c 8192 /dev/urandom >limiters/a
	runs 'flocklimit: a: *' -N a
	: >file
	FLOCKLIMIT_DIR=$T/file/x runs 'flocklimit: *' -N a
	FLOCKLIMIT_DIR=relative runs 'flocklimit: *' -N a
	runs 'flocklimit: no store nosuch:// is installed: *' --store nosuch://x -N a
	FLOCKLIMIT_LIMITS=$T/nosuch runs "flocklimit: $T/nosuch: No such file or directory*" -N a
	echo 'limiter a -n none' >limits
	FLOCKLIMIT_LIMITS=$T/limits runs "flocklimit: $T/limits:1: *" -N a
}

@test "a signal during the wait ends flocklimit, and runs nothing" {
	hold one -f lim -n 1
	background two "$FLOCKLIMIT" --or-run -f lim touch ran
	eventually waits 1
	kill -TERM "${pids[two]}"
	ended two
	[ "$status" = 143 ]
	[ ! -e ran ]
	let_go one
	ended one
}

@test "what is not about the limiter stops the command as ever" {
	run --separate-stderr -125 "$FLOCKLIMIT" --or-run -N a -n 0 touch ran
	one_line
	run --separate-stderr -125 "$FLOCKLIMIT" --or-run -N a -n 1 -w 2 touch ran
	[[ $stderr != *"runs without"* ]]
	[ ! -e ran ]
	run -125 "$FLOCKLIMIT" --or-run -N a --hold-for $$
	[ "$output" = "flocklimit: --or-run has no effect with --hold-for, which runs no command: drop it" ]
	exec 9>file
	run -125 "$FLOCKLIMIT" --or-run -N a --fd 9
	[ "$output" = "flocklimit: --or-run has no effect with --fd, which runs no command: drop it" ]
}

@test "a limits file may say --or-run" {
	printf '%s\n' 'limiter a -n 1 --nonblock --or-run' 'command sh -N a' >limits
	export FLOCKLIMIT_LIMITS=$T/limits
	hold one -N a
	run --separate-stderr -0 "$FLOCKLIMIT" sh -c 'echo ran'
	[ "$output" = ran ]
	[[ $stderr == *"$TAIL" ]]
	let_go one
	ended one
}

@test "in the background --or-run starts the command, and says so" {
	hold one -N a -n 1
	run --separate-stderr -0 "$FLOCKLIMIT" --background --or-run -N a --nonblock \
		sh -c 'echo ran >ran'
	one_line
	eventually test -s ran
	let_go one
	ended one
}

# ---- FLOCKLIMIT=off ----

@test "FLOCKLIMIT=off runs commands without a limiter, silently" {
	export FLOCKLIMIT_LIMITS=$T/nosuch
	for options in '-n 1' '-n 1 -F' '-n 1 -T 100' '--store nosuch://x' '--and b --jobserver' '--until-ready'; do
		# shellcheck disable=SC2086 # several words
		run --separate-stderr -7 env FLOCKLIMIT=off "$FLOCKLIMIT" -N a $options \
			sh -c 'echo "ran ${FLOCKLIMIT_TICKET-bare} $FLOCKLIMIT"; exit 7'
		[ "$output" = 'ran bare off' ]
		[ -z "$stderr" ]
	done
	[ ! -e limiters ]
}

@test "with FLOCKLIMIT=off the command is one exec away, and -T still ends it" {
	background off env FLOCKLIMIT=off "$FLOCKLIMIT" -N a -n 1 sh -c 'echo $$'
	pid=${pids[off]}
	ended off
	[ "$(cat off.out)" = "$pid" ]
	run -124 env FLOCKLIMIT=off "$FLOCKLIMIT" -N a -n 1 -T 100ms sleep 100
	run -0 env FLOCKLIMIT=off "$FLOCKLIMIT" -N a --background sh -c 'echo ran >ran'
	eventually test -s ran
}

@test "with FLOCKLIMIT=off a process and a descriptor get no permit" {
	run -0 env FLOCKLIMIT=off "$FLOCKLIMIT" -N a --hold-for $$
	[ -z "$output" ]
	exec 9>file
	run -0 env FLOCKLIMIT=off "$FLOCKLIMIT" -N a --fd 9
	run -0 env FLOCKLIMIT=off "$FLOCKLIMIT" -N a --fd 9 --unlock
	[ ! -e limiters ]
}

@test "wrong words are wrong with FLOCKLIMIT=off as well, and another value means nothing" {
	run -125 env FLOCKLIMIT=off "$FLOCKLIMIT" -n none touch ran
	[ ! -e ran ]
	run -0 env FLOCKLIMIT=0 "$FLOCKLIMIT" -N a -n 1 sh -c 'echo "$FLOCKLIMIT_TICKET"'
	[ "$output" = 1 ]
}

@test "with FLOCKLIMIT=off flockmap runs as many at once as -n says, without any limiter" {
	export FLOCKLIMIT_LIMITS=$T/nosuch TMPDIR=$T/tmp
	mkdir tmp
	run --separate-stderr -0 env FLOCKLIMIT=off "$MAP" -n 2 --and b --when 'mem>100T' \
		sh -c 'echo "$1 ${FLOCKLIMIT_TICKET-bare}"' sh {} ::: a b c
	[ "$output" = $'a bare\nb bare\nc bare' ]
	[ -z "$stderr" ]
	# Each waits for the other, so both run at once; and for a third nobody waits.
	mkfifo one two
	run -0 timeout 100 env FLOCKLIMIT=off "$MAP" -n 2 sh -c \
		'case $1 in a) echo >one; read -r x <two ;; b) read -r x <one; echo >two ;; esac' sh {} ::: a b c
	run -123 env FLOCKLIMIT=off "$MAP" sh -c 'exit {}' ::: 0 3
	[ ! -e limiters ]
	[ -z "$(ls tmp)" ]
}

@test "with FLOCKLIMIT=off flocksem runs its command" {
	run -0 env FLOCKLIMIT=off "${FLOCKLIMIT%/*}/flocksem" --fg --id a 'echo "${FLOCKLIMIT_TICKET-bare}"'
	[ "$output" = bare ]
	[ ! -e limiters ]
}

@test "flockmap --or-run: the item that has no permit runs, and all behind it" {
	hold one -N a -n 1
	run --separate-stderr -0 "$MAP" --or-run -N a -n 1 -t 10ms echo ::: 1 2 3
	[ "$output" = $'1\n2\n3' ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == 'flockmap: a: no permit: '*'; the items run without permits' ]]
	run --separate-stderr -123 "$MAP" --or-run -q -N a -n 1 --nonblock sh -c 'echo "$1 ${FLOCKLIMIT_TICKET-bare}"; exit 3' sh ::: 1
	[ "$output" = '1 bare' ]
	[ -z "$stderr" ]
	# What runs already has its permit, and what comes later is never more than -n at once.
	let_go one
	ended one
	run --separate-stderr -0 "$MAP" --or-run -N b -n 2 --nonblock sh -c 'mkdir in.$1; ls -d in.* | wc -l; sleep 0.1; rmdir in.$1' sh ::: 1 2 3 4 5 6
	[ "$(sort -n <<<"$output" | tail -n 1)" -le 2 ]
	[ "${#lines[@]}" = 6 ]
	"$CTL" limit a 1
	run --separate-stderr -0 "$MAP" --or-run -N a -w 2 echo ::: 1 2
	[ "$output" = $'1\n2' ]
	[[ $stderr == *"above the limit"*'; the items run without permits' ]]
	head -c 20000 /dev/urandom >damaged
	run --separate-stderr -0 "$MAP" --or-run -f damaged -n 1 echo ::: 1 2
	[ "$output" = $'1\n2' ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *'; the items run without permits' ]]
	run --separate-stderr -0 "$MAP" --or-run --store nosuch://x -N y -n 1 echo ::: 1
	[ "$output" = 1 ]
	[[ $stderr == *'; the items run without permits' ]]
}
