#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# The judge of the stores' tests: logs made by hand, each with one crime, or with what looks like one.

load ../../helpers/lib.bash

JUDGE=$TESTS_BUILD/store/etcd/judge
WITNESS=$TESTS_BUILD/store/etcd/witness

# judged STATUS [OPTION...] <LOG: times in ms
judged() {
	local expected=$1
	shift
	awk '{ $2 = $2 "000000" } 1' >log
	run "-$expected" "$JUDGE" "$@" log
}

# guilty LAW [OPTION...] <LOG: of that crime, and of no other.
guilty() {
	local law=$1
	shift
	judged 1 "$@"
	echo "$output"
	[[ ${lines[0]} == "$law: "* ]]
	[[ $output == *", 1 crimes" ]]
}

innocent() {
	judged 0 "$@"
	[[ $output == *", 0 crimes" ]]
}

@test "one after the other, and as many at once as there is room for" {
	innocent -n 2 <<-LOG
		WAITS 1 a
		BEGIN 2 11 5 0 1 2
		BEGIN 2 12 6 1 1 2
		END 4 11
		BEGIN 5 13 7 0 1 2
		END 6 12
		END 6 13
		GONE 9 a 0
	LOG
	innocent -n 1 <<-LOG
		BEGIN 2 11 5 0 1 1
		END 4 11
		BEGIN 4 12 6 0 1 1
		END 5 12
	LOG
}

@test "one too many" {
	guilty weight -n 2 <<-LOG
		BEGIN 1 11 5 0 1 2
		BEGIN 2 12 6 1 1 2
		BEGIN 3 13 7 2 1 2
		END 4 11
		END 4 12
		END 4 13
	LOG
}

@test "two that are too heavy together" {
	guilty weight -n 4 <<-LOG
		BEGIN 1 11 5 0 2 4
		BEGIN 2 12 6 1 3 4
		END 4 11
		END 4 12
	LOG
}

@test "lines that come late into the log are where they belong" {
	guilty weight -n 1 <<-LOG
		END 5 11
		BEGIN 4 12 6 1 1 1
		BEGIN 1 11 5 0 1 1
		END 6 12
	LOG
}

@test "a limit that changes: whoever runs may go on, and nobody else may begin" {
	innocent -n 2 <<-LOG
		BEGIN 1 11 5 0 1 2
		BEGIN 1 12 6 1 1 2
		LIMIT 2 1
		END 3 12
		END 4 11
		BEGIN 5 13 7 0 1 1
		LIMIT 6 2
		BEGIN 7 14 8 1 1 2
		END 8 13
		END 8 14
	LOG
	guilty weight -n 2 <<-LOG
		BEGIN 1 11 5 0 1 2
		LIMIT 2 1
		BEGIN 3 12 6 1 1 2
		END 4 11
		END 4 12
	LOG
}

@test "the heavy counts as the whole, and is alone" {
	innocent -n 2 <<-LOG
		BEGIN 1 11 5 0 3 2
		END 2 11
	LOG
	guilty weight -n 2 <<-LOG
		BEGIN 1 11 5 0 3 2
		BEGIN 2 12 6 1 1 2
		END 3 11
		END 3 12
	LOG
}

@test "overtaken; and who only began a little later" {
	guilty order -n 1 <<-LOG
		BEGIN 1 11 6 0 1 1
		END 2 11
		BEGIN 3 12 5 1 1 1
		END 4 12
	LOG
	innocent -n 2 -o 5 <<-LOG
		BEGIN 1 11 6 0 1 2
		BEGIN 3 12 5 1 1 2
		END 4 11
		END 4 12
	LOG
	guilty order -n 2 -o 1 <<-LOG
		BEGIN 1 11 6 0 1 2
		BEGIN 3 12 5 1 1 2
		END 4 11
		END 4 12
	LOG
}

@test "a ticket that is given twice" {
	guilty once -n 2 <<-LOG
		BEGIN 1 11 5 0 1 2
		BEGIN 1 12 5 1 1 2
		END 2 11
		END 2 12
	LOG
}

@test "a seat that two have at once" {
	guilty once -n 2 <<-LOG
		BEGIN 1 11 5 0 1 2
		BEGIN 1 12 6 0 1 2
		END 2 11
		END 2 12
	LOG
}

@test "tickets that fall in a seat" {
	guilty seat -n 1 -o 1000 <<-LOG
		BEGIN 1 11 6 0 1 1
		END 2 11
		BEGIN 3 12 5 0 1 1
		END 4 12
	LOG
}

@test "a run and a taker without an end" {
	guilty end -n 1 <<-LOG
		BEGIN 1 11 5 0 1 1
	LOG
	guilty end -n 1 <<-LOG
		WAITS 1 a
		WAITS 1 b
		GONE 2 a 0
	LOG
}

@test "one that is killed has ended, but not before" {
	innocent -n 1 <<-LOG
		BEGIN 1 11 5 0 1 1
		KILLED 2 11
		BEGIN 3 12 6 0 1 1
		DEAD 4 11
		END 5 12
	LOG
	innocent -n 1 <<-LOG
		BEGIN 1 11 5 0 1 1
		DEAD 2 11
		BEGIN 3 12 6 0 1 1
		END 5 12
	LOG
	guilty weight -n 1 <<-LOG
		BEGIN 1 11 5 0 1 1
		SIGNAL 2 11 15
		BEGIN 3 12 6 1 1 1
		DEAD 4 11
		END 5 12
	LOG
}

@test "nonsense is no alibi" {
	local nonsense
	for nonsense in "BEGIN 1 11 - - - -" "END 1 99" "GONE 1 a 0" "BEGAN 1 2" "BEGIN"; do
		judged 2 -n 1 <<<"$nonsense"
		[[ $output == *"makes no sense"* ]]
	done
}

# dead N: so many were seen to be.
dead() { [ "$(grep -c ^DEAD log)" = "$1" ]; }

@test "what witnesses write is what the judge reads" {
	export FLOCKLIMIT_SEAT=0 FLOCKLIMIT_WEIGHT=1 FLOCKLIMIT_LIMIT=1
	: >log
	mkfifo go
	background watch "$WITNESS" -d log
	eventually says WATCHING log
	"$WITNESS" -w log a
	FLOCKLIMIT_TICKET=5 "$WITNESS" log 0.01
	FLOCKLIMIT_TICKET=6 background b "$WITNESS" log go
	eventually grep -q "^BEGIN .* ${pids[b]} 6 0 1 1" log
	: >go
	ended b
	[ "$status" -eq 0 ]
	FLOCKLIMIT_TICKET=7 background c "$WITNESS" log go
	eventually says "${pids[c]} 7 0" log
	kill -TERM "${pids[c]}"
	ended c
	[ "$status" -eq 143 ]
	WITNESS_STAYS=1 FLOCKLIMIT_TICKET=8 background d "$WITNESS" log go
	eventually says "${pids[d]} 8 0" log
	kill -TERM "${pids[d]}"
	eventually grep -q "^SIGNAL .* ${pids[d]} 15\$" log
	kill -KILL "${pids[d]}"
	ended d || :


	eventually dead 4
	"$WITNESS" -g log a 0
	cat log
	run -0 "$JUDGE" -n 1 log
	[[ $output == "4 runs, 1 takers, 0 crimes" ]]
	# Without the ends, each is over the limit.
	grep -v ^END log | grep -v ^DEAD >bad
	run -1 "$JUDGE" -n 1 bad
}
