#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --jobserver: which form of the protocol each client is given, and clients of each kind, alone and
# side by side.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load jobserver.bash

# ---- who speaks what ----

# program NAME TEXT: it answers that when it is asked for its version, and else shows MAKEFLAGS.
program() {
	mkdir -p bin
	printf '#!/bin/sh\ncase $1 in\n--version | -dumpfullversion) %s ;;\n*) echo "$MAKEFLAGS" ;;\nesac\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

# speaks STYLE COMMAND...: is given that, and nothing is said.
speaks() { patiently speaks_now "$@"; }
speaks_now() {
	local style=$1
	shift
	run --separate-stderr -0 env "PATH=$T/bin:$PATH" "$FLOCKLIMIT" -N y -n 2 --jobserver "$@" || return 1
	echo "stdout: $output, stderr: $stderr"
	[ -z "$stderr" ] || return 1
	case $style in
	pipe) [[ $output =~ --jobserver-auth=[0-9]+,[0-9]+$ ]] ;;
	fifo) [[ $output =~ --jobserver-auth=fifo:/proc/[0-9]+/fd/[0-9]+$ ]] ;;
	esac
}

# says_one PATTERN COMMAND...: one line is said, and none with -q; the command runs.
says_one() { patiently says_one_now "$@"; }
says_one_now() {
	local pattern=$1
	shift
	run --separate-stderr -0 env "PATH=$T/bin:$PATH" "$FLOCKLIMIT" -N y -n 2 --jobserver "$@" || return 1
	echo "stderr: $stderr"
	[ "${#stderr_lines[@]}" = 1 ] || return 1
	[[ $stderr == "flocklimit: y: "*$pattern* ]] || return 1
	[ -n "$output" ] || return 1
	run --separate-stderr -0 env "PATH=$T/bin:$PATH" "$FLOCKLIMIT" -q -N y -n 2 --jobserver "$@" || return 1
	[ -z "$stderr" ]
}

@test "the protocol is chosen by the command that is run" {
	program make 'echo GNU Make 4.3'
	speaks pipe make
	speaks pipe sh -c 'echo "$MAKEFLAGS"' # by the make that it would find
	program ninja 'echo 1.13.0'
	speaks fifo ninja
	program ninja 'echo 2.0'
	speaks fifo bin/ninja
	program ninja 'echo 1.11.1.git.kitware.jobserver-1'
	speaks pipe ninja
	program cargo 'echo "cargo 1.69.0 (6e9a83356 2023-04-12)"'
	speaks pipe cargo
	program cargo 'echo "cargo 1.70.0 (ec8a8a0ca 2023-04-25)"'
	speaks fifo cargo
	program gcc 'echo 12.2.0'
	speaks pipe gcc
	program gcc 'echo 13.1.0'
	speaks fifo gcc
	program make 'echo GNU Make 4.4'
	speaks fifo make
	speaks fifo sh -c 'echo "$MAKEFLAGS"'
	program gmake 'echo GNU Make 5.0.1'
	speaks fifo gmake
}

@test "the command is asked for its version also where stdio is closed" {
	local closed
	mkdir -p bin
	printf '#!/bin/sh\ncase $1 in --version) echo GNU Make 4.3 ;; *) echo "$MAKEFLAGS" >flags ;; esac\n' >bin/make
	chmod +x bin/make
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
		patiently speaks_pipe_where "$closed"
	done
}
# A FIFO means nothing to it.
speaks_pipe_where() {
	rm -f flags
	sh -c '"$FLOCKLIMIT" -N y -n 2 --jobserver bin/make '"$1" || return 1
	echo "$1: $(cat flags)"
	grep -q -e '--jobserver-auth=[0-9]' flags
}

@test "a command that heeds no jobserver is named once, and runs" {
	program ninja 'echo 1.11.1'
	says_one 'ninja (version "1.11.1") knows no jobserver' ninja
	program make 'echo GNU Make 4.1'
	says_one 'make (version "GNU Make 4.1") knows no jobserver' make
	program make 'echo "usage: make [-BeikNnqrstWwX]"'
	says_one 'knows no jobserver' make
	program ninja 'echo 1.13.1'
	says_one "ignores the jobserver because of the word '-j4'" ninja -j4
	says_one "'-vj'" ninja -vj 4
	program make 'echo GNU Make 4.3'
	says_one "'-j'" make -j all
	says_one "'-kj8'" make -kj8
	says_one "'--jobs=3'" make --jobs=3
	speaks pipe make -C jobs -f-j -Ij all # values, and no -j
	program cargo 'echo "cargo 1.80.0"'
	speaks fifo cargo build -j4 # cargo says itself that it ignores that
}

@test "the client is found behind env, nice, taskset, timeout and cmake" {
	local cpu
	cpu=$(taskset -cp $$)
	cpu=${cpu##*[ ,-]}
	program make 'echo GNU Make 4.3'
	program ninja 'echo 1.13.0'
	speaks fifo env ninja
	speaks fifo env -u A --unset B --chdir=. C=d ninja
	speaks fifo nice -n 5 ninja
	speaks fifo nice -n5 ninja
	speaks fifo taskset -c "$cpu" ninja
	speaks fifo timeout -k 5 --signal TERM 100 ninja
	speaks fifo env A=b timeout 100 nice ninja
	speaks pipe env sh -c 'echo "$MAKEFLAGS"' ninja # what sh does with its words is not known
	says_one "ninja ignores the jobserver because of the word '-j4'" env A=b nice ninja -j4
	program ninja 'echo 1.11.1'
	says_one 'ninja (version "1.11.1") knows no jobserver' timeout 100 ninja
	program cmake :
	mkdir b
	speaks pipe cmake --build b
	printf '# A\nCMAKE_MAKE_PROGRAM:FILEPATH=%s\nB:C=D\n' "$T/bin/ninja" >b/CMakeCache.txt
	says_one 'ninja (version "1.11.1") knows no jobserver' cmake --build b
	program ninja 'echo 1.13.0'
	speaks fifo nice cmake --build b
	says_one "'-j4'" cmake --build b -j4
	says_one "'--parallel'" cmake --build b --parallel
	says_one "'-j5'" cmake --build b -- -v -j5
}

@test "a command that takes no token and runs several processes is named when it ends" {
	local span
	# How long they must run to be counted depends on how busy the machine is.
	for span in 0.3 3 30 100; do
		run --separate-stderr -3 "$FLOCKLIMIT" -N y -n 3 --jobserver sh -c 'sleep "$1" & sleep "$1" & wait; exit 3' sh "$span"
		[ -z "$stderr" ] || break
	done
	one_line
	[[ $stderr == "flocklimit: y: --jobserver: 'sh' took no token, and ran several processes at once:"* ]]
	silent 3 "$FLOCKLIMIT" -q -N y -n 3 --jobserver sh -c 'sleep "$1" & sleep "$1" & wait; exit 3' sh "$span"
	# One process at a time, and no token to take.
	silent 3 "$FLOCKLIMIT" -N y -n 3 --jobserver sh -c 'sleep "$1"; exit 3' sh "$span"
	silent 3 "$FLOCKLIMIT" -N z -n 1 --jobserver sh -c 'sleep "$1" & sleep "$1" & wait; exit 3' sh "$span"
	# It was named before.
	program ninja 'echo 1.11.1'
	printf 'sleep %s & sleep %s & wait\n' "$span" "$span" >>bin/ninja
	says_one 'knows no jobserver' ninja
}

@test "a program that does not answer is not waited for" {
	program make 'sleep 1000'
	run -0 env "PATH=$T/bin:$PATH" timeout 300 "$FLOCKLIMIT" -N y -n 2 --jobserver make
	[[ $output == *--jobserver-auth=fifo:* ]]
}

@test "MAKEFLAGS: a number of jobs in any form is taken out" {
	local flags
	for flags in ks 'ksj8' 'ks -j8' 'ks -j 8' 'ks --jobs=8' 'ks --jobs 8' 'ks --jobs' 'ks -j'; do
		run -0 env "MAKEFLAGS=$flags" "$FLOCKLIMIT" -N y -n 2 --jobserver=pipe sh -c 'echo "$MAKEFLAGS"'
		echo "$flags: $output"
		[[ $output =~ ^ks\ -j2\ --jobserver-auth=[0-9]+,[0-9]+$ ]]
	done
	run -0 env "MAKEFLAGS= -kj8 -l4 -j -n" "$FLOCKLIMIT" -N y -n 2 --jobserver=pipe sh -c 'echo "$MAKEFLAGS"'
	[[ $output =~ ^\ -k\ -l4\ -n\ -j2 ]]
}

@test "no directory is written to" {
	run -0 env TMPDIR=/nowhere "$FLOCKLIMIT" -N y -n 2 --jobserver=fifo sh -c 'test -p "${MAKEFLAGS##*fifo:}" && echo there'
	[ "$output" = there ]
}

# ---- builds side by side ----

# A job of these waits at a gate, which the test opens: nothing here depends on how fast jobs are.
# How many run at once on average, `make bench-jobserver' says.

# running LABEL: how many of its jobs run.
running() {
	awk -v who="$1" '$2 == who { n += $1 == "+" ? 1 : -1 } END { print n + 0 }' log
}

# peak LABEL: how many of its jobs have run at a time.
peak() {
	awk -v who="$1" '$2 == who { n += $1 == "+" ? 1 : -1; if (n > most) most = n } END { print most + 0 }' log
}

# share STYLE LABEL N: that many of its jobs have run at a time.  Those that ran when we looked may
# have ended since: a busy machine takes longer to start the last of them than we take to look again.
share() {
	[ "$(peak "$2")" -ge "$3" ] && return
	# ninja looks for tokens only when one of its jobs ends.
	[ "$1" != ninja ] || exec 7<>gate 7>&-
	return 1
}

@test "clients of each kind: every token is used, and never one too many" {
	local style
	for style in make ninja cargo; do
		rm -f log gate
		mkfifo gate
		: >log
		background a "$FLOCKLIMIT" -N x -n 6 --jobserver=fifo "$HELPERS/jobclient" "$style" 600 0 log a gate
		eventually share "$style" a 6
		exec 7<>gate
		soon a
		exec 7>&-
		[ "$status" = 0 ]
		[ ! -s a.out ]
		[ ! -s a.err ]
		has_lines 1200 log
		[ "$(most)" = 6 ]
		used 0
	done
}

# endless LABEL FORM STYLE MS [GATE]: a build without an end of its own.
endless() {
	local label=$1 form=$2 style=$3
	shift 3
	background "$label" "$FLOCKLIMIT" -N x -n 6 --jobserver="$form" sh -c 'echo $$ >"$0.up"; exec "$@"' "$label" \
		"$HELPERS/jobclient" "$style" 9999999 "$1" log "$label" "${@:2}"
}

# finish LABEL: it starts no more jobs, and ends when the last has.
finish() {
	kill -USR1 "$(cat "$1.up")"
	soon "$1"
	[ "$status" = 0 ]
	[ "$(running "$1")" = 0 ]
}

has_run() { [ "$(grep -c "^- $1" log)" -ge "$2" ]; }

@test "two builds of each kind: a late one gets its share, and never one too many" {
	local style
	for style in make ninja cargo; do
		rm -f log gate
		mkfifo gate
		# Of cargo's kind only the late one: the first would keep all.
		endless a fifo "${style/cargo/make}" 20
		eventually grep -qs -- '^- a' log
		endless b pipe "$style" 0 gate
		# Beside one that takes what it can get and never ends, half of all.
		eventually share "$style" b 3
		exec 7<>gate
		eventually has_run b 600
		finish b
		exec 7>&-
		finish a
		echo "$style: a ran $(grep -c '^+ a' log) jobs"
		[ "$(most)" = 6 ]
		used 0
	done
}

@test "a client that keeps its tokens gets no more while others wait, and all when nobody did for a while" {
	hold h1 -N x -n 3
	hold h2 -N x -n 3
	: >log
	mkfifo gate
	background a "$FLOCKLIMIT" -N x -n 3 --jobserver=fifo "$HELPERS/jobclient" cargo 60 0 log a gate
	eventually waiting 1 # its second job
	mkfifo w1.go
	background w1 "$FLOCKLIMIT" -N x -n 3 sh -c ': >w1.up; read -r x <w1.go'
	eventually waiting 2
	let_go h1
	eventually share cargo a 2
	# From now on others wait all the time.  A third job would never be given back.
	background w2 "$FLOCKLIMIT" -N x -n 3 true
	eventually waiting 2
	let_go h2
	eventually test -e w1.up
	timeout 300 sh -c ': >w1.go'
	soon w2
	[ "$status" = 0 ]
	eventually share cargo a 3
	# Not in a moment in which nobody waits, but ten seconds after.
	ctl log --json x | jq -es '[.[] | select(.event == "granted" and .command == "job") | .time] |
		length == 2 and .[1] - .[0] > 9.9'
	exec 7<>gate
	soon a
	exec 7>&-
	[ "$status" = 0 ]
	has_lines 120 log
	ended w1
	ended h1
	ended h2
	used 0
}

@test "tokens that an idle build leaves unused go to a build that has more" {
	client a -n 6
	eventually used 6
	mkfifo gate
	: >log
	background b "$FLOCKLIMIT" -N x -n 6 --jobserver=fifo "$HELPERS/jobclient" make 60 0 log b gate
	eventually share make b 5
	exec 7<>gate
	soon b
	exec 7>&-
	[ "$status" = 0 ]
	has_lines 120 log
	[ "$(most)" = 5 ]
	tell a end
	soon a
}

@test "idle builds do not hand a permit to and fro" {
	local before
	client a -n 3
	eventually used 3
	client b -n 3
	eventually used 3
	before=$(grants | wc -l)
	# By turns that become longer: a build pauses for 20, 80, 240, 640 ms and so on, so these five turns
	# take 1.28 s, and more on a slow machine.  Turns of equal length take 0.1 s.
	eventually more_grants 6
	grants | tail -n +$((before + 1)) | awk '{ print; t[NR] = $1 } END { exit !(t[6] - t[1] > 0.6) }'
	# A need is seen all the same: each gets the permit in its turn.
	took a 1
	tell a give
	took b 1
	tell a end
	tell b end
	soon a
	soon b
	used 0
}

# grants: the time of each, in seconds.
grants() { ctl log --json x | jq 'select(.event == "granted").time'; }

more_grants() { [ "$(grants | wc -l)" -ge $((before + $1)) ]; }

# ---- --jobserver=force ----

# words PROGRAM VERSION: it answers that when it is asked, and else prints its words.
words() {
	mkdir -p bin
	printf '#!/bin/sh\ncase $1 in\n--version) echo "%s" ;;\n*) printf "%%s|" "$@" ;;\nesac\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

# forced WANTED COMMAND...: it gets these words, and nothing is said but with -v.
forced() {
	local wanted=$1
	shift
	run --separate-stderr -0 env "PATH=$T/bin:$PATH" "$FLOCKLIMIT" -N y -n 2 --jobserver=force "$@"
	echo "$*: $output, stderr: $stderr"
	[ "$output" = "$wanted" ]
	[ -z "$stderr" ]
}

@test "force leaves out what says how many jobs there are to be" {
	words make 'GNU Make 4.4'
	forced 'all|' make -j8 all
	forced 'all|' make -j 8 all
	forced 'all|' make -j all
	forced 'all|' make --jobs=8 all
	forced 'all|' make --jobs 8 all
	forced '-k|-C|x-j4|-Cjobs|all|' make -kj8 -C x-j4 -Cjobs all
	forced '--|-j8|' make -j4 -- -j8
	forced 'all|' env A=1 nice make -j4 all
	forced 'all|' timeout 100 make all
	words ninja 1.13.0
	forced '-C|out|all|' ninja -j8 -C out -j 8 all
	words cargo 'cargo 1.80.0'
	forced 'test|-p|j|--|-j8|' cargo test -p j -j8 --jobs 2 -- -j8
	words cmake 'cmake 3'
	mkdir tree
	echo "CMAKE_MAKE_PROGRAM:FILEPATH=$T/bin/ninja" >tree/CMakeCache.txt
	forced '--build|tree|-t|x|--|' cmake --build tree -j8 -t x --parallel 8 --parallel=2 -- -j3
	words other 'other 1'
	forced '-j8|' other -j8
}

@test "force with -v says what it leaves out, and make heeds the jobserver" {
	printf 'all:\n\t@echo "$(MAKEFLAGS)"\n' >Makefile
	run --separate-stderr -0 "$FLOCKLIMIT" -v -N y -n 2 --jobserver=force make -j 8 -kj9
	[[ $output == *--jobserver-auth=* ]]
	[[ $stderr == *"y: --jobserver=force: leaves out '-j 8'"* ]]
	[[ $stderr == *"y: --jobserver=force: leaves out 'j9'"* ]]
	[[ $stderr != *warning* ]]
	run --separate-stderr -0 "$FLOCKLIMIT" -N y -n 2 --jobserver make -j8
	[[ $stderr == *"make ignores the jobserver because of the word '-j8'"*"or use --jobserver=force"* ]]
}

@test "a limits file may say --jobserver=force" {
	words make 'GNU Make 4.4'
	echo 'command make -N y -n 2 --jobserver=force' >limits
	run --separate-stderr -0 env "PATH=$T/bin:$PATH" "FLOCKLIMIT_LIMITS=$T/limits" "$FLOCKLIMIT" make -j8 all
	[ "$output" = 'all|' ]
	[ -z "$stderr" ]
}
