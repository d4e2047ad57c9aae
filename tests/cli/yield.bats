#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Consent: waiters that let later takers go first.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/json.bash
load ../helpers/top.bash

MAP=${FLOCKLIMIT%/*}/flockmap

# joins LABEL WORDS...: it waits in the line, and will write its label into the file order.
joins() {
	local label=$1 ahead
	shift
	ahead=$(ctl show --json x | jq '.waiters | length')
	background "$label" "$FLOCKLIMIT" -N x -n 4 "$@" sh -c 'echo "$1" >>order' sh "$label"
	eventually waiting $((ahead + 1))
}

# standing: each waiter as "weight overtaken/consent", from the head on.
standing() {
	"$CTL" show --json x | jq -r '[.waiters[] | "\(.weight) \(.overtaken)/\(.yield)"] | join(", ")'
}

@test "a small one passes a heavy head that agreed, and runs at once" {
	hold a -N x -n 4 -w 2
	joins big -w 4 --yield 3
	run -0 "$FLOCKLIMIT" -N x -n 4 -w 1 --nonblock echo ran
	[ "$output" = ran ]
	[ "$(standing)" = "4 1/3" ]
	run "$CTL" show x
	[[ $output == *"(overtaken 1 of 3)"* ]]
	let_go a
	ended big
	[ "$status" = 0 ]
}

@test "no more than it agreed to" {
	hold a -N x -n 4 -w 2
	joins big -w 4 --yield 2
	run -0 "$FLOCKLIMIT" -N x -n 4 --nonblock true
	run -0 "$FLOCKLIMIT" -N x -n 4 -t 60 true
	run -75 "$FLOCKLIMIT" -N x -n 4 --nonblock true
	run -75 "$FLOCKLIMIT" -N x -n 4 -t 10ms true
	[ "$(standing)" = "4 2/2" ]
}

@test "a killed waiter that a newcomer passes does not count against --max-queue" {
	hold a -N x -n 4 -w 2
	joins big -w 4 --yield 3
	kill -KILL "${pids[big]}"
	ended big
	background b "$FLOCKLIMIT" -N x -n 4 -w 3 --max-queue 1 echo ran
	eventually waiting 1
	let_go a
	ended b
	[ "$status" = 0 ]
	[ "$(cat b.out)" = ran ]
}

@test "without a word from the waiter, none passes" {
	hold a -N x -n 4 -w 2
	joins big -w 4
	run -75 "$FLOCKLIMIT" -N x -n 4 --nonblock true
	run -75 "$FLOCKLIMIT" -N x -n 4 --yield 5 --nonblock true
	[ "$(standing)" = "4 0/0" ]
}

@test "takers that consent to the same keep their order; those that consent to less pass, up to one that does not" {
	hold a -N x -n 4 -w 3
	joins firm -w 4
	joins many -w 4 --yield 9
	joins same -w 1 --yield 9
	joins fewer -w 1 --yield 2
	joins none -w 1
	[ "$(standing)" = "4 0/0, 1 0/0, 1 1/2, 4 2/9, 1 2/9" ]
	let_go a
	for label in firm many same fewer none; do
		ended "$label"
	done
	[ "$(head -1 order)" = firm ]
}

@test "a newcomer that is not to wait gives the consents back" {
	hold a -N x -n 4 -w 4
	joins big -w 4 --yield 1
	run -75 "$FLOCKLIMIT" -N x -n 4 --nonblock true
	run -75 "$FLOCKLIMIT" -N x -n 4 --max-queue 0 true
	[ "$(standing)" = "4 0/1" ]
}

@test "--max-queue counts those that stay before it" {
	hold a -N x -n 4 -w 4
	joins big -w 4 --yield 5
	background small "$FLOCKLIMIT" -N x -n 4 --max-queue 1 true
	eventually waiting 2
	run -75 "$FLOCKLIMIT" -N x -n 4 --max-queue 1 true
	[ "$(standing)" = "1 0/0, 4 1/5" ]
	let_go a
	ended small
	[ "$status" = 0 ]
}

@test "flocklimitctl wait is passed by none" {
	hold a -N x -n 4 -w 4
	joins big -w 4 --yield 5
	background idle "$CTL" wait x
	eventually sleeps_in_line
	joins small -w 1
	[ "$(standing)" = "4 0/5, 1 0/0" ]
	let_go a
	ended idle
	[ "$status" = 0 ]
}

# The barrier of `flocklimitctl wait' is in the line: a try says how many are ahead, without it.
sleeps_in_line() {
	is_state S "${pids[idle]}" && grep -q futex "/proc/${pids[idle]}/wchan"
}

@test "a taker that has passed is killed: the line goes on, and the passed waiter has lost that consent" {
	hold a -N x -n 4 -w 4
	joins big -w 4 --yield 2
	joins small -w 1
	[ "$(standing)" = "1 0/0, 4 1/2" ]
	kill -KILL "${pids[small]}"
	eventually waiting 1
	[ "$(standing)" = "4 1/2" ]
	let_go a
	ended big
	[ "$status" = 0 ]
	run -0 "$CTL" check x
}

@test "the log says it, and the fence rises with the grants" {
	hold a -N x -n 4 -w 4
	background big "$FLOCKLIMIT" -N x -n 4 -w 4 --yield 2 sh -c 'echo "$FLOCKLIMIT_TICKET $FLOCKLIMIT_FENCE"'
	eventually waiting 1
	background small "$FLOCKLIMIT" -N x -n 4 sh -c 'echo "$FLOCKLIMIT_TICKET $FLOCKLIMIT_FENCE"'
	eventually waiting 2
	let_go a
	ended small
	ended big
	[ "$(cat big.out small.out)" = $'2 3\n3 2' ]
	"$CTL" log x | grep -q 'queued .* before 1 that came earlier$'
}

@test "a bar of gantt says how many waiters its ticket has passed" {
	local titles
	hold a -N x -n 2 -w 2
	waiter heavy 1 -n 2 -w 2 --yield 3
	waiter light 2 -n 2
	let_go a
	ended heavy
	ended light
	"$CTL" gantt x >x.svg
	titles=$(tr '\n' ' ' <x.svg | grep -oE '<rect[^>]*><title>ticket [23]:[^<]*')
	[[ $titles == *"ticket 3:"*"waited "*", before 1 that came earlier, ran "* ]]
	[[ $titles == *"ticket 2:"* ]]
	[[ $(grep 'ticket 2:' <<<"$titles") != *earlier* ]]
}

@test "top says how often a waiter was overtaken" {
	hold a -N x -n 4 -w 2
	waiter big 1 -n 4 -w 4 --yield 3
	hold b -N x
	top_in 100x24 x
	see 'true (overtaken 1 of 3)'
	shows_not '(overtaken 0'
	keys q
	over 0
	let_go a
	let_go b
	ended big
}

# why_is STATE: of ticket 2 of x.
why_is() {
	ctl why x --json 2 >why.json
	cat why.json
	conforms "A wait" <why.json
	jq -e '(.parts | map(.span_s) | add // 0) - .waited_s | fabs < 1e-6' why.json
	[ "$(jq -c '[.state, .whole, (.parts | map(.reason) | sort)]' why.json)" = "$1" ]
}

@test "why says that others passed" {
	hold a -N x -n 4 -w 2
	waiter big 1 -n 4 -w 4 --yield 3
	hold c -N x -n 4
	let_go a
	ended a
	eventually holding 1
	why_is '["waiting",true,["passed","units"]]'
	run -0 ctl why x 2
	[[ $output == *"others passed, by --yield or by turns, the longest ticket 3 (sh, weight 1)"* ]]
	let_go c
	ended big
	why_is '["granted",true,["passed","units"]]'
}

@test "flockmap's items yield as well" {
	hold a -N x -n 4 -w 4
	background map "$MAP" -N x -n 4 -w 4 --yield 3 sh -c 'echo "$1" >>order' sh ::: one
	eventually waiting 1
	joins small -w 1
	[ "$(standing)" = "1 0/0, 4 1/3" ]
	let_go a
	ended small
	ended map
	[ "$status" = 0 ]
}

@test "--yield where it has no effect, or is no number, says so" {
	local word
	for word in '' x -1 1.5 1e9999; do
		refused "$FLOCKLIMIT" -N x --yield "$word" true
		[[ $stderr == *"--yield"*"'$word'"*"not a number of takers: use 0 or more, say 10" ]]
	done
	refused "$FLOCKLIMIT" --store etcd://127.0.0.1:1/a -N x --yield 2 true
	[[ $stderr == *"--yield is for limiters of one machine"* ]]
	run -0 "$FLOCKLIMIT" -N x -n 4 "$FLOCKLIMIT" -N x --yield 2 true
	[[ $output == *"--yield 2 has no effect: this command joins the permit"* ]]
	run -0 "$FLOCKLIMIT" -N x -n 4 "$FLOCKLIMIT" -N x -n 2 -w 3 --yield 2 true
	[[ $output == *"-n 2, -w 3 and --yield 2 have no effect"* ]]
}
