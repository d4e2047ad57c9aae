#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap: what people type who know parallel and xargs; each gets our word for it.

load ../helpers/lib.bash
load ../helpers/map.bash

# answers TEXT WORD...: flockmap WORD... is refused, and its line has this text.
answers() {
	local text=$1
	shift
	map_line 125 timeout 300 "$MAP" "$@" </dev/null
	[[ $stderr == *"$text"* ]]
	[ ! -e limiters ]
}

@test "an unknown option: did you mean" {
	answers "option '--retires': unknown: did you mean --retries?" --retires 2 true
	answers "option '--wieght=2': unknown: did you mean --weight?" --wieght=2 true
	answers "option '--re=2': ambiguous: did you mean " --re=2 true
	[[ $stderr == *--resume* && $stderr == *--retries* && $stderr == *--replace* ]]
	answers "option '--frobnicate': unknown: see flockmap --help" --frobnicate true
	answers "option '--tag=x': takes no value" --tag=x true
}

@test "options of parallel, xargs and flocklimit: the counterpart" {
	answers "use --stagger DUR" --delay 1 gzip ::: a
	answers "use --fail-fast" --halt now,fail=1 gzip ::: a
	answers "drop the option" --keep-order gzip ::: a
	answers "use --dry-run" --dryrun gzip ::: a
	answers "use -n N" -P 4 gzip
	answers "use -n N" -P4 gzip
	answers "use -n N" --max-procs=4 gzip
	answers "use -L K" --max-args 2 gzip
	answers "drop the option" -r gzip
	answers "drop the option" --wait gzip ::: a
	answers "use flocklimit" --fg gzip ::: a
	answers "put &" --bg gzip ::: a
	answers "-n N" --shared gzip ::: a
	answers "use -n 1" -x gzip ::: a
	answers "--joblog FILE" --preserve-status gzip ::: a
	answers "for its input use -c 'COMMAND < {}'" --pipe gzip
	answers "use --order=none" --ungroup gzip
	answers "use --line-buffer" --lb gzip
	answers "use --resume-failed" --retry-failed gzip
	answers "use flocklimit" --jobserver make
}

@test "--fail-fast now: its value needs the equals sign" {
	answers "write --fail-fast=now" --fail-fast now true ::: a
	answers "write --fail-fast=now" -n 1 --fail-fast now true ::: a
	answers "write --fail-fast=now" --fail now true ::: a
	answers "write --fail-fast=now" --fail-fast now -n 1 true ::: a
	silent 0 "$MAP" -N x --fail-fast -- true now ::: a
}

@test "-k and -t take durations: what parallel and xargs mean by them" {
	answers "-k '-j': not a duration: for parallel's -k drop the option" -k -j 2 gzip ::: a
	answers "-k 'gzip': not a duration: for parallel's -k drop the option" -k gzip ::: a
	answers "for parallel's --timeout use -T DUR" --timeout 200% gzip ::: a
	answers "for xargs' -t --dry-run" -t gzip ::: a
	silent 0 "$MAP" -N x -k .5 -t 10 true ::: a
}

@test "--timeout that ended a wait says that it is not for the run" {
	hold a -N x -n 1
	map_line 75 "$MAP" -N x -n 1 --timeout 10ms true ::: a
	[[ $stderr == *"an item waited longer than --timeout (to limit its run use -T)"* ]]
	let_go a
	ended a
}

@test ":::: file" {
	answers "'::::': for the items of a file use -a FILE" gzip :::: list
	run -0 "$MAP" -N x -n 1 echo ::: a :::: b
	[ "$output" = $'a\n::::\nb' ]
}

@test "a shell line as the command" {
	map_line 127 "$MAP" -N x 'gzip -9 {}' ::: a
	[ "$stderr" = "flockmap: x: cannot run 'gzip -9 a': the command is a program and its arguments, and not a shell line: use -c" ]
	map_line 127 "$MAP" -N x 'cat $1 | wc' ::: a
	[[ $stderr == *"not a shell line: use -c" ]]
	map_line 127 "$MAP" -N x nosuch ::: a
	[[ $stderr == *"cannot run 'nosuch': No such file or directory" ]]
	# A program's name may have spaces.
	ln -s /bin/echo 'two words'
	run -0 "$MAP" -N x './two words' ::: a
	[ "$output" = a ]
}

@test "the help fits a terminal of 80 columns" {
	run -0 "$MAP" --help
	local line
	for line in "${lines[@]}"; do
		[ "${#line}" -le 80 ]
	done
}
