# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what lib.bash sets, and what tests read
# Shared by the tests of flocklimitctl's JSON: the tables of its page as a schema for jq; after ctl.bash.

JSON_PAGE=$TESTS_SOURCE/../man/flocklimitctl.1

# json_schema: {"A taker": {"ticket": ["number"], "host": ["string", "null"], ...}, ...}
json_schema() {
	awk '/^\.Sh / { on = $2 == "JSON" } !on { next }
		/^\.Ss / { name = substr($0, 5); sub(/^\\&/, "", name) }
		/^\.It Cm [a-z0-9_]+ Ta / {
			line = $0
			sub(/^\.It Cm [a-z0-9_]+ Ta /, "", line)
			sub(/ Ta .*/, "", line)
			gsub(/ or /, "\",\"", line)
			printf "{\"%s\": {\"%s\": [\"%s\"]}}\n", name, $3, line
		}' "$JSON_PAGE" | jq -s 'reduce .[] as $o ({}; . * $o)'
}

# What an object of each kind has inside; the top of it is the caller's to name.
# shellcheck disable=SC2016 # for jq
JSON_RULES='
def fields($kinds): reduce $kinds[] as $k ({}; . + ($schema[$k] // error("the page has no \"\($k)\"")));
def is($kinds):
	. as $o | fields($kinds) as $f |
	if type != "object" then error("\($kinds): \(.) is no object")
	elif keys != ($f | keys) then
		error("\($kinds): only the output has \(keys - ($f | keys)), only the page \(($f | keys) - keys)")
	else . end |
	($f | to_entries[] | . as $e | ($o[$e.key] | type) as $t |
		if any($e.value[]; . == $t) then empty
		else error("\($kinds), \($e.key): \($t), and by the page \($e.value)") end),
	(if has("schema") and .schema != 1 then error("schema \(.schema)") else empty end),
	(.ramp // empty | is(["A ramp"])),
	(.pace // empty | is(["A pace"])),
	(.totals // empty | is(["Totals"])),
	(.wait_times // empty, .hold_times // empty | is(["A distribution"])),
	(.took // empty | is(["What commands took"])),
	(.memory // empty, .cpu // empty | is(["A spread"])),
	(.parts // empty | .[] | is(["A part of a wait"])),
	(.commands // empty | .[] | is(["A suggestion"])),
	(.buckets // empty | .[] | is(["A bucket"])),
	(.holders // empty, .waiters // empty | .[] | is(["A taker"])),
	(.kept_by // empty | if all(.[]; type == "number") then empty else error("kept_by: \(.)") end),
	(.failures // empty | if all(.[]; type == "string") then empty else error("failures: \(.)") end);
'

# conforms KIND...: each object in standard input has exactly the fields of these tables, of their types.
conforms() {
	local kinds input
	kinds=$(jq -nc '$ARGS.positional' --args "$@")
	input=$(cat)
	[ -n "$input" ]
	jq -n --argjson schema "$(json_schema)" --argjson kinds "$kinds" \
		"$JSON_RULES"' [inputs | is($kinds)] | length == 0' <<<"$input" >"$T/conforms"
	[ "$(cat "$T/conforms")" = true ]
}

SHOWN=("A limiter" "A limiter in show and stats" "A limiter in show")
COUNTED=("A limiter" "A limiter in show and stats" "A limiter in stats")
