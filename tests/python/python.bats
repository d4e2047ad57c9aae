#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2030,SC2031 # how bats works: run, a subshell a test
# The package for Python, by its own tests, which pytest runs.

load ../helpers/lib.bash

TOP=$TESTS_SOURCE/..
BUILD=$TESTS_BUILD/..
PACKAGE=$TOP/bindings/python

# python_with MODULE: an interpreter that has it; not every one in PATH is Debian's.
python_with() {
	for python in python3 /usr/bin/python3; do
		"$python" -c "import $1" 2>/dev/null && return
	done
	skip "no python3 with $1"
}

# passes MODULE FILE: pytest, where MODULE is there as well.
passes() {
	export FLOCKLIMIT_LIBRARY=$BUILD/.libs/libflocklimit.so.0 CTL=${FLOCKLIMIT%/*}/flocklimitctl
	[ -f "$FLOCKLIMIT_LIBRARY" ] || skip "no shared library in the build tree"
	[ -x "$CTL" ] || skip "no flocklimitctl in the build tree"
	python_with "pytest, $1"
	export PYTHONPATH=$PACKAGE PYTHONDONTWRITEBYTECODE=1
	export PYTEST_DEBUG_TEMPROOT=$T
	unset PYTEST_ADDOPTS
	"$python" -m pytest -p no:cacheprovider -q "$PACKAGE/tests/$2" 3>&-
}

@test "permits: threads, seats, kills, forks, a flocklimit around and inside" {
	passes ctypes test_permit.py
}

@test "permits for asyncio: the loop goes on, a cancelled task leaves the line" {
	passes asyncio test_asyncio.py
}

@test "flocklimit.map" {
	passes concurrent.futures test_map.py
}

@test "pytest -n auto has as many workers as the permit has units" {
	passes xdist test_xdist.py
}

@test "the package for Python is installed where configure is told, with its plugin of pytest" {
	grep -q '^pythondir = ' "$BUILD/Makefile" || skip "the build has gone"
	python_with importlib.metadata
	make -s -C "$BUILD" bindings/python/METADATA bindings/python/entry_points.txt 3>&-
	mkdir -p site/flocklimit
	cp -R "$PACKAGE/flocklimit" site/
	mkdir site/flocklimit-0.dist-info
	cp "$BUILD"/bindings/python/{METADATA,entry_points.txt} site/flocklimit-0.dist-info/
	PYTHONPATH=$T/site PYTHONDONTWRITEBYTECODE=1 run -0 "$python" -c '
import importlib.metadata as metadata
print(metadata.version("flocklimit"))
print([e.value for e in metadata.distribution("flocklimit").entry_points])'
	[ "${lines[0]}" = "$("$FLOCKLIMIT" --version | sed 's/.* //')" ]
	[ "${lines[1]}" = "['flocklimit.pytest_plugin']" ]
	# pip reads this one.
	grep -qx "version = \"${lines[0]}\"" "$PACKAGE/pyproject.toml"
}
