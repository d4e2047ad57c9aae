#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimit under flocklimit.

load ../helpers/lib.bash

@test "under a permit of the same limiter the command joins it and runs at once" {
	run -0 timeout 300 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x echo ran
	[ "$output" = ran ]
}

@test "with an empty environment it joins by the guard, also under another limiter" {
	run -0 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N y -n 1 env -i FLOCKLIMIT_DIR="$FLOCKLIMIT_DIR" \
		"$FLOCKLIMIT" -N x -n 1 --nonblock echo ran
	[ "$output" = ran ]
	run -0 "$FLOCKLIMIT" -N x -n 1 -F env -i "$FLOCKLIMIT" -f "$FLOCKLIMIT_DIR/x" -n 1 --nonblock echo ran
	[ "$output" = ran ]
	run -75 "$FLOCKLIMIT" -N x -n 1 env -i FLOCKLIMIT_DIR="$FLOCKLIMIT_DIR" \
		"$FLOCKLIMIT" -N x -n 1 -q --nonblock --nested=queue echo ran
	[ -z "$output" ]
}

@test "a wait that has just ended is not for the permit that ended it" {
	terminal a "$FLOCKLIMIT" -N x -n 1 --gate-patience 2s --when-run 'sleep 3; false' echo ran
	eventually says "ran" a.out
	exec 8>&-
	ended a
	! says "runs under that permit" a.out || false
}

@test "without environment and guard the wait says that it is for its own parent" {
	terminal a "$FLOCKLIMIT" -N x -n 1 bash -c 'exec 50>&-
		exec env -i FLOCKLIMIT_DIR="$FLOCKLIMIT_DIR" "$FLOCKLIMIT" -N x -n 1 echo ran'
	eventually says "this process runs under that permit" a.out
	kill -TERM "${pids[a]}"
	exec 8>&-
	ended a
}

@test "a joined command has the permit's variables" {
	run -0 "$FLOCKLIMIT" -N x -n 5 -w 2 sh -c \
		'a="$FLOCKLIMIT_WEIGHT $FLOCKLIMIT_LIMIT $FLOCKLIMIT_SEAT $FLOCKLIMIT_TICKET $FLOCKLIMIT_HELD"
		b=$("$FLOCKLIMIT" -N x -q -w 1 -n 9 sh -c "echo \"\$FLOCKLIMIT_WEIGHT \$FLOCKLIMIT_LIMIT \$FLOCKLIMIT_SEAT \$FLOCKLIMIT_TICKET \$FLOCKLIMIT_HELD\"")
		[ "$a" = "$b" ] || echo "$a - $b"'
	[ -z "$output" ]
}

@test "an inner limit without a name is the limit of a limiter of its own" {
	printf '#!/bin/sh\necho "$FLOCKLIMIT_LIMITER $FLOCKLIMIT_LIMIT $FLOCKLIMIT_TICKET"\n' >work
	chmod +x work
	run -0 timeout 300 "$FLOCKLIMIT" -N nightly -n 1 sh -c \
		'printf "%s\n" 1 2 3 | xargs -P0 -n1 "$FLOCKLIMIT" -n 1 ./work'
	[ "$(sort <<<"$output")" = $'work 1 1\nwork 1 2\nwork 1 3' ]
}

@test "FLOCKLIMIT_NAME passes through, and only by it an inner one finds the outer limiter" {
	run -0 "$FLOCKLIMIT" -N x -n 1 sh -c 'echo "${FLOCKLIMIT_NAME-none}"'
	[ "$output" = none ]
	run -0 env FLOCKLIMIT_NAME=y "$FLOCKLIMIT" -N x -n 1 \
		sh -c 'echo "$FLOCKLIMIT_NAME $FLOCKLIMIT_LIMITER"'
	[ "$output" = "y x" ]
	run -0 env FLOCKLIMIT_NAME=y timeout 300 "$FLOCKLIMIT" -n 1 \
		"$FLOCKLIMIT" sh -c 'echo "$FLOCKLIMIT_LIMITER $FLOCKLIMIT_TICKET"'
	[ "$output" = "y 1" ]
	run -0 timeout 300 "$FLOCKLIMIT" -n 1 sh -c '"$FLOCKLIMIT" sh -c "echo \$FLOCKLIMIT_TICKET"'
	[ "$output" = 1 ]
}

@test "an explicit -n or -w that has no effect is said in one line, and -q silences it" {
	local inner='"$FLOCKLIMIT" -N x "$@" echo ran'
	# joins TEXT OPTION...
	joins() {
		local text=$1
		shift
		run --separate-stderr -0 timeout 300 "$FLOCKLIMIT" -N x -n 4 -w 2 sh -c "$inner" sh "$@"
		[ "$output" = ran ]
		[[ $stderr == *"$text"* ]]
	}
	joins "flocklimit: x: -n 1 has no effect: this command joins the permit" -n 1
	one_line
	joins "x: -w 1 has no effect" -w 1
	one_line
	joins "x: -n 9 and -w 3 have no effect" -n 9 -w 3
	one_line
	joins "x: -n 1 and -w 5 have no effect" -w 5 -n 1
	one_line
	joins '' -q -w 5 -n 1
	[ -z "$stderr" ]
	joins '' -n 4 -w 2
	[ -z "$stderr" ]
	joins ''
	[ -z "$stderr" ]
}

@test "a weight above its own limit is refused where no permit is joined" {
	refused "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N y -w 5 -n 1 true
	[[ $stderr == *"y: -w 5 is above the limit of 1"* ]]
}

@test "--nested=queue stands in the line as anyone" {
	run -75 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x -n 1 --nested=queue --nonblock true
	[[ $output == *"1 of 1 in use"* ]]
	run -0 "$FLOCKLIMIT" -N x -n 2 "$FLOCKLIMIT" -N x -n 2 --nested=queue --nonblock echo ran
	[ "$output" = ran ]
	run -75 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x --nested queue -q -t 20ms true
}

@test "another limiter is another limiter" {
	run -0 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N y -n 1 sh -c 'echo "$FLOCKLIMIT_LIMITER"'
	[ "$output" = y ]
	hold a -N y -n 1
	run -75 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N y -n 1 -q --nonblock true
}

@test "the chain: x, then y, then x again is joined" {
	run -0 timeout 300 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N y -n 1 "$FLOCKLIMIT" -N x -n 1 \
		"$FLOCKLIMIT" -N y echo ran
	[ "$output" = ran ]
}

@test "an ended permit in the environment counts for nothing" {
	held=$("$FLOCKLIMIT" -N x -n 1 sh -c 'echo "$FLOCKLIMIT_HELD"')
	[ -n "$held" ]
	hold a -N x -n 1
	FLOCKLIMIT_HELD=$held run -75 "$FLOCKLIMIT" -N x --nonblock true
}

@test "a permit that ended under a child in the background counts for nothing" {
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 1 sh -c \
		'(cat go; "$FLOCKLIMIT" -N x -n 1 -q --nonblock true; echo $? >result) >/dev/null 2>&1 &'
	ended a
	hold b -N x -n 1
	timeout 300 sh -c ': >go'
	eventually test -s result
	[ "$(cat result)" = 75 ]
}

@test "a dead wrapper's permit, given up with -o, counts for nothing" {
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 1 -o sh -c \
		'echo $$ >a.up; cat go; "$FLOCKLIMIT" -N x -n 1 -q --nested=join -t 50ms true; echo $? >result'
	eventually test -s a.up
	kill -KILL "${pids[a]}"
	ended a
	timeout 300 sh -c ': >go' # nobody has looked at the limiter since
	eventually test -s result
	[ "$(cat result)" = 0 ]
	hold b -N x -n 1 # and it left nothing behind
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "a dead wrapper's permit is not joined while another could be given the units" {
	mkfifo go in
	background a "$FLOCKLIMIT" -N x -n 1 -o sh -c \
		'echo $$ >a.up; cat go; exec "$FLOCKLIMIT" -N x -n 1 sh -c "echo in >in.up; cat in"'
	eventually test -s a.up
	kill -KILL "${pids[a]}"
	ended a
	timeout 300 sh -c ': >go'
	eventually test -s in.up
	run -75 "$FLOCKLIMIT" -N x -n 1 --nonblock echo over the limit
	timeout 300 sh -c ': >in'
}

@test "the permit of an orphan is still joined" {
	mkfifo go
	background a "$FLOCKLIMIT" -N x -n 1 sh -c \
		'echo $$ >a.up; cat go; "$FLOCKLIMIT" -N x -n 1 -q --nonblock true; echo $? >result'
	eventually test -s a.up
	kill -KILL "${pids[a]}"
	ended a
	timeout 300 sh -c ': >go'
	eventually test -s result
	[ "$(cat result)" = 0 ]
}

@test "nonsense in FLOCKLIMIT_HELD does no harm" {
	local word
	hold a -N x -n 1
	for word in '' ' ' x : :::: '0:0:0:0' 'ffffffffffffffff:ffffffffffffffff:ffffffff:ffffffffffffffff' \
		'-1:-1:-1:-1' "$(stat -c '%D:%i' limiters/x):ffffffff:1" \
		"$(printf '%x:%x:0:0' "$(stat -c %d limiters/x)" "$(stat -c %i limiters/x)")" \
		"$(head -c 20000 /dev/zero | tr '\0' ' ')" "$(printf '1:1:1:1 %.0s' {1..500})"; do
		FLOCKLIMIT_HELD=$word run -75 "$FLOCKLIMIT" -N x --nonblock true
		FLOCKLIMIT_HELD=$word run -0 "$FLOCKLIMIT" -N y true
	done
}

@test "a removed limiter's permit is not joined in the new file" {
	run -0 "$FLOCKLIMIT" -N x -n 1 sh -c \
		'rm "$FLOCKLIMIT_DIR/x"; a=$FLOCKLIMIT_HELD
		"$FLOCKLIMIT" -N x -n 1 --nonblock sh -c "[ \"\$FLOCKLIMIT_HELD\" != \"$a\" ] && echo anew"'
	[ "$output" = anew ]
}

@test "-F joins as well, and has -F's own permit for a nested one" {
	run -0 timeout 300 "$FLOCKLIMIT" -N x -n 1 -F "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	run -0 timeout 300 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x -n 1 -F echo ran
	[ "$output" = ran ]
}

@test "--hold-for under a permit takes one of its own" {
	run -75 "$FLOCKLIMIT" -N x -n 1 sh -c '"$FLOCKLIMIT" -N x -n 1 --hold-for $$ --nonblock -q'
	run -0 "$FLOCKLIMIT" -N x -n 2 sh -c '"$FLOCKLIMIT" -N x -n 2 --hold-for $$ --nonblock'
	[[ $output =~ ^[0-9]+$ ]]
}
