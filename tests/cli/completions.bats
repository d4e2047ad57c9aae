#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What bash, zsh and fish offer.

load ../helpers/lib.bash

COMPLETIONS=$TESTS_BUILD/../completions
CTL=${FLOCKLIMIT}ctl

# Each: what is offered at the end of LINE, one a line.

bash_offers() {
	bash --norc -c '
		. "$1/flocklimit"
		. "$1/flocklimitctl"
		. "$1/flockmap"
		. "$1/flocksem"
		line=${2//=/ = } # as readline makes words of it
		read -ra COMP_WORDS <<<"$line"
		[[ $line != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
		"_${COMP_WORDS[0]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$COMPLETIONS" "$1"
}

zsh_offers() {
	timeout 300 zsh -f "$TESTS_SOURCE/helpers/zsh-complete" "$COMPLETIONS" "$1" "$BATS_FILE_TMPDIR/zcompdump" 3>&-
}

fish_offers() {
	HOME=$T fish --no-config -c 'set fish_complete_path $argv[1]; complete -C $argv[2]' \
		"$COMPLETIONS" "$1" | cut -f1 | sed 's/^--[a-z-]*=//'
}

# offers SHELL LINE [WORD...]: that, and nothing else.  Where one has not begun an option, zsh offers
# them where there is nothing else: they do not count.  Of paths, the last part.
offers() {
	local shell=$1 line=$2 options='^-'
	shift 2
	echo "$shell: $line"
	[[ ${line##* } != -* ]] || options='^$'
	diff <(printf '%s\n' "$@" | grep . | LC_ALL=C sort -u) \
		<("${shell}_offers" "$line" | grep -v "$options" | grep . | sed 's,.*/,,' | LC_ALL=C sort -u)
}

need() {
	command -v "$1" >/dev/null || skip "no $1"
}

# tickets FILTER: into an array `ticket'.
tickets() {
	mapfile -t ticket < <("$CTL" show --json x | jq "$1.ticket")
}

# crowd: x, which a command holds, and a process for us, and for which two wait.
crowd() {
	mkdir bin
	ln -s "$FLOCKLIMIT" bin/flocklimit
	ln -s "$CTL" bin/flocklimitctl
	ln -s "${FLOCKLIMIT%limit}map" bin/flockmap
	ln -s "${FLOCKLIMIT%limit}sem" bin/flocksem
	PATH=$T/bin:$PATH
	hold a -N x -n 2
	flocklimit -N x -n 2 --hold-for $$ >/dev/null
	background b flocklimit -N x -n 2 true
	eventually in_line 1
	background c flocklimit -N x -n 2 true
	eventually in_line 2
	flocklimit -N lint true
	flocklimit -N link true
}

# all SHELL: what each of the three shells is to offer.
all() {
	local shell=$1 ticket held
	crowd
	tickets '.holders[]'
	held=("${ticket[@]}")
	tickets '.waiters[]'
	[ "${#ticket[@]} ${#held[@]}" = "2 2" ]
	offers "$shell" 'flocklimitctl s' seat setup shim show shrink stagger stats suggest
	offers "$shell" 'flocklimitctl show ' link lint x
	offers "$shell" 'flocklimitctl show l' link lint
	offers "$shell" 'flocklimitctl show x l' link lint
	offers "$shell" 'flocklimitctl wait --file limiters/x ' link lint x
	offers "$shell" 'flocklimitctl check --all '
	offers "$shell" 'flocklimitctl pause x l' link lint
	offers "$shell" 'flocklimitctl show -N l' link lint
	offers "$shell" 'flocklimitctl pause --a' --all
	offers "$shell" 'flocklimitctl limit --all a' auto
	offers "$shell" 'flocklimitctl limit --name=x a' auto
	offers "$shell" 'flocklimitctl log -f l' link lint
	offers "$shell" 'flocklimitctl rm x l' link lint
	offers "$shell" 'flocklimitctl limit ' link lint x
	offers "$shell" 'flocklimitctl limit x a' auto
	offers "$shell" 'flocklimitctl limit -f limiters/x a' auto
	offers "$shell" 'flocklimitctl limit x l' link lint
	offers "$shell" 'flocklimitctl limit x link a' auto
	offers "$shell" 'flocklimitctl limit x 3 '
	offers "$shell" 'flocklimitctl limit --all 3 '
	offers "$shell" 'flocklimitctl ramp x o' off
	offers "$shell" 'flocklimitctl seat x 3 ' off on
	offers "$shell" 'flocklimitctl seat x l' link lint
	offers "$shell" 'flocklimitctl ramp --ramp-idle 1m x o' off
	# Options before the verb.
	offers "$shell" 'flocklimitctl --jso' --json
	offers "$shell" 'flocklimitctl --json s' seat setup shim show shrink stagger stats suggest
	offers "$shell" 'flocklimitctl -N x s' seat setup shim show shrink stagger stats suggest
	offers "$shell" 'flocklimitctl -N l' link lint
	offers "$shell" 'flocklimitctl --json show l' link lint
	offers "$shell" 'flocklimitctl --all limit a' auto
	offers "$shell" 'flocklimitctl -N x cancel ' "${ticket[@]}"
	offers "$shell" 'flocklimitctl -f limiters/x cancel ' "${ticket[@]}"
	offers "$shell" 'flocklimitctl --signal KILL cancel x ' "${held[@]}"
	offers "$shell" 'flocklimitctl -f limiters/x log l' link lint
	offers "$shell" 'flocklimitctl cancel x ' "${ticket[@]}"
	offers "$shell" "flocklimitctl cancel x ${ticket[0]} ${ticket[1]}" "${ticket[1]}"
	offers "$shell" 'flocklimitctl cancel -f limiters/x ' "${ticket[@]}"
	offers "$shell" 'flocklimitctl cancel -s KILL x ' "${held[@]}"
	offers "$shell" 'flocklimitctl cancel --signal=KILL x ' "${held[@]}"
	offers "$shell" 'flocklimitctl why x ' "${ticket[@]}"
	offers "$shell" 'flocklimitctl wh' when why
	offers "$shell" 'flocklimitctl suggest x --un' --unit
	offers "$shell" 'flocklimitctl suggest --unit 51' 512M
	offers "$shell" 'flocklimitctl cancel nosuch '
	offers "$shell" 'flocklimitctl cancel x -s US' USR1 USR2
	offers "$shell" 'flocklimitctl cancel --signal=KI' KILL
	offers "$shell" 'flocklimitctl release x ' "${held[1]}"
	offers "$shell" 'flocklimitctl release --file limiters/x ' "${held[1]}"
	offers "$shell" 'flocklimitctl gantt --te' --text
	# fish ends a folder with a slash, behind which nothing is left here.
	[ "$shell" = fish ] || offers "$shell" 'flocklimitctl shim lim' limiters
	offers "$shell" 'flocklimitctl shim limiters x --rem' --remove
	offers "$shell" 'flocklimitctl check --r' --repair
	offers "$shell" 'flocklimitctl pause --j'
	offers "$shell" 'flocklimitctl show -f limiters/' x lint link
	offers "$shell" 'flocklimitctl gantt -o limiters/l' lint link
	offers "$shell" 'flocklimit -N l' link lint
	offers "$shell" 'flocklimit --name=l' link lint
	offers "$shell" 'flocklimit -n 4 --nonb' --nonblock
	offers "$shell" 'flocklimit --nested=' join queue
	offers "$shell" 'flocklimit --jobserver=' fifo pipe force
	offers "$shell" 'flocklimit --jobserver=f' fifo force
	offers "$shell" 'flocklimit -s US' USR1 USR2
	of_sem "$shell"
}

# of_sem SHELL: an id is a limiter, but for a name with bytes that the id does not have.
of_sem() {
	local shell=$1
	flocksem --fg --id lo/ng true
	[ -e limiters/lo%2Fng ]
	offers "$shell" 'flocksem --id l' link lint
	offers "$shell" 'flocksem --id=l' link lint
	# fish knows no option that it does not offer.
	[ "$shell" = fish ] || offers "$shell" 'flocksem --semaphorename l' link lint
	offers "$shell" 'flocksem --f' --fg
	offers "$shell" 'flocksem -j 4 --id x --wa' --wait
	offers "$shell" 'flocksem --st -10s --fg --ni' --nice
	offers "$shell" 'flocksem --env HOME --ar' --arg-file
	offers "$shell" 'flocksem --sem'
	offers "$shell" 'flocksem --id x -j 5' 50%
	offers "$shell" 'flocksem -j limiters/li' lint link
	offers "$shell" 'flocksem -a limiters/li' lint link
	# bash does so with bash-completion, which the tests do not have.
	[ "$shell" = bash ] || offers "$shell" 'flocksem --id x -j 4 flocklimit --nonb' --nonblock
}

@test "bash" {
	all bash
	offers bash 'flocklimitctl wait --timeout 10' 10s 10m 100ms
	offers bash 'flocklimitctl log -n 100' 100 1000
}

@test "zsh" {
	need zsh
	all zsh
}

@test "fish" {
	need fish
	all fish
	offers fish 'flocklimitctl wait --timeout 10' 10s 10m 100ms
}

@test "fish offers no command for an option that is not there" {
	local program
	need fish
	mkdir bin
	# It would offer commands in whose names the word is.
	ln -s "$FLOCKLIMIT" bin/a--nosuch
	for program in flocklimit flockmap flocksem; do
		ln -s "${FLOCKLIMIT%flocklimit}$program" bin/
		PATH=$T/bin:$PATH offers fish "$program --nosuch"
	done
}

@test "bash offers every verb" {
	"$CTL" --help | sed -n '/^  [a-z]/s/^  \([a-z]*\)\(, \([a-z]*\)\)*.*/\1 \3/p' | xargs -n 1 >verbs
	[ "$(wc -l <verbs)" -ge 16 ]
	mapfile -t verbs <verbs
	offers bash 'flocklimitctl ' "${verbs[@]}"
}

# completes WORD...: what bash offers for the last one, in its own order.
completes() {
	bash --norc -c '
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		_flocklimit
		echo "${COMPREPLY[@]}"' bash "$COMPLETIONS/flocklimit" "$@"
}

@test "bash: options, names, signals and the command that flocklimit runs" {
	[ "$(completes flocklimit --ti)" = --timeout ]
	[ "$(completes flocklimit -n 4 --nonb)" = --nonblock ]
	[ "$(completes flocklimit -n 4 -qs US)" = "USR1 USR2" ]
	[ "$(completes flocklimit --signal = KI)" = KILL ]
	[ "$(completes flocklimit --nested =)" = "join queue" ]
	for name in link lint build; do
		"$FLOCKLIMIT" -N "$name" true
	done
	[ "$(completes flocklimit -N '')" = "build link lint" ]
	[ "$(completes flocklimit -vN li)" = "link lint" ]
	[ "$(completes flocklimit --na = b)" = build ]
	[ "$(completes flocklimit --and li)" = "link lint" ]
	[ "$(completes flocklimit --and = build --and = li)" = "link lint" ]
	[ "$(completes flocklimit --and link = 2/)" = "" ]
	[ "$(completes flockmap --and = build --and = li)" = "link lint" ]
	[ "$(completes flockmap --and link = 2/)" = "" ]
	mkdir bin
	printf '#!/bin/sh\n' >bin/sesquipedalian
	chmod +x bin/sesquipedalian
	touch file-of-mine
	PATH=$T/bin:$PATH
	[ "$(completes flocklimit -n 4 sesq)" = sesquipedalian ]
	[ "$(completes flocklimit --and link = 2/4 --until-ready sesq)" = sesquipedalian ]
	[ "$(completes flocklimit --and = link = 2 --and lint sesq)" = sesquipedalian ]
	[ "$(completes flockmap --and = link = 2 --and lint sesq)" = sesquipedalian ]
	[ "$(completes flocklimit -n 4 -- sesq)" = sesquipedalian ]
	[ "$(completes flocklimit --weight 3 -v sesq)" = sesquipedalian ]
	[ "$(completes flocklimit -n4 ls file-)" = file-of-mine ]
	[ "$(completes flocklimit -f file-)" = file-of-mine ]
	[ "$(completes flocklimit -c 'echo hello' '')" = "" ]
}

@test "the completions are sound zsh and fish" {
	command -v zsh fish >/dev/null || skip "neither zsh nor fish"
	local file
	for file in flocklimit flocklimitctl flocksem; do
		! command -v zsh >/dev/null || zsh -n "$COMPLETIONS/_$file"
		! command -v fish >/dev/null || fish --no-execute "$COMPLETIONS/$file.fish"
	done
}

# a_store: a store of which the commands see this machine's limiters, but for those whose names
# begin with an l.  What they were asked with is in $T/asked.
a_store() {
	mkdir libexec
	export FLOCKLIMIT_LIBEXEC=$T/libexec
	cat >libexec/store-etcd <<-'END'
		#!/bin/bash
		echo "$FLOCKLIMIT_STORE $*" >>"$T/asked"
		unset FLOCKLIMIT_STORE
		words=()
		while [ $# -gt 0 ]; do
			if [ "$1" = --store ]; then shift; else words+=("$1"); fi
			shift
		done
		"${FLOCKLIMIT}ctl" "${words[@]}" | grep -v '^l'
	END
	chmod +x libexec/store-etcd
}

# of_a_store SHELL: the limiters and tickets that are offered are those of the store of the line, or
# of the environment.
of_a_store() {
	local shell=$1 ticket url=etcd://db1:2379,db2:2379/team
	crowd
	a_store
	tickets '.holders[]'
	offers "$shell" "flocklimit --store $url -N " x
	offers "$shell" "flockmap --store $url -N " x
	offers "$shell" "flocklimitctl show --store $url " x
	offers "$shell" "flocklimitctl break --store $url x " "${ticket[@]}"
	grep -qxF " list --store $url" asked
	[ "$(grep -vc -- "--store $url" asked)" = 0 ]
	: >asked
	export FLOCKLIMIT_STORE=etcd://runner:hunter2@db1/team
	offers "$shell" 'flocklimit -N ' x
	offers "$shell" 'flocksem --id ' x
	offers "$shell" 'flocklimitctl show ' x
	# A password is nobody's argument.
	[ "$(grep -vc "^$FLOCKLIMIT_STORE " asked)" = 0 ]
	[ "$(cut -d' ' -f2- asked | grep -c hunter2)" = 0 ]
	offers "$shell" 'flocklimit --on-lost=' kill warn
	offers "$shell" 'flockmap --reclaim=m' manual
}

# of_hosts SHELL: a column of hosts does not hide which permits --hold-for keeps.
of_hosts() {
	local shell=$1
	mkdir bin
	cat >bin/flocklimitctl <<-'END'
		#!/bin/sh
		cat <<TABLE
		x: open, 2 of 4 in use, 1 waiting
		store: etcd://db1/x

		holding
		  TICKET  WEIGHT  SEAT  HOST  PID  USER  HELD   COMMAND
		       1       1     0  db1    17  0     1.000  sleep 100
		      12       1     3  db2    18  0     1.000  --hold-for 99

		waiting
		  #  TICKET  WEIGHT  HOST  PID  USER  WAITED  STARTS IN  COMMAND
		  1      20       1  db3    19  0      1.000          ?  --hold-for 3
		TABLE
	END
	chmod +x bin/flocklimitctl
	PATH=$T/bin:$PATH
	offers "$shell" 'flocklimitctl release x ' 12
	offers "$shell" 'flocklimitctl break x ' 1 12
	offers "$shell" 'flocklimitctl cancel x ' 20
}

@test "bash, of a store with hosts" {
	of_hosts bash
}

@test "zsh, of a store with hosts" {
	need zsh
	of_hosts zsh
}

@test "fish, of a store with hosts" {
	need fish
	of_hosts fish
	[ "$(HOME=$T fish --no-config -c 'set fish_complete_path $argv[1]; complete -C "flocklimitctl break x "' \
		"$COMPLETIONS")" = $'1\tseat 0, db1, sleep 100\n12\tseat 3, db2, --hold-for 99' ]
}

@test "bash, of a store" {
	of_a_store bash
}

@test "zsh, of a store" {
	need zsh
	of_a_store zsh
}

@test "fish, of a store" {
	need fish
	of_a_store fish
}

@test "bash takes a URL for one word, of which readline makes many" {
	"$FLOCKLIMIT" -N x true
	mkdir bin
	ln -s "$FLOCKLIMIT" bin/flocklimit
	ln -s "$CTL" bin/flocklimitctl
	PATH=$T/bin:$PATH
	a_store
	read -ra url <<<'etcd : //runner @ db1 : 2379,db2 : 2379/team?user = x'
	[ "$(completes flocklimit --store "${url[@]}" -N '')" = x ]
	[ "$(completes flocklimit --store = "${url[@]}" -N '')" = x ]
	[ "$(completes flocklimit --store "${url[@]}" --nonb)" = --nonblock ]
	[ "$(completes flocklimit --store "${url[@]:0:7}")" = "" ]
	[ "$(completes flocklimit --store "${url[@]:0:2}")" = "" ]
	[ "$(sort -u asked)" = " list --store etcd://runner@db1:2379,db2:2379/team?user=x" ]
}
