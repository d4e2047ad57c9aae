#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Shims: flocklimit by the name of another program, before that program in PATH.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# A shim of `tool' in $T/shims, and the tool itself in $T/real.
stage() {
	mkdir shims real
	ln -s "$FLOCKLIMIT" shims/tool
	program real/tool 'echo "real $0 [$*] in ${FLOCKLIMIT_LIMITER:-none}"'
	BASE=$PATH
	PATH=$T/shims:$T/real:$BASE
	export FLOCKLIMIT_LIMITS=$T/limits
	: >limits
}

# program PATH LINE: a script.
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# says WANTED COMMAND...: what it prints, and nothing on stderr.
says() {
	local wanted=$1
	shift
	run --separate-stderr -0 "$@"
	echo "output: $output, stderr: $stderr"
	[ "$output" = "$wanted" ]
	[ -z "$stderr" ]
}

@test "a shim takes the options of its line, and runs the program behind it" {
	stage
	echo 'command tool -N build -n 3' >limits
	says "real $T/real/tool [a b c] in build" tool a 'b c'
	run -0 "$CTL" list --json
	[ "$(jq -r '.[0].limit' <<<"$output")" = 3 ]
}

@test "without a line about these words, it runs the program as it is" {
	stage
	says "real $T/real/tool [a] in none" tool a
	echo 'command "tool build" -N build' >limits
	says "real $T/real/tool [test] in none" tool test
	says "real $T/real/tool [build x] in build" tool build x
	[ "$(ls limiters)" = build ]
}

@test "without a line the program is one exec away, in the same process" {
	stage
	program real/tool 'echo $$'
	background tool tool
	pid=${pids[tool]}
	ended tool
	[ "$status" = 0 ]
	[ "$(cat tool.out)" = "$pid" ]
}

@test "argv[0], the words and the status are the program's own" {
	stage
	ln -sf "$(command -v bash)" real/tool
	for line in '' 'command tool -N build'; do
		echo "$line" >limits
		run -7 tool -c 'tr "\0" "|" </proc/$$/cmdline | cut -d"|" -f1; printf "%s|" "$0" "$@"; exit 7' \
			--help -n '' x
		[ "${lines[0]}" = tool ]
		[ "${lines[1]}" = '--help|-n||x|' ]
		run -143 tool -c 'kill -TERM $$'
	done
	[ "$("$T/shims/tool" -c 'echo "$0"')" = "$T/shims/tool" ]
}

@test "a program that knows by its name what to do gets that name" {
	stage
	program real/many 'case ${0##*/} in tool) echo as tool ;; *) echo as "$0" ;; esac'
	ln -sf many real/tool
	echo 'command tool -N build' >limits
	says 'as tool' tool
	[ "$FLOCKLIMIT" -ef shims/tool ]
}

@test "it never runs itself: a folder twice in PATH, by a link, and a hard link" {
	stage
	ln -s shims again
	mkdir hard
	ln "$FLOCKLIMIT" hard/tool 2>/dev/null || ln -s "$FLOCKLIMIT" hard/tool
	for line in '' 'command tool -N build'; do
		echo "$line" >limits
		PATH=$T/shims:$T/again:$T/shims:$T/hard:$T/real:$BASE run -0 tool x
		[[ $output == "real $T/real/tool [x] in "* ]]
	done
}

@test "called by its path, it runs the program that stands behind it, or else one before it" {
	stage
	mkdir before
	program before/tool 'echo before'
	PATH=$T/before:$T/shims:$T/real:$BASE says "real $T/real/tool [] in none" "$T/shims/tool"
	PATH=$T/before:$T/shims:$BASE says before "$T/shims/tool"
	PATH=$T/real:$BASE says "real $T/real/tool [] in none" shims/tool
}

@test "a folder, a file without the right to run, and a link to nothing are no programs" {
	stage
	mkdir -p one/tool two three
	: >two/tool
	ln -s nowhere three/tool
	PATH=$T/shims:$T/one:$T/two:$T/three:$T/real:$BASE says "real $T/real/tool [x] in none" tool x
	PATH=$T/shims:$BASE run --separate-stderr -127 tool x
	one_line
	[ "$stderr" = "flocklimit: tool: this is a shim, a link to flocklimit, and no program tool stands behind it in PATH: install it, or remove the shim" ]
	PATH=$T/shims:$T/two:$BASE run --separate-stderr -126 tool x
	[[ $stderr == *"and no program tool that could be executed stands behind it in PATH"* ]]
}

@test "a shim of another tool that finds us again gets past us" {
	stage
	mkdir other
	program other/tool 'exec tool other "$@"'
	PATH=$T/shims:$T/other:$T/real:$BASE
	says "real $T/real/tool [other x] in none" tool x
	echo 'command tool -N build' >limits
	says "real $T/real/tool [other x] in build" tool x
}

@test "two flocklimits, each with a folder of shims, find the program together" {
	stage
	mkdir second
	cp "$FLOCKLIMIT" second/flocklimit
	ln -s flocklimit second/tool
	for line in '' 'command tool -N build'; do
		echo "$line" >limits
		for path in "$T/shims:$T/second" "$T/second:$T/shims"; do
			PATH=$path:$T/real:$BASE run -0 tool x
			[[ $output == "real $T/real/tool [x] in "* ]]
		done
	done
}

@test "a tool that starts us again and again is stopped" {
	stage
	mkdir other
	program other/tool 'tool other; exit $?'
	PATH=$T/shims:$T/other:$T/real:$BASE run --separate-stderr -125 tool x
	one_line
	[ "$stderr" = "flocklimit: tool: $T/other/tool calls this shim again, and the shim calls it, for the 100th time: put the shim's folder behind that one's in PATH" ]
}

@test "a program that calls itself by its name, as make does, is found each time" {
	stage
	program real/tool 'if [ "$1" -gt 0 ]; then tool $(($1 - 1)); echo $?; else echo end "$FLOCKLIMIT_TICKET"; fi'
	for line in '' 'command tool -N build -n 1'; do
		echo "$line" >limits
		run -0 tool 3
		[[ ${lines[0]} =~ ^end\ ?1?$ ]]
		[ "${#lines[@]}" = 4 ]
	done
}

@test "under its own permit it joins" {
	stage
	echo 'command tool -N build -n 1' >limits
	says "real $T/real/tool [x] in build" timeout 100 "$FLOCKLIMIT" -N build -n 1 tool x
}

@test "a script by env finds the program through the shim" {
	stage
	program real/tool 'echo "runs $1"'
	printf '#!/usr/bin/env tool\n' >script
	chmod +x script
	echo 'command tool -N build' >limits
	says 'runs ./script' ./script
}

@test "what is wrong in a limits file stops a shim, but FLOCKLIMIT=off does not read it" {
	stage
	echo 'command tool -n none' >limits
	run --separate-stderr -125 tool x
	one_line
	[[ $stderr == "flocklimit: $T/limits:1: "* ]]
	FLOCKLIMIT=off says "real $T/real/tool [x] in none" tool x
}

@test "an environment that is wrong for flocklimit is nothing to a program without a line" {
	stage
	FLOCKLIMIT_NAME=a/b FLOCKLIMIT_DIR=relative says "real $T/real/tool [x] in none" tool x
}

@test "with -v a shim says at once what it waits for" {
	stage
	echo 'command tool -N build -n 1 -v' >limits
	hold one -N build -n 1
	background tool tool x
	eventually grep -q 'build: waiting: ' tool.err
	let_go one
	ended tool
	[ "$status" = 0 ]
	[ "$(cat tool.out)" = "real $T/real/tool [x] in build" ]
}

@test "show has the words that were typed" {
	stage
	program real/tool 'echo up >"$1"; cat "$2"'
	mkfifo stop
	echo 'command tool -N build -n 1' >limits
	background tool tool started stop
	eventually test -s started
	run -0 "$CTL" show build
	[[ $output == *" tool started stop"* ]]
	: >stop
	ended tool
}

@test "by a store, a shim is the same" {
	stage
	echo 'command tool --store nosuch://x -N build' >limits
	run --separate-stderr -125 tool x
	[[ $stderr == *"no store nosuch:// is installed"* ]]
	program store-nosuch 'printf "%s|" "$@"'
	echo "command tool --store nosuch://x -N build" >limits
	FLOCKLIMIT_LIBEXEC=$T says "--shim|tool|--|$T/real/tool|x|" tool x
}

@test "flocklimit by a name of its own is no shim" {
	cp "$FLOCKLIMIT" limit-2
	says yes ./limit-2 -n 1 echo yes
	says yes /proc/self/fd/0 -n 1 echo yes <"$FLOCKLIMIT"
}

# ---- flocklimitctl shim ----

@test "shim makes links, lists them, and removes them" {
	stage
	rm -r shims
	echo 'command tool -N build' >limits
	echo 'command "tool test" -N tests' >>limits
	PATH=$T/shims:$T/real:$BASE
	run -0 "$CTL" shim shims tool
	[ -z "$output" ]
	[ shims/tool -ef "$FLOCKLIMIT" ]
	says "real $T/real/tool [x] in build" tool x
	run -0 "$CTL" shim shims tool
	[ -z "$output" ]
	run -0 "$CTL" shim shims
	[ "${lines[0]}" = "tool	$T/real/tool	$T/limits:1: command tool -N build" ]
	[ "${lines[1]}" = "tool	$T/real/tool	$T/limits:2: command 'tool test' -N tests" ]
	[ "${#lines[@]}" = 2 ]
	run -0 "$CTL" shim --remove shims tool
	[ -z "$(ls shims)" ]
	run -0 "$CTL" shim shims
	[ "$output" = "flocklimitctl: shim: there is none in shims: flocklimitctl shim shims WORD... makes some" ]
}

@test "shim says why a link would do nothing" {
	stage
	PATH=$T/real:$BASE run -0 "$CTL" shim shims tool
	[ "${lines[0]}" = "flocklimitctl: shim: shims is not in PATH, so nobody finds tool there: put it first" ]
	[[ ${lines[1]} == *"no limits file says anything of tool"*'`command tool -n N'* ]]
	PATH=$T/real:$T/shims:$BASE run -0 "$CTL" shim shims tool
	[ "${lines[0]}" = "flocklimitctl: shim: $T/real/tool comes before shims in PATH: put shims first" ]
	run -0 "$CTL" shim shims nosuch
	[ "${lines[0]}" = "flocklimitctl: shim: there is no program nosuch in PATH yet" ]
	run -0 "$CTL" shim shims
	[ "${lines[0]}" = "nosuch	-	no line of a limits file: it runs as ever" ]
}

@test "shim takes nothing away, and no other words" {
	stage
	: >shims/mine
	run -125 "$CTL" shim shims mine
	[ "$output" = "flocklimitctl: shim: shims/mine: exists, and is no shim: remove it, or use another folder" ]
	run -125 "$CTL" shim --remove shims mine
	[ "$output" = "flocklimitctl: shim: shims/mine: is no shim, so it stays" ]
	[ -e shims/mine ]
	for word in a/b -x flocklimit '' .; do
		run -125 "$CTL" shim shims -- "$word"
		[ "$output" = "flocklimitctl: shim: '$word': not a program's name, as cargo or make" ]
	done
	run -125 "$CTL" shim
	[[ $output == *"in which folder?"* ]]
	run -125 "$CTL" shim --remove shims
	[[ $output == *"--remove which?"* ]]
	run -125 "$CTL" shim shims/mine/x tool
	[ "$output" = "flocklimitctl: shim: shims/mine/x: Not a directory" ]
	run -0 "$CTL" shim made/on/demand tool
	[ made/on/demand/tool -ef "$FLOCKLIMIT" ]
	run -125 "$CTL" --store etcd://x shim shims tool
	[[ $output == *"shims are this machine's"* || $output == *"no store"* ]]
}

@test "--shim is said by shims alone" {
	for words in '--shim make' '--shim make -N x -- true' '--shim make --fd 9'; do
		# shellcheck disable=SC2086 # several words
		run --separate-stderr -125 "$FLOCKLIMIT" $words
		[ "$stderr" = "flocklimit: --shim is for links that flocklimitctl shim has made: drop it" ]
	done
}
