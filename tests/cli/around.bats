#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Under what people run it from.

load ../helpers/lib.bash

# counted: a script that fails when more than three run at once.
counted() {
	mkdir in
	cat >counted <<-'END'
		#!/bin/sh
		mkdir "$T/in/$$"
		[ "$(ls "$T/in" | wc -l)" -le 3 ] || echo over >>"$T/over"
		rmdir "$T/in/$$"
		echo "$1"
	END
	chmod +x counted
}

@test "xargs -P0" {
	counted
	seq 100 | xargs -P0 -I{} "$FLOCKLIMIT" -n 3 ./counted {} >out
	sort -n out | diff - <(seq 100)
	[ ! -e over ]
	[ -e limiters/counted ]
}

@test "GNU parallel" {
	parallel --version 2>/dev/null | grep -q '^GNU parallel' || skip "no GNU parallel"
	counted
	PARALLEL_HOME=$T seq 20 | PARALLEL_HOME=$T HOME=$T parallel -j 10 --will-cite '"$FLOCKLIMIT" -N x -n 3 ./counted {}' >out
	sort -n out | diff - <(seq 20)
	[ ! -e over ]
}

@test "make -j" {
	counted
	{
		echo "all: $(seq -s ' ' -f 'job%g' 30)"
		printf 'job%%:\n\t@"$$FLOCKLIMIT" -N x -n 3 ./counted $@\n'
	} >Makefile
	run -0 env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -j 10
	[ "${#lines[@]}" -eq 30 ]
	[ ! -e over ]
}

@test "env -i" {
	run -0 env -i FLOCKLIMIT_DIR="$FLOCKLIMIT_DIR" "$FLOCKLIMIT" -N x /usr/bin/env
	[ "$(grep -vc ^FLOCKLIMIT_ <<<"$output")" -eq 0 ]
	run -0 env -i FLOCKLIMIT_DIR="$FLOCKLIMIT_DIR" "$FLOCKLIMIT" -N x -c 'echo ran'
	[ "$output" = ran ]
}

@test "nohup and setsid" {
	run -0 nohup "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
	run -0 setsid -w "$FLOCKLIMIT" -N x -n 1 echo ran
	[ "$output" = ran ]
}

@test "timeout(1) around it: while it waits, and while it runs" {
	hold a -N x -n 1
	run -124 timeout 0.1 "$FLOCKLIMIT" -N x true
	in_line 0
	let_go a
	ended a
	run -124 timeout 0.1 "$FLOCKLIMIT" -N x -n 1 sleep inf
	eventually "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
}

@test "in a pipeline" {
	run -0 sh -c 'seq 10 | "$FLOCKLIMIT" -N x tac | "$FLOCKLIMIT" -N y head -n 1'
	[ "$output" = 10 ]
	# A reader that goes away.
	run -0 bash -c '"$FLOCKLIMIT" -N x yes | head -n 1'
	[ "$output" = y ]
	run -0 bash -c '"$FLOCKLIMIT" -N x yes | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"'
	[ "$output" = 141 ]
}

@test "two users' limiters of one name are two" {
	need_root
	public
	hold a -N x -n 1
	silent 0 as_nobody "$PUBLIC/flocklimit" -N x -n 1 --nonblock true
}

@test "in a PID namespace of its own" {
	need_unshare -pf --mount-proc
	hold a -N x -n 1
	run -75 unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 --nonblock true
	background b unshare -pf --mount-proc "$FLOCKLIMIT" -N x -n 1 -v echo ran
	eventually says waiting: b.err
	let_go a
	ended b
	[ "$(cat b.out)" = ran ]
}

@test "killed in PID namespaces of their own, where all have one number" {
	need_unshare -pf --mount-proc
	local i
	mkfifo one.fifo
	background one unshare -pf --kill-child --mount-proc "$FLOCKLIMIT" -N x -n 1 sh -c 'echo up >one.up2; cat one.fifo'
	eventually test -s one.up2
	for i in 1 2 3; do
		background "w$i" unshare -pf --kill-child --mount-proc "$FLOCKLIMIT" -N x -n 1 -v sh -c "echo w$i >>order"
		eventually says waiting: "w$i.err"
	done
	kill -KILL "${pids[w1]}"
	ended w1
	eventually in_line 2
	kill -KILL "${pids[one]}"
	ended one
	ended w2
	ended w3
	[ "$(cat order)" = $'w2\nw3' ]
}

@test "a program that is started as nobody's child" {
	sh -c '"$FLOCKLIMIT" -N x -n 1 sh -c "echo ran >ran" </dev/null >/dev/null 2>&1 3>&- &'
	eventually test -s ran
	eventually "$FLOCKLIMIT" -N x -n 1 -q --nonblock true
}
