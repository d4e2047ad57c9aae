#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for sed
# shellcheck disable=SC2094 # a program that is called as a file is
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# What ARCHITECTURE.md and HACKING.md say of the tree is so: paths, functions, targets, floors, licences.

load ../helpers/lib.bash
load ../helpers/docs.bash

setup_file() {
	# A release has no history, but all files.
	cd "$BATS_TEST_DIRNAME/../.." || return
	find . -name .git -prune -o -type f ! -name '*.o' -print | sed 's|^\./||' | sort >"$BATS_FILE_TMPDIR/tree"
}

TREE=$BATS_FILE_TMPDIR/tree
PAGES=(ARCHITECTURE.md HACKING.md NEWS.md SECURITY.md)

# quoted PAGE: what stands in backquotes, outside of blocks.
quoted() {
	sed '/^```/,/^```/d; /^    /d' "$TOP/$1" | grep -oE '`[^`]+`' | tr -d '`' | sort -u
}

@test "the pages for developers name only paths that exist" {
	local page path
	for page in "${PAGES[@]}"; do
		while read -r path; do
			echo "$page: $path"
			# No part of a release.
			[[ $path != @(.ci|debian)/* || -e $TOP/.ci ]] || continue
			[ -e "$TOP/$path" ]
		done < <(quoted "$page" | grep -E '^[A-Za-z.][A-Za-z0-9_.-]*/[A-Za-z0-9_./-]*$')
		while read -r path; do
			echo "$page: $path"
			grep -qE "(^|/)$path\$" "$TREE"
		done < <(quoted "$page" | grep -E '^[a-z_]+\.([ch]|bats|inc)$')
	done
}

@test "the links in the pages for developers lead somewhere" {
	local page to
	for page in "${PAGES[@]}"; do
		while read -r to; do
			echo "$page: $to"
			[ -s "$TOP/$to" ]
		done < <(grep -oE '\]\([^)]*\)' "$TOP/$page" | sed 's/^](//; s/)$//')
		grep -qF "]($page)" "$TOP/README.md"
	done
}

@test "the functions and structures that ARCHITECTURE.md names exist" {
	local name
	quoted ARCHITECTURE.md >names
	[ "$(grep -cE '\(\)$' names)" -ge 10 ]
	while read -r name; do
		echo "$name"
		case $name in
		*'()') grep -rqE --include='*.[ch]' "^([a-z_]+ )?${name%'()'}\\(" "$TOP/lib" "$TOP/cmd" ;;
		'struct '*) grep -rqE --include='*.[ch]' "^$name \\{" "$TOP/lib" "$TOP/cmd" ;;
		esac
	done <names
}

@test "the row of the kill sweep in HACKING.md is one" {
	local row
	row=$(sed -n 's/^    \({ ".*\)/\1/p' "$TOP/HACKING.md")
	[ -n "$row" ]
	tr -s '[:space:]' ' ' <"$TOP/tests/killstep/ops.c" | grep -qF -- "$row"
}

@test "the table of the kill sweep in tests/README.md counts what the programs list" {
	local source number sum=0
	"$BUILD/tests/killstep/killstep.t" -l | sort >listed
	"$BUILD/tests/killstep/own.t" -l | sort | diff listed -
	"$BUILD/tests/killstep/stops.t" -l | sort | diff listed -
	while read -r source number; do
		echo "$source: $number"
		sed -n 's/^\t{ "\([^"]*\)",.*/\1/p' "$TOP/tests/killstep/$source" | sort | comm -12 - listed >found
		[ "$(wc -l <found)" -eq "$number" ]
		sum=$((sum + number))
	done < <(sed -n 's/^|[^|]*| `\([a-z]*\.c\)` | \([0-9]*\) |.*/\1 \2/p' "$TOP/tests/README.md")
	[ "$sum" -gt 0 ]
	[ "$sum" -eq "$(wc -l <listed)" ]
	grep -qF "through $sum operations" "$TOP/tests/README.md"
}

@test "tests/README.md counts the configurations of the model that make check has" {
	local model=$TOP/tests/model/check
	grep -qF "has $(sed '/^if .*--all/,$d' "$model" | grep -c '^holds ') configurations of three" "$TOP/tests/README.md"
	grep -qF "It also has $(grep -c '^fails ' "$model") protocols" "$TOP/tests/README.md"
}

@test "every source file of the library is on a floor of ARCHITECTURE.md" {
	quoted ARCHITECTURE.md | grep -E '^lib/.*\.c$' | sort >named
	(cd "$TOP" && printf '%s\n' lib/*.c) | sort | comm -23 - named >missing
	cat missing
	[ ! -s missing ]
	# And in the list of lib/internal.h.
	sed -n '2,/#ifndef/p' "$TOP/lib/internal.h" | grep -oE '[a-z_]+' | sort -u >words
	(cd "$TOP/lib" && printf '%s\n' *.c) | sed 's/\.c$//' | sort | comm -23 - words >missing
	cat missing
	[ ! -s missing ]
}

@test "every folder of the tests is in HACKING.md or in tests/README.md" {
	local folder
	for folder in "$TOP"/tests/*/; do
		folder=${folder%/}
		echo "${folder##*/}"
		[ -n "$(find "$folder" -name '*.[ch]' -o -name '*.bats' -o -name '*.inc')" ] || continue
		grep -qF "tests/${folder##*/}/" "$TOP/HACKING.md" || grep -qF "\`${folder##*/}/\`" "$TOP/tests/README.md"
	done
}

@test "no two tests write their result to one file" {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u TESTS make -s -C "$BUILD" \
		--eval='print-tests: ; @printf "%s\n" $(TESTS)' print-tests | sed 's/\.[a-z]*$//' | sort >results
	[ "$(wc -l <results)" -ge 100 ]
	uniq -d results >twice
	cat twice
	[ ! -s twice ]
}

@test "what a file of bats calls is built before it" {
	local file program
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$BUILD" -qp 2>/dev/null | grep '^tests/.*\.log: ' >logs
	(cd "$TOP" && grep -roE --include='*.bats' '\$(TESTS_BUILD|BUILD/tests|HELPERS)/[a-z][a-z_/.]*[a-z]' tests) |
		sed 's|:\$HELPERS/|:helpers/|; s|:\$TESTS_BUILD/|:|; s|:\$BUILD/tests/|:|' | sort -u >called
	[ "$(wc -l <called)" -ge 20 ]
	while IFS=: read -r file program; do
		[ "$program" != helpers/bound ] || continue # it runs every test
		echo "$file: $program"
		grep "^${file%.bats}.log: " logs | tr ' ' '\n' | grep -qxF "tests/$program"
	done <called
}

@test "make check-quick has tests of every kind, and names none that is not there" {
	local test
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u TESTS make -s -C "$BUILD" \
		--eval='print-quick: ; @printf "%s\n" $(QUICK)' print-quick >quick
	while read -r test; do
		echo "$test"
		case $test in
		*.t) [ -e "$TOP/${test%.t}.c" ] ;;
		*) [ -e "$TOP/$test" ] ;;
		esac
	done <quick
	for test in api chaos cli contract docs edges faults fuzz killstep model store twin weak; do
		echo "$test"
		grep -q "^tests/$test/" quick
	done
	"$BUILD/tests/killstep/killstep.t" -l | sort >listed
	sed -n "s/^core=.*'\\(.*\\)'/\\1/p" "$TOP/tests/helpers/quick" | tr ',' '\n' | grep . | sort >core
	[ "$(wc -l <core)" -ge 10 ]
	[ -z "$(comm -23 core listed)" ]
}

# database: what make knows, of this build.
database() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$BUILD" -qp 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' | sort -u
}

@test "make help lists targets that exist, and every target of ours" {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$BUILD" help >help
	cat help
	[ "$(awk 'length > 80' help)" = '' ]
	awk '{ print $1 }' help | sort >listed
	[ "$(wc -l <listed)" -ge 15 ]
	database >targets
	comm -23 listed targets >unknown
	cat unknown
	[ ! -s unknown ]
	sed -n 's/^\.PHONY: *//p' "$TOP"/Makefile.am "$TOP"/cmd/*/*.inc "$TOP"/tests/*.inc "$TOP"/tests/*/*.inc | tr ' ' '\n' |
		grep -v '^analyse-\|/' | sort >ours
	[ -s ours ]
	comm -23 ours listed >missing
	cat missing
	[ ! -s missing ]
}

@test "the targets that the pages for developers name exist" {
	local target
	database >targets
	cat "$TOP"/{HACKING,ARCHITECTURE,README}.md "$TOP/tests/README.md" |
		grep -oE '(^ {4}|`|&& )make( -[a-z]+)*( [a-z][a-z-]*)+' | sed 's/.*make//' | tr ' ' '\n' | grep -E '^[a-z]' | sort -u >named
	[ "$(wc -l <named)" -ge 10 ]
	while read -r target; do
		echo "$target"
		grep -qxF "$target" targets
	done <named
}

@test "each source, test, page and makefile names its licence in its first three lines" {
	local file
	(cd "$TOP" && find lib cmd man tests completions tmpfiles.d -type f \( -name '*.[ch1-8]' -o -name '*.bats' -o -name '*.bash' -o \
		-name '*.inc' -o -name '*.pml' -o -name '*.fish' -o -name '*.conf' -o -name '*.map' \) \
		! -path '*/corpus/*' ! -path '*/found/*') >files
	printf '%s\n' bootstrap configure.ac Makefile.am >>files
	[ "$(wc -l <files)" -gt 400 ]
	while read -r file; do
		echo "$file"
		head -n 3 "$TOP/$file" | grep -qF 'SPDX-License-Identifier: ISC'
	done <files
}

@test "the version that NEWS.md begins with is the one that is built" {
	[ "$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$TOP/NEWS.md" | head -n 1)" = "$("$FLOCKLIMIT" --version | awk '{ print $2; exit }')" ]
}

@test "the tests of make check-installed find our programs beside flocklimit" {
	run -1 grep -nE '(BUILD|TOP)\}?"?/(\.\./)?flock(limit|map|sem)' "$TOP"/tests/cli/*.bats "$TOP"/tests/edges/*.bats \
		"$TOP"/tests/helpers/*.bash
}

@test "make fuzz builds its harnesses from the sources that their tests have" {
	sh "$TOP/tests/fuzz/run" parts "$TOP" | sort >run
	sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$TOP/tests/fuzz/fuzz.inc" |
		sed -n 's/^tests_fuzz_\([a-z]*\)_t_SOURCES = /\1 /p' |
		while read -r harness sources; do
			# shellcheck disable=SC2086 # a list of words
			printf '%s\n' $sources | sed -n "s|^cmd/|$harness cmd/|p"
		done | sort >inc
	[ -s inc ]
	diff inc run
}
