#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What operators do to the data of a cluster: compaction with defragmentation, a quota that is used
# up, an older snapshot, a member that is removed and another that is added.

load ../../helpers/lib.bash
load store.bash
load quorum.bash

# crowd N OPTION...: so many takers for a moment each, who all run.
crowd() {
	local i n=$1
	shift
	for ((i = 1; i <= n; i++)); do
		taker "t$i" 0.05 -n 2 "$@"
	done
}
crowd_runs() {
	local i
	for ((i = 1; i <= $1; i++)); do
		over "t$i"
		[ "$status" -eq 0 ] || { cat "t$i.err"; return 1; }
	done
}

revision() { etcd_do get x -w json | jq .header.revision; }

has_begun() { [ "$(grep -c '^BEGIN' "$LOG")" -ge "$1" ]; }

# A revision is compacted once.
has_changed() {
	now=$(revision)
	[ "$now" != "$compacted" ]
}
compact_and_defrag() {
	eventually has_changed
	etcd_do compact "$now" >/dev/null
	etcd_do defrag >/dev/null
	compacted=$now
	n=$((n + 1))
}

@test "compaction and defragmentation under a line, again and again" {
	local n=0 now compacted=0 began
	times 4
	own_server
	use_store
	watched
	# The line stands for the first, and h2 keeps a unit until the third, however fast the server is.
	holder h1 -n 2
	holder h2 -n 2
	began=$(the_clock)
	crowd 60
	eventually queued 60
	compact_and_defrag
	release h1
	compact_and_defrag
	compact_and_defrag
	release h2
	while ! has_begun 62 && [ "$(the_clock)" -lt $((began + 60000)) ]; do
		compact_and_defrag
	done
	over h1
	over h2
	crowd_runs 60
	measured "$n compactions, $(($(the_clock) - began)) ms"
	[ "$n" -ge 3 ]
	judged -n 2 -o 60000
	spotless
}

@test "the quota is used up: permits come back, none is given, and all goes on when there is room" {
	local i
	times 4
	own_server --quota-backend-bytes=$((16 << 20))
	use_store
	watched
	holder a -n 1
	line_up 1 b -n 1
	head -c 1000000 /dev/zero | tr '\0' x >big
	for i in {1..40}; do
		etcd_do put "/big/$i" <big >/dev/null 2>&1 || break
	done
	etcd_do alarm list | grep -q NOSPACE
	gone=$(the_clock)
	until_clock $((gone + RECLAIM + 1000))
	not_begun b
	! done_with a || false
	release a
	over a
	cat a.err
	[ "$status" -eq 0 ]
	until_clock $(($(the_clock) + 1000))
	not_begun b
	etcd_do del --prefix /big/ >/dev/null
	etcd_do compact "$(revision)" >/dev/null
	etcd_do defrag >/dev/null
	etcd_do alarm disarm >/dev/null
	over b
	cat b.err
	[ "$status" -eq 0 ]
	judged -n 1
	spotless
}

@test "an older snapshot is restored: the holder is told, the others queue anew and run" {
	local i
	times 4
	own_server
	use_store
	watched
	holder old -n 1
	etcd_do snapshot save "$T/older.db" >/dev/null 2>&1
	release old
	over old
	holder a -n 1
	line_up 1 b -n 1
	line_up 2 c -n 1
	end_server one
	rm -rf "${SERVERS:?}/one"
	etcdctl snapshot restore "$T/older.db" --name one --data-dir "$SERVERS/one" \
		--initial-cluster "$(cat "$SERVERS/cluster")" --initial-cluster-token "$SERVERS" \
		--initial-advertise-peer-urls "$(peer_of one)" >restore.log 2>&1
	gone=$(the_clock)
	again one
	over a
	cat a.err
	[ "$status" -eq 76 ]
	for i in b c; do
		over "$i"
		cat "$i.err"
		[ "$status" -eq 0 ]
	done
	measured "all had run after $(($(the_clock) - gone)) ms"
	[ "$(($(the_clock) - gone))" -lt $((LATEST + 20000)) ]
	# Tickets begin anew with the snapshot; the limit holds but for the moment that the page names.
	judged -n 1 -o 60000 | tee judged || :
	! grep '^weight:\|^end:' judged || false
	spotless
}

removes() { etcd_do member remove "$1" >/dev/null 2>&1; }
adds() { etcd_do member add "$1" --peer-urls="$(peer_of "$1")" >/dev/null 2>&1; }

@test "a member is removed, and another added: permits and places are kept" {
	local id
	stand 2
	LEADER=$(leader a b c)
	id=$(etcd_do member list | awk -F', ' -v name="${FOLLOWERS%% *}" '$3 == name { print $1 }')
	# It removes none before all have been well for some seconds.
	eventually removes "$id"
	end_server "${FOLLOWERS%% *}"
	a_port >"$SERVERS/d.port"
	a_port >"$SERVERS/d.peer"
	eventually adds d
	sed -i "s,${FOLLOWERS%% *}=[^\,]*,d=$(peer_of d)," "$SERVERS/cluster"
	launch d --heartbeat-interval=50 --election-timeout=500 --initial-cluster-state=existing
	serves d
	until_clock $((gone + RECLAIM + 1000))
	queued 3
	finish
	spotless
}
