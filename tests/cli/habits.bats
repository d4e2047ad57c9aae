#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What people type who know flock, sem, parallel, xargs, timeout and make: each gets our word for it.

load ../helpers/lib.bash

# answers TEXT WORD...: flocklimit WORD... is refused, and its line has this text.
answers() {
	local text=$1
	shift
	refused timeout 300 "$FLOCKLIMIT" "$@"
	[[ $stderr == *"$text"* ]]
}

@test "an unknown option: did you mean" {
	answers "option '--nmae': unknown: did you mean --name?" --nmae x true
	answers "option '--weigth=2': unknown: did you mean --weight?" --weigth=2 true
	answers "option '--frobnicate': unknown: see flocklimit --help" --frobnicate true
	answers "option '-z': unknown: see flocklimit --help" -z true
	answers "option '-z': unknown: see flocklimit --help" -vz true
	answers "option '--quiet=1': takes no value" --quiet=1 true
	answers "--name needs a value" --name
}

@test "an ambiguous prefix lists its candidates" {
	answers "option '--no': ambiguous: did you mean --nonblock, --not-seat or --no-fork?" --no true
	answers "option '--ra=5': ambiguous: did you mean " --ra=5 true
	[[ $stderr == *--ramp* && $stderr == *--ramp-idle* && $stderr == *--rate* ]]
}

@test "--jobs is -j, and no prefix of --jobserver" {
	[ "$("$FLOCKLIMIT" -N x --jobs 4 sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 4 ]
	[ "$("$FLOCKLIMIT" -N x --jobs=3 sh -c 'echo "$FLOCKLIMIT_LIMIT"')" = 3 ]
}

@test "--jobserver fifo: its value needs the equals sign" {
	answers "--jobserver fifo: write --jobserver=fifo" --jobserver fifo make
	answers "--jobserver pipe: write --jobserver=pipe" -N x --jobserver pipe -n 4 make
	answers "--jobserver fifo: write --jobserver=fifo" --jobse fifo
	# After -- it is a command.
	printf '#!/bin/sh\necho ran\n' >fifo
	chmod +x fifo
	[ "$(PATH=$T:$PATH "$FLOCKLIMIT" -N x -q --jobserver -- fifo)" = ran ]
	[ "$("$FLOCKLIMIT" -N x -q --jobserver ./fifo)" = ran ]
}

@test "options of flock, sem, parallel, xargs and timeout: the counterpart" {
	answers "use -t DUR" --wait 5 true
	answers "use -t DUR" --wait=5 true
	answers "use --nonblock" --nb true
	answers "use -n 1" -x true
	answers "use -n 1" --exclusive true
	answers "-n N" --shared true
	answers "is for --fd N; a command's permit is released when it ends" -u true
	answers "use -N NAME" --id build true
	answers "drop the option" --fg true
	answers "use --background" --bg true
	answers "use -n N" -P 4 true
	answers "use -n N" --max-procs=4 true
	answers "use --stagger DUR" --delay 1 true
	answers "use flockmap --fail-fast" --halt now,fail=1 true
	answers "use flockmap --fail-fast" --fail-fast now true
	answers "use flockmap" --keep-order true
	answers "use flockmap --dry-run" --dryrun true
	answers "for a command per item use flockmap" -I '{}' true
	answers "drop the option" --foreground true
	answers "use flocklimitctl list" --list
	answers "use flocklimitctl show NAME" --status
}

@test "the help fits a terminal of 80 columns" {
	run -0 "$FLOCKLIMIT" --help
	local line
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ]
	done
}

@test "-c needs a name, and no name begins with a hyphen" {
	answers "-c needs --name, --file or FLOCKLIMIT_NAME" -c true
	FLOCKLIMIT_NAME=x silent 0 "$FLOCKLIMIT" -c true
	silent 0 "$FLOCKLIMIT" -f "$T/lim" -c true
	answers "--name '-n': not a name: it must not begin with a hyphen" --name -n 4 true
	answers "'-n': not a name" -N -n 4 true
	FLOCKLIMIT_NAME=-n refused "$FLOCKLIMIT" true
	[ ! -e limiters/-n ]
}

@test "-n without a number: what a limit is, and --nonblock where the word is a path or a command" {
	local word
	for word in =4 auto +2; do
		answers "-n '$word': not a limit: use 1 to 1000000000, or N%" -n "$word" true
		[[ $stderr != *nonblock* ]]
	done
	: >file
	answers "for flock's -n use --nonblock" -n file true
	answers "for flock's -n use --nonblock" -n true
	answers "for flock's -n use --nonblock" -n sh -c true
	answers "for flock's -n use --nonblock" -n /run/lock/x true
}

@test "-w with flock's meaning: use -t" {
	answers "for flock's -w use -t" -N x -n 2 -w 10 true
	answers "for flock's -w use -t" -N x -n 2 -w 10s true
	# It may be a weight; but in a file that is named as a lock file, it hardly is.
	run --separate-stderr -0 "$FLOCKLIMIT" -f "$T/a.lock" -w 5 -n 10 true
	[ "$stderr" = "flocklimit: $T/a.lock: -w 5 takes 5 units; for flock's -w, a time, use -t 5" ]
	silent 0 "$FLOCKLIMIT" -f "$T/a.lock" -w 5 -n 10 -q true
	# The writer of readers, an elastic weight, and other names.
	silent 0 "$FLOCKLIMIT" -f "$T/a.lock" -w 10 -n 10 true
	silent 0 "$FLOCKLIMIT" -f "$T/a.lock" -w 2-8 -n 10 true
	silent 0 "$FLOCKLIMIT" -f "$T/a.lock" -n 10 true
	silent 0 "$FLOCKLIMIT" -f "$T/memory" -w 5 -n 10 true
	silent 0 "$FLOCKLIMIT" -N lock -w 5 -n 10 true
}

@test "a lock file, a descriptor or a shell line for a command: use -f, --fd, -c" {
	: >lock
	run --separate-stderr -126 "$FLOCKLIMIT" "$T/lock" echo a
	[[ $stderr == *"for a lock file use -f"* ]]
	run --separate-stderr -126 "$FLOCKLIMIT" -w 5 -n 10 "$T/lock" echo a
	[[ $stderr == *"for a lock file use -f PATH, and for flock's -w use -t" ]]
	run --separate-stderr -127 "$FLOCKLIMIT" 9
	[[ $stderr == *"use --fd N"* ]]
	run --separate-stderr -127 "$FLOCKLIMIT" 10s sleep 1
	[[ $stderr == *"for timeout's DURATION use -T DUR" ]]
	run --separate-stderr -127 "$FLOCKLIMIT" 10 sleep 1
	[[ $stderr == *"for timeout's DURATION use -T DUR" ]]
	run --separate-stderr -127 "$FLOCKLIMIT" :::: list
	[[ $stderr == *"for a command per item use flockmap" ]]
	run --separate-stderr -127 "$FLOCKLIMIT" 'echo b'
	[[ $stderr == *"for a shell line use -c"* ]]
}

@test "a word before the command, or a verb: the form that works" {
	local word wanted
	while read -r word wanted; do
		run --separate-stderr -127 env PATH=/nowhere "$FLOCKLIMIT" "$word" true
		one_line
		[[ $stderr == *": $wanted" ]]
	done <<-'END'
		run flocklimit runs COMMAND: leave the word out
		exec flocklimit runs COMMAND: leave the word out
		create the first use creates a limiter: leave the word out
		list for a verb use flocklimitctl
		status for a verb use flocklimitctl
	END
	# Where there is such a program, it is run.
	printf '#!/bin/sh\necho "ran $*"\n' >run
	chmod +x run
	[ "$(PATH=$T:$PATH "$FLOCKLIMIT" run fast)" = "ran fast" ]
}
