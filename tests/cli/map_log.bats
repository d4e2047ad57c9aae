#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap: the job log, and going on where it ended.

load ../helpers/lib.bash
load ../helpers/map.bash

# columns N...: of the log's lines but the first, sorted by the number.
columns() {
	tail -n +2 log | sort -n | cut -f "$1"
}

@test "the log has GNU parallel's columns" {
	run -123 "$MAP" -N x -n 1 -L 2 --joblog log sh -c 'printf 1234; [ $1 = 0 ] || kill -$1 $$; exit $2' sh ::: 0 0 0 3 9 'a b'
	[ "$(head -n 1 log)" = "$(printf 'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand')" ]
	[ "$(columns 1,2,5-8)" = "$(printf '1\t:\t0\t4\t0\t0\n2\t:\t0\t4\t3\t0\n3\t:\t0\t4\t0\t9')" ]
	[ "$(columns 9 | tail -n 1)" = "sh -c 'printf 1234; [ \$1 = 0 ] || kill -\$1 \$\$; exit \$2' sh 9 'a b'" ]
	local now
	now=$(date +%s)
	columns 3 | awk -v now="$now" '{ if ($1 < now - 100 || $1 > now + 1) exit 1 }'
	columns 4 | awk '{ if ($1 < 0 || $1 > 30) exit 1 }'
	# GNU parallel's own reader of it.
	parallel --version >/dev/null 2>&1 || return 0
	[ "$(parallel --joblog other true ::: a; head -n 1 other)" = "$(head -n 1 log)" ]
}

@test "without --resume the log begins anew" {
	"$MAP" -n 1 --joblog log true ::: a b
	"$MAP" -n 1 --joblog log true ::: c
	has_lines 2 log
}

@test "--resume skips what has been done, failed or not; --resume-failed not what failed" {
	run -123 "$MAP" -n 1 --joblog log sh -c 'echo $1; [ $1 != b ]' sh ::: a b
	run --separate-stderr -123 "$MAP" -N x -n 1 --joblog log --resume sh -c 'echo $1; [ $1 != b ]' sh ::: a b c
	[ "$output" = c ]
	[ "$stderr" = "flockmap: x: 1 skipped item had failed before: use --resume-failed to run it again" ]
	has_lines 4 log
	run --separate-stderr -123 "$MAP" -n 1 --joblog log --resume-failed sh -c 'echo $1; [ $1 != b ]' sh ::: a b c d
	[ "$output" = $'b\nd' ]
	# The last word about an item counts.
	run --separate-stderr -123 "$MAP" -n 1 --joblog log --resume-failed sh -c 'echo $1; [ $1 != b ]' sh ::: a b c d
	[ "$output" = b ]
	map_line 123 "$MAP" -n 1 --joblog log --resume sh -c 'echo $1; [ $1 != b ]' sh ::: a b c d
	silent 123 "$MAP" -n 1 -q --joblog log --resume sh -c 'echo $1; [ $1 != b ]' sh ::: a b c d
}

@test "the recipe to stop at the first failure and to continue: no failure is taken for success" {
	local i
	for i in 1 2; do
		run --separate-stderr -123 "$MAP" -n 1 --fail-fast --joblog log --resume-failed sh -c 'echo $1; [ -e mended ] || [ $1 != b ]' sh ::: a b c
	done
	[[ $output != *c* ]]
	: >mended
	run -0 "$MAP" -n 1 --fail-fast --joblog log --resume-failed sh -c 'echo $1; [ -e mended ] || [ $1 != b ]' sh ::: a b c
	[ "$output" = $'b\nc' ]
	silent 0 "$MAP" -n 1 --joblog log --resume sh -c 'echo $1; [ -e mended ] || [ $1 != b ]' sh ::: a b c
}

@test "two skipped items that failed, and one that fails now" {
	run -123 "$MAP" -n 1 --joblog log false ::: a b
	run --separate-stderr -123 "$MAP" -N x -n 1 --joblog log --resume false ::: a b c
	[[ $stderr == *"flockmap: x: 2 skipped items had failed before: use --resume-failed to run them again"* ]]
}

@test "--joblog leaves a file as it is that is not a joblog" {
	local option
	printf 'precious\nand not ended' >file
	cp file copy
	printf 'x' >short
	for option in --tag --resume --resume-failed; do
		map_line 125 "$MAP" -n 1 --joblog file $option true ::: a
		[[ $stderr == "flockmap: --joblog file: not a joblog, and left unchanged: choose another file" ]]
		cmp file copy
		map_line 125 "$MAP" -n 1 --joblog short $option true ::: a
		[ "$(cat short)" = x ]
	done
	# An empty one is new; one whose writer ended within the first line is still a joblog.
	: >empty
	printf 'Seq\tHo' >torn
	for option in --tag --resume; do
		silent 0 "$MAP" -n 1 --joblog empty $option true ::: a
		silent 0 "$MAP" -n 1 --joblog torn $option true ::: a
		has_lines 2 empty
		cmp <(head -n 1 empty) <(head -n 1 torn)
	done
	silent 0 "$MAP" -n 1 --joblog /dev/null true ::: a
}

@test "--resume with another list, or another command, is refused" {
	"$MAP" -n 1 --joblog log true ::: a b
	map_line 125 "$MAP" -n 1 --joblog log --resume true ::: a c
	[[ $stderr == *"command 2 differs from that in log"* ]]
	map_line 125 "$MAP" -n 1 --joblog log --resume echo ::: a b
	has_lines 3 log
	silent 0 "$MAP" -n 1 --joblog log --resume true ::: a b
}

@test "--resume where the seat is a part of the command" {
	silent 0 "$MAP" -n 2 --joblog log true {} '{%}' ::: a b
	silent 0 "$MAP" -n 2 --joblog log --resume true {} '{%}' ::: a b
	has_lines 3 log
}

@test "a torn last line counts for nothing, however often it is resumed" {
	"$MAP" -n 1 --joblog log echo ::: a b cc
	truncate -s -2 log # cc is c
	cp log torn
	run -0 "$MAP" -n 1 --joblog log --resume echo ::: a b cc
	[ "$output" = cc ]
	has_lines 4 log
	silent 0 "$MAP" -n 1 --joblog log --resume echo ::: a b cc
	# It is torn still where it was killed at once.
	cp torn log
	silent 0 "$MAP" -n 1 --joblog log --resume echo ::: a b
	run -0 "$MAP" -n 1 --joblog log --resume echo ::: a b cc
	[ "$output" = cc ]
}

@test "any log is read: empty, nonsense behind the first line, huge numbers" {
	: >log
	run -0 "$MAP" -n 1 --joblog log --resume echo ::: a
	[ "$output" = a ]
	{
		printf 'x\n\n1\n1\t2\n%s\t:\t0\t0\t0\t0\t0\t0\techo z\n' 4000000000 -1
		printf '2\t:\t0\t0\t0\t0\t0\t0\t\n1\t:\t0\t0\t0\t0\t0\t0\techo a\n'
		head -c 3000 /dev/urandom | tr '\n' x
	} >>log
	sanitized || ulimit -v 1000000
	run -125 sh -c 'exec "$MAP" -n 1 --joblog log --resume echo ::: a b'
	[[ $output == *"command 2 differs from that in log"* ]]
}

@test "a log that can't be written or read" {
	map_line 125 "$MAP" -n 1 --joblog "$T/no/log" echo ::: a
	[[ $stderr == *"--joblog $T/no/log: No such file or directory" ]]
	map_line 125 "$MAP" -n 1 --joblog "$T" --resume echo ::: a
	run --separate-stderr -125 "$MAP" -n 1 --joblog /dev/full true ::: a b
	[ "$stderr" = "flockmap: --joblog /dev/full: No space left on device" ]
}

@test "a log that can be written no more ends it, and stays whole" {
	need_mount
	run -125 unshare -m sh -c 'mkdir fs && mount -t tmpfs -o size=64k none fs || exit 99
		seq 5000 | "$MAP" -n 1 --joblog fs/log true; status=$?
		tail -c 1 fs/log | od -An -c >last; wc -l <fs/log >lines; exit $status'
	[[ $output == *"--joblog fs/log: "*"pace left"* ]]
	[ "$(tr -d ' ' <last)" = '\n' ]
	[ "$(cat lines)" -lt 5000 ]
}

@test "kill -9 and --resume: each item is done, and what was logged not again" {
	make_go
	background m "$MAP" -N x -n 2 --joblog log sh -c \
		'echo $1 >>ran; [ $1 -lt 5 ] || { echo $$ >up.$1; read -r _ <go; }' sh ::: 1 2 3 4 5 6 7 8
	eventually up_to 2
	eventually has_lines 5 log
	kill -KILL "${pids[m]}"
	ended m
	go 2
	eventually is_free
	has_lines 5 log
	rm ran
	go 4 # nobody waits any more
	silent 0 "$MAP" -N x -n 2 --joblog log --resume sh -c \
		'echo $1 >>ran; [ $1 -lt 5 ] || { echo $$ >up.$1; read -r _ <go; }' sh ::: 1 2 3 4 5 6 7 8
	[ "$(sort ran)" = $'5\n6\n7\n8' ]
	[ "$(columns 1)" = $'1\n2\n3\n4\n5\n6\n7\n8' ]
}
