#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# A taker in a frozen cgroup: others say so, and which cgroup to thaw.

load ../helpers/lib.bash

CTL=${FLOCKLIMIT%/*}/flocklimitctl
GROUP=

eval "$(declare -f teardown | sed '1s/teardown/clean_up/')"
# A frozen process does not even die by KILL where the freezer is version 1's.
teardown() {
	[ -z "$GROUP" ] || thaw
	clean_up
	[ -z "$GROUP" ] || eventually rmdir "$GROUP/below" "$GROUP"
}

# group VERSION: a cgroup $GROUP that can be frozen, and one below it.
group() {
	local root type=cgroup2fs
	need_root
	[ "$1" = 2 ] || type=cgroupfs
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/freezer; do
		GROUP=$root/flocklimit-${TMPDIR##*/} # which goes with $TMPDIR
		if [ "$(stat -fc %T "$root" 2>/dev/null)" = "$type" ] && mkdir "$GROUP" 2>/dev/null; then
			mkdir "$GROUP/below"
			if [ -e "$GROUP/cgroup.freeze" ] || [ -e "$GROUP/freezer.state" ]; then
				return 0
			fi
			rmdir "$GROUP/below" "$GROUP"
		fi
	done
	GROUP=
	skip "no cgroup of version $1 that can be frozen can be made here"
}

# freeze LABEL: it is below a frozen cgroup.
freeze() {
	echo "${pids[$1]}" >"$GROUP/below/cgroup.procs"
	if [ -e "$GROUP/cgroup.freeze" ]; then
		echo 1 >"$GROUP/cgroup.freeze"
		eventually says "frozen 1" "$GROUP/below/cgroup.events"
	else
		echo FROZEN >"$GROUP/freezer.state"
		eventually says FROZEN "$GROUP/below/freezer.state"
	fi
}

thaw() {
	if [ -e "$GROUP/cgroup.freeze" ]; then
		echo 0 >"$GROUP/cgroup.freeze"
	else
		echo THAWED >"$GROUP/freezer.state"
	fi
}

frozen_head() {
	group "$1"
	hold a -N x -n 1
	background w "$FLOCKLIMIT" -N x -n 1 true
	eventually in_line 1
	background v "$FLOCKLIMIT" -N x -n 1 -v true
	eventually in_line 2
	run -0 "$CTL" show --json x
	[ "$(jq -c '[.waiters[].stopped, (.blocked | test("frozen"))]' <<<"$output")" = '[false,false,false]' ]
	freeze w
	eventually says "flocklimit: x: the head of the line, pid ${pids[w]}, is frozen, and everybody waits for it: thaw the cgroup $GROUP" v.err
	[[ $(<v.err) != *"$GROUP/below"* ]]
	run -0 "$CTL" show x
	[[ $output == *" true (frozen)"* ]]
	[[ $output == *", is frozen, and everybody waits for it: thaw the cgroup $GROUP, or cancel the ticket."* ]]
	run -0 "$CTL" show --json x
	[ "$(jq -c '[.waiters[].stopped]' <<<"$output")" = '[true,false]' ]
	thaw
	let_go a
	ended w
	[ "$status" -eq 0 ]
	ended v
	[ "$status" -eq 0 ]
}

@test "a frozen head is named, and the cgroup to thaw" {
	frozen_head 2
}

@test "a frozen head is named, and the cgroup of version 1 to thaw" {
	frozen_head 1
}

@test "a taker that was frozen where it keeps everyone out is named" {
	need_helper inside
	group 2
	"$FLOCKLIMIT" -N x -n 1 true
	background inside "$HELPERS/inside" "$FLOCKLIMIT_DIR/x" sleep
	eventually says inside inside.out
	freeze inside
	background a "$FLOCKLIMIT" -N x -n 1 true
	eventually says "flocklimit: x: waiting: pid ${pids[inside]} is frozen and keeps everyone out: thaw the cgroup $GROUP" a.err
	thaw
	kill -USR1 "${pids[inside]}"
	ended inside
	ended a
	[ "$status" -eq 0 ]
}
