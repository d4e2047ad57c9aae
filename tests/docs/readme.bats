#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2094 # programs that are called as files are
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# What README.md and doc/recipes.md show is what the programs do: first commands, recipes, screens, pictures.

load ../helpers/lib.bash
load ../helpers/docs.bash
load ../helpers/top.bash

README=$TOP/README.md
RECIPES=$TOP/doc/recipes.md
CTL=${FLOCKLIMIT}ctl
MAP=${FLOCKLIMIT%/*}/flockmap
export README

# all_recipes: of both, without those about stores.
all_recipes() {
	sed -n '/^## Recipes$/,/^## More than one machine$/p' "$README"
	sed '/^## More than one machine$/,$d' "$RECIPES"
}

# blocks DIR: the ```sh blocks of standard input, one file each.
blocks() {
	awk -v dir="$1" '
		/^```sh$/ { file = sprintf("%s/%02d", dir, ++n); next }
		/^```$/ { file = "" }
		file != "" { print > file }'
}

# stubs NAME...: commands in bin/ that only say in log how they were called.
stubs() {
	local name
	for name; do
		printf '#!/bin/sh\necho "${0##*/} $*" >>"$T/log"\n' >"bin/$name"
		chmod +x "bin/$name"
	done
}

# The programs, and what the recipes run.
recipe_commands() {
	mkdir bin work
	ln -s "$FLOCKLIMIT" "$CTL" "$MAP" bin/
	stubs optipng convert unpack make cc curl docker install train backup sudo mirror thumbnails report
	cp bin/make work/sync-one
	cp bin/make work/migrate
	cp bin/make work/warm-up
	cp bin/make work/analyse
	touch work/a.png "work/b c.png" work/a.xz
	export HOME=$T
	PATH=$T/bin:$PATH
}

@test "the README has the commands that one needs first, and is short" {
	[ "$(wc -l <"$README")" -le 280 ]
	sed '/^## Recipes/,$d' "$README" >first
	grep -qxF '    ./bootstrap && ./flocklimit -n 4 -w 1 echo hello' first
	grep -qxF '    ./bootstrap --check && make check' first
	[ "$("$FLOCKLIMIT" -n 4 -w 1 echo hello)" = hello ]
}

# a_clone: source/ with bootstrap and a configure, and stubs of all that bootstrap runs.  dpkg-query
# says that every package is there but those in ./absent; apt-get says in ./log how it was called.
a_clone() {
	mkdir bin source
	cp "$TOP/bootstrap" source/
	printf '#!/bin/sh\necho configured "$@" >>"$T/log"\n' >source/configure
	printf '#!/bin/sh\necho made "$@" >>"$T/log"\n' >bin/make
	printf '#!/bin/sh\nexit 0\n' | tee bin/autoreconf bin/aclocal bin/libtoolize >/dev/null
	printf '#!/bin/sh\ncase "$*" in "--exists $(cat "$T/unknown")") exit 1 ;; esac\n' >bin/pkg-config
	printf '#!/bin/sh\n[ "$*" = "-n true" ] || exec "$@"\n' >bin/sudo
	printf '#!/bin/sh\necho "apt-get $*" >>"$T/log"\n' >bin/apt-get
	cat >bin/dpkg-query <<-'END'
		#!/bin/sh
		shift 3
		printf '%s\n' "$@" | grep -vxFf "$T/absent" | sed 's/$/ installed/'
	END
	chmod +x bin/* source/*
	: | tee log absent unknown >/dev/null
	touch -d '1 hour ago' source/configure.ac source/Makefile.am
	mkdir -p source/tests && touch -d '1 hour ago' source/tests/Makefile.inc
}

@test "the README's figures are those of the pages behind it" {
	local figure
	[ "$(wc -l <"$TOP/README.md")" -le 280 ]
	# How long the tests take is said in two pages.
	tr '\n' ' ' <"$TOP/README.md" | grep -oE '[a-z]+ minutes on two processors' >long
	[ "$(wc -l <long)" -eq 1 ]
	grep -qF "$(cat long)" "$TOP/tests/README.md"
	# And how fast it is, where the benchmarks are.
	section_of 'How fast it is' >fast
	for figure in '0\.45' '40 KiB'; do
		grep -qE "$figure" fast
		grep -qE "^\| .*$figure" "$TOP/tests/bench/README.md"
	done
}

# section_of HEADING: its lines in README.md.
section_of() { awk -v wanted="## $1" '/^## / { on = $0 == wanted; next } on' "$TOP/README.md"; }

@test "make check says which packages its tests lack" {
	a_clone
	PATH=$T/bin:$PATH run -0 "$TESTS_SOURCE/helpers/say-missing" "$TOP/bootstrap"
	[ -z "$output" ]
	printf '%s\n' bats jq >absent
	PATH=$T/bin:$PATH run -0 "$TESTS_SOURCE/helpers/say-missing" "$TOP/bootstrap"
	[ "$output" = "make check: what needs bats jq is skipped; to have it all: ./bootstrap --check" ]
}

# as_user: in bin/, who runs is no root, and sudo needs a password that is not known.
as_user() {
	printf '#!/bin/sh\necho 1000\n' >bin/id
	printf '#!/bin/sh\nexit 1\n' >bin/sudo
	chmod +x bin/id bin/sudo
}

# bootstrap [ARG]...: what it prints is in ./err.
bootstrap() {
	PATH=$T/bin:$PATH sh source/bootstrap "$@" </dev/null >out 2>err
}

@test "bootstrap says what it installs before it does, and asks nothing" {
	a_clone
	printf '#!/bin/sh\ngrep -c "^bootstrap: packages are missing: .*apt-get $*\$" "$T/err" >>"$T/log"\n' >bin/apt-get
	printf '#!/bin/sh\n' >bin/dpkg-query
	bootstrap
	cat err
	grep -qE ' autoconf .* libnghttp2-dev ' err
	run -1 grep -E ' (bats|debhelper|clang) ' err
	[ "$(head -n 1 log)" = 1 ]
	[ "$(wc -l <err)" = 1 ]
	[[ $(tail -n 1 out) == "bootstrap: built $T/source/flocklimit, flocksem, flockmap and flocklimitctl: "* ]]
	[ "$(wc -l <out)" -le 10 ]
	bootstrap --check
	grep -qE ' autoconf .* bats ' err
	bootstrap --deb
	grep -qE ' autoconf .* debhelper ' err
}

@test "bootstrap installs nothing, and says nothing, where nothing is missing" {
	a_clone
	bootstrap --prefix=/opt
	[ ! -s err ]
	[ "$(cat log)" = "configured --silent --prefix=/opt
made --silent all" ]
}

@test "without root and sudo, bootstrap says in one line what is missing, and builds without it" {
	a_clone
	as_user
	printf '%s\n' libncurses-dev libnghttp2-dev bats >absent
	bootstrap --check
	cat err
	[ "$(wc -l <err)" = 1 ]
	[[ $(cat err) == "bootstrap: building without libncurses-dev libnghttp2-dev bats, "*"run as root: apt-get update && apt-get install -y --no-install-recommends libncurses-dev libnghttp2-dev bats" ]]
	[ "$(cat log)" = "configured --silent
made --silent all" ]
}

@test "without root and sudo, bootstrap fails in one line where nothing can be built" {
	a_clone
	as_user
	printf '%s\n' libjansson-dev bats >absent
	# The package is not there, but the library is.
	bootstrap --check
	[[ $(cat err) == "bootstrap: building without libjansson-dev bats, "* ]]
	: >log
	echo jansson >unknown
	run -1 bootstrap --check
	cat err
	[ "$(wc -l <err)" = 1 ]
	[[ $(cat err) == "bootstrap: nothing can be built without libjansson-dev, "*"run as root: apt-get update && apt-get install -y --no-install-recommends libjansson-dev bats" ]]
	[ ! -s log ]
}

@test "without root and sudo, bootstrap --ci insists on every package" {
	a_clone
	as_user
	echo mandoc >absent
	run -1 bootstrap --ci
	[[ $(cat err) == "bootstrap: nothing can be built without mandoc, "* ]]
	[ ! -s log ]
}

@test "without root, bootstrap goes on where sudo refuses the user" {
	a_clone
	as_user
	echo bats >absent
	printf '#!/bin/sh\n[ "$*" = "-n true" ]\n' >bin/sudo
	bootstrap --check
	cat err
	[ "$(grep -c 'building without bats, ' err)" = 1 ]
	[ "$(tail -n 1 log)" = 'made --silent all' ]
}

@test "the links lead somewhere" {
	local from to
	# As GitHub makes anchors of headings.
	anchors() {
		sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9 \n-' | tr ' ' -
	}
	for from in "$README" "$RECIPES" "$TOP/INSTALL.md"; do
		grep -oE '\]\([^)]*\)' "$from" | sed 's/^](//; s/)$//' >links
		[ -s links ]
		while read -r to; do
			echo "$from: $to"
			case $to in
			'#'*) anchors "$from" | grep -qxF -- "${to#*#}" ;;
			*'#'*) anchors "${from%/*}/${to%%#*}" | grep -qxF -- "${to#*#}" ;;
			*) [ -s "${from%/*}/$to" ] ;;
			esac
		done <links
	done
	for to in "$TOP"/man/*.[1-8]; do
		to=${to##*/}
		grep -qF "| ${to%.*}(${to##*.}) |" "$README"
	done
}

@test "the recipes in the README are sound shell, and their options exist" {
	local program
	sed -n '/^```sh$/,/^```$/p' "$README" "$RECIPES" | grep -v '^```' >recipes
	[ -s recipes ]
	sh -n recipes
	for program in "$FLOCKLIMIT" "$MAP"; do
		"$program" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u >help
		grep -ohE "\b${program##*/} .*" "$README" "$RECIPES" | sed 's/`.*//' |
			grep -oE -- ' --[a-z][a-z-]+' | tr -d ' ' | sort -u >used
		[ -s used ]
		comm -13 help used >unknown
		cat unknown
		[ ! -s unknown ]
	done
}

@test "the README's eight jobs run, on two seats" {
	mkdir bin
	ln -s "$FLOCKLIMIT" bin/flocklimit
	sed -n '/^for i in 1 2/,/^wait$/p' "$README" >script
	sed -i 's/\(sleep \)1/\1.1/; s/sleep \.1$/:/' script
	PATH=$T/bin:$PATH sh script >out 3>&-
	cat out
	sed 's/[^ ]* //; s/,.*//' out | sort | diff - <(printf 'job %s\n' 1 2 3 4 5 6 7 8)
	[ "$(sed 's/.*seat //' out | sort -u | tr -d '\n')" = 01 ]
}

# ran N [PATTERN]: the recipe called so many commands, each as PATTERN says.
ran() {
	[ "$(wc -l <"$T/log")" -eq "$1" ]
	[ "$(grep -cE -- "${2-.}" "$T/log")" -eq "$1" ]
}

@test "the README's recipes run as they stand" {
	local recipe text n=0
	command -v parallel >/dev/null || skip "no parallel"
	recipe_commands
	mkdir recipes
	all_recipes | blocks recipes
	cd work
	for recipe in ../recipes/*; do
		text=$(<"$recipe")
		echo "--- $text"
		: >"$T/log"
		rm -rf "$FLOCKLIMIT_DIR"
		"$FLOCKLIMIT" -N build true
		if [[ $text == *"release deploy"* ]]; then
			"$FLOCKLIMIT" -N deploy -n 1 --hold-for $$ 3>&- >../ticket
			sed -i "s/deploy 7/deploy $(<../ticket)/" "$recipe"
		fi
		mkdir -p ../limits
		sed -i "s|/srv/limits|$T/limits|" "$recipe"
		sh -e "$recipe" 3>&-
		case $text in
		*"ctl shim"*) [ -L "$T/.local/lib/flocklimit/shims/pytest" ] ;;
		*find*) ran 2 '^optipng \./(a|b c)\.png$' ;;
		*sync-one*)
			ran 3 '^sync-one (alice|bob|carol)$'
			# Rerun, it has nothing left to do.
			sh -e "$recipe" 3>&-
			ran 3
			;;
		*weight-from*) ran 1 '^unpack a\.xz$' ;;
		*xargs*) ran 4 '^(optipng|convert) (a|b c)\.png' ;;
		*jobserver*) grep -qx 'make ' "$T/log" ;;
		*2-8*) grep -qx 'make -j8' "$T/log" ;;
		*CC=*) ran 1 '^make -j 20 CC=flocklimit -N cc -n 8 cc$' ;;
		*--and*) ran 1 '^train' ;;
		*memory*) ran 1 '^cc -o server main\.o$' ;;
		*gpu*) ran 1 '^train' ;;
		*50%*) ran 1 '^make check$' ;;
		*analyse*) ran 1 '^analyse data\.csv$' ;;
		*migrate*) ran 3 ;;
		*rate*) ran 1 '^curl -s https://api\.example/status$' ;;
		*-k\ 30s*) ran 1 '^backup /home$' ;;
		*hold-for*) "$CTL" wait deploy -t 1m ;;
		*--unlock*) ran 1 '^make install$' ;;
		*"docker build"*) ran 1 '^docker build -t app \.$' ;;
		*docker-build*)
			ran 1 '^install -d '
			[ "$(stat -c %a ../limits/docker-build)" = 660 ]
			;;
		*docker*) ran 1 '^docker run .* flocklimit -f /ci/tests.limiter -n 2 make check$' ;;
		*"limit build"*) [ "$("$CTL" show --json build | jq .override)" = null ] ;;
		*pause*) [ "$("$CTL" show --json build | jq -r .state)" = idle ] ;;
		*reboot*)
			ran 1 '^sudo reboot'
			run -75 "$FLOCKLIMIT" -q -N build true
			;;
		*release*) "$CTL" wait deploy -t 1m ;;
		*)
			echo "no test knows this recipe"
			false
			;;
		esac
		n=$((n + 1))
	done
	[ "$n" -ge 18 ]
}

@test "the README's crontabs run as cron would have them" {
	local line n=0
	recipe_commands
	cd work
	sed -nE 's/^    (([0-9*/]+ +){5})(.*)/\3/p' "$README" "$RECIPES" >../crontab
	while read -r line; do
		echo "$line"
		# To cron, a bare % is the end of the line.
		[[ ! ${line//\\%/} == *%* ]]
		: >"$T/log"
		line=${line//\\%/%}
		line=${line//\/usr\/local\/bin\//}
		sh -e -c "${line//\/var\/lib\/prometheus\/node-exporter/.}" 3>&-
		case $line in
		*stats*) grep -q '^flocklimit_granted_total{limiter="mirror"} 2$' flocklimit.prom ;;
		*) [ "$(wc -l <"$T/log")" -eq 1 ] ;;
		esac
		n=$((n + 1))
	done <../crontab
	[ "$n" -ge 4 ]
	grep -q '50\\%' ../crontab
}

# titles: the first words of the lines of tables, in capitals.
titles() {
	grep -oE '^ *(#  *)?(TICKET .*COMMAND)' | sed -E 's/^ *//; s/ +/ /g'
}

@test "the screens in the README are those of the program" {
	hold a -N x -n 1
	background b "$FLOCKLIMIT" -N x true
	eventually in_line 1
	"$CTL" show x | titles | sort -u >show
	[ "$(wc -l <show)" = 2 ]
	cat "$README" "$RECIPES" | sed -n 's/^    //p' | titles | sort -u >titles
	comm -23 show titles >missing
	cat missing
	[ ! -s missing ]
	top_in 90x16 x
	eventually shows 'q quit'
	screen | titles >top
	same top top <(comm -13 show titles)
	screen | sed -n 's/ *$//; /^q quit/p' >keys
	[ -s keys ]
	grep -qF "$(cat keys)" "$RECIPES"
	close_terminal
}

# is_picture FILE BYTES: sound, small, for light and dark, and of nobody's machine.
is_picture() {
	command -v xmllint >/dev/null || skip "no xmllint"
	grep -qF "](${1#"$TOP"/})" "$README"
	xmllint --noout "$1"
	[ "$(wc -c <"$1")" -lt "$2" ]
	grep -q 'prefers-color-scheme:dark' "$1"
	run -1 grep -E '/home|/root|/tmp|\broot\b' "$1"
}

@test "the picture in the README is as the program draws it" {
	is_picture "$TOP/doc/gantt.svg" 20000
	"$TESTS_BUILD/docs/picture" <"$TOP/doc/gantt.tsv" >drawn
	echo "if these differ, run: tests/docs/picture <doc/gantt.tsv >doc/gantt.svg"
	diff "$TOP/doc/gantt.svg" drawn
}

@test "the recording in the README is of the commands that doc/record types" {
	is_picture "$TOP/doc/terminal.svg" 100000
	need_terminal
	command -v tmux >/dev/null || skip "no tmux"
	mkdir bin
	ln -s "$FLOCKLIMIT" "$CTL" "$MAP" bin/
	PATH=$T/bin:$PATH "$TOP/doc/record" --hurry "$T/new.svg" 3>&-
	xmllint --noout new.svg
	local word
	described() { sed -n '/<desc>/,/<\/desc>/p' "$1"; }
	described new.svg >typed
	same "the commands, else run doc/record again" typed <(described "$TOP/doc/terminal.svg")
	# Each word is an element.  In a hurry, and on a busy machine, the jobs may be over when show looks.
	for word in file: /run/flocklimit/flocklimit-1000/render 7.png tickets; do
		echo "new: $word"
		grep -qF ">$word</text>" new.svg
	done
	# show, the line about a wait, what the last job printed, gantt.
	for word in holding pid 7.png tickets; do
		echo "doc/terminal.svg: $word"
		grep -qF ">$word</text>" "$TOP/doc/terminal.svg"
	done
}
