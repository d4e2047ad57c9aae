#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What the command finds: the environment, descriptors, and everything else as without us.

load ../helpers/lib.bash

@test "only FLOCKLIMIT_ variables are added to the environment" {
	env -u _ -0 | sort -z >without
	"$FLOCKLIMIT" -N x -n 5 -w 2 env -u _ -0 | sort -z >with
	comm -z -23 without with | tr '\0' '\n' >lost
	comm -z -13 without with | tr '\0' '\n' >added
	[ ! -s lost ]
	cut -d= -f1 added >names
	printf '%s\n' FLOCKLIMIT_FENCE FLOCKLIMIT_HELD FLOCKLIMIT_LIMIT FLOCKLIMIT_LIMITER FLOCKLIMIT_SEAT \
		FLOCKLIMIT_SEATS FLOCKLIMIT_TICKET FLOCKLIMIT_WEIGHT | diff - names
}

@test "FLOCKLIMIT_LIMITER, _WEIGHT, _LIMIT, _SEAT and _TICKET" {
	run -0 "$FLOCKLIMIT" -N x -n 5 -w 2 sh -c \
		'echo "$FLOCKLIMIT_LIMITER $FLOCKLIMIT_WEIGHT $FLOCKLIMIT_LIMIT $FLOCKLIMIT_SEAT $FLOCKLIMIT_TICKET"'
	[ "$output" = "x 2 5 0 1" ]
	run -0 "$FLOCKLIMIT" -f lim -n 5 sh -c 'echo "$FLOCKLIMIT_LIMITER"'
	[ "$output" = "$T/lim" ]
}

@test "tickets rise and are never used again" {
	local i last=0
	for i in {1..20}; do
		run -0 "$FLOCKLIMIT" -N x -n 1 sh -c 'echo "$FLOCKLIMIT_TICKET"'
		[ "$output" -gt "$last" ]
		last=$output
	done
}

@test "each variable is there once, whatever was there before" {
	run -0 env FLOCKLIMIT_SEAT=9 FLOCKLIMIT_TICKET=9 FLOCKLIMIT_WEIGHT=9 FLOCKLIMIT_LIMIT=9 \
		FLOCKLIMIT_LIMITER=y FLOCKLIMIT_OTHER=mine "$FLOCKLIMIT" -N x -n 2 env
	[ "$(grep -c ^FLOCKLIMIT_SEAT= <<<"$output")" = 1 ]
	[ "$(grep -c ^FLOCKLIMIT_LIMITER= <<<"$output")" = 1 ]
	grep -qx FLOCKLIMIT_SEAT=0 <<<"$output"
	grep -qx FLOCKLIMIT_LIMITER=x <<<"$output"
	grep -qx FLOCKLIMIT_WEIGHT=1 <<<"$output"
	grep -qx FLOCKLIMIT_OTHER=mine <<<"$output"
}

@test "seats: unique among holders, the smallest first" {
	local i
	for i in 0 1 2 3; do
		background "s$i" "$FLOCKLIMIT" -N x -n 4 sh -c \
			'echo "$FLOCKLIMIT_SEAT"; mkfifo "$1"; exec cat "$1"' sh "$T/s$i.fifo"
		eventually test -p "s$i.fifo"
		[ "$(cat "s$i.out")" = "$i" ]
	done
	let_go s1
	ended s1
	run -0 "$FLOCKLIMIT" -N x -n 4 sh -c 'echo "$FLOCKLIMIT_SEAT"'
	[ "$output" = 1 ]
	let_go s0
	ended s0
	run -0 "$FLOCKLIMIT" -N x -n 4 sh -c 'echo "$FLOCKLIMIT_SEAT"'
	[ "$output" = 0 ]
}

@test "seats under load: never two holders with one seat" {
	mkdir seats
	seq 200 | xargs -P 16 -I{} "$FLOCKLIMIT" -N x -n 3 sh -c \
		'mkdir "seats/$FLOCKLIMIT_SEAT" || echo "two at $FLOCKLIMIT_SEAT"
		[ "$FLOCKLIMIT_SEAT" -lt 3 ] || echo "seat $FLOCKLIMIT_SEAT"
		rmdir "seats/$FLOCKLIMIT_SEAT"' >out 2>&1
	[ ! -s out ]
}

@test "one more descriptor, and a high one; the others as they were" {
	exec 7<>seven
	ls /proc/self/fd >without
	"$FLOCKLIMIT" -N x ls /proc/self/fd >with
	exec 7>&-
	[ "$(wc -l <with)" -eq $(($(wc -l <without) + 1)) ]
	[ "$(sort with without | uniq -u | wc -l)" -eq 1 ]
	[ "$(sort with without | uniq -u)" -ge 10 ]
}

@test "closed stdin, stdout, stderr are closed for the command, and only they" {
	local redirection
	for redirection in '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
		sh -c "\"\$FLOCKLIMIT\" -N x -o ls -1 /proc/self/fd $redirection" >with 2>/dev/null || :
		sh -c "ls -1 /proc/self/fd $redirection" >without 2>/dev/null || :
		cmp with without
		for fd in 0 1 2; do
			sh -c "\"\$FLOCKLIMIT\" -N x sh -c '[ -e /proc/self/fd/$fd ]' $redirection" && open=0 || open=1
			sh -c "sh -c '[ -e /proc/self/fd/$fd ]' $redirection" && expected=0 || expected=1
			[ "$open" = "$expected" ]
		done
	done
}

@test "with stderr closed no message goes into the limiter file" {
	hold a -f lim -n 1
	cksum <lim >before
	head -c 4096 lim | tr -d '\0' | strings >words.before
	run -75 sh -c '"$FLOCKLIMIT" -f lim -t 1ms true 2>&-'
	run -127 sh -c '"$FLOCKLIMIT" -f other ./missing 2>&-'
	run -75 sh -c '"$FLOCKLIMIT" -f lim -t 1ms true <&- >&- 2>&-'
	run ! grep -qa 'flocklimit:' lim other
	let_go a
	ended a
	silent 0 "$FLOCKLIMIT" -f lim -t 0 true
}

@test "stdin, stdout and stderr are the command's own" {
	run --separate-stderr -0 "$FLOCKLIMIT" -N x sh -c 'cat; echo err >&2' <<<'some words'
	[ "$output" = 'some words' ]
	# shellcheck disable=SC2154 # run sets it
	[ "$stderr" = err ]
	head -c 1000000 /dev/urandom >data
	"$FLOCKLIMIT" -N x cat <data >copy
	cmp data copy
}

@test "not one byte of stdin is read by us" {
	run -0 sh -c '"$FLOCKLIMIT" -N x true; "$FLOCKLIMIT" -N x sh -c "exit 0"; cat' <<<'all of it'
	[ "$output" = 'all of it' ]
}

@test "argv untouched: empty, spaces, newlines, bytes" {
	run -0 "$FLOCKLIMIT" -N x printf '<%s>' '' ' ' $'a\nb' $'\377\001' '*' '$HOME' -n --
	[ "$output" = $'<>< ><a\nb><\377\001><*><$HOME><-n><-->' ]
}

@test "cwd, umask, limits, nice value, group and session are the same" {
	mkdir -p 'deep/er dir'
	cd 'deep/er dir'
	umask 027
	ulimit -S -c 0 -n 512
	local what='pwd; umask; ulimit -a; nice; ps -o pgid=,sid=,tty= -p $$; cat /proc/self/oom_score_adj'
	sh -c "$what" >../without
	"$FLOCKLIMIT" -f ../lim sh -c "$what" >../with
	diff ../without ../with
}

@test "nothing is printed on success" {
	silent 0 "$FLOCKLIMIT" -N x true
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x true
	eventually in_line 1
	let_go a
	ended b
	[ ! -s b.out ]
	[ ! -s b.err ]
}

@test "a large environment and a long command line" {
	big=$(head -c 100000 /dev/zero | tr '\0' a)
	run -0 env BIG="$big" "$FLOCKLIMIT" -N x sh -c 'echo "${#BIG} ${#1}"' sh "$big"
	[ "$output" = "100000 100000" ]
}
