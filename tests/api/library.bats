#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# What a program that is built against the library meets: its header, and its symbols.

load ../helpers/lib.bash
load ../helpers/docs.bash

# functions: those that the header declares, sorted.
functions() {
	grep -oE '^[a-z][^*]*\*?\bflk_[a-z_]+\(' "$TOP/lib/flocklimit.h" | grep -oE 'flk_[a-z_]+' | sort -u
}

@test "the shared library exports the header's functions, with a version, and nothing else" {
	library=$BUILD/.libs/libflocklimit.so
	[ -f "$library" ] || skip "no shared library in the build tree"
	command -v nm >/dev/null || skip "no nm"
	version=@@FLOCKLIMIT_0
	grep -q '^exported = .*--version-script' "$BUILD/Makefile" || version=
	functions | sed "s/\$/$version/" >declared
	[ "$(wc -l <declared)" -gt 50 ]
	nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' |
		grep -vE '^_(init|fini|edata|end|_bss_start)$' | sort >exported
	same "exported" declared exported
}

@test "the version script lists the header's functions" {
	functions >declared
	sed -nE 's/^\t\t(flk_[a-z_]+);$/\1/p' "$TOP/lib/libflocklimit.map" >listed
	same "the version script" declared listed
}

# built PROGRAM HEADERS LIBRARIES OPTION...: grown.c, with the header of one folder and the library of another.
built() {
	"${compiler[@]}" "${flags[@]}" -std=gnu11 -Wall -Wextra -Werror -pthread -I "$2" -o "$1" "${@:4}" \
		"$TOP/tests/api/grown.c" -L "$3" -lflocklimit "-Wl,-rpath,$3"
}

@test "programs and libraries go together whose structs have grown and have not" {
	[ -f "$BUILD/.libs/libflocklimit.so" ] || skip "no shared library in the build tree"
	read -ra compiler < <(sed -n 's/^CC = //p' "$BUILD/Makefile")
	read -ra flags < <(sed -nE 's/^(CFLAGS|SANITIZE|LDFLAGS|WIDE) = //p' "$BUILD/Makefile" | tr '\n' ' ') || :
	mkdir later
	cp "$TOP"/lib/*.[ch] later/
	sed -i -E 's/uint64_t reserved\[([0-9]+)\];/uint64_t grown, reserved[\1 - 1];/' later/flocklimit.h
	[ "$(grep -c grown later/flocklimit.h)" -ge 9 ]
	"${compiler[@]}" "${flags[@]}" -O0 -std=gnu11 -D_GNU_SOURCE -pthread -fPIC -shared \
		-o later/libflocklimit.so later/*.c
	built same "$TOP/lib" "$BUILD/.libs"
	./same
	built newer-library "$TOP/lib" "$PWD/later"
	rm -f "$FLOCKLIMIT_DIR/grown"
	./newer-library
	built newer-header "$PWD/later" "$BUILD/.libs" -DGROWN
	rm -f "$FLOCKLIMIT_DIR/grown"
	./newer-header
}

@test "each function of the header has a case that files and a store must pass alike" {
	# These open limiter files, ask only the machine, or give orders to its directory; taker() calls
	# the last.
	printf 'flk_%s\n' attach discard locate map_new order orders taker_new | sort >apart
	cat "$TOP"/tests/contract/*.c | grep -oE '\bflk_[a-z_]+' | sort -u >called
	functions | comm -23 - apart | comm -23 - called >missing
	cat missing
	[ ! -s missing ]
}

# C++ has no array without a size at the end of a struct: its compilers allow it unless they are pedantic.
# alone COMPILER OPTION...: the header compiles with nothing before it, once and twice.
alone() {
	command -v "$1" >/dev/null || skip "no $1"
	printf '#include <flocklimit.h>\n#include <flocklimit.h>\n%s\n' \
		'int main(void) { return flk_strerror(0) == 0; }' >alone.c
	"$@" -Wall -Wextra -Werror -fsyntax-only -I "$TOP/lib" alone.c
}

@test "the header compiles alone, as C11 by gcc" {
	alone gcc -std=c11 -pedantic-errors
}

@test "the header compiles alone, as C11 by clang" {
	alone clang -std=c11 -pedantic-errors
}

@test "the header compiles alone, as C11 with musl" {
	alone musl-gcc -std=c11 -pedantic-errors
}

@test "the header compiles alone, as C++17 by g++" {
	alone g++ -std=c++17 -x c++
}

@test "the header compiles alone, as C++17 by clang++" {
	alone clang++ -std=c++17 -x c++
}

@test "a compiler warns if a result is not looked at, and can be told not to" {
	printf '#include <flocklimit.h>\n%s\n' \
		'void f(struct flk_taker *t) { flk_try(t, NULL); flk_release(t); }' >careless.c
	run gcc -std=c11 -Wall -I "$TOP/lib" -c careless.c
	[[ $output == *flk_try*unused-result* && $output != *flk_release*unused-result* ]]
	gcc -std=c11 -Wall -Werror -DFLK_CHECKED= -I "$TOP/lib" -c careless.c
}

# the_library: the shared one of the build tree, which a program in another language can load.
the_library() {
	library=$BUILD/.libs/libflocklimit.so
	[ -f "$library" ] || skip "no shared library in the build tree"
	! grep -q '^SANITIZE = .' "$BUILD/Makefile" || skip "a library with sanitizers is not loaded by others"
}

@test "a program in C++ takes the header as it is" {
	the_library
	command -v g++ >/dev/null || skip "no g++"
	g++ -std=c++17 -Wall -Wextra -Werror -pthread -I "$TOP/lib" -o reader "$TOP/tests/api/reader.cc" "$library" \
		"-Wl,-rpath,$BUILD/.libs"
	./reader
}

@test "a program in Python takes permits with ctypes" {
	the_library
	command -v python3 >/dev/null || skip "no python3"
	python3 "$TOP/tests/api/reader_ctypes.py" "$library"
}

@test "a program in Python takes the header's declarations with cffi" {
	the_library
	python3 -c 'import cffi' 2>/dev/null || skip "no python3 with cffi"
	read -ra compiler < <(sed -n 's/^CC = //p' "$BUILD/Makefile")
	python3 "$TOP/tests/api/reader_cffi.py" "$TOP/lib/flocklimit.h" "$library" "${compiler[@]}"
}

@test "each header of lib/ compiles alone" {
	for header in "$TOP"/lib/*.h; do
		echo "$header"
		gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I "$TOP/lib" -x c "$header"
	done
}

@test "the library speaks of no option and no program" {
	grep -nE -- '--[a-z]{2,}|flocklimitctl|flockmap|chmod |lslocks' "$TOP"/lib/*.c >said || :
	sed 's/\/\*.*//' "$TOP/lib/error.c" | grep -nE '[" (]-[a-zA-Z]\b' >>said || :
	cat said
	[ ! -s said ]
}
