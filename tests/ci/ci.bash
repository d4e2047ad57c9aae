# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154 # what tests read
# Shared by the tests of doc/ci.md; after lib.bash and docs.bash.

CTL=${FLOCKLIMIT}ctl
export CTL

# example NAME: the block of the page that has this name behind its language.
example() {
	awk -v name="$1" '
		/^```/ { on = 0 }
		on
		$1 ~ /^```./ && $2 == name { on = found = 1 }
		END { exit !found }' "$TOP/doc/ci.md"
}

# need_runner: $PYTHON runs the fake runner.
need_runner() {
	export RUNNER_TEMP=${RUNNER_TEMP-$T}
	for PYTHON in python3 /usr/bin/python3; do
		"$PYTHON" -c 'import yaml' 2>/dev/null && return
	done
	skip "no yaml for Python"
}

# runner SYSTEM ARG...: the fake runner.
runner() {
	"$PYTHON" "$TESTS_SOURCE/ci/runner" "$@"
}

# in_path [NAME]...: the programs, and commands that only say in log how they were called, with their weight.
in_path() {
	local name
	mkdir -p bin
	ln -sf "$FLOCKLIMIT" "$CTL" "${FLOCKLIMIT%/*}/flockmap" bin/
	for name; do
		# shellcheck disable=SC2016 # for that command
		printf '#!/bin/sh\necho "${0##*/} $* in ${FLOCKLIMIT_LIMITER-none}, limit ${FLOCKLIMIT_LIMIT-none}" >>"$T/log"\n' >"bin/$name"
		chmod +x "bin/$name"
	done
	: >log
	PATH=$T/bin:$PATH
}
