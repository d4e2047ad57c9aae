#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What flocklimit-store(7), the README and doc/recipes.md say of stores is what the programs do.

load ../helpers/lib.bash
load ../helpers/docs.bash

PAGE=$TOP/man/flocklimit-store.7
CTL=${FLOCKLIMIT}ctl
MAP=${FLOCKLIMIT%limit}map

# sources: of the programs of stores, and of what is before them; strings that are one stand as one.
sources() {
	find "$TOP/cmd/store" "$TOP"/cmd/{words,process,options,permit} -name '*.[ch]' -exec cat {} + | tr -d '\n' |
		sed -E 's/"[[:space:]]*"//g'
}

# subsection NAME: its lines.
subsection() {
	awk -v wanted="$1" '/^\.S[hs] / { on = (substr($0, 5) == wanted); next } on' "$PAGE"
}

# program: the store's, or the test is skipped.
program() {
	[ -x "$FLOCKLIMIT_LIBEXEC/store-etcd" ] || skip "no store-etcd"
}

@test "flocklimit-store(7) has every option of stores, and none that is not there" {
	"$FLOCKLIMIT" --help >help
	"$MAP" --help >help.map
	sed -n '/--store URL/,/--local N/p' help | grep -oE '^ +--[a-z-]+' | tr -d ' ' | sort >options
	[ "$(wc -l <options)" = 6 ]
	sed -n '/--store URL/,/--local N/p' help.map | grep -oE '^ +--[a-z-]+' | tr -d ' ' | sort |
		diff options -
	subsection Options | grep -oE '^\.It Fl -[a-z-]+' | sed 's/\.It Fl -/--/' | sort >page
	same options options page

	{ cat help help.map; "$CTL" --help; } | grep -oE -- '--[a-z][a-z-]+' | sort -u >all
	grep -oE '\bFl -[a-z][a-z-]+' "$PAGE" | sed 's/Fl -/--/' | sort -u | comm -13 all - >unknown
	cat unknown
	[ ! -s unknown ]
}

@test "flocklimit-store(7) has every parameter of the URL, and no other" {
	sources | grep -oE '"(user|[a-z]+-file|cacert|cert|key|database|sslmode|host|port)"' | tr -d '"' | sort -u >known
	[ -s known ] || skip "no store-etcd in this tree"
	subsection "The URL" | grep '^\.It Cm' | grep -oE '[a-z-]+=' | tr -d = | sort >page
	same parameters page known
}

@test "flocklimit-store(7) has every variable that is read, and no other" {
	sources | grep -oE '"FLOCKLIMIT_(STORE|LIBEXEC|KEEPER)[A-Z_]*"' | tr -d '"' | sort -u |
		grep -v _KEY >"read"
	section ENVIRONMENT "$PAGE" | sed -n '1,/^These are set/p' | grep '^\.It Ev' |
		grep -oE 'FLOCKLIMIT_[A-Z_]+' | sort -u >page
	same variables page "read"
	section ENVIRONMENT "$PAGE" | sed -n '/^These are set/,$p' | grep '^\.It Ev' |
		sed 's/^\.It Ev //' | diff - <(printf '%s\n' FLOCKLIMIT_STORE FLOCKLIMIT_STORE_KEY)
}

@test "what flocklimit-store(7) says of messages is what is said" {
	local message
	sources >all
	section DIAGNOSTICS "$PAGE" | sed -n 's/^\.It //p' >messages
	[ "$(wc -l <messages)" -ge 15 ]
	while read -r message; do
		echo "$message"
		grep -qF -- "${message/ etcd:/ %s:}" all
	done <messages
}

@test "what means nothing to a limiter of this machine is refused, and a password in an argument" {
	local option
	for option in --ttl=10 --grace=7 --on-lost=warn --reclaim=manual --local=2; do
		run -125 "$FLOCKLIMIT" -N x "$option" true
		[[ $output == *"${option%%=*} is for limiters of a store: use it with --store"* ]]
	done
	run -125 "$FLOCKLIMIT" --store etcd://runner:hunter2@db1/ci -N x true
	[[ $output == *"everybody can see a password there"* && $output != *hunter2* ]]
	export FLOCKLIMIT_LIBEXEC=$T
	run -125 "$FLOCKLIMIT" --store etcd://db1/ci -N x true
	[[ $output == *"no store etcd:// is installed"* ]]
	run -125 "$FLOCKLIMIT" --store etcd://db1/ci -f "$T/x" true
	# A file is of this machine, whatever the environment says.
	FLOCKLIMIT_STORE=etcd://db1/ci "$FLOCKLIMIT" -f "$T/x" true
}

# outlived SECONDS: as flocklimit-store(7) has it.
seconds() {
	case $1 in
	*min) echo $((${1%min} * 60)) ;;
	*) echo "${1%s}" ;;
	esac
}

@test "the table of times in flocklimit-store(7) is what follows from the least grace" {
	local ttl outage back grace
	program
	subsection Times | sed -nE 's/^\.It Fl -ttl Cm ([0-9]+) Ta ([0-9]+) (s|min) Ta ([0-9]+) (s|min)$/\1 \2\3 \4\5/p' >rows
	[ "$(wc -l <rows)" = 4 ]
	while read -r ttl outage back; do
		run -125 "$FLOCKLIMIT" --store etcd://127.0.0.1:1/ci -N x --ttl "$ttl" --grace 1 true
		echo "$output"
		[[ $output =~ "too short to be safe: use "([0-9]+)s ]]
		grace=${BASH_REMATCH[1]}
		[ "$(seconds "$outage")" = "$ttl" ]
		# And up to a second more; minutes are rounded.
		[ "$(($(seconds "$back") - ttl - grace))" -ge 0 ]
		[ "$(($(seconds "$back") - ttl - grace))" -le $((1 + ttl / 20)) ]
	done <rows
}

@test "the examples of flocklimit-store(7) and the README's are of options and verbs that exist" {
	local example n=0
	mkdir bin work examples readme
	ln -s "$FLOCKLIMIT" "$CTL" "$MAP" bin/
	for program in simulate make etcdctl; do
		printf '#!/bin/sh\necho "%s $*" >>"$T/log"\n' "$program" >"bin/$program"
		chmod +x "bin/$program"
	done
	# As if the transaction had held.
	printf '#!/bin/sh\ncat >"$T/txn"\necho SUCCESS\n' >bin/etcdctl
	cp bin/make work/simulate
	cp bin/make work/deploy
	cp bin/make work/migrate
	literals examples <"$PAGE"
	awk '/^## / { on = $0 == "## More than one machine" } on' "$TOP/README.md" "$TOP/doc/recipes.md" |
		awk '/^```sh$/ { file = sprintf("examples/readme%02d", ++n); next } /^```$/ { file = "" } file != "" { print >file }'
	a_store
	cd work
	for example in ../examples/*; do
		cat "$example"
		: >"$T/log"
		: >"$T/stored"
		case $(cat "$example") in
		*"etcdctl role"* | *etcdutl* | *"lost the permit"* | *ETCD_* | *psql*) continue ;;
		*"show licence"* | *"close licence"*) "$FLOCKLIMIT" -N licence -n 8 true ;;
		esac
		case $(cat "$example") in
		# It does not end by itself.
		*"log -f"*) sed -i 's/log -f /log /' "$example" ;;
		esac
		# Nobody holds with that ticket.
		sed -i '/flocklimitctl break/d' "$example"
		FLOCKLIMIT_STORE=etcd://db1/ci FLOCKLIMIT_STORE_KEY=/ci/deploy/cfg//h/1 PATH=$T/bin:$PATH \
			sh -e "$example" >"$T/out" 3>&-
		[ -z "$(sed '/^$/d; /^export/d' "$example")" ] || [ -s "$T/stored" ]
		case $(cat "$example") in
		*"etcdctl txn"*) [ "$(head -n 1 "$T/txn")" = 'version("/ci/deploy/cfg//h/1") > "0"' ] ;;
		esac
		n=$((n + 1))
	done
	[ "$n" -ge 12 ]
	"$CTL" --help | grep -qE '^  break '
}
