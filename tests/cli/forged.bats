#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A process that may write the limiter's file puts other pids into it: the operator signals nobody else.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# forge FROM TO: every slot that has the pid FROM has TO from now on.
forge() {
	python3 - "$FLOCKLIMIT_DIR/x" "$1" "$2" <<-'END'
		import struct, sys
		path, old, new = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
		with open(path, "r+b") as f:
		    whole = f.read()
		    slots = 4096 + (4096 + 64) * 64
		    places = [at + 108 for at in range(slots, len(whole), 256)
		              if struct.unpack_from("I", whole, at + 108)[0] == old]
		    assert places
		    for at in places:
		        f.seek(at)
		        f.write(struct.pack("I", new))
	END
}


alive() {
	kill -0 "${pids[$1]}" && ! is_state ZX "${pids[$1]}"
}

# A permit for the process `owner'; its ticket is in $ticket, its keeper's pid in $keeper.
keep() {
	background owner sleep 1000
	ticket=$("$FLOCKLIMIT" -N x -n 4 --hold-for "${pids[owner]}")
	keeper=$(ctl show --json x | jq '.holders[0].pid')
	pids[keeper]=$keeper
}

# refuses VERB...: it signals nobody, and says why.
refuses() {
	run --separate-stderr -1 ctl "$@"
	[[ $stderr == "flocklimitctl: x: ticket $ticket: it has just ended, or its pid is of another namespace" ]]
}

@test "release: a forged pid, of a process that reads the file" {
	keep
	background reader sh -c 'exec sleep 1000 <"$1"' sh "$FLOCKLIMIT_DIR/x"
	forge "$keeper" "${pids[reader]}"
	refuses release x "$ticket"
	refuses cancel -s KILL x "$ticket"
	alive reader
	forge "${pids[reader]}" "$keeper"
	silent 0 ctl release x "$ticket"
	eventually is_gone "$keeper"
}

@test "release: a forged pid, of a process that maps the file for reading" {
	keep
	background mapper python3 -c '
import mmap, os, sys, time
f = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
print("mapped", flush=True)
time.sleep(1000)' "$FLOCKLIMIT_DIR/x"
	eventually says mapped mapper.out
	forge "$keeper" "${pids[mapper]}"
	refuses release x "$ticket"
	alive mapper
}

@test "release: a forged pid, of another taker" {
	keep
	hold a -N x -n 4
	background waiter "$FLOCKLIMIT" -N x -n 1 true
	eventually in_line 1
	for label in a waiter; do
		forge "$keeper" "${pids[$label]}"
		refuses release x "$ticket"
		alive "$label"
		forge "${pids[$label]}" "$keeper"
	done
}

@test "cancel -s KILL: a forged pid, of the parent of another process" {
	hold a -N x -n 4
	ticket=$(ctl show --json x | jq '.holders[0].ticket')
	background parent sh -c 'exec 3<"$1"; sleep 1000 & echo $!; wait' sh "$FLOCKLIMIT_DIR/x"
	eventually test -s parent.out
	pids[child]=$(cat parent.out)
	forge "${pids[a]}" "${pids[parent]}"
	refuses cancel -s KILL x "$ticket"
	refuses cancel -s TERM x "$ticket"
	alive child
	alive parent
	forge "${pids[parent]}" "${pids[a]}"
	silent 0 ctl cancel -s KILL x "$ticket"
	ended a
	[ "$status" -eq 137 ]
}
