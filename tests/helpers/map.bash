# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# shellcheck disable=SC2016 # for the inner shells
# Shared by the tests of flockmap, behind lib.bash.

MAP=${FLOCKLIMIT%/*}/flockmap
CTL=${FLOCKLIMIT%/*}/flocklimitctl
export MAP CTL

# map_line STATUS CMD...: that status, nothing on stdout, one line of flockmap's on stderr.
map_line() {
	local expected=$1
	shift
	run --separate-stderr "-$expected" "$@"
	echo "stdout: $output"
	echo "stderr: $stderr"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "flockmap: "* ]]
}

# sanitized: it takes far more memory than it would.
sanitized() {
	grep -qE '__[at]san_init' "$MAP"
}

# is_free [NAME]: nobody holds or waits.
is_free() {
	[ "$("$CTL" show --json "${1:-x}" | jq '(.holders + .waiters) | length')" = 0 ]
}

# holding N [NAME]
holding() {
	[ "$("$CTL" show --json "${2:-x}" 2>/dev/null | jq '.holders | length')" = "$1" ]
}

# up_to N: the commands of $T/up.* that have said so are N.
up_to() {
	[ "$(cat "$T"/up.* 2>/dev/null | wc -l)" = "$1" ]
}

# For `sh -c': says that it is up, in a file of its item with its pid, and waits for go.
wait_for_go='echo $$ >"$T/up.$1"; read -r _ <"$T/go"'

# make_go: makes the fifo of go, which this shell keeps open: who opens it does not block, and a line
# stays in it until somebody reads it.
make_go() {
	mkfifo "$T/go"
	exec {gate}<>"$T/go"
}

# go [N]: as many of those that wait for it go on, one unless said.  One that is up, but has not come to its
# read yet, finds the line there.
go() {
	local i
	for ((i = 0; i < ${1:-1}; i++)); do
		echo >&"$gate"
	done
}
