# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # pids, orders: of lib.bash and memory.bash
# For tests of a fleet by tests/store/takers.c: takers a to z of the limiter /x/lim, whose names
# in the store are 15 zeros and their letter's number.  All takers of a label share a life.

# takers LABEL [TTL [GRACE [manual]]]: of a new life; reads the lines of does, tells in $T/LABEL.out.
takers() {
	: "$((++lives))"
	declare -gA life_of
	life_of["$1"]=$(printf 'f%015x' "$lives")
	drive -l "$@"
}

# heirs LABEL OLD [TTL [GRACE [manual]]]: they take over the life of that label, which has ended.
heirs() {
	life_of["$1"]=${life_of[$2]}
	drive -L "$1" "${@:3}"
}

# drive -l|-L LABEL [TTL [GRACE [manual]]]
drive() {
	local which=$1 label=$2
	shift 2
	rm -f "$T/$label.in"
	mkfifo "$T/$label.in"
	# For both directions, as that blocks nobody.
	exec {lines}<>"$T/$label.in"
	declare -gA line_to
	line_to["$label"]=$lines
	: >"$T/$label.out"
	(
		# Each ends at the end of its lines: no other may have them open.
		for lines in "${line_to[@]}"; do
			exec {lines}>&-
		done
		exec "$STORE_TOOLS/memory/takers" "$which" "${life_of[$label]}" \
			"$STORE/x" lim "$@"
	) <"$T/$label.in" >"$T/$label.out" 2>"$T/$label.err" {orders}>&- 3>&- &
	pids["$label"]=$!
}

# self LETTER
self() {
	printf '%016x' $(($(printf %d "'$1") - 96))
}

# life LABEL: what the keys begin with by which others see that its takers are alive: one for each lease.
life() {
	echo "/x/lim/cfg//l/${life_of[$1]}/"
}

# is_shown LABEL: it has such a key.  life_key LABEL: the one that it has.
is_shown() {
	keys | grep -qF "$(life "$1")"
}

life_key() {
	keys | grep -F "$(life "$1")"
}

# mark LABEL: the key by which that life is suspect.
mark() {
	echo "/x/lim/cfg//s/${life_of[$1]}"
}

# lease LABEL: that of its life, which has one.
lease() {
	local key
	key=$(life_key "$1")
	echo "$((16#${key##*/}))"
}

# expires LABEL: the lease of its life ends, whatever its time.
expires() {
	raw end "$(lease "$1")"
}

# dies LABEL: it is killed, and the store notices at once.
dies() {
	kill -KILL "${pids[$1]}"
	ended "$1"
	expires "$1"
}

# does LABEL LINE...
does() {
	local label=$1
	shift
	printf '%s\n' "$@" >&"${line_to[$label]}"
}

# makes LABEL LETTER...: takers of these names.
makes() {
	local label=$1 letter
	shift
	for letter; do
		does "$label" "new $letter $(self "$letter")"
	done
}

# told LABEL WORDS: it was told that; a line matches the words.
told() {
	eventually grep -qE "^[0-9.]+ $2" "$T/$1.out"
}

# untold LABEL WORDS: it was not.
untold() {
	run grep -E "^[0-9.]+ $2" "$T/$1.out"
	[ "$status" = 1 ] || { echo "$output"; false; }
}

# tells LABEL KIND...: who was told of one of these kinds, in order: "a GRANTED b QUEUED".
tells() {
	local label=$1 kinds
	shift
	kinds=$(IFS='|'; echo "$*")
	awk -v kinds="^($kinds)\$" '$3 ~ kinds { printf "%s%s %s", n++ ? " " : "", $2, $3 }' "$T/$label.out"
}

# ends LABEL: no more lines; it ends well.
ends() {
	local fd=${line_to[$1]}
	exec {fd}>&-
	ended "$1"
	[ "$status" = 0 ] || { cat "$T/$1.out" "$T/$1.err"; false; }
}

# keys: all that are in the store, one a line, but what is remembered and counted.
keys() {
	raw keys / | grep -v '//[mn]/'
}

has_key() {
	keys | grep -qxF "$1"
}

lacks_key() {
	! has_key "$1"
}

# when WORDS: in ms, when the store noted that first.
when() {
	awk -v words="$1" '$0 ~ words { print $1; exit }' "$T/store.log"
}

# clean: nothing is left but how the limiter is steered.
is_clean() {
	[ "$(keys)" = /x/lim/cfg ]
}

clean() {
	eventually is_clean || { keys; false; }
}
