# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # pids: of lib.bash
# For tests that use the store in memory as a process: see memory/serve.c.  Needs lib.bash.

STORE_TOOLS=$TESTS_BUILD/store

# serve [NAME]: a store in memory, which has that name or a new one.
serve() {
	start_store memory:// memory/serve "$@"
}

# start_store URL PROGRAM [WORD...]: its URL is in STORE: that with what it says first.  Its log is
# $T/store.log.
start_store() {
	local url=$1 program=$2
	shift 2
	[ -p "$T/store.in" ] || mkfifo "$T/store.in"
	# For both directions, as that blocks nobody.
	exec {orders}<>"$T/store.in"
	"$STORE_TOOLS/$program" -l "$T/store.log" "$@" <"$T/store.in" >"$T/store.out" 2>"$T/store.err" \
		{orders}>&- 3>&- &
	pids[store]=$!
	eventually has_lines 1 "$T/store.out"
	STORE=$url$(head -n 1 "$T/store.out")
}

# order LINE: what the store is to do; it has done it then.
order() {
	local n
	n=$(wc -l <"$T/store.out")
	echo "$*" >&"$orders"
	eventually has_lines $((n + 1)) "$T/store.out"
}

# raw DEED...: records are looked at, or changed, by hand.
raw() {
	local of=memory
	[[ $STORE == memory:* ]] || of=fake
	"$STORE_TOOLS/$of/raw" "$STORE" "$@"
}

# count PREFIX: how many keys begin so, but for those that only people read.
count() {
	raw keys "$1" | grep -vc '//[mn]/'
}

# logged WORDS: the log of the store has, or gets, a line that matches.  What is there for a second or two is
# looked for in the log, as no poll is sure to find it.
logged() {
	eventually grep -qE -e "$1" "$T/store.log"
}

# log_count WORDS: so many lines of it match.
log_count() {
	grep -cE -e "$1" "$T/store.log"
}
