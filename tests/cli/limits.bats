#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A limits file: what a command gets that does not say it.

load ../helpers/lib.bash

CTL=${FLOCKLIMIT%/*}/flocklimitctl
told='echo "${FLOCKLIMIT_LIMITER##*/} $FLOCKLIMIT_LIMIT $FLOCKLIMIT_WEIGHT"'

# limits: the file is what comes in.
limits() {
	cat >"$T/limits"
	export FLOCKLIMIT_LIMITS=$T/limits
}

# tells WANTED ARGUMENT...: which limiter, limit and weight a command gets.
tells() {
	local wanted=$1
	shift
	run -0 "$FLOCKLIMIT" "$@" sh -c "$told"
	echo "output: $output"
	[ "$output" = "$wanted" ]
}

# refuses PATTERN ARGUMENT...: one line, 125, and no command is run.
refuses() {
	local pattern=$1
	shift
	run --separate-stderr -125 "$FLOCKLIMIT" "$@" touch ran
	one_line
	# shellcheck disable=SC2053 # it is a pattern
	[[ $stderr == $pattern ]]
	[ ! -e ran ]
}

@test "a limiter gets what its line says, however it is chosen" {
	limits <<<'limiter build -n 4 -w 2'
	tells 'build 4 2' -N build
	FLOCKLIMIT_NAME=build tells 'build 4 2'
	limits <<<'limiter sh -n 7'
	tells 'sh 7 1'
}

@test "the command line overrides the file, option by option" {
	limits <<<'limiter build -n 4 -w 2'
	tells 'build 3 2' -N build -n 3
	tells 'build 4 1' -N build -w 1
	tells 'build 100 1' -N build -n 100 --weight=1
}

@test "a command gets what the line with the most of its words says" {
	limits <<-'END'
		command sh -N one -n 2
		command "sh -c" -N two -n 3
		command "sh -x" -N three
	END
	tells 'two 3 1'
	run -0 "$FLOCKLIMIT" sh -ec "$told"
	[ "$output" = 'one 2 1' ]
}

@test "a program is known by the last part of its path, or by its path" {
	limits <<<'command sh -N byname'
	run -0 "$FLOCKLIMIT" /bin/sh -c "$told"
	[[ $output == byname* ]]
	limits <<<'command /bin/sh -N bypath'
	run -0 "$FLOCKLIMIT" /bin/sh -c "$told"
	[[ $output == bypath* ]]
	tells "sh $(nproc) 1"
}

@test "a command's line leads to a limiter's" {
	limits <<-'END'
		limiter cpu -n 5 -w 3
		command sh -N cpu -w 2
	END
	tells 'cpu 5 2'
	tells 'cpu 5 1' -w 1
	tells 'other 9 2' -N other -n 9
}

@test "a limiter's line may say in which file it is, with which mode" {
	limits <<<"limiter gpu --file $T/shared --mode 0660 -n 2"
	tells 'shared 2 1' -N gpu
	[ "$(stat -c %a shared)" = 660 ]
	[ ! -e "$FLOCKLIMIT_DIR/gpu" ]
}

@test "a path on the command line uses no limiter's line" {
	limits <<<"limiter gpu --file $T/shared -n 2"
	tells 'mine 6 1' -f mine -n 6
	tells 'mine 6 1' -N gpu -f mine
	[ ! -e shared ]
}

@test "a command's --file gives way to a name on the command line" {
	limits <<<"command sh --file $T/shared -n 2"
	tells 'shared 2 1'
	tells 'x 2 1' -N x
}

@test "the line of a limiter of --and says its limit and its file" {
	limits <<<"limiter gpu --file $T/shared -n 2 -w 2"
	run -0 "$FLOCKLIMIT" -N x -n 1 --and gpu "$CTL" show --file "$T/shared"
	[[ $output == *"2 of 2 in use"* ]]
	run -0 "$FLOCKLIMIT" -N x -n 1 --and gpu=1/3 "$CTL" show --file "$T/shared"
	[[ $output == *"1 of 3 in use"* ]]
}

@test "timeouts, the pace and yielding are taken, and -T 0 takes one back" {
	limits <<<'limiter x -n 1 -t 0 -T 100ms -E 9'
	hold slot -N x -T 0
	run -9 "$FLOCKLIMIT" -N x true
	let_go slot
	ended slot
	run -124 "$FLOCKLIMIT" -N x sleep 60
	run -0 "$FLOCKLIMIT" -N x -T 0 sleep 0.2
	limits <<<'limiter y --rate 1/h'
	run -0 "$FLOCKLIMIT" -N y true
	run -75 "$FLOCKLIMIT" -N y -t 0 true
}

@test "--nonblock on the command line overrides a -t of the file, and the reverse" {
	limits <<<'limiter x -n 1 -t 1h'
	hold slot -N x
	run -75 "$FLOCKLIMIT" -N x --nonblock true
	limits <<<'limiter x -n 1 --nonblock'
	run -75 "$FLOCKLIMIT" -N x -t 10ms true
	let_go slot
	ended slot
}

@test "what is said twice in a row is said by the user's file" {
	mkdir -p config/flocklimit
	unset FLOCKLIMIT_LIMITS
	[ ! -e /etc/flocklimit/limits ] || skip "this machine has a limits file"
	echo 'limiter build -n 4' >config/flocklimit/limits
	XDG_CONFIG_HOME=$T/config tells 'build 4 1' -N build
	mkdir -p home/.config
	mv config/flocklimit home/.config/
	env -u XDG_CONFIG_HOME HOME="$T/home" "$FLOCKLIMIT" -N build sh -c "$told" >out
	[ "$(cat out)" = 'build 4 1' ]
	env -u XDG_CONFIG_HOME -u HOME "$FLOCKLIMIT" -N fresh -n 2 sh -c "$told" >out
	[ "$(cat out)" = 'fresh 2 1' ]
}

@test "an empty FLOCKLIMIT_LIMITS reads no file" {
	limits <<<'limiter build -n 4'
	FLOCKLIMIT_LIMITS='' tells "build $(nproc) 1" -N build
	rm limits
	refuses "flocklimit: $T/limits: No such file or directory; *" -N build
}

@test "words are split as a shell does: quotes, backslashes, comments" {
	limits <<-'END'
		# limiter x -n 9

		  limiter 'x' "-n" 4 # -n 5
		limiter y -n\
		limiter z	--limit="3"
	END
	refuses "flocklimit: $T/limits:4: *" -N y
	tells 'x 4 1' -N x
	tells 'z 3 1' -N z
}

@test "--not-seat, --when and all others of a taker may stand there" {
	limits <<<'limiter x -n 3 --not-seat 0 --when mem>1K --yield 2 --max-queue 5 --nested queue --stagger 1ms -s INT -k 1s -T 1m'
	tells 'x 3 1' -N x
	run -0 "$CTL" show x
	[[ $output == *mem* ]]
}

@test "a wrong line: one message with file and number, and nothing is run" {
	local n='flocklimit: '$T/limits
	limits <<<'limiter build -n none'
	refuses "$n:1: -n 'none': not a limit*" -N build
	tells "other $(nproc) 1" -N other
	limits <<<'limiter build --nmae x'
	refuses "$n:1: option '--nmae': unknown: did you mean --name?*" -N build
	limits <<<'limiter build --until-ready'
	refuses "$n:1: option '--until-ready': unknown*" -N build
	limits <<<$'\n\nbuild -n 4'
	refuses "$n:3: 'build': unknown: a line begins with limiter or command"
	limits <<<'limiter'
	refuses "$n:1: limiter: which?*"
	limits <<<'limiter a/b'
	refuses "$n:1: limiter 'a/b': not a name*"
	limits <<<'command ""'
	refuses "$n:1: command '': not a command"
	limits <<<'limiter build "-n 4'
	refuses "$n:1: a quote without its end"
	limits <<<'limiter build -n 4 -- x'
	refuses "$n:1: word 'x': unexpected*" -N build
	limits <<<'limiter build -N other'
	refuses "$n:1: --name 'other': the line says the name already*" -N build
	limits <<<'limiter build --file here'
	refuses "$n:1: --file 'here': not an absolute path*" -N build
	limits <<<'limiter gpu --nmae x'
	refuses "$n:1: option '--nmae'*" -N build --and gpu
}

@test "options that exclude each other do so across the file" {
	limits <<<'limiter build -n 2'
	refuses "flocklimit: build: -w 3 is above -n 2*" -N build -w 3
	limits <<<'limiter build --settle 1s'
	refuses "flocklimit: --settle has no effect without --when*" -N build
}

@test "a file that others can write to is not read" {
	limits <<<'limiter build -n 4'
	chmod 664 limits
	refuses "flocklimit: $T/limits: others can write to it: chmod go-w*" -N build
	chmod 602 limits
	refuses "*others can write to it*" -N build
	chmod 444 limits
	tells 'build 4 1' -N build
}

@test "a file of another user, or a link of theirs to a good one, is not read" {
	need_root
	limits <<<'limiter build -n 4'
	ln -s limits link
	FLOCKLIMIT_LIMITS=$T/link tells 'build 4 1' -N build
	chown -h nobody link
	FLOCKLIMIT_LIMITS=$T/link refuses "*link: belongs to user nobody, who is neither you nor root*" -N build
	chown nobody limits
	refuses "*limits: belongs to user nobody, who is neither you nor root: chown it*" -N build
}

@test "what is no regular file is refused at once" {
	export FLOCKLIMIT_LIMITS=$T/limits
	mkfifo limits
	refuses "*limits: not a regular file*" -N build
	rm limits
	mkdir limits
	refuses "*limits: not a regular file*" -N build
	FLOCKLIMIT_LIMITS=/dev/zero refuses "*/dev/zero: not a regular file*" -N build
	FLOCKLIMIT_LIMITS=limits/none refuses "*limits/none: No such file*" -N build
}

@test "a file that is too large, or has a byte 0, is refused" {
	export FLOCKLIMIT_LIMITS=$T/limits
	yes '# a comment' | head -c 70000 >limits
	refuses "*limits: has more than 64 KiB*" -N build
	printf 'limiter build\0-n 4\n' >limits
	refuses "*limits: has a byte 0 in it*" -N build
}

@test "a nested command is not told of options that only the file gave" {
	limits <<<'limiter x -n 3 -w 2'
	run --separate-stderr -0 "$FLOCKLIMIT" -N x -w 1 "$FLOCKLIMIT" -N x sh -c "$told"
	[ -z "$stderr" ]
	[ "$output" = 'x 3 1' ]
	run --separate-stderr -0 "$FLOCKLIMIT" -N x -w 1 "$FLOCKLIMIT" -N x -w 3 sh -c "$told"
	[[ $stderr == *"-w 3 has no effect"* ]]
}

@test "-c, --hold-for and --fd are no command that a line is about" {
	limits <<-'END'
		command sh -N other -n 9
		limiter x -n 3
	END
	SHELL=/bin/sh run -0 "$FLOCKLIMIT" -N x -c "$told"
	[ "$output" = 'x 3 1' ]
	run -0 "$FLOCKLIMIT" -N x --hold-for $$
	run -1 "$CTL" list other x
	[[ $output == *"other: there is no such limiter"* ]]
}

@test "flockmap takes both kinds of lines" {
	limits <<-'END'
		command sh -N maps -w 2
		limiter maps -n 6
		limiter flockmap -n 5
	END
	run -0 "${FLOCKLIMIT%limit}map" sh -c "$told" sh ::: a
	[ "$output" = 'maps 6 2' ]
	run -0 "${FLOCKLIMIT%limit}map" {} -c "$told" ::: sh
	[ "$output" = 'flockmap 5 1' ]
	limits <<<'command sh --bad'
	run --separate-stderr -125 "${FLOCKLIMIT%limit}map" sh -c "$told" sh ::: a
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "flockmap: $T/limits:1: option '--bad'"* ]]
}

@test "flocksem takes the line of its limiter" {
	limits <<<'limiter mine -w 3'
	run -0 "${FLOCKLIMIT%limit}sem" --fg --id mine -j 7 sh -c "'$told'"
	[ "$output" = 'mine 7 3' ]
}
