# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# Shared by the tests of flocklimitctl; after lib.bash.

CTL=${FLOCKLIMIT%/*}/flocklimitctl

ctl() { "$CTL" "$@"; }

# ctl_line STATUS CMD...: that status, nothing on stdout, one line of flocklimitctl's on stderr.
ctl_line() {
	local expected=$1
	shift
	run --separate-stderr "-$expected" "$CTL" "$@"
	echo "stdout: $output"
	echo "stderr: $stderr"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "flocklimitctl: "* ]]
}

# waiter LABEL N OPTION...: one more in the line of x, the Nth.
waiter() {
	local label=$1 n=$2
	shift 2
	background "$label" "$FLOCKLIMIT" -N x "$@" true
	eventually waiting "$n"
}

waiting() { [ "$(ctl show --json x | jq '.waiters | length')" = "$1" ]; }

holding() { [ "$(ctl show --json x 2>/dev/null | jq '.holders | length')" = "$1" ]; }

field_is() { [ "$(field "$1")" = "$2" ]; }

# become PID: the taker in the first slot of x calls itself so.
become() {
	patch limiters/x $((4096 + 4160 * 64 + 108)) \
		"$(printf '\\%o' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)))"
	[ "$(field '.holders[0].pid')" = "$1" ]
}

# field FILTER [NAME]: what jq makes of show --json x.  A number that it only passes on would be 2.0 since
# jq 1.7, and 2 before.
field() { ctl show --json "${2:-x}" | jq -c "$1 | walk(numbers += 0)"; }

# metrics: the metrics on stdin are as Prometheus and the rules of promtool want them: each family once, its
# help and type first, every line of it together; suffixes and reserved labels for their type only; and
# no sample twice.
metrics() {
	awk '/^# HELP/ { help = $3; if (NF < 4) exit 1; next }
		/^# TYPE/ { if ($3 != help || seen[$3]++) exit 1; family = $3; type = $4; next }
		{ name = $0; sub(/[{ ].*/, "", name); sample = $0; sub(/ [^ ]*$/, "", sample) }
		sampled[sample]++ || $NF !~ /^[0-9.e+-]+$/ { exit 1 }
		/[{,]quantile="/ || (/[{,]le="/ && type != "histogram") { exit 1 }
		type == "histogram" { if (name !~ "^" family "_(bucket|sum|count)$") exit 1; next }
		name != family || (name ~ /_total$/) != (type == "counter") { exit 1 }
		name ~ /_(bucket|sum|count)$/ { exit 1 }' >&2 || return 1
}
