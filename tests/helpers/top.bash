# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# shellcheck disable=SC2016 # for the inner shells
# For the tests of flocklimitctl top: its screen is read, and its keys are pressed, in a tmux of the
# test's own.  Whoever waits, waits for the screen to show something.

CTL=${FLOCKLIMIT%/*}/flocklimitctl

# ---- the terminal ----

mux() { TMUX_TMPDIR=$T tmux -u -L top "$@"; }

# in_terminal WxH CMD...: a terminal of that size, in which CMD runs.
in_terminal() {
	local size=$1
	shift
	need_terminal
	command -v tmux >/dev/null || skip "no tmux"
	[[ $("$CTL" top 2>&1 </dev/null) != *"built without ncurses"* ]] || skip "no ncurses"
	# Nothing of the terminal that the tests run in: a tmux wants none around it, and curses believes
	# in the sizes of the environment.
	env -u TMUX -u LINES -u COLUMNS -u ESCDELAY LC_ALL=C.UTF-8 TMUX_TMPDIR="$T" tmux -u -L top -f /dev/null \
		new-session -d -x "${size%x*}" -y "${size#*x}" "$@" </dev/null 3>&-
}

# top_in WxH [ARG]...: top in a terminal of that size, run by a shell that looks at the modes before
# and after.  The pid is in ./pid, and the exit status in ./status.
top_in() {
	local size=$1
	shift
	rm -f pid status before after
	cat >run <<-'END'
		ulimit -c 0
		trap : INT QUIT HUP TERM
		echo 'what was here before'
		stty -g >before
		sh -c 'echo $$ >pid; exec "$@"' sh "$@"
		status=$?
		stty -g >after
		echo "$status" >status
		echo "and it is over"
		exec cat
	END
	in_terminal "$size" sh "$T/run" "$CTL" top "$@"
}

screen() { mux capture-pane -p; }

# line N: that line of the screen; from its end if negative.
line() {
	local -a lines
	mapfile -t lines < <(screen)
	local n=$1
	[ "$n" -lt 0 ] || n=$((n - 1))
	echo "${lines[n]}"
}

keys() { mux send-keys "$@"; }

shows() { [[ $(screen) == *"$1"* ]]; }

shows_not() { ! shows "$1"; }

# line_is N GLOB
line_is() {
	local line
	line=$(line "$1")
	# shellcheck disable=SC2053 # a pattern
	[[ $line == $2 ]]
}

# see WORDS / see_line N GLOB: waits for the screen to show it; prints it if it never does.
see() { eventually shows "$1" || { screen && false; }; }

see_not() { eventually shows_not "$1" || { screen && false; }; }

see_line() { eventually line_is "$@" || { screen && false; }; }

# marked COMMAND: that of the marked row; in 24 lines, all of it is in the last but one.
marked() { see_line -2 "$1"; }

# Empties the screen; again, if top was about to draw all of it.
empty() {
	printf '\033[2J' >"$(mux display-message -p '#{pane_tty}')"
	line_is 1 '?( *)'
}

# resize WxH: the screen is emptied first, or its rest could be taken for what top draws in the new
# window.  top does not notice, and draws the first line anew only when it gets the new size.
resize() {
	[ "$(mux display-message -p '#{window_width}x#{window_height}')" != "$1" ] || return 0
	eventually empty
	mux resize-window -x "${1%x*}" -y "${1#*x}"
}

# What a program may have left: the other screen, the cursor, and what its keys send.
flags() {
	mux display-message -p '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag} #{keypad_flag}'
}

as_it_was() {
	see 'and it is over'
	shows 'what was here before'
	echo "flags: $(flags)"
	[ "$(flags)" = '0 1 0 0' ]
	cmp before after
}

# over STATUS: top has ended with that status, and has left the terminal as it was.
over() {
	eventually test -s status
	echo "status: $(cat status)"
	[ "$(cat status)" = "$1" ]
	as_it_was
	close_terminal
}

# A server that is about to end would take the next one's place.
close_terminal() {
	local server
	server=$(mux display-message -p '#{pid}')
	mux kill-server
	eventually is_gone "$server"
}

is_there() {
	run -1 is_gone "$1"
}

# ---- limiters ----

field() { "$CTL" show --json "${2:-x}" | jq -c "$1"; }

has() { [ "$(field "$1" 2>/dev/null)" = "$2" ]; }

# line_up N [OPTION]...: N more in the line of x: job-1, job-2, ...
jobs=0
line_up() {
	local n=$1
	shift
	while [ "$n" -gt 0 ]; do
		jobs=$((jobs + 1)) n=$((n - 1))
		background "job$jobs" "$FLOCKLIMIT" -N x "$@" sh -c ": job-$jobs"
		eventually has '.waiters | length' "$jobs"
	done
}

# tickets: those on the screen, from the top.
tickets() {
	screen | awk '$2 == "TICKET" { on = 1; next } /^q quit/ { exit }
		on && ($1 == "run" || $1 ~ /^[0-9]+$/) && $2 ~ /^[0-9]+$/ { printf "%s ", $2 }'
}

tickets_are() { [ "$(tickets)" = "$1 " ]; }

see_tickets() { eventually tickets_are "$1" || { screen && false; }; }
