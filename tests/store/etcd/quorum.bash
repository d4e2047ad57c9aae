# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# Shared by the tests of three servers; after store.bash.

# stand [LIMIT [TTL]]: three servers, as many holders as there is room for, and three in the line.
stand() {
	local i n=${1:-1}
	times "${2:-3}"
	servers_in "$T/servers"
	three_servers
	use_store
	watched
	LIMIT=$n
	for ((i = 1; i <= n; i++)); do
		holder "a$i" -n "$n"
	done
	for i in 1 2 3; do
		line_up "$i" "w$i" -n "$n"
	done
	LEADER=$(leader a)
	FOLLOWERS=$(printf "%s\n" a b c | grep -v "$LEADER" | xargs)
	gone=$(the_clock)
}

# finish: the holders are let go, and everybody has ended well.
finish() {
	local i
	for ((i = 1; i <= LIMIT; i++)); do
		release "a$i"
		over "a$i"
		[ "$status" -eq 0 ] || return 1
	done
	line_runs
}

# line_runs: those who wait all run, and the laws held.
line_runs() {
	local i
	for i in 1 2 3; do
		over "w$i"
		[ "$status" -eq 0 ] || return 1
	done
	judged -n "$LIMIT" -o 1000
}

# pause_leader MS: it is stopped, and goes on as if nothing had been.
pause_leader() {
	freeze "$LEADER"
	until_clock $(($(the_clock) + $1))
	thaw "$LEADER"
}
