#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Exit statuses: the command's own, and ours.

load ../helpers/lib.bash

@test "every exit status of the command is ours" {
	local i status
	for ((i = 0; i < 256; i++)); do
		status=0
		"$FLOCKLIMIT" -N x sh -c "exit $i" || status=$?
		[ "$status" -eq "$i" ]
	done
}

@test "128+N when signal N ended the command" {
	local sig
	for sig in 1 2 3 6 9 10 12 13 14 15 34 35 50 64; do
		silent $((128 + sig)) "$FLOCKLIMIT" -N x sh -c "kill -$sig \$\$"
	done
}

@test "75 when there is no permit" {
	hold a -N x -n 1
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 0 echo ran
	[ -z "$output" ]
	one_line
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 20ms echo ran
	one_line
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 --max-queue 0 echo ran
	one_line
}

@test "-E changes it, 0 and 255 included" {
	local code
	hold a -N x -n 1
	for code in 0 1 9 75 255; do
		run -"$code" "$FLOCKLIMIT" -N x --nonblock -E "$code" false
		run -"$code" "$FLOCKLIMIT" -N x -t 1ms --conflict-exit-code="$code" false
		run -"$code" "$FLOCKLIMIT" -N x --max-queue 0 -E "$code" false
	done
}

@test "-E changes nothing else" {
	silent 75 "$FLOCKLIMIT" -N x -E 9 sh -c 'exit 75'
	run -127 "$FLOCKLIMIT" -N x -E 9 /nowhere/at/all
	run -125 "$FLOCKLIMIT" -N x -E 9 -n abc true
	silent 0 "$FLOCKLIMIT" -N x -E 9 true
}

@test "124 when the run timeout ended it" {
	silent 124 "$FLOCKLIMIT" -N x -T 50ms sleep inf
	silent 124 "$FLOCKLIMIT" -N x --run-timeout=50ms sh -c 'trap "exit 0" TERM; while :; do sleep 0.01; done'
}

@test "137 only when it took the KILL" {
	silent 137 env --ignore-signal=TERM "$FLOCKLIMIT" -N x -T 50ms -k 50ms sleep inf
	silent 124 "$FLOCKLIMIT" -N x -T 50ms -k 60 sleep inf
	silent 137 "$FLOCKLIMIT" -N x -T 50ms -s KILL sleep inf
	silent 137 "$FLOCKLIMIT" -N x sh -c 'kill -KILL $$'
}

@test "127 when the command is not found" {
	PATH=/usr/bin:/bin run --separate-stderr -127 "$FLOCKLIMIT" -N x no-such-program-anywhere
	one_line
	[[ $stderr == *no-such-program-anywhere* ]]
	run --separate-stderr -127 "$FLOCKLIMIT" -N x ./missing
	one_line
	run --separate-stderr -127 "$FLOCKLIMIT" -N x ''
	one_line
}

@test "127 when its interpreter is not found" {
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	run --separate-stderr -127 "$FLOCKLIMIT" -N x ./script
	one_line
}

@test "126 when it can't be executed" {
	: >plain
	run --separate-stderr -126 "$FLOCKLIMIT" -N x ./plain
	one_line
	[[ $stderr == *./plain* ]]
	run --separate-stderr -126 "$FLOCKLIMIT" -N x /
	one_line
	run --separate-stderr -126 "$FLOCKLIMIT" -N x ./plain/below
	one_line
	mkdir bin
	: >bin/tool
	run --separate-stderr -126 env PATH="$T/bin:/nowhere" "$FLOCKLIMIT" -N x tool
	one_line
}

@test "126 and 127 with -F as well" {
	: >plain
	run --separate-stderr -126 "$FLOCKLIMIT" -N x -F ./plain
	one_line
	run --separate-stderr -127 "$FLOCKLIMIT" -N x -F ./missing
	one_line
}

@test "a command that can't be run keeps no permit" {
	run -127 "$FLOCKLIMIT" -N x -n 1 ./missing
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	run -127 "$FLOCKLIMIT" -N x -n 1 -F ./missing
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "what \$PATH refuses in one place is found in the next" {
	mkdir one two
	: >one/tool
	printf '#!/bin/sh\necho two\n' >two/tool
	chmod +x two/tool
	PATH=$T/one:$T/two:$PATH run -0 "$FLOCKLIMIT" -N x tool
	[ "$output" = two ]
}

@test "a script without #! is run by sh, with its arguments" {
	printf 'echo "$# $1 $2"\n' >script
	chmod +x script
	run -0 "$FLOCKLIMIT" -N x ./script 'a b' ''
	[ "$output" = '2 a b ' ]
	PATH=$T:$PATH run -0 "$FLOCKLIMIT" -N x script
	[ "$output" = '0  ' ]
}

@test "an empty PATH means the current directory, an unset one the system's" {
	printf '#!/bin/sh\necho here\n' >tool
	chmod +x tool
	run -0 env PATH= "$FLOCKLIMIT" -N x tool
	[ "$output" = here ]
	run -127 env PATH= "$FLOCKLIMIT" -N x ls
	silent 0 env -u PATH "$FLOCKLIMIT" -N x true
}

@test "a path that is too long, and a loop of links, are 126" {
	ln -s loop loop
	run --separate-stderr -126 "$FLOCKLIMIT" -N x ./loop
	one_line
	run --separate-stderr -126 "$FLOCKLIMIT" -N x "./$(printf '%05000d' 0)"
	one_line
}

@test "125 when flocklimit fails" {
	: >plain
	refused env FLOCKLIMIT_DIR="$T/plain" "$FLOCKLIMIT" -N x true
	refused env FLOCKLIMIT_DIR="$T/no/where" "$FLOCKLIMIT" -N x true
}

@test "never 255 of its own: xargs goes on" {
	hold a -N x -n 1
	run -123 xargs -n 1 "$FLOCKLIMIT" -N x --nonblock -q echo <<<'1 2 3'
	[ -z "$output" ]
	let_go a
	ended a
	run -0 xargs -n 1 "$FLOCKLIMIT" -N x -n 1 echo <<<'1 2 3'
	[ "$output" = $'1\n2\n3' ]
}

@test "the end of a command that timed out counts even if it says otherwise" {
	silent 124 "$FLOCKLIMIT" -N x -T 30ms sh -c 'trap "exit 7" TERM; while :; do sleep 0.01; done'
}

@test "a command that ends before its run timeout keeps its status" {
	silent 7 "$FLOCKLIMIT" -N x -T 60 sh -c 'exit 7'
	silent 143 "$FLOCKLIMIT" -N x -T 60 sh -c 'kill -TERM $$'
}

@test "a program that cannot be run leaves no new limiter; one that is there stays" {
	mkdir a b
	: >plain
	: >a/both
	printf '#!/bin/sh\necho ran\n' >b/both
	chmod +x b/both
	run -127 "$FLOCKLIMIT" nosuch
	run -127 "$FLOCKLIMIT" -N x -n 1 /nowhere/at/all
	run -127 "$FLOCKLIMIT" -N x -F nosuch
	run -127 "$FLOCKLIMIT" -f lim ./nosuch
	run -127 "$FLOCKLIMIT" -N x ''
	run -126 "$FLOCKLIMIT" -N x ./plain
	run -126 "$FLOCKLIMIT" -N x "$T"
	PATH=$T/a:$PATH run -126 "$FLOCKLIMIT" -N x both
	SHELL=/nowhere run -127 "$FLOCKLIMIT" -N x -c true
	[ ! -e limiters ]
	[ ! -e lim ]
	# What is found and refused is passed over for what comes later in the PATH, as exec does.
	[ "$(PATH=$T/a:$T/b:$PATH "$FLOCKLIMIT" -N x both)" = ran ]
	[ "$(cd b && PATH=:$PATH "$FLOCKLIMIT" -N y both)" = ran ]
	run -127 "$FLOCKLIMIT" -N x nosuch
	[ -e limiters/x ]
}
