# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# steps.bash - how .ci/run runs its list: what each word of it does.
#
#	step NAME COMMAND...	runs one check, and prints whether it passed
#	suite NAME COMMAND...	runs tests, and counts those that ran
#	begin NAME COMMAND...	runs it beside what comes next, until a step or suite of this NAME
#	begin FUNCTION		the same for all that the function measures
#	idly ...		as begin, but with what the others leave of the processors
#	await NAME		lets it run as others do from now on, and waits for it
#	measure NAME COMMAND...	in such a function: runs it, for a step or suite of this NAME
#	finish			prints what each took, and the last line; fails if a check failed
#
# Most tests wait more than they compute, so what only computes runs beside them at SCHED_IDLE:
# analysers and the other builds.  What was measured is in files of $work: NAME.log, NAME.status, and a
# line of the table.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
declare -A pid # of what was begun, by its name

measure() {
	local name=$1 TIMEFORMAT='%0R %U %S' status
	shift
	{ time "$@" >"$work/$name.log" 2>&1; } 2>"$work/$name.took"
	status=$?
	echo "$status" >"$work/$name.status"
	awk -v name="$name" '{ printf "%7d %7d  %s\n", $1, $2 + $3 + 0.5, name }' "$work/$name.took" >>"$work/table"
	return "$status"
}

begin() {
	local command=("$@")
	[ $# -eq 1 ] || command=(measure "$@")
	"${command[@]}" &
	pid[$1]=$!
}

idly() {
	begin "$@"
	chrt --idle --pid 0 "${pid[$1]}"
}

# It gives way no longer, or on a busy machine it would not end.
await() {
	hurry "${pid[$1]}"
	wait "${pid[$1]}"
	unset "pid[$1]"
}

# A parent comes before its children: those that it starts meanwhile need no change.
hurry() {
	local child
	chrt --other --pid 0 "$1" 2>/dev/null || return 0 # it has ended, or we are not root
	for child in $(pgrep -P "$1"); do hurry "$child"; done
}

# result NAME [COMMAND...]: of the command, or else of what was begun or measured under this name.
result() {
	if [ $# -gt 1 ]; then
		measure "$@"
		return
	fi
	[ -z "${pid[$1]-}" ] || wait "${pid[$1]}"
	return "$(cat "$work/$1.status")"
}

# What it prints is shown only if it fails.
step() {
	if result "$@"; then
		passed=$((passed + 1))
		echo "ok   $1"
	else
		failed=$((failed + 1))
		echo "FAIL $1"
		tail -n 80 "$work/$1.log"
	fi
}

suite() {
	local log=$work/$1.log p f s status
	result "$@"
	status=$?
	read -r p f s < <(awk -f tests/helpers/count.awk "$log")
	if [ $((p + s)) -eq 0 ] || { [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; }; then
		f=$((f + 1))
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	echo "$1: $p passed, $f failed, $s skipped"
	[ "$f" -eq 0 ] || grep -E '^(not ok|FAIL:|ERROR:|# )|error:|warning:' "$log" | head -n 100
}

finish() {
	echo 'seconds     CPU  part'
	cat "$work/table"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
