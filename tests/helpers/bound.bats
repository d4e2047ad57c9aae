#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What every test of `make check' is run by: the same surroundings wherever make runs, and how far it is.

load lib.bash

# below HOW COMMAND...: as make check runs a test, where every signal comes in ignored or blocked.
below() {
	local how=$1
	shift
	need_helper bound
	need_helper deaf
	plain "$HELPERS/deaf" "$how" "$HELPERS/bound" "$@"
}

# plain COMMAND...: without what bats told us of its run, and without its inner programs in PATH.
plain() {
	env -i PATH="${PATH//"$BATS_LIBEXEC:"/}" HOME="$T" TMPDIR="$T" FLOCKLIMIT="$FLOCKLIMIT" FLOCKLIMIT_LIBEXEC="$FLOCKLIMIT_LIBEXEC" \
		TESTS_BUILD="$TESTS_BUILD" TESTS_SOURCE="$TESTS_SOURCE" "$@"
}

@test "every signal has its default action and none is blocked" {
	local how
	for how in ignore block; do
		run -0 "$HELPERS/deaf" "$how" grep -E '^Sig(Blk|Ign):' /proc/self/status
		[[ $output == *fffffffffffbf?ff* ]]
		run -0 below "$how" grep -E '^Sig(Blk|Ign):' /proc/self/status
		[ "$output" = $'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000' ]
	done
}

@test "tests of signals pass where every signal comes in ignored or blocked" {
	local how
	for how in ignore block; do
		run below "$how" bats --tap -f \
			'^(124 when the run timeout ended it|each signal reaches the command once|.C on a terminal reaches the command once)$' \
			"$TESTS_SOURCE/cli/exit.bats" "$TESTS_SOURCE/cli/signals.bats"
		echo "$output"
		[ "$status" -eq 0 ]
		[ "${lines[0]}" = 1..3 ]
	done
}

@test "bats says what to do where it is run by hand and a signal comes in ignored" {
	run -1 plain "$HELPERS/deaf" ignore timeout -s KILL 60 bats --tap -f '^75 when there is no permit$' \
		"$TESTS_SOURCE/cli/exit.bats"
	[[ $output == *'run tests by make check, or by tests/helpers/bound bats FILE'* ]]
}

# messy: what a test may do that is killed: files, a process in its session, one in another.
messy='
	touch "$TMPDIR/file"
	mkdir -p "$TMPDIR/a/b"
	setsid sh -c "sleep inf & sleep inf" &
	sleep inf &
	echo $$ $PPID "$TMPDIR" >"$1"
	wait'

# parent PID
parent() {
	local line
	line=$(cat "/proc/$1/stat")
	line=${line##*) }
	# shellcheck disable=SC2086 # its words
	set -- $line
	echo "$2"
}

none_has() { ! grep -qlzxF "TMPDIR=$1" /proc/[0-9]*/environ 2>/dev/null; }

@test "a test that goes on for too long is killed, and named" {
	run -99 env TEST_SECONDS=1 "$HELPERS/bound" sh -c "$messy" messy "$T/up"
	read -r _ _ dir <up
	[ "${lines[-1]}" = "Bail out! $T/up did not end within 1 s" ]
	[[ $output == *"left running: "*" sleep inf"* ]]
	none_has "$dir"
	[ ! -e "$dir" ]
}

@test "what a test leaves running, or behind, is a failure, and goes" {
	run -99 env TEST_GRACE=1 "$HELPERS/bound" sh -c 'setsid sleep inf & echo "$TMPDIR" >"$1"' sh "$T/up"
	[[ $output == "# $T/up left running: "*" sleep inf "* ]]
	none_has "$(cat up)"
	run -99 "$HELPERS/bound" sh -c 'mkdir "$TMPDIR/a"; echo "$TMPDIR" >"$1"' sh "$T/up"
	[ "$output" = "# $T/up left behind: \$TMPDIR/a" ]
	[ ! -e "$(cat up)" ]
	run -3 "$HELPERS/bound" sh -c 'exit 3'
	run -0 "$HELPERS/bound" true
}

@test "whoever is killed, the test or its keepers: no process and no file stays" {
	local sig who dir test keeper
	for sig in TERM KILL; do
		for who in test keeper bound; do
			rm -f up
			background "$who" env TEST_GRACE=1 "$HELPERS/bound" sh -c "$messy" messy "$T/up"
			eventually test -s up
			read -r test keeper dir <up
			[ "$(parent "$keeper")" = "${pids[$who]}" ]
			case $who in
			test) kill "-$sig" "$test" ;;
			keeper) kill "-$sig" "$keeper" ;;
			bound) kill "-$sig" "${pids[$who]}" ;;
			esac
			ended "$who"
			[ "$status" -ne 0 ]
			eventually none_has "$dir"
			eventually test ! -e "$dir"
		done
	done
}

@test "a test's cgroup goes with it, and is a failure if the test has ended" {
	local group dir who above=/sys/fs/cgroup
	need_root
	[ -e $above/cgroup.controllers ] || above=$above/cpu
	mkdir "$above/flocklimit-here.$$" 2>/dev/null || skip "no cgroup can be made here"
	rmdir "$above/flocklimit-here.$$"
	export above
	group='dir=$above/flocklimit-${TMPDIR##*/}
		mkdir "$dir"; echo $$ >"$dir/cgroup.procs"
		echo $$ $PPID "$dir" >"$1"'
	run -99 "$HELPERS/bound" sh -c "$group" group "$T/up"
	[ "$output" = "# $T/up left behind: a cgroup" ]
	read -r _ _ dir <up
	[ ! -e "$dir" ]
	for who in test keeper bound; do
		rm -f up
		background bound env TEST_GRACE=1 "$HELPERS/bound" sh -c "$group; sleep inf & wait" group "$T/up"
		eventually test -s up
		read -r test keeper dir <up
		[ -e "$dir" ]
		case $who in
		test) kill -KILL "$test" ;;
		keeper) kill -KILL "$keeper" ;;
		bound) kill -KILL "${pids[bound]}" ;;
		esac
		ended bound
		eventually test ! -e "$dir"
	done
}

@test "what can't be run is named" {
	run -127 "$HELPERS/bound" /nowhere/at/all
	[[ $output == *"bound: /nowhere/at/all: No such file"* ]]
	run -2 "$HELPERS/bound"
}

@test "after each file a line says how far make check is, and the driver's status counts" {
	local logs="a.log cli/b.log c.log d.log e.log f.log g.log h.log i.log j.log"
	mkdir cli
	printf 'echo PASS: "$2" 1\nprintf ":test-result: %%s\\n" "PASS 1" "SKIP 2" >a.trs\nexit 3\n' >driver
	run -3 "$TESTS_SOURCE/helpers/progress" "$logs" sh driver --test-name a.bats --log-file a.log
	[ "$output" = $'PASS: a.bats 1\n[ 1/10] a.bats, 2 cases so far' ]
	echo ":test-result: FAIL x" >cli/b.trs
	run -3 "$TESTS_SOURCE/helpers/progress" "$logs" sh driver --test-name cli/b.bats
	[ "${lines[-1]}" = '[ 2/10] cli/b.bats, 3 cases so far' ]
}

@test "contained: as in a container no namespace is made and nothing mounted, and a process is" {
	local user
	need_helper refuse
	for user in root nobody; do
		run --separate-stderr -0 "$TESTS_SOURCE/helpers/contained" "$user" sh -c '
			grep -E "^(NoNewPrivs|Seccomp):" /proc/self/status
			! unshare -U true && ! unshare -m true && ! mount -t tmpfs none /mnt && (echo forked)'
		echo "$output"
		[ "$output" = $'NoNewPrivs:\t1\nSeccomp:\t2\nforked' ] || [[ $output == *"# SKIP nobody has no way"* ]]
	done
}
