#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What flocklimitctl makes of a limits file.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/json.bash

# limits: the file is what comes in.
limits() {
	cat >"$T/limits"
	export FLOCKLIMIT_LIMITS=$T/limits
}

# prints LINE...: the last command printed these lines, and no others.
prints() {
	printf '%s\n' "$@" >"$T/wanted"
	printf '%s\n' "$output" >"$T/got"
	diff "$T/wanted" "$T/got"
}

some() {
	limits <<-END
		limiter build -n 4 --rate 30/m

		limiter gpu --file $T/shared --mode 0660 -n 2
		command "npm test" -N tests -n 2
		command npm -N build
	END
}

@test "limits prints all lines, or those about a limiter or a command" {
	some
	run -0 "$CTL" limits
	prints "$T/limits:1: limiter build -n 4 --rate 30/m" \
		"$T/limits:3: limiter gpu --file $T/shared --mode 0660 -n 2" \
		"$T/limits:4: command 'npm test' -N tests -n 2" \
		"$T/limits:5: command npm -N build"
	run -0 "$CTL" limits gpu
	prints "$T/limits:3: limiter gpu --file $T/shared --mode 0660 -n 2"
	run -0 "$CTL" limits npm test unit
	prints "$T/limits:4: command 'npm test' -N tests -n 2"
	run -0 "$CTL" limits /usr/bin/npm install
	prints "$T/limits:5: command npm -N build" "$T/limits:1: limiter build -n 4 --rate 30/m"
	run -0 "$CTL" limits npm -- --version
	[ "${#lines[@]}" = 2 ]
}

@test "limits says when no line applies" {
	some
	run --separate-stderr -1 "$CTL" limits nix
	[ -z "$output" ]
	[ "$stderr" = "flocklimitctl: nix: no limits file says anything of it: see flocklimit-limits(5)" ]
	export FLOCKLIMIT_LIMITS=
	run --separate-stderr -0 "$CTL" limits
	[ -z "$output" ]
	[[ $stderr == "flocklimitctl: no limits file says anything"* ]]
}

@test "limits --json" {
	some
	run -0 "$CTL" limits --json gpu
	[ "$(jq -r '.[0] | [.line, .limiter, (.options | length), .options[5]] | @csv' <<<"$output")" = '3,"gpu",6,"2"' ]
	run -0 "$CTL" limits --json
	jq '.[]' <<<"$output" | conforms "A line of a limits file"
	run -0 "$CTL" limits --json npm test
	[ "$(jq -r '.[0].command' <<<"$output")" = 'npm test' ]
	run -1 "$CTL" limits --json nix
	[ "$(jq length <<<"$output")" = 0 ]
}

@test "limits --check finds all that is wrong in a file, and runs beside a bad one" {
	some
	run -0 "$CTL" limits --check "$T/limits"
	[ "$output" = "$T/limits: 4 lines, all right" ]
	limits <<-'END'
		limiter a -n 2 -w 3
		limiter b --colour
		limiter c -n 2
		limiter c -n 3
		limiter d --settle 1s
		command x --rate 1/m
	END
	run --separate-stderr -125 "$CTL" limits --check "$T/limits"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" = 4 ]
	[[ ${stderr_lines[0]} == "flocklimitctl: $T/limits:1: the weight is above the limit"* ]]
	[[ ${stderr_lines[1]} == "flocklimitctl: $T/limits:2: option '--colour': unknown"* ]]
	[[ ${stderr_lines[2]} == "flocklimitctl: $T/limits:4: has no effect"* ]]
	[[ ${stderr_lines[3]} == "flocklimitctl: $T/limits:5: --settle has no effect"* ]]
	run -125 "$CTL" limits --check "$T/none"
}

@test "a bad file: flocklimitctl says so, and where" {
	limits <<<'limit build -n 4'
	run --separate-stderr -125 "$CTL" list
	[ "$stderr" = "flocklimitctl: $T/limits:1: 'limit': unknown: a line begins with limiter or command" ]
}

@test "list shows declared limiters that no taker has used yet, and not twice those that one has" {
	some
	"$FLOCKLIMIT" -N other -n 1 true
	run -0 "$CTL" list
	[ "${#lines[@]}" = 4 ]
	[[ ${lines[1]} =~ ^build\ +0/4\ .*declared:\ $T/limits:1$ ]]
	[[ ${lines[2]} =~ ^gpu\ +0/2\ .*declared:\ $T/limits:3$ ]]
	[[ ${lines[3]} =~ ^other\ .*idle$ ]]
	"$FLOCKLIMIT" -N build true
	"$FLOCKLIMIT" -N gpu true
	run -0 "$CTL" list
	[ "${#lines[@]}" = 4 ]
	[[ $output != *declared* ]]
	run -0 "$CTL" list --json
	[ "$(jq -r 'map(.name) | join(" ")' <<<"$output")" = 'build gpu other' ]
}

@test "list NAME and list --json show what is declared" {
	some
	run -0 "$CTL" list gpu
	[[ ${lines[1]} == gpu*declared:* ]]
	run -0 "$CTL" list --json gpu
	[ "$(jq -r '.[0] | [.name, .path, .state, .declared] | @csv' <<<"$output")" = "\"gpu\",\"$T/shared\",\"declared\",2" ]
}

@test "show of a limiter that no taker has used yet says which line declares it" {
	some
	run --separate-stderr -1 "$CTL" show gpu
	[ "$stderr" = "flocklimitctl: gpu: no taker has used it yet: $T/limits:3 declares it, and its first taker makes it" ]
	[ ! -e shared ]
}

@test "verbs that steer make a declared limiter, with its limit, file and mode" {
	some
	run -0 "$CTL" limit build 3
	run -0 "$CTL" pause gpu
	[ "$(stat -c %a shared)" = 660 ]
	run -75 "$FLOCKLIMIT" -N gpu -t 0 true
	run -0 "$CTL" resume gpu
	run -0 "$FLOCKLIMIT" -N gpu -t 0 true
	run -0 "$CTL" show build
	[[ ${lines[0]} == "build: idle, 0 of 3 in use (by flocklimitctl limit; auto: 4), 0 waiting" ]]
	run -1 "$CTL" limit nosuch 3
}

@test "a name means its file to every verb" {
	some
	hold slot -N gpu
	run -0 "$CTL" show gpu
	[[ $output == *"1 of 2 in use"* ]]
	run -0 "$CTL" path gpu
	[ "$output" = "$T/shared" ]
	run -0 "$CTL" log gpu
	[[ $output == *granted* ]]
	let_go slot
	ended slot
	run -0 "$CTL" rm gpu
	[ ! -e shared ]
	run -0 "$CTL" path gpu
	[ "$(stat -c %a shared)" = 660 ]
}

@test "a group shares a limiter by one line" {
	need_root
	public
	limits <<<"limiter gpu --file $PUBLIC/gpu --mode 0660 -n 1"
	cp limits "$PUBLIC/limits"
	export FLOCKLIMIT_LIMITS=$PUBLIC/limits
	hold slot -N gpu
	run -125 as_nobody "$PUBLIC/flocklimit" -N gpu -t 0 true
	chown root:65534 "$PUBLIC/gpu"
	run -75 as_nobody "$PUBLIC/flocklimit" -N gpu -t 0 true
	let_go slot
	ended slot
	run -0 as_nobody "$PUBLIC/flocklimit" -N gpu -t 0 true
}
