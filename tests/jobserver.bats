#!/usr/bin/env bats
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --jobserver: with GNU make, and with a client that does as it is told.

load lib.bash
load ctl.bash

# client LABEL OPTION...: a build whose client takes and gives back tokens as it is told.
client() {
	local label=$1
	shift
	mkfifo "$label.told"
	cat >client.sh <<-'E'
		exec 8<>"$1.told" 9<>"${MAKEFLAGS##*fifo:}"
		echo $$ >"$1.up"
		while read -r what <&8; do
			case $what in
			take) dd bs=1 count=1 status=none <&9 >/dev/null && echo took >>"$1.said" ;;
			give) printf + >&9 && echo gave >>"$1.said" ;;
			end) exit 7 ;;
			esac
		done
	E
	background "$label" "$FLOCKLIMIT" -N x --jobserver=fifo "$@" sh client.sh "$label"
	eventually test -s "$label.up"
}

# tell LABEL WORD
tell() { timeout 300 sh -c 'echo "$2" >"$1.told"' sh "$1" "$2"; }

# took LABEL N: it was told to, and has had so many tokens.
took() {
	tell "$1" take
	eventually says_so took "$2" "$1.said"
}

says_so() { [ "$(grep -c "$1" "$3" 2>/dev/null)" = "$2" ]; }

used() { [ "$(field .used)" = "$1" ]; }

soon() {
	eventually is_gone "${pids[$1]}"
	ended "$1"
}

# makefile N: N jobs, each of which witnesses itself in a line that nobody can tear.
makefile() {
	printf 'jobs := $(shell seq %s)\nall: $(jobs)\n$(jobs): ; @%s\n' "$1" \
		'echo "+ $(WHO)" >>log; sleep 0.02; echo "- $(WHO)" >>log' >Makefile
}

# most: how many of them ran at once.
most() { awk '{ n += $1 == "+" ? 1 : -1; if (n > m) m = n } END { print m }' log; }

# The FIFO had its name in $TMPDIR.
nothing_left() { [ -z "$(ls "$T/tmp")" ]; }

with_tmp() {
	mkdir "$T/tmp"
	export TMPDIR=$T/tmp
}

knows_fifo() { [ "$(printf '%s\n' 4.4 "$(make --version | sed -n '1s/GNU Make //p')" | sort -V | head -1)" = 4.4 ]; }

@test "make: as many jobs as the limit, and no more" {
	with_tmp
	makefile 12
	run -0 "$FLOCKLIMIT" -N x -n 3 --jobserver=pipe make -s WHO=a
	[ -z "$output" ]
	has_lines 24 log
	[ "$(most)" -le 3 ]
	[ "$(most)" -ge 2 ]
	nothing_left
	used 0
}

@test "make: the style that it knows is chosen" {
	local style='[0-9]*,[0-9]*'
	! knows_fifo || style='fifo:*'
	run -0 "$FLOCKLIMIT" -N x -n 3 --jobserver sh -c 'echo "$MAKEFLAGS"'
	[[ $output == *-j3\ --jobserver-auth=$style* ]]
	run -0 "$FLOCKLIMIT" -N x -n 3 --jobserver=fifo sh -c 'echo "$MAKEFLAGS"'
	[[ $output == *-j3\ --jobserver-auth=fifo:/* ]]
	makefile 9
	if knows_fifo; then
		silent 0 "$FLOCKLIMIT" -N x -n 3 --jobserver=fifo make -s WHO=a
		[ "$(most)" -le 3 ]
	fi
}

@test "two builds and a loop side by side: never above the limit, and each gets on" {
	with_tmp
	makefile 25
	background a "$FLOCKLIMIT" -N x -n 3 --jobserver=pipe make -s WHO=a
	background b "$FLOCKLIMIT" -N x -n 3 --jobserver=pipe make -s WHO=b
	seq 25 >items
	background c xargs -P 3 -I{} -a items "$FLOCKLIMIT" -N x -n 3 \
		sh -c 'echo "+ c" >>log; sleep 0.02; echo "- c" >>log'
	for who in a b c; do
		soon "$who"
		[ "$status" = 0 ]
	done
	has_lines 150 log
	echo "at once: $(most)"
	[ "$(most)" -le 3 ]
	used 0
	nothing_left
}

@test "one spare token, and another when that is taken; all come back at the end" {
	client a -n 3
	eventually used 2
	took a 1
	eventually used 3
	took a 2
	sleep 0.05
	used 3
	tell a give
	tell a give
	eventually used 2 # two lie there: one is too many
	tell a end
	soon a
	[ "$status" = 7 ]
	used 0
}

@test "a limiter that was used with every other N before" {
	local n i
	for n in 1 2 3 5 8; do
		for i in $(seq 20); do
			silent 0 "$FLOCKLIMIT" -N "$n" -n "$n" true
		done
		run -7 timeout -k 1 20 "$FLOCKLIMIT" -N "$n" -n 4 --jobserver=fifo sh -c '
			exec 9<>"${MAKEFLAGS##*fifo:}"
			for i in 1 2 3; do dd bs=1 count=1 status=none <&9 >/dev/null; done
			exit 7'
		[ "$(ctl show --json "$n" | jq .used)" = 0 ]
		# So many tickets, and not hundreds of thousands.
		run -0 "$FLOCKLIMIT" -N "$n" printenv FLOCKLIMIT_TICKET
		[ "$output" -lt 100 ]
	done
}

@test "tokens are called back while somebody stands in line, one by one as they come in" {
	client a -n 3
	took a 1
	took a 2
	used 3
	background b "$FLOCKLIMIT" -N x -n 3 -w 2 sh -c ': >ran; cat go'
	mkfifo go
	eventually waiting 1
	tell a give
	eventually used 2
	waiting 1
	tell a give
	eventually test -e ran
	used 3
	: >go
	soon b
	eventually used 2 # and lent anew when it has gone
	tell a end
	soon a
}

@test "the spare one goes to whoever lines up, and not to who only tries" {
	client a -n 2
	eventually used 2
	silent 75 "$FLOCKLIMIT" -N x -q --nonblock true
	silent 0 "$FLOCKLIMIT" -N x -t 10 true
	eventually used 2
	tell a end
	soon a
}

@test "a client that dies with a token costs that one, until the build ends" {
	client a -n 3
	took a 1
	took a 2
	tell a give
	background b "$FLOCKLIMIT" -N x -n 3 -t 20 sh -c ': >ran'
	soon b # the one given back is called back
	[ "$status" = 0 ]
	eventually used 3
	kill -KILL "$(cat a.up)"
	soon a
	[ "$status" = 137 ]
	used 0
}

@test "kill -9 of the wrapper: nothing is free until its processes have ended" {
	client a -n 3
	took a 1
	eventually used 3
	kill -KILL "${pids[a]}"
	ended a
	no_room
	kill -KILL "$(cat a.up)"
	silent 0 "$FLOCKLIMIT" -N x -n 3 -w 3 -t 20 true
	used 0
}

no_room() { silent 75 "$FLOCKLIMIT" -N x -q --nonblock true; }

# follower LABEL: the child of the wrapper that is not the command.
follower() {
	local pid
	# shellcheck disable=SC2013 # a line is of words
	for pid in $(cat "/proc/${pids[$1]}/task/${pids[$1]}/children"); do
		[ "$pid" = "$(cat "$1.up")" ] || is_gone "$pid" || echo "$pid"
	done
}

has_other_follower() {
	local now
	now=$(follower "$1")
	[ -n "$now" ] && [ "$now" != "$2" ]
}

@test "kill -9 of the one who follows: another comes, and the command hears nothing" {
	local first i
	client a -n 2
	for i in 1 2 3; do
		first=$(follower a)
		[ -n "$first" ]
		silent 0 "$FLOCKLIMIT" -N other true
		kill -KILL "$first"
		eventually has_other_follower a "$first"
	done
	silent 0 "$FLOCKLIMIT" -N x -t 20 true
	tell a end
	soon a
	[ "$status" = 7 ]
}

@test "a signal that ends the command ends all" {
	local sig
	with_tmp
	for sig in TERM INT HUP; do
		rm -f a.*
		client a -n 3
		took a 1
		kill "-$sig" "${pids[a]}"
		kill -KILL "$(cat a.up)" 2>/dev/null || : # it may ignore them
		soon a
		[ "$status" -gt 128 ]
		used 0
		nothing_left
	done
}

@test "stopped and continued, it is all there" {
	client a -n 2
	as_job true
	kill -STOP "${pids[a]}"
	eventually is_state T "${pids[a]}"
	for i in 1 2 3 4 5; do
		silent 75 "$FLOCKLIMIT" -N x -q -t 10ms true
	done
	kill -CONT "${pids[a]}"
	silent 0 "$FLOCKLIMIT" -N x -t 20 true
	tell a end
	soon a
	[ "$status" = 7 ]
}

@test "the exit status is the command's, and a command that isn't there" {
	silent 3 "$FLOCKLIMIT" -N x -n 2 --jobserver=pipe sh -c 'exit 3'
	run -127 "$FLOCKLIMIT" -N x -n 2 --jobserver=pipe ./none
	run -124 "$FLOCKLIMIT" -N x -n 2 -T 50ms --jobserver=fifo sleep 100
	used 0
}

@test "under a permit of the same limiter, that one pays for the first job" {
	run -0 "$FLOCKLIMIT" -N x -n 2 "$FLOCKLIMIT" -N x --jobserver=fifo sh -c '
		sleep 0.1; "$1" show --json x | jq "[.used, .limit] | @csv"; echo "$MAKEFLAGS"' sh "$CTL"
	[[ ${lines[0]} == *2,2* ]]
	[[ ${lines[1]} == *-j2\ * ]]
}

@test "MAKEFLAGS: another jobserver's is replaced, and the rest is kept" {
	run -0 env MAKEFLAGS='ks -j9 --jobserver-auth=3,4 --no-print-directory -- A=b\ -j7 C=d' CARGO_MAKEFLAGS=-j8 \
		"$FLOCKLIMIT" -N x -n 2 --jobserver=pipe sh -c 'echo "$MAKEFLAGS $CARGO_MAKEFLAGS"'
	[[ $output =~ ^'ks --no-print-directory -j2 --jobserver-auth='[0-9]+,[0-9]+' -- A=b\ -j7 C=d '$ ]]
	printf 'all: ; @$(MAKE) -s -f inner\n' >Makefile
	printf 'all: a b c d\na b c d: ; @echo + >>log; sleep 0.05; echo - >>log; test "$(V)" = w\n' >inner
	silent 0 "$FLOCKLIMIT" -N y -n 1 make -s -j4 V=w \
		MAKE="$FLOCKLIMIT -N x -n 2 --jobserver=pipe make"
	has_lines 8 log
	[ "$(most)" = 2 ]
}

@test "with -w each token weighs as much" {
	client a -n 6 -w 2
	eventually used 4
	took a 1
	eventually used 6
	tell a end
	soon a
	run -0 "$FLOCKLIMIT" -N x -n 7 -w 2 --jobserver=fifo sh -c 'echo "$MAKEFLAGS"'
	[[ $output == *-j3\ * ]]
}

@test "an override below the weight: one job, and no token" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 true
	silent 0 ctl limit x 1
	client a -n 4 -w 2
	[ "$(field '.holders | length')" = 1 ]
	silent 0 ctl limit x auto
	sleep 0.1
	[ "$(field '.holders | length')" = 1 ]
	tell a end
	soon a
	[ "$status" = 7 ]
}

@test "paused, closed, or a lowered limit: what lies there comes back" {
	client a -n 4
	took a 1
	eventually used 3
	silent 0 ctl pause x
	eventually used 2
	silent 0 ctl resume x
	eventually used 3
	silent 0 ctl close x
	eventually used 2
	silent 0 ctl open x
	eventually used 3
	silent 0 ctl limit x 2
	eventually used 2
	tell a give
	eventually used 2
	silent 0 ctl limit x auto
	tell a end
	soon a
}

@test "tokens are starts: they come in their time" {
	silent 0 "$FLOCKLIMIT" -N x -n 4 --stagger 300ms true
	client a -n 4
	took a 1
	took a 2
	ctl log --json x | jq -es '[.[] | select(.event == "granted") | .time] |
		[.[1:], .[:-1]] | transpose | all(.[0] - .[1] > 0.298)'
	silent 0 ctl stagger x off
	silent 0 ctl ramp x 1+1/100ms --ramp-idle 0
	took a 3
	tell a end
	soon a
}

@test "a limiter whose file is gone lends no more" {
	client a -n 3
	eventually used 2
	rm limiters/x
	took a 1
	silent 0 "$FLOCKLIMIT" -N x -n 3 true
	sleep 0.05
	tell a take # it never comes
	sleep 0.05
	says_so took 1 a.said
	kill -KILL "$(cat a.up)"
	soon a
}

@test "what does not go together is refused in one line" {
	refused "$FLOCKLIMIT" -N x --jobserver=garbage true
	refused "$FLOCKLIMIT" -N x --jobserver= true
	refused "$FLOCKLIMIT" -N x --jobserver -o true
	refused "$FLOCKLIMIT" -N x --jobserver -F true
	refused "$FLOCKLIMIT" -N x --jobserver --hold-for $$
	refused env TMPDIR=/nowhere "$FLOCKLIMIT" -N x --jobserver true
	used 0
}
