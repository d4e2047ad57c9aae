#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034,SC2001 # how bats works: run, skip, a subshell a test
# The history as a picture: what it shows is what the log says.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# eventful: a history with every outcome; `a' still runs, and `c' waited.
eventful() {
	hold a -N x -n 2
	"$FLOCKLIMIT" -N x -n 2 true
	"$FLOCKLIMIT" -N x -n 2 false || :
	"$FLOCKLIMIT" -N x -n 2 sh -c 'kill -TERM $$' || :
	"$FLOCKLIMIT" -N x -n 2 -T 20ms sleep inf || :
	hold k -N x -n 2
	kill -KILL "${pids[k]}" "$(up k)"
	ended k
	eventually reaped 1
	hold b -N x -n 2
	run -75 "$FLOCKLIMIT" -N x -n 2 -t 20ms true
	background c "$FLOCKLIMIT" -N x -n 2 sleep 0.05
	eventually in_line 1
	"$CTL" limit x 1
	let_go b
	ended b
	# In a picture of all there is a column between the two changes.
	eventually half_is_since_limit
	"$CTL" limit x auto
	ended c
}
half_is_since_limit() {
	"$CTL" log x --json | jq -es '(map(select(.event == "limit"))[0].time) as $at | now - $at > $at - .[0].time' >/dev/null
}

# reaped N: so many takers were found dead.  Showing looks after the dead.
reaped() {
	"$CTL" show x >/dev/null
	[ "$(events '.event == "reaped"')" = "$1" ]
}

# events FILTER [NAME]: how many events of the log are such.
events() {
	"$CTL" log "${2:-x}" --json | jq -s "map(select($1)) | length"
}

# xpath EXPRESSION FILE: with s: for SVG.
xpath() {
	xmllint --xpath "$(sed 's/s:\([a-z]*\)/*[local-name()="\1"]/g' <<<"$1")" "$2"
}

# bars CLASS FILE: how many rectangles have this class.
bars() {
	xpath "count(//s:rect[contains(concat(' ', @class, ' '), ' $1 ')])" "$2"
}

need_xmllint() {
	command -v xmllint >/dev/null || skip "no xmllint"
}

@test "a bar for each permit and each wait, coloured by its end" {
	need_xmllint
	eventful
	"$CTL" gantt x >x.svg
	xmllint --noout x.svg
	[ "$(bars hold x.svg)" = "$(events '.event == "granted"')" ]
	[ "$(bars wait x.svg)" = "$(events '.event == "queued"')" ]
	[ "$(bars out x.svg)" = "$(events '.event == "left"')" ]
	[ "$(bars well x.svg)" = "$(events '.event == "ended" and .detail == "exit 0"')" ]
	[ "$(bars badly x.svg)" = "$(events '.detail == "exit 1"')" ]
	[ "$(bars signaled x.svg)" = "$(events '.detail == "signal 15 (TERM)"')" ]
	[ "$(bars late x.svg)" = "$(events '.detail | startswith("run timeout")')" ]
	[ "$(bars reaped x.svg)" = 1 ]
	[ "$(bars running x.svg)" = 1 ]
	# Nothing of the above is 0 = 0.
	[ "$(bars hold x.svg) $(bars well x.svg) $(bars wait x.svg)" = "8 3 2" ]
	let_go a
	ended a
	"$CTL" gantt x >x.svg
	[ "$(bars running x.svg) $(bars well x.svg)" = "0 4" ]
}

@test "each bar says all about its ticket" {
	need_xmllint
	local title
	eventful
	"$CTL" gantt x >x.svg
	[ "$(xpath 'count(//s:rect)' x.svg)" = "$(xpath 'count(//s:rect[s:title != ""])' x.svg)" ]
	title=$(xpath 'string(//s:rect[contains(@class, "late")]/s:title)' x.svg)
	[[ $title == "ticket "*": sleep"$'\n'"weight 1, pid "*", $(id -un)"$'\n'"ran "*"s on seat 1"$'\n'"peak "*"iB, CPU "*$'\n'"run timeout, signal 15 (TERM)" ]]
	title=$(xpath 'string(//s:rect[contains(@class, "out")]/s:title)' x.svg)
	[[ $title == "ticket "*": true"$'\n'"weight 1, pid "*$'\n'"waited "*"s"$'\n'"no permit: timed out" ]]
	# The wait and the permit of a ticket say the same.
	title=$(xpath 'string(//s:rect[@class="wait"]/s:title)' x.svg)
	[[ $title == *"waited "*", ran "*" on seat "*"exit 0" ]]
	[ "$(grep -cF "${title%%$'\n'*}" x.svg)" = 2 ]
	# A change of the limit has its place, too.
	[[ $(xpath 'string(//s:path[@class="mark"][1]/s:title)' x.svg) == *" limit 1" ]]
	[[ $(xpath 'string(//s:path[@class="mark"][2]/s:title)' x.svg) == *" limit auto" ]]
}

# places FILE: "TICKET X END BOTTOM" of each bar of a permit, by seat and time.
places() {
	sed -nE 's/^<rect class="hold .*" x="(.*)" y="(.*)" width="(.*)" height="(.*)"><title>ticket ([0-9]+).*/\5 \1 \3 \2 \4/p' "$1" |
		awk '{ printf "%d %s %s %.1f\n", $1, $2, $2 + $3, $4 + $5 }' | sort -k4,4n -k2,2n
}

@test "bars are where the log says, and no two on a seat at once" {
	seq 30 | xargs -P 8 -I{} "$FLOCKLIMIT" -N x -n 3 sleep 0.1{}
	"$CTL" gantt x >x.svg
	places x.svg >drawn
	[ "$(wc -l <drawn)" = 30 ]
	[ "$(cut -d' ' -f4 drawn | sort -u | wc -l)" = 3 ]
	awk '$4 == y && $2 < end { exit 1 } { y = $4; end = $3 }' drawn
	# The first begins at the left edge, and the last ends at the right.
	"$CTL" log x --json | jq -rs '.[0].time as $from | (.[-1].time - $from) as $all |
		[group_by(.ticket)[] | [.[0].ticket, (map(select(.event == "granted"))[0].time - $from) / $all,
		(map(select(.event == "ended"))[0].time - $from) / $all]] | .[] | join(" ")' | sort >told
	join told <(sort drawn) >both
	[ "$(wc -l <both)" = 30 ]
	awk '
		NR == 1 || $4 < left { left = $4 }
		NR == 1 || $5 > right { right = $5 }
		{ from[NR] = $2; to[NR] = $3; x[NR] = $4; end[NR] = $5 }
		function off(a, b) { return a > b + 4 || b > a + 4 }
		END {
			for (i = 1; i <= NR; i++)
				if (off(x[i], left + from[i] * (right - left)) ||
				    off(end[i], left + to[i] * (right - left)))
					exit 1
		}' both
}

@test "it stands alone, and is not big" {
	need_xmllint
	eventful
	"$CTL" gantt x >x.svg
	run -1 grep -Ei 'script|href|url\(|@import|<image|<!' x.svg
	[ "$(grep -o 'http[^"]*' x.svg)" = http://www.w3.org/2000/svg ]
	[ "$(wc -c <x.svg)" -lt 8000 ]
	seq 100 | xargs -P 4 -n 10 sh -c 'for i; do "$FLOCKLIMIT" -N x -n 2 true; done' sh
	"$HELPERS/churn" x 2000
	"$CTL" gantt x >x.svg
	xmllint --noout x.svg
	[ "$("$CTL" log x --json | wc -l)" -gt 4000 ]
	[ "$(wc -c <x.svg)" -lt 700000 ]
	[ "$(bars hold x.svg)" -gt 1000 ]
}

@test "names are bytes of other people's" {
	need_xmllint
	local name=$'<b>"&\'\x01\e[31m\xff]]>\xe2\x80\xae' limiter=$'we<ird>&\e[1m\xfe'
	cp /bin/true "./$name"
	"$FLOCKLIMIT" -f "./$limiter" -n 2 "./$name"
	"$FLOCKLIMIT" -f "./$limiter" -n 2 $'./\xc3\xa4\xc3' 2>/dev/null || :
	"$CTL" gantt -f "./$limiter" >x.svg
	xmllint --noout x.svg
	[ "$(bars hold x.svg)" = 2 ]
	run -1 grep -P '[\x00-\x09\x0b-\x1f\x7f]' x.svg
	[[ $(xpath 'string(//s:rect[1]/s:title)' x.svg) == 'ticket 1: <b>"&'\''\x01\x1b[31m\xff]]>\xe2\x80\xae'* ]]
	[[ $(xpath 'string(//s:rect[2]/s:title)' x.svg) == $'ticket 2: \xc3\xa4\\xc3'* ]]
	[[ $(xpath 'string(/s:svg/s:title)' x.svg) == './we<ird>&\x1b[1m\xfe' ]]
	LC_ALL=C "$CTL" gantt -f "./$limiter" --text >x.txt
	run -1 env LC_ALL=C grep -P '[^\x20-\x7e\n]' x.txt
}

@test "what is written stays in the picture, and every class has its look" {
	need_xmllint
	local name class
	name=$(printf 'n%.0s' {1..64})
	"$FLOCKLIMIT" -N "$name" -n 2 true
	# Right at the end: there is room for the words only on the left of it.
	"$CTL" limit "$name" 123456789
	"$CTL" gantt "$name" >x.svg
	[ "$(xpath 'string(/s:svg/s:title)' x.svg)" = "$name" ]
	[[ $(xpath 'string(//s:text[contains(@class, "name")])' x.svg) == $'\xe2\x80\xa6'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn* ]]
	[ "$(xpath 'string(//s:text[@class="note e"])' x.svg)" = "limit 123456789" ]
	eventful
	"$CTL" gantt x >>x.svg
	for class in $(grep -oE 'class="[^"]*"' x.svg | cut -d'"' -f2 | tr ' ' '\n' | sort -u); do
		echo "$class"
		[ "$class" = hold ] || grep -m 1 '<style>' x.svg | sed 's,@media.*,,' | grep -qE "\\.${class}[,{]"
	done
}

# same FILE FILE: one picture, whole, but for its times: two runs read the clock twice.
same() {
	xmllint --noout "$1" "$2"
	[ "$(grep -o 'class="[^"]*"' "$1" | sort -u)" = "$(grep -o 'class="[^"]*"' "$2" | sort -u)" ]
	[ "$(grep -c '<title>' "$1")" = "$(grep -c '<title>' "$2")" ]
}

@test "in a file: the old picture or the new one" {
	need_xmllint
	"$FLOCKLIMIT" -N x -n 1 true
	(umask 027 && "$CTL" gantt x -o new.svg)
	[ "$(stat -c %a new.svg)" = 640 ]
	"$CTL" gantt x >again.svg
	same again.svg new.svg
	# Whoever has the old one open keeps it.
	echo old >old.svg
	chmod 600 old.svg
	ln -s old.svg link.svg
	exec 5<old.svg
	"$CTL" gantt x -o link.svg
	[ "$(cat <&5)" = old ]
	exec 5<&-
	same old.svg new.svg
	[ -L link.svg ]
	[ "$(stat -c %a old.svg)" = 600 ]
	"$CTL" gantt x -o /dev/stdout >again.svg
	same again.svg new.svg
	[ -L /dev/stdout ]
	"$CTL" gantt x --text --output x.txt
	"$CTL" gantt x --text | tr -d 0-9.ms | cmp - <(tr -d 0-9.ms <x.txt)
}

@test "a file that can't be written leaves nothing behind" {
	"$FLOCKLIMIT" -N x -n 1 true
	mkdir empty dir
	run --separate-stderr -125 "$CTL" gantt x -o empty/none/x.svg
	[[ $stderr == *"empty/none/x.svg"*"No such file"* ]]
	run --separate-stderr -125 "$CTL" gantt x -o dir
	[[ $stderr == *"directory"* ]]
	run --separate-stderr -125 "$CTL" gantt x -o /dev/full
	[[ $stderr == *"No space"* ]]
	[ -z "$(find empty dir -type f)" ]
	# Larger than it may be.
	run -125 sh -c 'trap "" XFSZ; ulimit -f 0; exec "$1" gantt x -o empty/x.svg' sh "$CTL"
	[ -z "$(find empty -type f)" ]
}

@test "nothing to draw" {
	run --separate-stderr -1 "$CTL" gantt nowhere
	[ "${#stderr_lines[@]}" = 1 ]
	# The limiter is made, and nobody ever stood in it.
	run -125 "$FLOCKLIMIT" -N x -w 1000000 true
	[ -e limiters/x ]
	run --separate-stderr -1 "$CTL" gantt x -o x.svg
	[ -z "$output" ]
	[[ $stderr == "flocklimitctl: x: nothing to draw: "* ]]
	[ ! -e x.svg ]
	run -1 "$CTL" gantt x --text
	run -125 "$CTL" gantt x y
	run -125 "$CTL" gantt x --json
}

@test "a permit of several seats has a bar on each, until it gives that back" {
	need_xmllint
	"$FLOCKLIMIT" -N x -n 4 -w 3 sh -c '"$1" shrink x "$FLOCKLIMIT_TICKET" 1; "$2" -N x -n 4 -w 2 --nested=queue true' sh "$CTL" "$FLOCKLIMIT"
	"$CTL" gantt x >x.svg
	places x.svg | sort -n >drawn
	cat drawn
	[ "$(awk '{ print $1 }' drawn | uniq -c | awk '{ printf "%d:%d ", $2, $1 }')" = "1:3 2:2 " ]
	# On seats 0 to 2; when 2 was given back the next one got it, and seat 3.
	[ "$(awk '{ print $4 }' drawn | sort -u | wc -l)" = 4 ]
	sort -k4,4n -k2,2n drawn | awk '$4 == y && $2 < end { exit 1 } { y = $4; end = $3 }'
	[ "$(awk '$1 == 1 { print $3 }' drawn | sort -u | wc -l)" = 2 ]
	[[ $(cat x.svg) == *"on seats 0-2"* ]]
	[[ $(cat x.svg) == *"on seats 2,3"* ]]
	COLUMNS=60 LC_ALL=C "$CTL" gantt x --text >x.txt
	[ "$(grep -c '^seat ' x.txt)" = 4 ]
	[[ $(grep '^seat 1' x.txt) == *"1 sh"* ]]
	[[ $(grep '^seat 3' x.txt) != *"1 sh"* ]]
}

@test "no SVG floods a terminal" {
	"$FLOCKLIMIT" -N x true
	terminal a "$CTL" gantt x
	ended a
	[ "$status" = 125 ]
	[ "$(tr -d '\r' <a.out)" = "flocklimitctl: gantt: no SVG is written to a terminal: use -o FILE.svg, or --text" ]
	terminal b "$CTL" gantt -o x.svg x
	ended b
	[ "$status" = 0 ]
	[ -s x.svg ]
	[ ! -s b.out ]
	terminal c "$CTL" gantt --text x
	ended c
	[ "$status" = 0 ]
}

@test "in the terminal: a line for each seat, as wide as it is" {
	eventful
	local width
	for width in 60 80 200; do
		COLUMNS=$width LC_ALL=C "$CTL" gantt x --text >x.txt
		[ "$(grep -c '^seat ' x.txt)" = 2 ]
		awk -v w="$width" 'length($0) > w { exit 1 } length($0) == w { n++ } END { exit !(n >= 4) }' x.txt
	done
	# 80 where nobody says how wide; what it shows is what the log says.
	env -u COLUMNS LC_ALL=C "$CTL" gantt x --text >x.txt
	[ "$(grep -c '^.\{80\}$' x.txt)" -ge 4 ]
	run -1 env LC_ALL=C grep -P '[^\x20-\x7e\n]' x.txt
	[[ $(head -n 1 x.txt) == "x: 9 tickets"* ]]
	[[ $(cat x.txt) == *"# exit 0: 3  x exit not 0: 1  s signal: 1  t run timeout: 1  k reaped: 1"* ]]
	[[ $(grep ^limit x.txt) =~ 2-+1-*2-* ]]
	[[ $(grep '^seat 0' x.txt) =~ ^'seat 0   >1 sh>>>>>' ]]
	LC_ALL=C.UTF-8 "$CTL" gantt x --text | grep -q $'^seat 0   \xe2\x96\x91'
	run -1 grep $'\e' x.txt
}

@test "colours are for terminals" {
	need_terminal
	script --version >/dev/null 2>&1 || skip "no script(1)"
	"$FLOCKLIMIT" -N x -n 1 true
	export CTL
	env -u COLUMNS -u NO_COLOR LC_ALL=C script -qec 'stty cols 50; "$CTL" gantt x --text' /dev/null >tty.txt </dev/null
	grep -qF $'\e[34m#' tty.txt
	sed 's/\x1b\[[0-9;]*m//g; s/\r//' tty.txt >plain.txt
	[ "$(grep -c '^.\{50\}$' plain.txt)" -ge 3 ]
	[ "$(grep -c '^.\{51\}' plain.txt)" = 0 ]
	NO_COLOR=1 script -qec '"$CTL" gantt x --text' /dev/null </dev/null >tty.txt
	run -1 grep $'\e' tty.txt
}

@test "what began before all that is remembered begins at the left edge" {
	need_xmllint
	hold a -N x -n 2
	"$FLOCKLIMIT" -N y true
	# Two events each: enough to push the first out.
	"$HELPERS/churn" x 2100
	[ "$(events '.ticket == 1')" = 0 ]
	"$CTL" gantt x >x.svg
	[ "$(xpath 'count(//s:rect[contains(@class, "running")])' x.svg)" = 1 ]
	[ "$(xpath 'number(//s:rect[contains(@class, "running")]/@x)' x.svg)" = "$(xpath 'string(//s:text[@class="name"]/@x)' x.svg)" ]
	[[ $(xpath 'string(//s:rect[contains(@class, "running")]/s:title)' x.svg) == "ticket 1: sh "* ]]
	let_go a
	ended a
	"$CTL" gantt x >x.svg
	[[ $(xpath 'string(//s:rect[1]/s:title)' x.svg) == "ticket 1: sh"*"ran over "*"exit 0" ]]
}
