#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# What flocksem(1) and its completions say is what the program does.

load ../helpers/lib.bash
load ../helpers/docs.bash

SEM=${FLOCKLIMIT%limit}sem
PAGE=$TOP/man/flocksem.1

# The options of the help, without those that have no effect.
explained() {
	"$SEM" --help | sed '/^Other options/,$d'
}

longs() {
	explained | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

shorts() {
	explained | sed -n 's/^  \(-[A-Za-z]\),.*/\1/p' | sort -u
}

@test "flocksem(1) has every option of the program, and no other" {
	sed -n 's/^\t{ \.name = "\([a-z-]*\)".*/--\1/p' "$TOP/cmd/flocksem/main.c" | sort -u >program
	grep -oE '\bFl -[a-z][a-z-]+' "$PAGE" | sed 's/Fl -/--/' | sort -u >page
	same "long options" program page
	sed -n 's/^\t{ .*\.letters = "\([A-Za-z]*\)".*/-\1/p' "$TOP/cmd/flocksem/main.c" | sort -u >program
	grep -E '^(\.It )?\.?Fl ' "$PAGE" | grep -oE '\bFl [A-Za-z]\b' | sed 's/Fl /-/' | sort -u >page
	same "short options" program page
	"$SEM" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u >help
	[ -z "$(comm -23 help <(grep -oE '\bFl -[a-z][a-z-]+' "$PAGE" | sed 's/Fl -/--/' | sort -u))" ]
}

@test "the completions of flocksem have every option of the help, and no other" {
	longs >help
	sed -n "/valued='/p; /plain='/p" "$BUILD/completions/flocksem" | grep -oE -- '--[a-z][a-z-]+' | sort -u >bash
	same bash help bash
	sed -n "/^_arguments/,\$p" "$BUILD/completions/_flocksem" | grep -v "'!" | grep -oE -- '--[a-z][a-z-]+' | sort -u >zsh
	same zsh help zsh
	grep '^complete ' "$BUILD/completions/flocksem.fish" | grep -oE -- ' -l [a-z-]+' | sed 's/ -l /--/' |
		sort -u >fish
	same fish help fish
	shorts >help
	grep -oE -- "[{,]-[A-Za-z]\\b" "$BUILD/completions/_flocksem" | tr -d '{,' | sort -u >zsh
	same "zsh, short" help zsh
	grep '^complete ' "$BUILD/completions/flocksem.fish" | grep -oE -- ' -s [A-Za-z]\b' |
		sed 's/ -s //; s/^/-/' | sort -u >fish
	same "fish, short" help fish
}

@test "the exit statuses in flocksem's help are those of the page" {
	"$SEM" --help | sed -n '/^Exit status/,$p' | grep -oE '\b[0-9]{1,3}\b' | sort -u >help
	section "EXIT STATUS" "$PAGE" | sed -n 's/^\.It //p' | tr -d ' ' | tr , '\n' | sort -u >page
	same "exit statuses" help page
}

@test "the example of flocksem(1) runs as it stands" {
	mkdir bin examples work
	ln -s "$SEM" bin/flocksem
	section EXAMPLES "$PAGE" | literals examples
	cd work
	touch a.log 'b c.log'
	PATH=$T/bin:$PATH sh -e ../examples/01 3>&-
	[ "$(echo *)" = 'a.log.gz b c.log.gz' ]
}

@test "help, page and README begin with the same words about flocksem" {
	about=$(sed -n 's/^\.Nd //p' "$PAGE")
	[ -n "$about" ]
	"$SEM" --help | grep -qxF "${about^}."
	grep -qxF "| flocksem(1) | $about |" "$TOP/README.md"
}
