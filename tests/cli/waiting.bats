#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What one who waits sees on a terminal; and permits that are held for another process.

load ../helpers/lib.bash

CTL=${FLOCKLIMIT}ctl

# typescript LABEL CMD...: runs CMD on a terminal of its own, on which nobody types.
typescript() {
	local label=$1
	shift
	need_terminal
	background "$label" "$HELPERS/pty" env --default-signal=INT,QUIT "$@"
}

# shown WORDS LABEL: a status line with these words was drawn.
shown() { drawn "$2" | grep -qE -- "$1"; }

# drawn LABEL: what was drawn into the line, one after the other.
drawn() { tr '\r' '\n' <"$T/$1.out"; }

# shows_command COLUMNS LABEL: each line has the holder's command, if eight columns of it fit, and two quotes.
shows_command() {
	[ "$(drawn "$2" | grep ' ahead' | grep -vF '"sh -c' | grep -cE "^.\[K.{0,$(($1 - 11))}\$")" -eq 0 ]
}

held() { "$CTL" show --json x | jq -e --arg t "$1" '.holders | any(.ticket == ($t | tonumber))' >/dev/null; }

@test "the status line: after two seconds, in place, how far one has come" {
	local before
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 sh -c 'echo; cat go'
	mkfifo go
	eventually in_line 1
	before=$EPOCHREALTIME
	typescript c "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually in_line 2
	eventually shown "x: waiting [0-9.]+ s for pid ${pids[a]} \"sh -c .*\"; 1 ahead; 1 of 1 in use; held for [0-9.]+ s" c
	awk -v a="$before" -v b="$EPOCHREALTIME" 'BEGIN { exit b - a < 2 }'
	let_go a
	ended a
	eventually shown "waiting [0-9.]+ s for pid ${pids[b]} \"sh -c .*\"; next in line" c
	[[ $(drawn c | grep -oE 'waiting [0-9]' | head -n 1) != "waiting "[01] ]]
	timeout 300 sh -c ': >go'
	ended c
	[ "$status" -eq 0 ]
	# One line, cleared each time: no other ever scrolls by, and nothing is left of it.
	[ "$(grep -c . c.out)" -eq 1 ]
	[ "$(drawn c | grep -c 'waiting')" -ge 2 ]
	[ "$(drawn c | grep 'waiting' | grep -cvF $'\e[K')" -eq 0 ]
	[[ $(cat c.out) == *$'\r\e[Kran'* ]]
}

@test "the status line is cleared at a cancellation and at a timeout, and before the sentence" {
	hold a -N x -n 1
	typescript c "$FLOCKLIMIT" -N x -n 1 true
	typescript q "$FLOCKLIMIT" -N x -n 1 -q true
	background d "$FLOCKLIMIT" -N x -n 1 true
	eventually in_line 3
	typescript b "$FLOCKLIMIT" -N x -n 1 -t 10s true
	eventually shown 'waiting' b
	eventually shown 'waiting' c
	"$CTL" cancel x "$("$CTL" show --json x | jq --argjson p "$(pgrep -P "${pids[c]}")" '.waiters[] | select(.pid == $p).ticket')"
	ended c
	[ "$status" -eq 75 ]
	[[ $(cat c.out) == *$'\r\e[Kflocklimit: x: no permit: cancelled by pid '* ]]
	ended b
	[ "$status" -eq 75 ]
	[[ $(cat b.out) == *$'\r\e[Kflocklimit: x: no permit after 10 s: '* ]]
	# By now the others have waited as long: not on a terminal, or asked to be quiet.
	run ! grep -qF $'\e[K' d.err
	run ! grep -v 'waiting [3-9][0-9] s' d.err # which is said of a long wait
	[ ! -s q.out ]
	let_go a
	ended d
	ended q
	[ "$status" -eq 0 ]
}

@test "a status line is no wider than the terminal" {
	hold a -N x -n 1
	typescript b sh -c 'stty cols 50; exec "$FLOCKLIMIT" -N x -n 1 true'
	eventually shown 'waiting' b
	let_go a
	ended b
	drawn b | sed 's/\x1b\[K//' | awk 'length > 49 { exit 1 }'
	[[ $(drawn b | grep -m 1 waiting) == *'; next in line' ]]
}

# fits N LABEL: no status line has more columns than N; in bytes, which are no fewer.
fits() {
	drawn "$2" | sed 's/\x1b\[K//' | LC_ALL=C awk -v n="$1" '/waiting/ && length > n { exit 1 }'
}

one_ahead() { "$FLOCKLIMIT" -f "$1" -n 1 --nonblock true 2>&1 | grep -q ' 1 ahead of you'; }

@test "80 columns have room for the holder and for the number ahead, whatever the names are" {
	local long
	long=$(printf '%s' {a..z} {a..z})
	mkdir "$T/$long"
	hold a -f "$T/$long/$long" -n 1
	background b "$FLOCKLIMIT" -f "$T/$long/$long" -n 1 true
	eventually one_ahead "$T/$long/$long"
	typescript c sh -c 'stty cols 80; exec "$FLOCKLIMIT" -f "$1" -n 1 true' sh "$T/$long/$long"
	typescript d sh -c 'stty cols 80; exec "$1" -f "$2" -n 1 true ::: a' sh "${FLOCKLIMIT%/*}/flockmap" "$T/$long/$long"
	eventually shown "^.\[K[a-z]{27}\.\.\.: waiting [0-9.]+ s for pid ${pids[a]}( \"sh -c .*\.\.\.\")?; [12] ahead" c
	eventually shown "^.\[K[a-z]{27}\.\.\.: waiting [0-9.]+ s for pid ${pids[a]}( \"sh -c .*\.\.\.\")?; [12] ahead" d
	let_go a
	ended a
	ended b
	ended c
	ended d
	fits 79 c
	fits 79 d
	shows_command 79 c
	shows_command 79 d
}

@test "the status line says what is waited for where it is no holder" {
	typescript a "$FLOCKLIMIT" -N x -n 1 --stagger 1h true
	ended a
	typescript b "$FLOCKLIMIT" -N x -n 1 true
	eventually shown 'x: waiting [0-9.]+ s: next start in [0-9.]+ min \(the limiter.s stagger 1h\); next in line' b
	"$CTL" pause x
	eventually shown 'x: waiting [0-9.]+ s: paused by an operator; next in line' b
	"$CTL" resume x
	"$CTL" stagger x off
	ended b
	[ "$status" -eq 0 ]
}

@test "a job in the background draws no status line over the shell's prompt" {
	hold a -N x -n 1
	mkfifo next
	typescript b bash -c 'set -m; "$1" -N x -n 1 true & "$2" -N x -n 1 true ::: a &
		read -r _ <next; "$1" -N x -n 1 true; wait' bash "$FLOCKLIMIT" "${FLOCKLIMIT%/*}/flockmap"
	eventually in_line 2
	timeout 300 sh -c 'echo >next'
	eventually shown 'waiting [4-9][0-9.]* s .*; 2 ahead' b
	# By now the two jobs have waited as long; while they run, fewer are ahead.
	drawn b | grep waiting >seen
	let_go a
	ended b
	[ "$status" -eq 0 ]
	[ -s seen ]
	run -1 grep -v '; 2 ahead' seen
}

@test "a cut command keeps its last letter whole" {
	local i letters
	letters=$(printf 'ä%.0s' {1..60})
	for i in "$letters" "x$letters"; do
		rm -f go
		mkfifo go
		background a "$FLOCKLIMIT" -N x -n 1 sh -c ': >up; read -r _ <go' "$i"
		eventually test -e up
		rm up
		typescript b sh -c 'stty cols 60; exec "$FLOCKLIMIT" -N x -n 1 true'
		eventually shown 'waiting' b
		echo >go
		ended a
		ended b
		drawn b | iconv -f UTF-8 -t UTF-8 >/dev/null
	done
}

# switches LABEL: how often it has gone to sleep.
switches() { sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/${pids[$1]}/status"; }

@test "without a terminal: a line after 30 s, and after twice as long, unless -q; no look between" {
	local before map=${FLOCKLIMIT%/*}/flockmap
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x -n 1 true
	eventually in_line 1
	background c "$map" -N x -n 1 true ::: 1 2
	background q "$FLOCKLIMIT" -N x -n 1 -q true
	background r "$map" -q -N x -n 1 true ::: 1 2
	eventually in_line 4
	eventually is_state S "${pids[b]}"
	before=$(switches b)
	eventually grep -qE "^flocklimit: x: waiting 3[0-9] s for pid ${pids[a]} \"sh -c " b.err
	[ "$(switches b)" -le $((before + 2)) ]
	eventually grep -qE "^flockmap: x: waiting 3[0-9] s for pid ${pids[a]} \"sh -c .*\"; [123] ahead; 1 of 1 in use; held for [0-9]+ s\$" c.err
	has_lines 1 b.err
	has_lines 1 c.err
	eventually grep -qE '^flocklimit: x: waiting 6[0-9] s for pid ' b.err
	eventually has_lines 2 c.err
	has_lines 2 b.err
	let_go a
	local each
	for each in b c q r; do
		ended "$each"
		[ "$status" -eq 0 ]
	done
	[ ! -s q.err ]
	[ ! -s r.err ]
	has_lines 2 b.err
	has_lines 2 c.err
}

@test "the status line names a pace and a gate that an earlier call has set" {
	"$FLOCKLIMIT" -N x -n 1 --stagger 1h true
	"$FLOCKLIMIT" -N y -n 1 true
	"$CTL" when y 'mem>4000T' --gate-patience never
	typescript a "$FLOCKLIMIT" -N x true
	typescript b "$FLOCKLIMIT" -N y true
	eventually shown "x: waiting [0-9.]+ s: next start in [0-9.]+ min \(the limiter's stagger 1h\); next in line" a
	eventually shown "y: waiting [0-9.]+ s for 4000 TiB free, .* now \(the limiter's gate\); next in line" b
	kill "${pids[a]}" "${pids[b]}"
	# One that asks for it knows.
	typescript c "$FLOCKLIMIT" -N x --stagger 1h true
	typescript d "$FLOCKLIMIT" -N y --when 'mem>4000T' --gate-patience never true
	eventually shown 'x: waiting [0-9.]+ s: next start in [0-9.]+ min; ' c
	eventually shown 'y: waiting [0-9.]+ s for 4000 TiB free, .* now; ' d
}

@test "--hold-for and release: the next one starts, and the history has it right" {
	local ticket
	background script sleep inf
	ticket=$("$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[script]}")
	held "$ticket"
	[[ $("$CTL" show x) == *"--hold-for ${pids[script]}"* ]]
	background b "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually in_line 1
	silent 0 "$CTL" release x "$ticket"
	ended b
	[ "$(cat b.out)" = ran ]
	kill -0 "${pids[script]}"
	[ "$("$CTL" log x --json | jq -r --arg t "$ticket" 'select(.ticket == ($t | tonumber)).event' | tr '\n' ' ')" = "granted ended " ]
	[ "$("$CTL" show --json x | jq .totals.reaped)" = 0 ]
	# And the end of the process is the end of the permit, too.
	ticket=$("$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[script]}")
	kill "${pids[script]}"
	ended script
	silent 0 "$CTL" wait x -t 10s
	run -1 held "$ticket"
	[ "$("$CTL" show --json x | jq .totals.reaped)" = 0 ]
}

@test "--hold-for: released in the very moment that it begins" {
	local i ticket
	background script sleep inf
	for i in 1 2 3 4 5 6 7 8 9 10; do
		ticket=$("$FLOCKLIMIT" -N x -n 1 --hold-for "${pids[script]}")
		"$CTL" release x "$ticket"
		silent 0 "$CTL" wait x -t 10s
	done
	[ "$("$CTL" show --json x | jq -c '.totals | [.released, .reaped]')" = "[10,0]" ]
}
