#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2094 # an example that is called as its file is
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The examples of doc/ci.md for containers: with podman, and with namespaces and filters of our own.

load ../helpers/lib.bash
load ../helpers/docs.bash
load ci.bash
load container.bash

VOLUMES=(/srv/limits:/limits /usr/local/bin/flocklimit:/usr/bin/flocklimit:ro)

is_static() {
	file -L "$FLOCKLIMIT" | grep -q 'statically linked' || skip "this flocklimit is not static"
}

# a_podman: with images and containers in a place of its own.
a_podman() {
	need_root
	is_static
	{ command -v podman && command -v runc; } >/dev/null || skip "no podman with runc"
	export CONTAINERS_STORAGE_CONF=$T/storage.conf CONTAINERS_CONF=$T/containers.conf
	printf '%s\n' '[storage]' 'driver = "vfs"' "graphroot = \"$T/graph\"" "runroot = \"$T/run\"" >storage.conf
	printf '%s\n' '[containers]' 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]' 'netns = "none"' \
		'[engine]' 'runtime = "runc"' 'cgroup_manager = "cgroupfs"' 'events_logger = "file"' >containers.conf
	podman info >/dev/null 2>&1 || skip "podman does not work here"
	mkdir limits bin
	cp "$FLOCKLIMIT" bin/flocklimit
	example Containerfile >Containerfile
}

@test "the image from scratch builds and runs, as the page has it" {
	a_podman
	example containers | sed "s|/srv/limits|$T/limits|" >script
	sh -e script >out 2>err
	cat out err
	grep -q '^flocklimit 0' out
	grep -q '^flocklimit: demo: waited ' err
	[ -s limits/demo ]
}

@test "podman stop: flocklimit as process 1 passes TERM on, and the permit is free" {
	a_podman
	podman build -q -t flocklimit . >/dev/null
	export FLOCKLIMIT_DIR=$T/limits
	hold a -N blocked -n 1
	# Its command waits for a limiter that this machine holds.
	podman run -d --name one -v "$T/limits:/limits" flocklimit -N demo -n 1 -- /usr/bin/flocklimit -N blocked -n 1 -- /usr/bin/flocklimit -V 3>&- >/dev/null
	eventually in_line 1 blocked
	run -75 "$FLOCKLIMIT" -N demo -n 1 --nonblock true
	podman stop -t 60 one >/dev/null
	[ "$(podman inspect -f '{{.State.ExitCode}}' one)" = 143 ]
	podman rm one >/dev/null
	"$FLOCKLIMIT" -N demo -n 1 --nonblock true
	eventually in_line 0 blocked
}

# a_scratch: tree/ is what the image has, and no more.
a_scratch() {
	need_container
	is_static
	mkdir -p tree/usr/bin tree/proc tree/dev tree/limits limits
	: >tree/usr/bin/flocklimit
	: >tree/dev/null
	export FLOCKLIMIT_DIR=/limits
}

@test "the same without podman: a tree with nothing but the program, in a PID namespace of its own" {
	a_scratch
	run container /usr/bin/flocklimit -N demo -n 2 -- /usr/bin/flocklimit --version
	[ "$status" -eq 0 ]
	[[ $output == "flocklimit "* ]]
	[ -s limits/demo ]
}

@test "containers and the machine share a limiter, and a killed container frees it" {
	a_scratch
	FLOCKLIMIT_DIR=$T/limits hold a -N blocked -n 1
	background one container /usr/bin/flocklimit -N demo -n 1 -- /usr/bin/flocklimit -N blocked -n 1 -- /usr/bin/flocklimit -V
	FLOCKLIMIT_DIR=$T/limits eventually in_line 1 blocked
	background two container /usr/bin/flocklimit -N demo -n 1 -- /usr/bin/flocklimit -V
	FLOCKLIMIT_DIR=$T/limits eventually in_line 1 demo
	kill -KILL "${pids[one]}"
	ended two
	[ "$status" -eq 0 ]
	FLOCKLIMIT_DIR=$T/limits eventually in_line 0 blocked
}

@test "under a profile without futex_waitv, a permit passes on after an end and after a kill" {
	local error
	need_root
	[ -x "$BUILD/tests/edges/nowaitv.t" ]
	for error in ENOSYS EPERM; do
		export TEST_NO_WAITV=$error
		rm -f ./*.up ./*.fifo b.command
		hold a -N x -n 1 -F
		background b "$BUILD/tests/edges/nowaitv.t" "$FLOCKLIMIT" -N x -n 1 sh -c 'echo $$ >b.command; exec sleep inf'
		eventually in_line 1
		background c "$BUILD/tests/edges/nowaitv.t" "$FLOCKLIMIT" -N x -n 1 echo c
		eventually in_line 2
		let_go a
		ended a
		eventually test -s b.command
		[ ! -s c.out ]
		kill -KILL "${pids[b]}"
		# Its command has the permit now.
		in_line 1
		kill -KILL "$(cat b.command)"
		ended c
		[ "$status" -eq 0 ]
		wait "${pids[b]}" || :
		unset 'pids[b]'
	done
}

@test "under a profile without set_robust_list, one line says so" {
	need_helper refuse
	refused "$HELPERS/refuse" EPERM set_robust_list,get_robust_list "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr == *set_robust_list* ]]
}
