#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # what stands in the page
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# What flocklimit-limits(5) says is what the program does.

load ../helpers/lib.bash
load ../helpers/docs.bash

CTL=${FLOCKLIMIT}ctl
PAGE=$TOP/man/flocklimit-limits.5

# examples: the lines of the literal blocks.
examples() {
	section EXAMPLES "$PAGE" | sed -n '/^\.Bd -literal/,/^\.Ed/p' | grep -v '^\.'
}

@test "the examples of flocklimit-limits(5) are right, all in one file" {
	examples | grep -v '^flocklimitctl ' >limits
	[ "$(wc -l <limits)" -ge 10 ]
	run -0 "$CTL" limits --check limits
	[ "$output" = "limits: $(wc -l <limits) lines, all right" ]
}

@test "what flocklimit-limits(5) asks of flocklimitctl, it answers" {
	examples | grep -v '^flocklimitctl ' >limits
	export FLOCKLIMIT_LIMITS=$T/limits
	run -0 "$CTL" limits cargo test
	[[ $output == "$T/limits:"*": command cargo -N cpu -n 100% -w 2-" ]]
	[[ $(examples | grep '^flocklimitctl ') == "flocklimitctl limits cargo test" ]]
}

@test "flocklimit-limits(5) names the files that are read" {
	grep -qF '.It Pa /etc/flocklimit/limits' "$PAGE"
	grep -qF '"/etc/flocklimit/limits"' "$TOP/cmd/options/limits_file.h"
	grep -qF '${XDG_CONFIG_HOME:-~/.config}/flocklimit/limits' "$PAGE"
}
