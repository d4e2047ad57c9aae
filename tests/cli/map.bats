#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap: where items come from, what becomes of them in a command, options, exit statuses.

load ../helpers/lib.bash
load ../helpers/map.bash

# ---- words ----

@test "no command, unknown options, values that are none" {
	map_line 125 "$MAP"
	[[ $stderr == *"no command"* ]]
	map_line 125 "$MAP" ::: a
	map_line 125 "$MAP" --bogus echo
	[[ $stderr == *"--bogus"* ]]
	map_line 125 "$MAP" -n many echo
	map_line 125 "$MAP" -L 0 echo
	[[ $stderr == *"-L '0': use 1 to 1000000"* ]]
	map_line 125 "$MAP" -d ab echo
	map_line 125 "$MAP" -I '' echo
	map_line 125 "$MAP" --order sideways echo
	[[ $stderr == *"use input, done or none"* ]]
	map_line 125 "$MAP" --nested=maybe echo
	map_line 125 "$MAP" --fail-fast=soon echo
	map_line 125 "$MAP" --retries -1 echo
	map_line 125 "$MAP" -E 256 echo
	map_line 125 "$MAP" -n 2 -w 3 echo
	map_line 125 "$MAP" --resume echo
	[[ $stderr == *"--joblog"* ]]
	map_line 125 "$MAP" --tag --order=none echo
	map_line 125 "$MAP" -a file echo ::: a
	map_line 125 "$MAP" -a nosuch echo
	[[ $stderr == *"nosuch: No such file"* ]]
	map_line 125 "$MAP" -L 2 echo ::: a ::: b
	[[ $stderr == *"-L does not go with several lists"* ]]
	map_line 125 "$MAP" echo ::: a b :::+ c d
	[[ $stderr == *"':::+': each item goes with each of other lists"* ]]
	map_line 125 "$MAP" --results r --order=none echo ::: a
	[ ! -e r ]
	map_line 125 "$MAP" -N ../x echo ::: a
	[ ! -e limiters ]
}

@test "help and version" {
	run -0 "$MAP" --help
	[[ $output == Usage:* ]]
	run -0 "$MAP" --version
	[[ $output == "flockmap "* ]]
}

# ---- items ----

@test "lines: empty ones are skipped, the last needs no newline, blanks stay" {
	run -0 "$MAP" -n 1 printf '<%s>' < <(printf '\n\na b\n\n  c\t\nd')
	[ "$output" = $'<a b><  c\t><d>' ]
}

@test "NUL, and another delimiter: empty items count, newlines are theirs" {
	run -0 "$MAP" -0 -n 1 printf '<%s>' < <(printf 'a\nb\0\0c')
	[ "$output" = $'<a\nb><><c>' ]
	run -0 "$MAP" -d , -n 1 printf '<%s>' < <(printf 'a,,b\nc,')
	[ "$output" = $'<a><><b\nc>' ]
	run -0 "$MAP" -d '\t' -n 1 printf '<%s>' < <(printf 'a\tb')
	[ "$output" = '<a><b>' ]
	run -0 "$MAP" -d '\0' -n 1 printf '<%s>' < <(printf 'a\0b')
	[ "$output" = '<a><b>' ]
	run -0 "$MAP" -d '\n' -n 1 printf '<%s>' < <(printf 'a\n\nb')
	[ "$output" = '<a><><b>' ]
}

@test "no item: nothing is run" {
	silent 0 "$MAP" -n 1 echo </dev/null
	silent 0 "$MAP" -n 1 echo :::
	silent 0 "$MAP" -n 1 echo < <(printf '\n\n')
	silent 0 sh -c 'exec "$MAP" -n 1 echo <&-'
}

@test "items from a file, and from the command line" {
	printf 'a\nb\n' >list
	run -0 "$MAP" -n 1 -a list echo < <(echo not this)
	[ "$output" = $'a\nb' ]
	run -0 "$MAP" -n 1 -a - echo <list
	[ "$output" = $'a\nb' ]
	run -0 "$MAP" -n 1 printf '<%s>' ::: a '' 'b c' < <(echo not this)
	[ "$output" = '<a><><b c>' ]
	map_line 125 "$MAP" -n 1 -a "$T" echo
	[[ $stderr == *"Is a directory"* ]]
}

@test "several lists: each item of one with each of the others" {
	run -0 "$MAP" -n 1 echo '{2}/{1}' '{}' ::: a b ::: 1 2 3
	[ "$output" = $'1/a a 1\n2/a a 2\n3/a a 3\n1/b b 1\n2/b b 2\n3/b b 3' ]
	run -0 "$MAP" -n 1 --tag printf '%s.' ::: a ::: '' 'x y' ::: p q
	[ "$output" = $'a\ta..p.\na\ta..q.\na\ta.x y.p.\na\ta.x y.q.' ]
	silent 0 "$MAP" -n 1 echo ::: a b :::
	silent 0 "$MAP" -n 1 echo ::: ::: a b
	run -0 "$MAP" -N x -n 1 --dry-run echo x{}y ::: a b ::: 1
	[ "$output" = $'echo \'xa 1y\'\necho \'xb 1y\'' ]
	# --store executes another program before the lists are divided.
	run -0 "$MAP" -n 1 --joblog log --resume echo ::: a b ::: 1 2
	run -0 "$MAP" -n 1 --joblog log --resume echo ::: a b ::: 1 2
	[ -z "$output" ]
}

@test "-L: a command that would be too long gets fewer items" {
	seq 400000 >numbers
	"$MAP" -n 1 -L 1000000 echo <numbers >out
	tr ' ' '\n' <out | diff - numbers
	[ "$(wc -l <out)" -gt 1 ]
	[ "$(wc -l <out)" -lt 40 ]
	# In one word, the kernel has room for 128 KiB; and blanks and quotes are part of a line for sh.
	"$MAP" -n 1 -L 1000000 printf '%s\n' '{}' -{}- <numbers | grep -v '^-' >/dev/null
	sed "s/\$/ '/" numbers >quotes
	"$MAP" -n 1 -L 1000000 -a quotes -c 'printf "%s\n" {}' | cmp - quotes
	run -0 "$MAP" -n 1 -L 1000000 sh -c '[ $# -lt 500000 ]' sh {} {} < <(seq 500000)
	# It counts what is in the environment, and another stack.
	TWO=$(seq 20000) run -0 sh -c 'ulimit -s 1024; "$MAP" -n 1 -L 1000000 echo <numbers | tr " " "\n" | cmp - numbers'
	# Numbers of items must stay those that were asked for.
	run --separate-stderr -126 "$MAP" -n 1 -L 400000 true '{1}' '{}' <numbers
	[[ $stderr == *"Argument list too long"* ]]
}

@test "a NUL among lines, and an item that is too long, are errors; what came before has run" {
	run --separate-stderr -125 "$MAP" -n 1 echo < <(printf 'a\nb\0c\nd\n')
	[ "$output" = a ]
	[[ $stderr == "flockmap: stdin contains a NUL"*"-0" ]]
	run --separate-stderr -125 "$MAP" -n 1 sh -c 'echo ${#1}' sh \
		< <(echo a; head -c 131072 /dev/zero | tr '\0' x)
	[ "$output" = 1 ]
	[[ $stderr == "flockmap: stdin: an item has more than 131071 bytes"* ]]
	run -0 "$MAP" -n 1 sh -c 'echo ${#1}' sh < <(head -c 131071 /dev/zero | tr '\0' x)
	[ "$output" = 131071 ]
	run --separate-stderr -126 "$MAP" -n 1 true x{} < <(head -c 131071 /dev/zero | tr '\0' x)
	[[ $stderr == *"Argument list too long"* ]]
}

@test "an item runs before the input ends" {
	mkfifo in
	background m sh -c 'exec "$MAP" -n 1 echo <in'
	exec 7>in
	echo one >&7
	eventually says one m.out
	echo two >&7
	eventually says two m.out
	exec 7>&-
	ended m
	[ "$status" -eq 0 ]
}

@test "memory does not grow with the input" {
	! sanitized || skip "a sanitizer's memory"
	# 40 MiB of items in 20,000 commands would not fit.
	yes "$(printf '%02000d' 7)" | head -n 20000 |
		"$MAP" -n 2 -L 40 sh -c '[ $# -eq 40 ] || echo $#' sh {} &
	pids[m]=$!
	peak=0
	while [ -e "/proc/${pids[m]}/status" ] && ! is_gone "${pids[m]}"; do
		# Not bash's own memory, before it has executed flockmap.
		now=$(awk '/^Name/ { name = $2 } /^VmHWM/ && name == "flockmap" { print $2 }' \
			"/proc/${pids[m]}/status" 2>/dev/null) || :
		[ "${now:-0}" -gt "$peak" ] && peak=$now
		sleep 0.05
	done
	ended m
	[ "$status" -eq 0 ]
	echo "peak $peak kB"
	[ "$peak" -gt 0 ]
	[ "$peak" -lt 15000 ]
}

@test "memory does not grow behind a slow command" {
	! sanitized || skip "a sanitizer's memory"
	make_go
	# 40 MiB of items in 500 commands, which have ended before the first has.
	background m sh -c '{ echo slow; yes "$(printf %02000d 7)" | head -n 20039; } |
		exec "$MAP" -n 2 -L 40 sh -c "[ \$1 != slow ] || read -r _ <\"\$T/go\"; echo >>ran" sh {}'
	eventually has_lines 500 ran
	peak=$(awk '/^VmHWM/ { print $2 }' "/proc/${pids[m]}/status")
	go
	ended m
	[ "$status" -eq 0 ]
	has_lines 501 ran
	echo "peak $peak kB"
	[ "$peak" -lt 15000 ]
}

@test "a fifo without a writer can be interrupted" {
	mkfifo in
	background m env --default-signal=INT "$MAP" -n 1 -a in echo
	eventually is_state S "${pids[m]}"
	eventually test -e limiters/echo
	kill -INT "${pids[m]}"
	ended m
	[ "$status" -eq 130 ]
}

# ---- commands ----

@test "the item is added at the end, or stands where {} does" {
	run -0 "$MAP" -n 1 echo a ::: 'x y'
	[ "$output" = "a x y" ]
	run -0 "$MAP" -n 1 printf '<%s>' {} -{}- {}{} ::: 'x y'
	[ "$output" = "<x y><-x y-><x yx y>" ]
	run -0 "$MAP" -n 1 {} hello ::: echo
	[ "$output" = hello ]
	run -0 "$MAP" -n 1 -I @ printf '<%s>' @ {} a@b ::: x
	[ "$output" = "<x><{}><axb>" ]
	run -0 "$MAP" -n 1 -I @ printf '<%s>' {} ::: x
	[ "$output" = "<{}><x>" ]
	run -0 "$MAP" -n 1 printf '<%s>' '{' '}' '{ }' '{0}' '{x}' '{1' ::: x
	[ "$output" = "<{><}><{ }><{0}><{x}><{1><x>" ]
}

@test "parts of a path, as GNU parallel has them" {
	local items=(a a.b a.b.c .x d/.x d/a.b /a / // a/ a/b/ a//b a. x/a. ./b.c '' a..b d.d/f ///a)
	run -0 "$MAP" -n 1 echo '{.}|{/}|{//}|{/.}' ::: "${items[@]}"
	[ "${#lines[@]}" -eq "${#items[@]}" ]
	cat >expected <<-'END'
		a|a|.|a
		a|a.b|.|a
		a.b|a.b.c|.|a.b
		|.x|.|
		d/|.x|d|
		d/a|a.b|d|a
		/a|a|/|a
		/||/|
		//||/|
		a/||.|
		a/b/||a|
		a//b|b|a|b
		a|a.|.|a
		x/a|a.|x|a
		./b|b.c|.|b
		||.|
		a.|a..b|.|a.
		d.d/f|f|d.d|f
		///a|a|/|a
	END
	diff expected - <<<"$output"
}

@test "the number and the seat" {
	run -0 "$MAP" -n 1 echo '{#}-{%}' {} ::: a b c
	[ "$output" = $'1-0 a\n2-0 b\n3-0 c' ]
	make_go
	background m "$MAP" -N x -n 2 sh -c "$wait_for_go; echo \$2 \$FLOCKLIMIT_SEAT" sh '{#}' '{%}' ::: a b
	eventually up_to 2
	go 2
	ended m
	[ "$(sort m.out)" = $'0 0\n1 1' ]
}

@test "some items per command" {
	run -0 "$MAP" -n 1 -L 2 printf '<%s>' {} ::: 'a b' c d
	[ "$output" = "<a b><c><d>" ]
	run -0 "$MAP" -n 1 -L 2 printf '[%s]' {} -{}- '{/}' '{#}' ::: x/a b c
	[ "$output" = "[x/a][b][-x/a b-][a][b][1][c][-c-][c][2]" ]
	run -0 "$MAP" -n 1 -L 2 echo '{2}+{1}' ::: a b c
	[ "$output" = $'b+a\n+c' ]
	run -0 "$MAP" -n 1 -L 3 echo ::: a b c d
	[ "$output" = $'a b c\nd' ]
}

@test "stdin of the commands is /dev/null" {
	run -0 "$MAP" -n 1 sh -c 'cat; readlink /proc/self/fd/0' < <(printf 'a\nb\n')
	[ "$output" = $'/dev/null\n/dev/null' ]
}

@test "--dry-run prints the commands, for a shell, and takes no permit" {
	run -0 "$MAP" -n 1 --dry-run echo 'a  b' {} ::: 'x y' "it's" $'two\nlines' '' $'\a' 'ü$`"'
	[ "${#lines[@]}" -eq 6 ]
	bash -c "$output" >said
	printf 'a  b %s\n' 'x y' "it's" $'two\nlines' '' $'\a' 'ü$`"' | cmp - said
	[ ! -e limiters ]
	run -0 timeout 300 bash -c 'yes | "$MAP" --dry-run echo | head -n 2'
	[ "$output" = $'echo y\necho y' ]
}

# ---- what commands find ----

@test "the environment tells of the permit, and is the caller's otherwise" {
	MINE=yes run -0 "$MAP" -N x -n 4 -w 2 sh -c \
		'echo $FLOCKLIMIT_LIMITER $FLOCKLIMIT_WEIGHT $FLOCKLIMIT_LIMIT $FLOCKLIMIT_SEAT $FLOCKLIMIT_TICKET $MINE' \
		sh ::: a
	[ "$output" = "x 2 4 0 1 yes" ]
	run -0 "$MAP" -f lim -n 1 sh -c 'echo $FLOCKLIMIT_LIMITER $FLOCKLIMIT_TICKET' sh ::: a b
	[ "$output" = "$T/lim 1"$'\n'"$T/lim 2" ]
	run -0 "$MAP" -N x -n 1 sh -c 'cd / && "$FLOCKLIMIT" -N x sh -c "echo \$FLOCKLIMIT_TICKET"' sh ::: a
	[ "$output" = 2 ]
}

@test "the limiter is the command's, or the environment's" {
	"$MAP" -n 1 true ::: a
	[ -e limiters/true ]
	"$MAP" -n 1 {} ::: true
	[ -e limiters/flockmap ]
	FLOCKLIMIT_NAME=y "$MAP" -n 1 true ::: a
	[ -e limiters/y ]
}

@test "more descriptors than the soft limit: the commands still have that" {
	[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 4096 ] || skip "a low hard limit"
	make_go
	ulimit -Sn 256
	background m sh -c 'seq 120 | exec "$MAP" -N x -n 120 sh -c "$0; ulimit -Sn" sh {}' "$wait_for_go"
	eventually up_to 120
	go 120
	ended m
	[ "$status" -eq 0 ]
	[ "$(sort -u m.out)" = 256 ]
	[ "$(wc -l <m.out)" -eq 120 ]
}

@test "a handed-down signal mask and ignored signals reach the commands" {
	need_helper signals
	run -0 env --block-signal=USR1 --ignore-signal=USR2 "$MAP" -n 1 grep -E 'Sig(Blk|Ign)' \
		::: /proc/self/status
	[ "$(awk '/SigBlk/ { print substr($2, 14) }' <<<"$output")" = 200 ]
	[ "$(awk '/SigIgn/ { print substr($2, 14) }' <<<"$output")" = 800 ]
}

# ---- how it ends ----

@test "exit status: 0, 123, 126, 127; the others run on but for the last two" {
	silent 0 "$MAP" -n 1 true ::: a b
	run --separate-stderr -123 "$MAP" -n 1 sh -c 'echo $1; exit $1' sh ::: 0 1 255 0
	[ "$output" = $'0\n1\n255\n0' ]
	run -123 "$MAP" -n 1 sh -c 'kill -$1 $$' sh ::: KILL
	run --separate-stderr -127 "$MAP" -n 1 ./nosuch ::: a b
	[ "$stderr" = "flockmap: nosuch: cannot run './nosuch': No such file or directory" ]
	: >plain
	run --separate-stderr -126 "$MAP" -n 1 ./plain ::: a b
	[ "$stderr" = "flockmap: plain: cannot run './plain': Permission denied" ]
}

@test "a program that cannot be run: no limiter, no joblog, no wait for an item" {
	run --separate-stderr -127 "$MAP" -N x --joblog log nosuch ::: a
	[ "$stderr" = "flockmap: x: cannot run 'nosuch': No such file or directory" ]
	mkfifo items
	exec 8<>items
	run --separate-stderr -127 timeout 100 "$MAP" -N x nosuch <&8
	exec 8>&-
	run -126 "$MAP" -N x "$T" ::: a
	run -127 "$MAP" -N x nosuch </dev/null
	[ ! -e limiters ]
	[ ! -e log ]
	# Each item may be a program of its own.
	run --separate-stderr -127 "$MAP" -N x -n 1 {} ::: true ./nosuch
	[ "$stderr" = "flockmap: x: cannot run './nosuch': No such file or directory" ]
}

@test "no permit: 75, one line, nothing more is started" {
	hold a -N x -n 1
	map_line 75 "$MAP" -N x -n 1 --nonblock echo ::: a b
	[[ $stderr == *"x: no permit: an item would have to wait; nothing more was started" ]]
	map_line 75 "$MAP" -N x -n 1 -t 20ms echo ::: a
	map_line 75 "$MAP" -N x -n 1 --max-queue 0 echo ::: a
	[[ $stderr == *"--max-queue"* ]]
	silent 75 "$MAP" -N x -n 1 -q -t 0 echo ::: a
	silent 9 "$MAP" -N x -n 1 -q -E 9 -t 0 echo ::: a
	let_go a
	ended a
	"$CTL" close x
	map_line 75 "$MAP" -N x -n 1 echo ::: a
	[[ $stderr == *"closed"* ]]
	"$CTL" open x
	run -0 "$MAP" -N x -n 2 -t 0 echo ::: a b
	[ "$output" = $'a\nb' ]
}

gave_up() { "$CTL" log --json x | grep -q '"left"'; }

@test "no permit for a later item: those that run are waited for" {
	make_go
	background m "$MAP" -N x -n 1 -t 50ms sh -c "$wait_for_go; echo done \$1" sh ::: a b
	eventually up_to 1
	# The second waits longer than its patience.
	eventually gave_up
	go
	ended m
	[ "$status" -eq 75 ]
	[ "$(cat m.out)" = "done a" ]
}

ends_by_usr1() {
	run --separate-stderr -123 timeout 300 "$MAP" -n 1 -T "$TIME" -s USR1 sh -c \
		'trap "echo usr1; exit 0" USR1; while :; do sleep 0.05; done' sh ::: a
	[ "$output" = usr1 ]
}

@test "-T ends a command, -s says how, -k kills" {
	run -123 timeout 300 "$MAP" -n 2 -T 100ms sh -c 'exec sleep $1' sh ::: 60 0
	run -123 timeout 300 "$MAP" -n 1 -T 100ms -s USR1 --joblog log sleep ::: 1000
	[ "$(awk 'NR == 2 { print $7, $8 }' log)" = "124 0" ]
	in_time ends_by_usr1
	run -123 timeout 300 env --ignore-signal=TERM "$MAP" -n 1 -T 100ms -k 100ms --joblog log sleep ::: 1000
	[ "$(awk 'NR == 2 { print $7, $8 }' log)" = "137 0" ]
}

@test "--retries: again, up to so many times" {
	run -0 "$MAP" -n 1 --retries 2 sh -c 'echo x >>tries; echo out $(wc -l <tries); [ $(wc -l <tries) -eq 3 ]' sh ::: a
	[ "$output" = "out 3" ]
	rm tries
	run -123 "$MAP" -n 1 --retries 2 sh -c 'echo x >>tries; exit 1' sh ::: a
	has_lines 3 tries
}

@test "what a command leaves in the background holds nothing up" {
	run -0 timeout 300 "$MAP" -n 1 sh -c 'sleep 60 & echo $1' sh ::: a b
	[ "$output" = $'a\nb' ]
	# They write faster than anybody reads; what is read of them is bounded.
	run -0 sh -c 'ulimit -f 400000
		timeout 300 "$MAP" -n 1 sh -c "for i in 1 2 3 4 5 6; do cat /dev/zero & done; echo \$1" sh ::: a b |
			tr -d "\0"'
	[ "$output" = $'a\nb' ]
	run -0 timeout 300 "$MAP" -n 1 --order=none sh -c 'sleep 60 >/dev/null 2>&1 & echo $1' sh ::: a b
	[ "$output" = $'a\nb' ]
}
