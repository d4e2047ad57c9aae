#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# What flocklimit-store(7) and the README give to copy does what they say, on a real etcd.

load ../../helpers/lib.bash
load ../../helpers/docs.bash
load store.bash

PAGE=$TOP/man/flocklimit-store.7

# begun: a server that etcdctl finds, and the page's examples.
begun() {
	own_server
	export ETCDCTL_ENDPOINTS=http://$ADDRESS
	mkdir examples bin
	literals examples <"$PAGE"
}

# at_home EXAMPLE: it, with our server in place of all that it names.
at_home() {
	sed -E "s,etcd(\+https)?://[^ /]*/([a-z]+)[^ ']*,etcd://$ADDRESS/\2,g" "$1"
}

# role_in_force: the user runner of the page, with its role and the password hunter2.
role_in_force() {
	sed 's/user add runner$/user add runner:hunter2/' "$(grep -l 'etcdctl role' examples/*)" >script
	sh -e script
	etcdctl user add root:toor
	etcdctl user grant-role root root
	etcdctl auth enable
}

@test "the role is good for its path, and for nothing else" {
	begun
	role_in_force
	runner() {
		etcdctl --user runner:hunter2 "$@"
	}
	runner put /team/licence/cfg x
	lease=$(runner lease grant 60 | cut -d' ' -f2)
	runner put --lease="$lease" /team/licence/cfg//w/1 x
	runner lease keep-alive --once "$lease"
	runner lease revoke "$lease"
	run ! runner put /team2/licence/cfg x
	[[ $output == *"permission denied"* ]]
	run ! runner get --prefix /
	# A put on a lease takes the right to all that is on it.
	lease=$(etcdctl --user root:toor lease grant 60 | cut -d' ' -f2)
	etcdctl --user root:toor put --lease="$lease" /other x
	run ! runner put --lease="$lease" /team/licence/cfg//w/2 x
	[[ $output == *"permission denied"* ]]
	etcdctl --user root:toor auth disable
}

@test "with that role flocklimit runs, and without it is told what is missing" {
	begun
	role_in_force
	echo hunter2 >password
	chmod 600 password
	[ "$("$FLOCKLIMIT" --store "etcd://runner@$ADDRESS/team?password-file=$T/password" -N x -n 1 echo hello)" = hello ]
	run -125 "$FLOCKLIMIT" --store "etcd://runner@$ADDRESS/team2?password-file=$T/password" -N x -n 1 echo hello
	[[ $output == *"has no rights on"*"/team2/"* && $output != *hunter2* ]]
	chmod 644 password
	run -125 "$FLOCKLIMIT" --store "etcd://runner@$ADDRESS/team?password-file=$T/password" -N x -n 1 echo hello
	[[ $output == *"others may read or write it: chmod 600"* ]]
}

@test "a write under FLOCKLIMIT_STORE_KEY is done while that key exists, and not after" {
	begun
	example=$(grep -l 'etcdctl txn' examples/*)
	# As if somebody had taken the permit away meanwhile.
	printf '#!/bin/sh\nshift 4\nFLOCKLIMIT_STORE_KEY=/ci/deploy/cfg//h/00c0ffee00c0ffee exec "$@"\n' >bin/flocklimit
	chmod +x bin/flocklimit
	run -1 env PATH="$T/bin:$PATH" sh "$example"
	[ -z "$(etcdctl get /app/release)" ]
	ln -sf "$FLOCKLIMIT" bin/flocklimit
	FLOCKLIMIT_STORE=etcd://$ADDRESS/ci PATH=$T/bin:$PATH sh "$example"
	[ "$(etcdctl get --print-value-only /app/release)" = v42 ]
}

@test "the examples of the page and of the README run in a store, and leave no taker behind" {
	local example n=0
	begun
	ln -s "$FLOCKLIMIT" "$CTL" "$MAP" bin/
	for program in simulate make deploy migrate; do
		printf '#!/bin/sh\necho "%s $FLOCKLIMIT_STORE_KEY" >>"$T/log"\n' "$program" >"bin/$program"
		chmod +x "bin/$program"
	done
	mkdir work
	cp bin/simulate bin/deploy bin/migrate work/
	awk '/^## / { on = $0 == "## More than one machine" } on' "$TOP/README.md" "$TOP/doc/recipes.md" |
		awk '/^```sh$/ { file = sprintf("examples/readme%02d", ++n); next } /^```$/ { file = "" } file != "" { print >file }'
	export FLOCKLIMIT_STORE=etcd://$ADDRESS/ci PATH=$T/bin:$PATH
	flocklimit -N licence -n 8 true
	cd work
	for example in ../examples/*; do
		case $(cat "$example") in
		*"etcdctl role"* | *createdb* | *etcdutl* | *"etcdctl txn"* | *"lost the permit"* | *ETCD_*) continue ;;
		esac
		at_home "$example" | sed '/log -f/d; /flocklimitctl break/d; s/^env .*/true/' >../script
		cat ../script
		: >"$T/log"
		sh -e ../script 3>&-
		! grep -qE 'simulate|\./|make' ../script || grep -qE ' /(ci|team)/[a-z]+/cfg//h/[0-9a-f]{16}$' "$T/log"
		n=$((n + 1))
	done
	[ "$n" -ge 10 ]
	run -0 etcdctl get --prefix / --keys-only
	run ! grep -E '/[hlwest]/' <<<"$output"
}

@test "the lines that open Debian's etcd, and the five for TLS, do so" {
	local port
	need_etcd
	servers_in "$T/servers"
	port=$(a_port)
	mkdir -p examples default ssl/private ssl/certs lib
	literals examples <"$PAGE"
	# The test's own directories, port and user, and not the machine's.
	grep -l ETCD_ examples/* | while read -r example; do
		sed "s,/etc/default/etcd,$T/default/etcd,; s,/etc/ssl,$T/ssl,; s,/var/lib/etcd,$T/lib,; s/-o etcd //
			s/^systemctl.*/true/; s/:2379/:$port/; s/db1/localhost/g" "$example"
	done >script
	[ "$(grep -c . script)" = 8 ]
	sh -e script
	sed -i 's,http:,https:,' default/etcd
	[ "$(wc -l <default/etcd)" = 4 ]
	mapfile -t settings <default/etcd
	background server env -i PATH="$PATH" T="$T" "${settings[@]}" etcd --data-dir "$T/data" \
		--listen-peer-urls "http://127.0.0.1:$(a_port)"
	eventually curl -fs -o /dev/null --cacert ssl/certs/etcd.pem "https://localhost:$port/health"
	run -0 "$FLOCKLIMIT" --store "etcd+https://localhost:$port/team?cacert=$T/ssl/certs/etcd.pem" -N x -n 1 echo ran
	[ "$output" = ran ]
}
