#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154 # pids: of lib.bash
# What the pages and the completions say is what the program does.

load ../helpers/lib.bash
load ../helpers/docs.bash

help_longs() {
	"$FLOCKLIMIT" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

help_shorts() {
	"$FLOCKLIMIT" --help | grep -oE -- '^  -[A-Za-z].*  ' | grep -oE -- ' -[A-Za-z]\b' |
		tr -d ' ' | sort -u
}

@test "the pages have no faults that mandoc knows of" {
	command -v mandoc >/dev/null || skip "no mandoc"
	for page in "$TOP"/man/*.[137]; do
		# What other pages are installed here is not theirs to know.
		mandoc -Tlint "$page" 2>&1 |
			grep -vE 'referenced manual not found|outdated mandoc\.db' || :
	done >lint
	cat lint
	[ ! -s lint ]
}

@test "flocklimit(1) has every option, and no other" {
	help_longs >help
	grep -E '^\.It Fl ' "$TOP/man/flocklimit.1" | grep -oE 'Fl -[a-z][a-z-]+' |
		sed 's/Fl -/--/' | sort -u >page
	same "long options" help page
	cat "$TOP"/man/flocklimit.[17] | grep -oE '\bFl -[a-z][a-z-]+' | sed 's/Fl -/--/' |
		sort -u >page
	same "long options that are mentioned" help page

	help_shorts >help
	grep -E '^\.It Fl ' "$TOP/man/flocklimit.1" | grep -oE 'Fl [A-Za-z]\b' | sed 's/Fl /-/' |
		sort -u >page
	same "short options" help page
}

@test "the completions have every option, and no other" {
	help_longs >help
	grep -v '^[[:space:]]*#' "$BUILD/completions/flocklimit" |
		grep -oE -- '--[a-z][a-z-]+' | sort -u >bash
	same bash help bash
	grep -oE -- '--[a-z][a-z-]+' "$BUILD/completions/_flocklimit" | sort -u >zsh
	same zsh help zsh
	grep '^complete ' "$BUILD/completions/flocklimit.fish" | grep -oE -- ' -l [a-z-]+' |
		sed 's/ -l /--/' | sort -u >fish
	same fish help fish

	help_shorts >help
	grep -oE -- "[{,]-[A-Za-z]\\b" "$BUILD/completions/_flocklimit" | tr -d '{,' | sort -u >zsh
	same "zsh, short" help zsh
	grep '^complete ' "$BUILD/completions/flocklimit.fish" | grep -oE -- ' -s [A-Za-z]\b' |
		sed 's/ -s //; s/^/-/' | sort -u >fish
	same "fish, short" help fish
}

@test "help, page and README begin with the same words about each command" {
	local command about
	for command in flocklimit flockmap flocklimitctl; do
		about=$(sed -n 's/^\.Nd //p' "$TOP/man/$command.1")
		[ -n "$about" ]
		run "${FLOCKLIMIT%/*}/$command" --help
		[[ ${lines[1],,} == "${about/ a command / command }"[\;.]* ]]
		grep -qF "| $command(1) | $about" "$TOP/README.md"
	done
}

@test "the pages refer to each other" {
	local from to
	for from in flocklimit.1 flocklimitctl.1 flockmap.1 libflocklimit.3 flocklimit.7 flocklimit-store.7; do
		for to in "flocklimit 1" "flocklimitctl 1" "flockmap 1" "libflocklimit 3" "flocklimit 7" "flocklimit-store 7"; do
			[ "$from" = "${to/ /.}" ] || section "SEE ALSO" "$TOP/man/$from" | grep -qE "^\.Xr $to( ,)?$"
		done
	done
	for from in "$TOP"/man/*.3; do
		for to in "flocklimit 1" "flk_map 3" "flk_steer 3" "flk_taker 3" "libflocklimit 3"; do
			[ "${from##*/}" = "${to/ /.}" ] || section "SEE ALSO" "$from" | grep -qE "^\.Xr $to( ,)?$"
		done
	done
}

@test "the exit statuses in --help are those of the page" {
	"$FLOCKLIMIT" --help | sed -n '/^Exit status/,$p' | grep -oE '128\+N|[0-9]{2,3}' |
		sort -u >help
	section "EXIT STATUS" "$TOP/man/flocklimit.1" | sed -n 's/^\.It //p' | sort -u >page
	same "exit statuses" help page
}

@test "flocklimit(1) has every variable that the command is given, and no other" {
	env -u FLOCKLIMIT_LIBEXEC "$FLOCKLIMIT" -N x env | sed -n 's/^\(FLOCKLIMIT_[A-Z]*\)=.*/\1/p' | grep -v "_DIR\|_LIMITS" |
		sort >given
	section ENVIRONMENT "$TOP/man/flocklimit.1" | sed -n '/^sets these variables/,$p' |
		sed -n 's/^\.It Ev //p' | sort >page
	same variables given page
}

@test "the examples of flocklimit(1) run as they stand" {
	mkdir bin work examples
	ln -s "$FLOCKLIMIT" bin/flocklimit
	ln -s "${FLOCKLIMIT%/*}/flocklimitctl" bin/flocklimitctl
	for program in optipng cc make backup train report reindex scanimage curl simulate database broker index; do
		printf '#!/bin/sh\necho "%s $*" >>"$T/log"\n' "$program" >"bin/$program"
		chmod +x "bin/$program"
	done
	a_store
	touch work/a.png "work/b c.png"
	section EXAMPLES "$TOP/man/flocklimit.1" | literals examples
	cd work
	for example in ../examples/*; do
		cat "$example"
		: >"$T/log"
		PATH=$T/bin:$PATH sh -e "$example" 3>&-
		[ -s "$T/log" ]
		case $(cat "$example") in
		*optipng*) sort "$T/log" | diff - <(printf 'optipng %s\n' a.png 'b c.png') ;;
		*scanner*) [ "$(stat -c %a scanner.limiter)" = 660 ] ;;
		*--store*) [ "$(cat "$T/stored")" = "store -N licence -n 8 -w 2 simulate" ] ;;
		esac
	done
	[ "${example##*/}" -ge 10 ]
}

@test "an example of flocklimit(1) tells its ends apart, a 75 of the command too" {
	mkdir examples
	section EXAMPLES "$TOP/man/flocklimit.1" | literals examples
	example=$(grep -l 'another backup runs' examples/*)
	backup() {
		mkdir -p bin
		printf '#!/bin/sh\nexit %s\n' "$1" >bin/backup
		chmod +x bin/backup
	}
	ln -s "$FLOCKLIMIT" flocklimit
	sed 's/1\.5s/10ms/' "$example" >script
	backup 0
	[ -z "$(PATH=$T:$T/bin:$PATH sh script 2>&1)" ]
	backup 3
	[ "$(PATH=$T:$T/bin:$PATH sh script 2>&1)" = "the backup failed" ]
	backup 75
	[ "$(PATH=$T:$T/bin:$PATH sh script 2>&1)" = "the backup failed" ]
	[ "$(FLOCKLIMIT_DIR=relative PATH=$T:$T/bin:$PATH sh script 2>/dev/null)" = "flocklimit failed" ]
	hold other -N backup -n 1
	[ "$(PATH=$T:$T/bin:$PATH sh script 2>/dev/null)" = "another backup runs" ]
	let_go other
}

# the_program SECTION PAGE: the first one there, as ./program.
the_program() {
	[ -f "$BUILD/Makefile" ] || skip "no build tree"
	mkdir programs
	section "$1" "$TOP/man/$2" | literals programs
	cp programs/01 program.c
	if [ -f "$BUILD/.libs/libflocklimit.a" ]; then
		library=("$BUILD/.libs/libflocklimit.a")
	else
		library=(-L"$BUILD/.libs" -lflocklimit "-Wl,-rpath,$BUILD/.libs")
	fi
	read -ra compiler < <(sed -n 's/^CC = //p' "$BUILD/Makefile")
	read -ra flags < <(sed -nE 's/^(CFLAGS|SANITIZE|LDFLAGS) = //p' "$BUILD/Makefile" | tr '\n' ' ') || :
	"${compiler[@]}" "${flags[@]}" -std=gnu11 -Wall -Wextra -Werror -pthread \
		-I"$TOP/lib" -o program program.c "${library[@]}"
}

@test "the program with which libflocklimit(3) begins compiles and runs" {
	the_program DESCRIPTION libflocklimit.3
	[ "$(wc -l <program.c)" -le 16 ]
	./program
	hold other -N build -n 1
	background second ./program
	eventually in_line 1 build
	let_go other
	ended other
	ended second
	[ "$status" = 0 ]
}

@test "the program in flk_taker(3) compiles and runs" {
	the_program EXAMPLES flk_taker.3
	[ "$(./program x echo ran | tr '\n' ,)" = "ticket 1: 2 of 4 units, seat 0,ran," ]
	hold other -N x -n 4 -w 2
	[ "$(./program x true)" = "ticket 3: 2 of 4 units, seat 2" ]
	let_go other
	ended other
	run -1 ./program .x true
	[[ $output == ".x: not a name: "* ]]
}

@test "the program in flk_taker(3) is killed: its worker keeps the permit" {
	the_program EXAMPLES flk_taker.3
	background killed ./program x sh -c 'echo $$ >worker; exec sleep 1000'
	eventually test -s worker
	kill -KILL "${pids[killed]}"
	wait "${pids[killed]}" || :
	run -75 "$FLOCKLIMIT" -N x -n 4 -w 3 --nonblock -q echo ran
	[ "$output" = "" ]
	kill -KILL "$(cat worker)"
	"$FLOCKLIMIT" -N x -n 4 -w 4 -t 1m true
}

@test "the pages of the library have every function and every constant of the header" {
	local page
	grep -oE '^[a-z][^*]*\*?\bflk_[a-z_]+\(' "$TOP/lib/flocklimit.h" | grep -oE 'flk_[a-z_]+' |
		sort -u >functions
	for page in "$TOP"/man/*.3; do
		sed -n 's/^\.Nm \(flk_[a-z_]*\).*/\1/p' "$page" | grep -vx "$(basename "$page" .3)" | sort >names
		sed -n 's/^\.Fn \(flk_[a-z_]*\) ".*/\1/p' "$page" | sort >synopsis
		same "SYNOPSIS of $page" names synopsis
		cat <(section DESCRIPTION "$page") <(section "RETURN VALUES" "$page") |
			sed -n 's/^\.Fn \(flk_[a-z_]*\).*/\1/p' | sort -u | tee -a mentioned | comm -23 names - >undescribed
		cat undescribed
		[ ! -s undescribed ]
		cat names >>all
	done
	sort all >names
	same "NAME" functions names
	sort -u mentioned >described
	same "what is described" functions described

	grep -oE '\bFLK_[A-Z_]+' "$TOP/lib/flocklimit.h" | sort -u >constants
	cat "$TOP"/man/*.3 | grep -v '^\.Dt' | grep -oE '\bFLK_[A-Z_]+' | sort -u >names
	same constants constants names
}

# In a case label the code is that of "-code" or "-error".
@test "each code is written with its sign" {
	local flk unsigned
	sed -n '/^enum flk_error {/,/^}/p' "$TOP/lib/flocklimit.h" | sed 's:/\*.*::' |
		grep -oE '\bFLK_[A-Z]+' | sed 's/$/\\b/' >codes
	[ "$(wc -l <codes)" -ge 30 ]
	flk=$(paste -s -d '|' codes)
	unsigned=$(cat "$TOP"/man/*.3 | grep -nE "(^|[^-])\\b($flk)" |
		grep -v 'Bl -tag' || :)
	unsigned+=$(cat "$TOP"/man/*.3 | grep -nE '\.(It )?(Er|Dv) E[A-Z0-9]+' |
		grep -vE 'Er EIO \.$' || :)
	unsigned+=$(sed '/^enum flk_error {/,/^}/{s/^\tFLK_[A-Z]*//}' "$TOP/lib/flocklimit.h" |
		grep -nE "(^|[^-])\\b($flk)" || :)
	unsigned+=$(find "$TOP/lib" "$TOP/cmd" -name '*.[ch]' ! -name flocklimit.h -exec cat {} + |
		sed -E 's/case FLK_[A-Z]+://g' | grep -nE "(^|[^-])\\b($flk)" || :)
	echo "$unsigned"
	[ -z "$unsigned" ]
}

# structs: those among its input, and what a process is to its permit, without comments, one a line.
structs() {
	tr '\t\n' '  ' | sed 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' |
		grep -oE '(struct flk_[a-z_]+|enum flk_role) \{[^}]*\};' | tr -s ' '
}

@test "the pages of the library show the structs as the header has them" {
	structs <"$TOP/lib/flocklimit.h" | sort >header
	[ "$(wc -l <header)" -ge 11 ]
	cat "$TOP"/man/*.3 | section SYNOPSIS - | structs | sort >page
	same structs header page
}

@test "the pages of the library have every member of the header's structs" {
	awk '/^struct flk_[a-z]* \{/ { on = 1; next }
		/^\}/ { on = 0 }
		/^\t \*/ { next }
		on {
			sub(/\/\*.*/, "")
			if (match($0, /\(\*[a-z_]+\)/)) {
				print substr($0, RSTART + 2, RLENGTH - 3)
				next
			}
			sub(/^\t(struct [a-z_]+|enum [a-z_]+|const char \*|[a-z0-9_]+) ?/, "")
			gsub(/\[[^]]*\]|[,;]/, " ")
			for (i = 1; i <= NF; i++)
				print $i
		}' "$TOP/lib/flocklimit.h" | sort -u >members
	[ "$(wc -l <members)" -gt 30 ]
	cat "$TOP"/man/*.3 | section DESCRIPTION - >description
	while read -r member; do
		echo "$member"
		grep -qE "^\\.(Fa|It Fa).*\\b$member\\b" description
	done <members
}

# takes_kib KIB FILE: so much disk space, and the little that a file system adds for a fragmented file.
takes_kib() {
	local kib=$(($(stat -c '%b * %B' "$2") / 1024))
	echo "$2: $kib KiB"
	[ "$kib" -ge "$1" ]
	[ "$kib" -lt $(($1 + 8)) ]
}

@test "a limiter takes as much disk space as flocklimit(1) says" {
	section FILES "$TOP/man/flocklimit.1" | tr '\n' ' ' | grep -qF '20 KiB on disk after its first use, and 272 KiB when'
	"$FLOCKLIMIT" -N x -n 2 true
	takes_kib 20 limiters/x
	# Each command makes two events, of 4160 that there is room for.
	seq 2100 | "${FLOCKLIMIT%limit}map" -N x -n 2 true
	takes_kib 272 limiters/x
	seq 100 | "${FLOCKLIMIT%limit}map" -N x -n 2 true
	takes_kib 272 limiters/x
}
