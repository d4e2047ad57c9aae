#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2094 # programs that are called as files are
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What flocklimitctl(1) and its completions say is what the program does.

load ../helpers/lib.bash
load ../helpers/docs.bash

CTL=${FLOCKLIMIT}ctl

# ctl_options: of flocklimitctl's help, "-f --file" and the like.
ctl_options() {
	"$CTL" --help | sed -n 's/^  \(-[A-Za-z]\|  \),\{0,1\} *\(--[a-z-]*\).*/\1 \2/p'
}

ctl_verbs() {
	"$CTL" --help | grep -oE '^  [a-z]+(, [a-z]+)*' | tr -d ' ' | tr ',' '\n'
}

# words SECTION PAGE: what its lists are about.
words() {
	section "$1" "$2" | sed -n 's/^\.It Cm //p' | tr -d ' ' | tr ',' '\n' | sort -u
}

@test "flocklimitctl(1) has every verb and every option, and no other" {
	local page=$TOP/man/flocklimitctl.1
	ctl_verbs | sort >help
	[ "$(wc -l <help)" -ge 16 ]
	section SYNOPSIS "$page" | sed -n 's/^\.Cm //p' | tr -d ' ' | tr '|' '\n' | sort -u >synopsis
	same "verbs in the SYNOPSIS" help synopsis
	section DESCRIPTION "$page" | sed '/^\.Bl.*-compact/,/^\.El/d' | sed -n 's/^\.It Cm //p' |
		tr -d ' ' | tr ',' '\n' | sort -u >described
	same "verbs that are described" help described

	ctl_options | grep -oE -- '--?[A-Za-z][a-z-]*' | sort -u >help
	{ section DESCRIPTION "$page"; section OPTIONS "$page"; } | grep '^\.It Fl ' | sed 's/ Ar .*//; s/^\.It Fl //; s/ , /\n/g' |
		sed 's/^/-/' | sort -u >page
	same options help page
}

# takes VERB OPTION: the program says what means nothing to it.  No limiter has that name, so none is awaited.
takes() {
	run "$CTL" "$1" "$2" no/such </dev/null
	[[ $output != *"means nothing to"* ]]
}

@test "help and completions describe each verb in the same words" {
	local verb about
	while read -r verb; do
		about=$("$CTL" "$verb" --help | sed -n "s/^$verb: \(.*\)\.$/\1/p")
		[ -n "$about" ]
		grep -qxF "	'$verb:$about'" "$BUILD/completions/_flocklimitctl"
		grep -qF -- "-n __flocklimitctl_begins -a $verb -d '${about^}'" \
			"$BUILD/completions/flocklimitctl.fish"
	done < <(ctl_verbs)
}

@test "page and completions have the options of each verb, and no other" {
	local verb option page=$TOP/man/flocklimitctl.1
	for verb in $(ctl_verbs); do
		for option in --all --apply --check=none --file=nosuch --name=nosuch --follow --gate-patience=1m --help --idle --json --lines=1 --output=none --ramp-idle=1m --raw \
			--remove --repair --settle=1s --signal=TERM --store=none --text --timeout=1ms --unit=1G --user=root --users --version; do
			! takes "$verb" "$option" || echo "$verb ${option%%=*}"
		done
	done | sort >program
	[ "$(cut -d' ' -f2 program | sort -u | wc -l)" = "$(ctl_options | wc -l)" ]
	[ "$(wc -l <program)" -ge 100 ]

	# All of them have these five, which the SYNOPSIS leaves out.
	grep -vE -- '--(name|file|store|help|version)$' program >some
	section SYNOPSIS "$page" | awk '
		/^\.Nm/ { verb = "" }
		/^\.Cm/ { verb = $2 }
		/^\.Cm pause/ { also = "resume close open" } /^\.Nm/ { also = "" }
		/^\.(Op|Brq) Fl/ && verb != "" {
			long["t"] = "-timeout"; long["s"] = "-signal"; long["f"] = "-follow"
			long["n"] = "-lines"; long["o"] = "-output"
			for (i = 2; i < NF; i++)
				if ($i == "Fl")
				{
					print verb " -" (($(i + 1) in long) ? long[$(i + 1)] : $(i + 1))
					n = split(also, others, " ")
					for (o = 1; o <= n; o++)
						print others[o] " -" $(i + 1)
				}
		}' | sort >synopsis
	same SYNOPSIS some synopsis

	for verb in $(ctl_verbs); do
		bash -c '. "$1"; _flocklimitctl_options "$2"' bash "$BUILD/completions/flocklimitctl" "$verb" |
			grep -oE -- '--[a-z-]+' | sed "s/^/$verb /"
	done | sort >bash
	same bash program bash

	sed -nE 's/^([a-z |]+)\) _arguments -s \$file(.*)/\1)\2/p' "$BUILD/completions/_flocklimitctl" |
		while IFS=')' read -r verbs options; do
			for verb in $(tr -d '|' <<<"$verbs"); do
				{ printf '%s\n' --name --file --store --help --version; grep -oE -- '--[a-z-]+' <<<"$options" || :; } |
					sed "s/^/$verb /"
			done
		done | sort -u >zsh
	same zsh program zsh

	grep -oE "^complete -c flocklimitctl (-n '__flocklimitctl_option [a-z ]*' )?.*-l [a-z-]+" \
		"$BUILD/completions/flocklimitctl.fish" | while read -r line; do
		verbs=$(sed -n "s/.*-n '__flocklimitctl_option \([a-z ]*\)'.*/\1/p" <<<"$line")
		for verb in ${verbs:-$(ctl_verbs)}; do
			echo "$verb --${line##*-l }"
		done
	done | sort -u >fish
	same fish program fish
}

# kinds: reads the lines of --help that begin with a verb, and prints the verb and what it needs: no
# limiter, at least one, or one or the option that stands in the braces.  setup takes no word at all.
kinds() {
	sed -E '/^setup /d; s/^([a-z]+) (\[NAME|DIR).*/\1 none/; s/^([a-z]+) \{NAME\.\.\.\|(--[a-z]+)\}.*/\1 \2/; s/^([a-z]+) NAME.*/\1 one/' | sort
}

@test "page and help say of each verb whether it needs a limiter, and so does the program" {
	local verb kind
	"$CTL" --help | sed -n 's/^  \([a-z]\)/\1/p' | kinds >help
	[ "$(wc -l <help)" -ge 16 ]
	section SYNOPSIS "$TOP/man/flocklimitctl.1" | awk '
		/^\.Cm/ && !verbs { for (i = 2; i <= NF; i++) if ($i != "|") verb[++verbs] = $i }
		/^\.Nm/ { verbs = 0 }
		/^\.((Op|Brq) .*)?Ar (name|dir)/ && verbs {
			kind = $1 == ".Op" || $2 == "dir" ? "none" : $1 == ".Brq" ? "-" $3 : "one"
			for (i = 1; i <= verbs; i++)
				print verb[i], kind
		}' | sort >page
	same "limiters that verbs need" help page
	while read -r verb kind; do
		run "$CTL" "$verb" </dev/null
		echo "$verb $kind: $status, $output"
		case "$verb $kind" in
		*' none') [[ $output != *"which limiter"* ]] ;;
		'break one') [[ $status = 125 && $output == *"only for stores"* ]] ;;
		*) [[ $status = 125 && $output == *"which limiter"* ]] ;;
		esac
	done <help
}

@test "flocklimitctl(1) has every event, every state and every metric, and no other" {
	local page=$TOP/man/flocklimitctl.1 source=$TOP/cmd/flocklimitctl
	sed -n '/^event_name/,/^}/p' "$source/event.c" | grep -oE '\] = "[a-z-]+"' | cut -d'"' -f2 | sort >events
	[ "$(wc -l <events)" = "$(grep -cE '^	FLK_EV_[A-Z]+' "$TOP/lib/flocklimit.h")" ]
	section JSON "$page" | sed -n '/^The events, and/,/^\.El/p' | sed -n 's/^\.It Cm //p' |
		tr -d ' ' | tr ',' '\n' | sort >page
	same events events page
	{
		sed -n '/^state_of/,/^}/p' "$source/limiter_state.c" | grep -oE '"[a-z]+"' | tr -d '"'
		echo damaged
		echo declared
	} | sort -u >states
	section DESCRIPTION "$page" | sed -n '/^\.It Cm list/,/^\.El/p' | sed -n 's/^\.It Cm //p' |
		grep -vx list | sort >page
	same states states page
	"$FLOCKLIMIT" -N x true
	"$CTL" stats | sed -n 's/^# TYPE flocklimit_\([a-z_]*\) .*/\1/p' | sort >metrics
	words METRICS "$page" >page
	same metrics metrics page
}

@test "what flocklimitctl(1) says of messages is what is said" {
	cat "$TOP"/cmd/flocklimitctl/{,*/}*.c "$TOP"/cmd/words/say.c "$TOP"/cmd/permit/stuck.c | tr -d '\n' | sed -E 's/"[[:space:]]*"//g' >sources
	section DIAGNOSTICS "$TOP/man/flocklimitctl.1" | sed -n 's/^\.It //p' >messages
	[ "$(wc -l <messages)" -ge 10 ]
	while read -r message; do
		echo "$message"
		grep -qF -- "$message" sources
	done <messages
}

@test "the examples of flocklimitctl(1) run as they stand" {
	local example
	mkdir bin work examples
	ln -s "$FLOCKLIMIT" bin/flocklimit
	ln -s "$CTL" bin/flocklimitctl
	for program in sudo optipng; do
		printf '#!/bin/sh\necho "%s $*" >>"$T/log"\n' "$program" >"bin/$program"
		chmod +x "bin/$program"
	done
	background script sleep inf
	section EXAMPLES "$TOP/man/flocklimitctl.1" | literals examples
	cd work
	touch a.png b.png
	"$FLOCKLIMIT" -N build -n 4 false || :
	"$FLOCKLIMIT" -N deploy -n 1 --hold-for "${pids[script]}" >/dev/null
	for example in ../examples/*; do
		cat "$example"
		: >"$T/log"
		PATH=$T/bin:$PATH sh -e "$example" >"$T/out" 3>&-
		cat "$T/out"
		case $(cat "$example") in
		*"show build"*) [[ $(head -n 1 "$T/out") == "build: idle, 0 of 4"* ]] ;;
		*"build auto"*) [ "$("$CTL" show --json build | jq -c '[.override, .limit]')" = '[null,4]' ] ;;
		*reboot*)
			[ "$(cat "$T/log")" = "sudo reboot" ]
			"$CTL" open build
			;;
		*release*) "$CTL" wait deploy -t 10s ;;
		*.detail*) [ "$(cat "$T/out")" = $'false\nexit 1' ] ;;
		*gantt*)
			[[ $(cat build.svg) == "<svg "* ]]
			[[ $(cat "$T/out") == "build: "* ]]
			;;
		*flocklimit.prom*) grep -q 'flocklimit_granted_total{limiter="build"} 1' flocklimit.prom ;;
		*--idle*) [ -z "$(ls "$FLOCKLIMIT_DIR")" ] ;;
		esac
	done
	[ "${example##*/}" -ge 12 ]
}

@test "the recipes use verbs and options that there are" {
	local verb options option
	grep -ohE 'flocklimitctl [a-z]+[^|&>`]*' "$TOP/README.md" "$TOP/doc/recipes.md" >used
	[ "$(wc -l <used)" -ge 8 ]
	while read -r _ verb options; do
		echo "$verb $options"
		ctl_verbs | grep -qx "$verb"
		for option in $(grep -oE -- '--[a-z]+' <<<"$options" || :); do
			takes "$verb" "$option"
		done
	done <used
}
