#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# What flockmap(1) and its completions say is what the program does.

load ../helpers/lib.bash
load ../helpers/map.bash

TOP=$TESTS_SOURCE/..
BUILD=$TESTS_BUILD/..
PAGE=$TOP/man/flockmap.1

# same WHAT FILE FILE: two sorted lists are one, and not empty.
same() {
	[ -s "$2" ]
	echo "$1:"
	diff "$2" "$3"
}

# section NAME: its lines.
section() {
	awk -v wanted="$1" '/^\.Sh / { on = (substr($0, 5) == wanted); next } on' "$PAGE"
}

# examples: the literal blocks, as they are read, one file each in examples/.
examples() {
	mkdir examples
	section EXAMPLES | awk '
		/^\.Bd -literal/ { file = sprintf("examples/%02d", ++n); next }
		/^\.Ed/ { file = "" }
		file != "" { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > file }'
}

longs() {
	"$MAP" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

shorts() {
	"$MAP" --help | grep -E -- '^  -[A-Za-z0-9]' | sed 's/  [^ -].*//; s/   .*//' |
		grep -oE -- ' -[A-Za-z0-9]\b' | tr -d ' ' | sort -u
}

@test "flockmap(1) has every option, and no other" {
	longs >help
	grep -E '^\.It Fl ' "$PAGE" | grep -oE 'Fl -[a-z][a-z-]+' | sed 's/Fl -/--/' | sort -u >page
	same "long options" help page
	grep -oE '\bFl -[a-z][a-z-]+' "$PAGE" | sed 's/Fl -/--/' | sort -u >page
	same "long options that are mentioned" help page
	shorts >help
	grep -E '^\.It Fl ' "$PAGE" | grep -oE 'Fl [A-Za-z0-9]\b' | sed 's/Fl /-/' | sort -u >page
	same "short options" help page
}

@test "the completions of flockmap have every option, and no other" {
	longs >help
	grep -v '^[[:space:]]*#' "$BUILD/completions/flockmap" | grep -oE -- '--[a-z][a-z-]+' |
		sort -u >bash
	same bash help bash
	grep -oE -- '--[a-z][a-z-]+' "$BUILD/completions/_flockmap" | sort -u >zsh
	same zsh help zsh
	grep '^complete ' "$BUILD/completions/flockmap.fish" | grep -oE -- ' -l [a-z-]+' |
		sed 's/ -l /--/' | sort -u >fish
	same fish help fish
	shorts >help
	grep -oE -- "[{,]-[A-Za-z0-9]\\b" "$BUILD/completions/_flockmap" | tr -d '{,' | sort -u >zsh
	same "zsh, short" help zsh
	grep '^complete ' "$BUILD/completions/flockmap.fish" | grep -oE -- ' -s [A-Za-z0-9]\b' |
		sed 's/ -s //; s/^/-/' | sort -u >fish
	same "fish, short" help fish
}

@test "the exit statuses in flockmap's help are those of the page" {
	"$MAP" --help | sed -n '/^Exit status/,$p' | grep -oE '\b[0-9]{1,3}\b' | sort -u >help
	section "EXIT STATUS" | sed -n 's/^\.It //p' | sort -u >page
	same "exit statuses" help page
}

@test "the examples of flockmap(1) run as they stand" {
	mkdir bin work
	ln -s "$MAP" bin/flockmap
	for program in optipng convert unpack link-one gzip backup; do
		printf '#!/bin/sh\necho "%s $*" >>"$T/log"\n' "$program" >"bin/$program"
		chmod +x "bin/$program"
	done
	cp bin/optipng work/sync-one
	examples
	cd work
	touch a.png "b c.png"
	printf 'a.png\nb c.png\n' | tee archives files hosts >/dev/null
	printf '3 a\n5 b\n' >list
	for example in ../examples/*; do
		cat "$example"
		: >"$T/log"
		PATH=$T/bin:$PATH sh -e "$example" >"$T/out" 3>&-
		case $(cat "$example") in
		*find*) sort "$T/log" | diff - <(printf 'optipng ./%s\n' a.png 'b c.png') ;;
		*sync-one*)
			sort "$T/log" | diff - <(printf 'optipng %s\n' alice bob carol)
			# And the next time there is nothing left to do.
			PATH=$T/bin:$PATH sh -e "$example" 3>&-
			[ "$(wc -l <"$T/log")" -eq 3 ]
			;;
		*convert*)
			sort "$T/log" | diff - <(printf 'convert %s -resize 25%% -\n' a.png 'b c.png')
			[ -e a.small.jpg ] && [ -e 'b c.small.jpg' ]
			;;
		*weight-from\ 1*) sort "$T/log" | diff - <(printf 'link-one %s\n' a b) ;;
		*gzip*) diff "$T/log" <(echo gzip -9 a.png b c.png) ;;
		*dry-run*) diff "$T/out" <(printf '%s\n' 'mv a/b a/old-b' "mv 'c d' './old-c d'") ;;
		*) [ "$(wc -l <"$T/log")" -eq 2 ] ;;
		esac
	done
	[ "${example##*/}" -ge 8 ]
}

# completes WORD...: what bash offers for the last one.
completes() {
	bash --norc -c '
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		_flockmap
		echo "${COMPREPLY[@]}"' bash "$BUILD/completions/flockmap" "$@"
}

@test "bash completes flockmap's options, values, command and items" {
	[ "$(completes flockmap --ti)" = --timeout ]
	[ "$(completes flockmap --resume)" = "--resume --resume-failed" ]
	[ "$(completes flockmap --order = d)" = "done" ]
	[ "$(completes flockmap --order no)" = none ]
	[ "$(completes flockmap --fail-fast =)" = now ]
	[ "$(completes flockmap --fail-fast = n)" = now ]
	[ "$(completes flockmap -0n 1)" = "1 16 100%" ]
	"$FLOCKLIMIT" -N link true
	[ "$(completes flockmap -N '')" = link ]
	mkdir bin
	printf '#!/bin/sh\n' >bin/sesquipedalian
	chmod +x bin/sesquipedalian
	touch file-of-mine
	PATH=$T/bin:$PATH
	[ "$(completes flockmap -n 4 --tag sesq)" = sesquipedalian ]
	[ "$(completes flockmap --fail-fast = now sesq)" = sesquipedalian ]
	[ "$(completes flockmap --fail-fast sesq)" = sesquipedalian ]
	[ "$(completes flockmap echo {} ::: file-)" = file-of-mine ]
	[ "$(completes flockmap -a file-)" = file-of-mine ]
}

@test "flockmap's completions are sound zsh and fish" {
	command -v zsh fish >/dev/null || skip "neither zsh nor fish"
	if command -v zsh >/dev/null; then
		zsh -n "$BUILD/completions/_flockmap"
	fi
	if command -v fish >/dev/null; then
		fish --no-execute "$BUILD/completions/flockmap.fish"
	fi
}
