#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flocklimitctl top: what it shows, and in what room.

load ../helpers/lib.bash
load ../helpers/top.bash

# ---- what it shows ----

@test "top NAME: who holds, who waits, and why; followed as it happens" {
	hold a -N x -n 4 -w 3
	line_up 2 -w 2
	top_in 80x24 x
	see_line 1 'x: open, 3 of 4 in use, 1 holding, 2 waiting*[0-9][0-9]:[0-9][0-9]:[0-9][0-9]'
	see_line 2 '?##############################..........\]*by turn'
	see_line 3 'The head of the line, ticket 2, wants 2 of 4 units, and 3 are in use'
	see_line 4 '  # TICKET WEIGHT SEAT *PID USER * TIME STARTS COMMAND'
	[[ $(line 5) =~ ^run\ +1\ +3\ +0-2\ +${pids[a]}\ +$(id -un)\ +[0-9.]+\ m?s\ +sh\ -c\ echo ]]
	[[ $(line 6) =~ ^\ +1\ +2\ +2\ +${pids[job1]}\ +$(id -un)\ +[0-9.]+\ m?s\ +sh\ -c\ :\ job-1$ ]]
	[[ $(line 7) =~ ^\ +2\ +3\ +2\ +${pids[job2]}\  ]]
	line_up 1
	see_line 8 '  3      4 *'
	[[ $(line 24) == 'q quit  h help '* ]]
	let_go a
	see_line 1 'x: idle, 0 of 4 in use, 0 holding, 0 waiting*'
	keys q
	over 0
}

@test "top: all limiters; into one and back" {
	hold a -N x -n 4 -w 3
	line_up 1 -w 2
	"$FLOCKLIMIT" -N idle -n 7 true
	echo 'a text, and no limiter' >limiters/text
	top_in 80x24
	see_line 1 '3 limiters: 3 in use, 1 holding, 1 waiting*'
	see_line 4 'LIMITER USED HOLDING WAITING * STATE'
	[[ $(line 5) =~ ^idle\ +0/7\ +0\ +0\ +idle$ ]]
	[[ $(line 6) == 'text '*' limiter'* ]]
	[[ $(line 7) =~ ^x\ +3/4\ +1\ +1\ +[0-9.]+\ m?s\ +open$ ]]
	keys j Enter
	see_line -2 'text: * limiter*'
	keys p
	see 'there is no limiter to do that with'
	keys j c
	see 'Enter looks into'
	keys Enter
	see_line 1 'x: open, 3 of 4 *'
	for key in Left Escape; do
		keys $key
		see '3 limiters:'
		keys Right
		see_line 1 'x: open, 3 of 4 *'
	done
	keys Left
	see '3 limiters:'
	"$FLOCKLIMIT" -N another true
	see '4 limiters:'
	keys F10
	over 0
}

@test "top: several names, also of a limiter that is not there yet" {
	hold a -N x -n 4 -w 3
	"$FLOCKLIMIT" -N idle -n 7 true
	"$FLOCKLIMIT" -N other -n 7 true
	top_in 80x24 x idle later x
	see_line 1 '4 limiters: *'
	[[ $(line 5) =~ ^idle\ +0/7\ +0\ +0\ +idle$ ]]
	[[ $(line 6) == 'later '*' there is no such limiter' ]]
	[[ $(line 7) =~ ^x\ +3/4\ +1\ +0\ +open$ ]]
	shows_not other
	"$FLOCKLIMIT" -N later -n 5 true
	see_line 6 'later *0/5 *idle'
	keys j Enter
	see_line 1 'later: idle, *'
	keys q
	over 0
	run -125 --separate-stderr "$CTL" top -f x -f y
	[[ $stderr == *"several limiters by their names only" ]]
}

@test "top: the directory comes, goes and comes again" {
	top_in 80x24
	see '0 limiters:'
	keys s r j k G g Space Enter c S o l p
	see_line -2 'there is no limiter to do that with'
	"$FLOCKLIMIT" -N x true
	see_line 1 '1 limiter: *'
	mv limiters elsewhere
	: >limiters
	see "the limiter directory can't be read: Not a directory"
	[[ $(line -1) == 'q quit'* ]]
	rm limiters
	mv elsewhere limiters
	see_line 1 '1 limiter: *'
	shows_not "can't be read"
	keys q
	over 0
	mv limiters elsewhere
	: >limiters
	top_in 80x24 2>err
	eventually test -s status
	[ "$(cat status)" = 125 ]
	see 'Not a directory'
}

@test "top: a limiter that is removed while it is looked at, and made again" {
	"$FLOCKLIMIT" -N x -n 4 true
	top_in 80x24 x
	see 'x: idle, 0 of 4 in use'
	"$CTL" rm x
	see 'there is no such limiter now'
	line_is 1 'x *'
	keys p
	see 'there is no limiter to do that with'
	"$FLOCKLIMIT" -N x -n 5 true
	see 'x: idle, 0 of 5 in use'
	# Not by us, and at once another with that name.
	rm limiters/x
	"$FLOCKLIMIT" -N x -n 6 true
	see 'x: idle, 0 of 6 in use'
	shows_not 'no such limiter'
	: >empty
	mv empty limiters/x
	see 'there is no such limiter now'
	echo 'a text, and no limiter' >limiters/x
	see_line 3 '* limiter*'
	keys q
	over 0
}

@test "top: states" {
	hold a -N x -n 4 -w 3
	top_in 80x24 x
	see 'x: open, 3 of 4'
	"$CTL" pause x
	see 'x: paused, 3 of 4'
	line_up 1
	see 'waits because the limiter is paused'
	"$CTL" close x
	see 'x: closed, 3 of 4'
	"$CTL" open x
	"$CTL" resume x
	see 'x: open, 3 of 4'
	"$CTL" limit x 2
	see 'x: draining, 3 of 2 in use (override)'
	see_line 2 '?########################################\]*'
	"$CTL" limit x 0
	see 'x: paused, 3 of 0'
	kill -KILL "${pids[a]}"
	see_line 5 'run * (orphan) sh -c*'
	kill -STOP "$(up a)"
	keys q
	over 0
}

@test "top: a stopped waiter is told" {
	hold a -N x -n 1
	line_up 1
	top_in 80x24 x
	see 'x: open'
	kill -STOP "${pids[job1]}"
	see_line 6 '* (stopped) sh -c*'
	see 'is stopped, and everybody waits for it'
	kill -CONT "${pids[job1]}"
	see_not '(stopped)'
	keys q
	over 0
}

@test "top -f PATH: a path that would move the cursor" {
	mkdir lim
	file=$T/lim/$'a\e[2J\nb\tc'
	"$FLOCKLIMIT" -f "$file" -n 3 true
	top_in 120x24 -f "lim/${file##*/}"
	see_line 1 'lim/a?[[]2J?b?c: idle, 0 of 3 *'
	[[ $(line 2) == '['* ]]
	keys p
	see_line 1 '*paused*'
	keys q
	over 0
}

# ---- the table ----

@test "top: s and r sort, and the mark stays with its taker" {
	hold a -N x -n 9 -w 9
	line_up 1 -w 2
	line_up 1 -w 5
	line_up 1 -w 3
	top_in 80x24 x
	see_tickets '1 2 3 4'
	keys j j
	marked 'sh -c : job-2'
	keys r
	see 'by turn, reversed'
	see_tickets '1 4 3 2'
	marked 'sh -c : job-2'
	keys r s
	see_line 2 '*by time'
	see_tickets '1 2 3 4'
	keys s
	see_line 2 '*by weight'
	see_tickets '1 3 4 2'
	marked 'sh -c : job-2'
	keys k
	marked 'sh -c echo*'
	keys F6
	see_line 2 '*by pid'
	keys s
	see_line 2 '*by turn'
	see_tickets '1 2 3 4'
	keys G
	marked 'sh -c : job-3'
	"$CTL" cancel x 2
	see_tickets '1 3 4'
	marked 'sh -c : job-3'
	"$CTL" cancel x 4
	see_tickets '1 3'
	marked 'sh -c : job-2'
	keys q
	over 0
}

@test "top: all limiters, sorted" {
	hold a -N x -n 9 -w 1
	hold b -N y -n 9 -w 9
	background w "$FLOCKLIMIT" -N y true
	eventually in_line 1 y
	"$FLOCKLIMIT" -N z true
	names() { screen | sed -n '5,7s/ .*//p' | tr '\n' ' '; }
	names_are() { [ "$(names)" = "$1 " ]; }
	top_in 80x24
	see_line 2 '*by name'
	names_are 'x y z'
	keys s
	see_line 2 '*by use'
	names_are 'y x z'
	keys s
	see_line 2 '*by waiters'
	names_are 'y x z'
	keys r
	see_line 2 '*by waiters, reversed'
	names_are 'z x y'
	keys r s
	see_line 2 '*by oldest wait'
	names_are 'y x z'
	keys s / y Enter Enter
	see_line 1 'y: open, 9 of 9 *'
	keys q
	over 0
}

@test "top: many waiters; every key that moves" {
	hold a -N x -n 1
	for i in {1..44}; do
		# A name that no ticket and no other name is a part of: letters for two digits.
		background "w$i" "$FLOCKLIMIT" -N x sh -c ": job-$(printf %02d "$i" | tr 0-9 a-j)"
	done
	eventually has '.waiters | length' 44
	# They came in any order.
	last=$(field '.waiters[-1].command' | tr -d '"')
	tenth=$(field '.waiters[9].command' | tr -d '"')
	command() { field ".waiters[$1 - 1].command" | tr -d '"'; }
	top_in 80x24 x # 18 rows
	marked 'sh -c echo*'
	for end in G End; do
		keys $end
		marked "$(command 44)"
		line_is 22 ' 44 *'
		keys "${end/G/g}" "${end/End/Home}"
		if [ $end = End ]; then keys Home; else keys g; fi
		marked 'sh -c echo*'
		line_is 5 'run *'
	done
	for down in Space NPage C-f; do
		keys $down
		marked "$(command 18)"
		keys $down
		marked "$(command 36)"
		if [ $down = C-f ]; then keys C-b; else keys PPage; fi
		marked "$(command 18)"
		keys PPage PPage PPage
		marked 'sh -c echo*'
	done
	for two in 'j k' 'Down Up'; do
		# shellcheck disable=SC2086 # words
		set -- $two
		keys "$1"
		marked "$(command 1)"
		keys "$1" "$1"
		marked "$(command 3)"
		keys "$2"
		marked "$(command 2)"
		keys "$2" "$2" "$2" "$2"
		marked 'sh -c echo*'
	done
	# Find: by ticket, by command, by pid; the next; nothing.
	keys / 12 Enter
	marked "$(command 11)"
	keys F3 "$tenth" Enter
	marked "$(command 10)"
	keys / "$(field '.waiters[29].pid')" Enter
	marked "$(command 30)"
	keys / JOB- Enter
	marked "$(command 31)"
	keys n n
	marked "$(command 33)"
	keys / nosuchthing Enter
	see_line -2 'nothing found: nosuchthing'
	keys j
	marked "$(command 34)"
	# A window that grows is filled, one that shrinks keeps the mark in sight.
	keys G
	marked "$last"
	resize 80x10
	see_line 8 ' 44 *'
	resize 80x60
	see_line 5 'run *'
	see_line 49 ' 44 *'
	keys q
	over 0
}

# ---- the size ----

@test "top: narrow and tiny windows, and back, live" {
	hold a -N x -n 4 -w 3
	line_up 5 -w 2
	top_in 80x24 x
	see_line 24 'q quit*'
	# From 80 columns down, what is of least use goes first: the weights, too, beside a long name or number.
	resize 60x24
	see_line 4 '  # TICKET *PID USER *COMMAND'
	run -1 grep -q SEAT <(line 4)
	resize 40x12
	see_line 4 '  # TICKET * TIME COMMAND'
	see_line 12 'q quit*'
	# Nothing of the head is cut to a stump.
	see_line 1 'x: open, 3/4, 5 waiting *:*:*'
	see_line 2 '?#############....? *by turn'
	resize 20x5
	see_line 2 '  # COMMAND'
	see_line 1 'x: open*'
	see_line 3 'run sh -c*'
	see_line 4 '  1 sh -c*'
	keys G
	see_line 4 '  5 sh -c*'
	keys c
	see_line 5 'y/n?*_*'
	keys n l 12
	see_line 5 '12_'
	keys 34567890123456789012345
	see_line 5 '7890123456789012345_'
	# Until it is read as Esc, a key that follows could make it the beginning of a sequence.
	keys Escape
	see_line 5 ''
	resize 20x3
	see_line 2 '  5 sh -c*'
	resize 4x1
	see_line 1 'x: o'
	resize 2x1
	see_line 1 'x:'
	# In one column nothing is shown, and all keys work.
	keys k
	resize 1x1
	keys j k s r h h p
	eventually has .state '"paused"'
	resize 2x2
	keys p
	eventually has .state '"open"'
	resize 200x50
	see_line 4 '  # TICKET WEIGHT SEAT *PID USER * TIME STARTS COMMAND'
	see_line 50 'q quit*'
	see_line 1 'x: open, 3 of 4 in use, 1 holding, 5 waiting *:*:*'
	see_line 2 "?$(printf %0120d 0 | tr 0 '#')........................................? *grants/s *by time, reversed"
	resize 80x24
	see_line 24 'q quit*'
	keys l
	see 'limit (N'
	resize 90x20
	see_line 19 'limit (N, N%, auto): _'
	keys C-g h
	see 'any key'
	resize 30x6
	see_line 6 'any key to go back'
	keys x q
	over 0
}

@test "top: the list in narrow and tiny windows" {
	hold a -N a-rather-long-name-of-a-limiter-that-takes-quite-some-place -n 2
	echo 'a text, and no limiter' >limiters/text
	top_in 80x24
	see_line 5 'a-rather-long-name-of-a-limiter-that-* 1/2 *open'
	resize 40x10
	see_line 5 'a-rather-long-name* 1/2 *'
	see_line 1 '2 limiters, 0 waiting *:*:*'
	resize 20x5
	see_line 3 'a-rather-long-* 1/2'
	resize 3x2
	see_line 1 '2 l'
	resize 80x24
	see_line 6 'text * limiter*'
	keys q
	over 0
}

@test "top: command lines that would break the screen" {
	hold a -N x -n 1
	n=0
	while IFS= read -r word; do
		n=$((n + 1))
		background "w$n" "$FLOCKLIMIT" -N x sh -c ":" "$(printf '%b' "$word")"
		eventually has '.waiters | length' "$n"
	done <<-'END'
		\033[2J\033[H\033]0;owned\007\033[?1049l
		one\ntwo\r\n\n\nthree\tfour\vfive\f
		\0302\0233\0062\0112\0377\0376\0300\0200
		e\0314\0201\0314\0201\0314\0201\0314\0201\0314\0201\0314\0201\0314\0201x
		\0342\0200\0256turned around\0342\0200\0254
		aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
		日本語日本語日本語日本語日本語日本語日本語日本語
	END
	# Each line is what it should be, and nothing is where nothing should be.
	sane() {
		local height=${1#*x} i
		local -a lines
		mapfile -t lines < <(screen)
		[ "${#lines[@]}" -eq "$height" ] || return 1
		[[ ${lines[3]} == '  # '*COMMAND ]] || return 1
		[[ ${lines[4]} == 'run '* ]] || return 1
		for ((i = 1; i <= n; i++)); do
			[[ ${lines[4 + i]} == "  $i "* ]] || return 1
		done
		for ((i = 5 + n; i < height - 2; i++)); do
			[ -z "${lines[i]}" ] || return 1
		done
		[[ ${lines[height - 1]} == 'q quit'* ]]
	}
	see_sane() { eventually sane "$1" || { screen && false; }; }
	top_in 80x24 x
	see_line 24 'q quit*'
	# The last, in characters that are two columns wide, would run into the line below.
	keys G
	marked 'sh -c : 日本語*'
	for size in 80x24 79x24 81x20 40x30 41x30 200x24 24x16; do
		resize $size
		see_sane $size
	done
	resize 120x24
	keys g
	for ((i = 0; i <= n; i++)); do
		see_sane 120x24
		keys j
	done
	marked 'sh -c : 日本語*'
	see_line 6 '*: ^[[][[]2J*'
	line_is 7 '*: one\\ntwo\\r\\n*'
	line_is 12 '*日本語日本語*'
	line_is 10 '*\\342\\200\\256turned around*'
	[ "$(mux display-message -p '#{pane_title}')" != owned ]
	keys q
	over 0
}

@test "top: in the C locale" {
	hold a -N x -n 1
	background w "$FLOCKLIMIT" -N x sh -c ':' '日本'
	eventually has '.waiters | length' 1
	in_terminal 80x24 env LC_ALL=C "$CTL" top x
	see_line 6 '  1 *\\346\\227\\245*'
	keys / $'日' BSpace z + Enter
	see_line -2 'nothing found: z+' # no directory of a test has a + in its name
}

@test "top: colours on a terminal, and NO_COLOR" {
	hold a -N x -n 4
	unset NO_COLOR
	coloured() { [[ $(mux capture-pane -p -e) =~ $'\e['[0-9\;]*3[0-7]m ]]; }
	top_in 80x24 x
	see 'x: open'
	eventually coloured
	keys q
	over 0
	export NO_COLOR=1
	top_in 80x24 x
	see 'x: open'
	see_line 2 '?##########....*'
	run -1 coloured
	keys q
	over 0
}

@test "another user's limiter is shown, and no key changes it" {
	need_root
	public
	mkfifo -m 666 "$PUBLIC/go"
	background a as_nobody "$PUBLIC/flocklimit" -N x -n 1 sh -c 'read -r x <"$1"' sh "$PUBLIC/go"
	eventually test -s "$PUBLIC/limiters/x"
	top_in 100x24 --file "$PUBLIC/limiters/x"
	see "1 of 1 in use"
	keys p
	see "it is another user's, and is only looked at"
	[ "$(as_nobody "$CTL" show x --json | jq -r .state)" = open ]
	echo >"$PUBLIC/go"
	ended a
	see "0 of 1 in use"
	keys q
}
