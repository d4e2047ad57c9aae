#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap: what its commands print, and what it says of them.

load ../helpers/lib.bash
load ../helpers/map.bash

# The first item waits for go, the others are quick.
slow_head='[ $1 != 1 ] || read -r _ <"$T/go"; echo $1; echo e$1 >&2; : >"$T/done.$1"'

done_to() {
	[ "$(find . -name 'done.*' | wc -l)" = "$1" ]
}

# ---- order ----

@test "input order, behind a slow head" {
	make_go
	background m "$MAP" -N x -n 2 sh -c "$slow_head" sh ::: 1 2 3 4 5
	eventually done_to 4
	[ ! -s m.out ] # the others have ended, and wait for the first
	go
	ended m
	[ "$(cat m.out)" = $'1\n2\n3\n4\n5' ]
	[ "$(cat m.err)" = $'e1\ne2\ne3\ne4\ne5' ]
}

@test "--order=done: as they end" {
	make_go
	background m "$MAP" -N x -n 2 --order=done sh -c "$slow_head" sh ::: 1 2 3
	eventually says 3 m.out
	[ "$(cat m.out)" = $'2\n3' ]
	go
	ended m
	[ "$(cat m.out)" = $'2\n3\n1' ]
}

@test "--order=none: straight through, while it runs" {
	make_go
	background m "$MAP" -N x -n 1 --order=none sh -c 'echo $1; read -r _ <"$T/go"' sh ::: 1
	eventually says 1 m.out
	go
	ended m
	run -0 "$MAP" -n 1 --order=none readlink ::: /proc/self/fd/1
	[[ $output == pipe:* ]] || [[ $output == /* ]]
}

@test "--line-buffer: each line when it has come, and whole" {
	make_go
	background m "$MAP" -N x -n 2 --line-buffer sh -c 'printf "$1\n$1."; read -r _ <"$T/go"; echo end; printf last' sh ::: a b
	eventually eval '[ "$(sort m.out)" = $'"'a\nb'"' ]' # and no part of a line
	go 2
	ended m
	[ "$(sort m.out)" = $'a\na.end\nb\nb.end\nlast\nlast' ]
	# Long lines, and more of them than are kept in memory.
	run -0 "$MAP" -n 3 --line-buffer --tag sh -c 'for i in 1 2 3; do head -c 100000 /dev/zero | tr "\0" $1; echo; seq 30000; done' sh ::: a b c
	[ "${#lines[@]}" -eq 270009 ]
	for item in a b c; do
		grep "^$item	" <<<"$output" | cut -f 2 >got
		{ for i in 1 2 3; do head -c 100000 /dev/zero | tr '\0' $item; echo; seq 30000; done; } | cmp - got
	done
}

@test "--results: what each printed, in files; the status comes last" {
	big='head -c 200000 /dev/zero | tr "\0" x; echo e >&2; [ $1 != b ] || exit 3'
	run -123 "$MAP" -n 2 --results r -q sh -c "$big" sh ::: a b
	[ "$(ls r)" = $'1\n2' ]
	[ "$(ls r/1)" = $'command\nstatus\nstderr\nstdout' ]
	[ "$(cat r/1/status r/2/status)" = $'0\n3' ]
	cmp r/1/stdout <(head -c 200000 /dev/zero | tr '\0' x)
	[ "$(cat r/2/stderr)" = e ]
	[ "$(cd r/1 && sh -e ./command 2>&1)" = "$(cat r/1/stdout r/1/stderr)" ]
	# It is printed as well, also line by line; only the last of several tries is kept.
	run -123 "$MAP" -n 1 --results r -q --line-buffer --retries 1 sh -c 'printf "$1\n$1\nx"; false' sh ::: a
	[ "$output" = $'a\na\na\na\nx' ]
	[ "$(cat r/1/stdout)" = $'a\na\nx' ]
	[ "$(cat r/1/status)" = 1 ]
	# What cannot be written is an error, before the first command where that can be.
	echo >file
	map_line 125 "$MAP" -n 1 --results file true ::: a
	[[ $stderr == *"--results file: Not a directory"* ]]
	map_line 125 "$MAP" -n 1 --results no/such true ::: a
	rm -r r/1
	echo >r/1
	run --separate-stderr -125 "$MAP" -n 1 --results r echo ::: a b
	[ "$output" = a ]
	[[ $stderr == "flockmap: --results r/1/: "* ]]
}

@test "outputs are never mixed, and what has come is printed in one piece" {
	run -0 "$MAP" -n 4 --order=done sh -c 'for i in 1 2 3 4 5; do echo $1.$i; done' sh {} ::: a b c d e f
	[ "$(cut -d. -f1 <<<"$output" | uniq -c | awk '{ print $1 }' | sort -u)" = 5 ]
}

@test "a last line without a newline stays so; with --tag it gets one" {
	run -0 sh -c '"$MAP" -n 1 printf %s ::: a b; echo .'
	[ "$output" = ab. ]
	run -0 sh -c '"$MAP" -n 1 --tag printf "%s\nx\n\ny" ::: a b; echo .'
	[ "$output" = $'a\ta\na\tx\na\t\na\ty\nb\tb\nb\tx\nb\t\nb\ty\n.' ]
}

@test "--tag with items of some words, and on stderr" {
	run --separate-stderr -0 "$MAP" -n 1 -L 2 --tag sh -c 'echo out; echo err >&2' sh ::: 'a b' c d
	[ "$output" = $'a b\tout\nd\tout' ]
	[ "$stderr" = $'a b\terr\nd\terr' ]
}

# ---- big ones ----

# 1 to 4 print 8 MiB each, of their own digit; the first comes last.
big='[ $1 != 1 ] || read -r _ <"$T/go"; head -c 8388608 /dev/zero | tr "\0" "$1"; : >"$T/done.$1"'

@test "outputs beyond what memory takes are whole, and leave no file behind" {
	mkdir tmp
	make_go
	TMPDIR=$T/tmp background m "$MAP" -N x -n 2 sh -c "$big" sh ::: 1 2 3 4
	eventually done_to 3
	sanitized || [ "$(awk '/^VmHWM/ { print $2 }' "/proc/${pids[m]}/status")" -lt 15000 ]
	[ -z "$(ls tmp)" ]
	go
	ended m
	[ "$status" -eq 0 ]
	for i in 1 2 3 4; do
		head -c 8388608 /dev/zero | tr '\0' $i
	done | cmp - m.out
	[ -z "$(ls tmp)" ]
}

@test "many small outputs that wait for a slow head are whole" {
	make_go
	seq 450 >list
	background m "$MAP" -N x -n 2 -a list sh -c \
		'[ $1 != 1 ] || read -r _ <go; head -c 65000 /dev/zero; echo $1; echo $1 >>ran' sh
	eventually has_lines 449 ran
	sanitized || [ "$(awk '/^VmHWM/ { print $2 }' "/proc/${pids[m]}/status")" -lt 24000 ]
	go
	ended m
	[ "$status" -eq 0 ]
	tr -d '\0' <m.out | cmp - <(seq 450)
	[ "$(wc -c <m.out)" -eq $((450 * 65000 + $(seq 450 | wc -c))) ]
}

@test "no room for output: a line says so, and the command fails" {
	TMPDIR=$T/nosuch run --separate-stderr -123 "$MAP" -n 1 sh -c \
		'head -c 1000000 /dev/zero && echo never >&2' sh ::: a
	[ "${stderr_lines[0]}" = "flockmap: the output of a command is lost: No such file or directory: set TMPDIR to a directory with room" ]
	[[ ${stderr_lines[1]} == "flockmap: sh: 1 of 1 failed; first: item 1 'a': "* ]]
	[ "${#stderr_lines[@]}" -eq 2 ]
	TMPDIR=$T/nosuch silent 0 "$MAP" -n 1 true ::: a
}

@test "no room in a full file system" {
	need_mount
	run --separate-stderr -123 unshare -m sh -c 'mkdir tmp && mount -t tmpfs -o size=1m none tmp &&
		TMPDIR=$PWD/tmp "$MAP" -n 1 sh -c "head -c 4000000 /dev/zero && echo never >&2" sh ::: a | wc -c; exit 123'
	[[ $stderr == *"the output of a command is lost: No space left on device"* ]]
	[ "$output" -lt 2000000 ]
}

# ---- who reads it ----

@test "nobody reads: it ends what runs, and dies of SIGPIPE" {
	run -0 timeout 300 bash -c 'yes | "$MAP" -n 2 echo | head -n 1; echo "${PIPESTATUS[1]}"'
	[ "$output" = $'y\n141' ]
	run -0 timeout 300 bash -c 'set -o pipefail
		"$MAP" -N x -n 2 sh -c "until [ -e gone ]; do sleep 0.01; done
			echo \$1; [ \$1 = a ] || exec sleep 60" sh ::: a b |
			{ exec <&-; : >gone; }; echo $?'
	[ "$output" = 141 ]
	is_free
}

@test "stdout that is closed: what cannot be printed is no success, and what prints nothing is" {
	local option
	for option in '' --dry-run; do
		run --separate-stderr -125 sh -c '"$MAP" -N x -n 1 '"$option"' echo ::: a b >&-'
		[ "$stderr" = "flockmap: stdout: Bad file descriptor" ]
	done
	run --separate-stderr -0 sh -c '"$MAP" -N x -n 1 true ::: a b >&-'
	[ -z "$stderr" ]
}

@test "a full disk is said, and is a failure" {
	run --separate-stderr -125 sh -c '"$MAP" -n 1 echo ::: a b >/dev/full'
	[ "$stderr" = "flockmap: stdout: No space left on device" ]
}

@test "a reader that has stopped holds no permit up" {
	mkfifo pipe
	background m sh -c 'exec "$MAP" -N x -n 1 sh -c "head -c 200000 /dev/zero; echo \$1 >>ran" sh ::: 1 2 3 >pipe'
	exec 7<pipe
	eventually has_lines 3 ran
	eventually is_free
	run ! is_gone "${pids[m]}"
	[ "$(wc -c <&7)" -eq 600000 ]
	exec 7<&-
	ended m
	[ "$status" -eq 0 ]
}

@test "--fail-fast starts no more, and says why, while a reader has stopped" {
	mkfifo pipe
	background m sh -c 'exec "$MAP" -N x -n 1 --fail-fast sh -c \
		"head -c 200000 /dev/zero; echo \$1 >>ran; [ \$1 != 2 ]" sh ::: 1 2 3 4 >pipe'
	exec 7<pipe
	eventually has_lines 2 ran
	eventually is_free
	[ "$(wc -c <&7)" -eq 400000 ]
	exec 7<&-
	ended m
	[ "$status" -eq 123 ]
	has_lines 2 ran
	[ "$(cat m.err)" = "flockmap: x: item 2 '2' failed: exit 1" ]
}

# ---- the progress line ----

@test "a progress line and a summary on a terminal" {
	make_go
	seq 5 >list
	terminal m "$MAP" -N x -n 2 -a list sh -c '[ $1 != 5 ] || read -r _ <"$T/go"; [ $1 != 2 ]' sh
	eventually says "4/5 done, 1 running, 1 failed, " m.out
	eventually says " left" m.out
	go
	exec 8>&-
	ended m
	[ "$status" -eq 123 ]
	tail -n 1 m.out | tr -d '\r' | grep -qF "flockmap: x: 1 of 5 failed; first: item 2 '2': exit 1"
}

@test "the total is not known of a pipe" {
	make_go
	terminal m sh -c 'seq 2 | "$MAP" -N x -n 2 sh -c "read -r _ <\"\$T/go\"" sh'
	eventually says "x: 0 done, 2 running, 0 failed, " m.out
	go 2
	exec 8>&-
	ended m
}

@test "output goes where the progress line was" {
	make_go
	terminal m "$MAP" -N x -n 1 --order=done sh -c '[ $1 != 2 ] || read -r _ <"$T/go"; echo out $1' sh ::: 1 2
	eventually says "1/2 done, 1 running" m.out
	go
	exec 8>&-
	ended m
	# The line is cleared, and then comes the output.
	tr '\r' '\n' <m.out | grep -qF $'\033[Kout 2'
}

@test "no progress line and no summary with -q, or where stderr is no terminal" {
	terminal m "$MAP" -q -N x -n 1 sh -c 'sleep 1.5; echo ran' sh ::: 1
	exec 8>&-
	ended m
	[ "$(tr -d '\r' <m.out)" = ran ]
	rm m.keys
	terminal m sh -c '"$MAP" -N x -n 1 sh -c "sleep 1.5; echo ran" sh ::: 1 2>err'
	exec 8>&-
	ended m
	[ "$(tr -d '\r' <m.out)" = ran ]
	[ ! -s err ]
}
