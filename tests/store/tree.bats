#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# Which store's program is run: that of FLOCKLIMIT_LIBEXEC, of the build tree, or of the installation.

load ../helpers/lib.bash

# tree DIR: as a build tree, with a store's program that says where it is.
tree() {
	mkdir -p "$1/cmd/store"
	cp "$FLOCKLIMIT" "${FLOCKLIMIT}ctl" "${FLOCKLIMIT%limit}map" "$1"
	says "$1/cmd/store"
	chmod -R go-w "$1"
}

# says DIR: a store's program there.
says() {
	mkdir -p "$1"
	printf '#!/bin/sh\necho "run: $0"\n' >"$1/store-etcd"
	chmod 755 "$1/store-etcd"
}

# use FILE WORD...: it, without what the tests are told of the build.
use() {
	env -u FLOCKLIMIT_LIBEXEC FLOCKLIMIT_STORE=etcd://127.0.0.1:1/x "$@"
}

# none WORD...: no program of a tree is run; the line says what to do.
none() {
	run use "$@"
	echo "$output"
	[[ $output != *"run: "*"$T"* ]]
	# A program may be installed on this machine.
	[[ $output == *"set FLOCKLIMIT_LIBEXEC to the directory that has it" || $output != *"no store"* ]]
}

@test "each program of a build tree runs the store's program of that tree" {
	tree "$T/tree"
	run -0 use tree/flocklimit -N x true
	[ "$output" = "run: $T/tree/cmd/store/store-etcd" ]
	run -0 use tree/flocklimitctl list
	[ "$output" = "run: $T/tree/cmd/store/store-etcd" ]
	run -0 use tree/flockmap -N x true ::: a
	[ "$output" = "run: $T/tree/cmd/store/store-etcd" ]
	mkdir -m 755 tree/.libs
	mv tree/flocklimitctl tree/.libs/
	run -0 use tree/.libs/flocklimitctl list
	[ "$output" = "run: $T/tree/cmd/store/store-etcd" ]
	mkdir bin
	ln -s "$T/tree/flocklimit" bin/flocklimit
	run -0 use bin/flocklimit -N x true
	[ "$output" = "run: $T/tree/cmd/store/store-etcd" ]
	# Where group and programs are the same, a group that may write changes nothing.
	chmod -R g+w tree
	run -0 use tree/flocklimit -N x true
	[ "$output" = "run: $T/tree/cmd/store/store-etcd" ]
}

@test "FLOCKLIMIT_LIBEXEC goes before the build tree" {
	tree "$T/tree"
	says "$T/other"
	run -0 env FLOCKLIMIT_LIBEXEC="$T/other" FLOCKLIMIT_STORE=etcd://db1/x tree/flocklimit -N x true
	[ "$output" = "run: $T/other/store-etcd" ]
	rm other/store-etcd
	run -125 env FLOCKLIMIT_LIBEXEC="$T/other" FLOCKLIMIT_STORE=etcd://db1/x tree/flocklimit -N x true
	[[ $output == *"no store etcd:// is installed: there is no $T/other/store-etcd: correct FLOCKLIMIT_LIBEXEC"* ]]
}

@test "a scheme that is no store's: one line names the stores that are there" {
	tree "$T/tree"
	run -125 use tree/flocklimit --store etdc://db1/x -N x true
	[ "$output" = "flocklimit: no store etdc:// is installed: $T/tree/cmd/store has etcd://" ]
	cp tree/cmd/store/store-etcd tree/cmd/store/store-abc
	: >tree/cmd/store/store-def
	mkdir tree/cmd/store/store-ghi
	cp tree/cmd/store/store-etcd tree/cmd/store/store-etcd.old
	run -125 use tree/flocklimitctl --store etdc://db1/x list
	[ "$output" = "flocklimitctl: no store etdc:// is installed: $T/tree/cmd/store has abc://, etcd://" ]
	says "$T/other"
	run -125 env FLOCKLIMIT_LIBEXEC="$T/other" FLOCKLIMIT_STORE=etdc://db1/x tree/flockmap -N x true ::: a
	[ "$output" = "flockmap: no store etdc:// is installed: $T/other has etcd://" ]
}

@test "nothing is run that others may have put beside the program" {
	tree "$T/tree"
	chmod o+w tree/cmd
	none tree/flocklimit -N x true
	chmod o-w tree/cmd
	chmod g+w tree/cmd/store
	none tree/flocklimit -N x true
	chmod g-w tree/cmd/store
	chmod o+w tree/cmd/store/store-etcd
	none tree/flocklimit -N x true
	chmod o-w tree/cmd/store/store-etcd
	mv tree/cmd/store tree/elsewhere
	ln -s "$T/tree/elsewhere" tree/cmd/store
	none tree/flocklimit -N x true
	rm tree/cmd/store
	mkdir -m 755 tree/cmd/store
	ln -s "$T/tree/elsewhere/store-etcd" tree/cmd/store/store-etcd
	none tree/flocklimit -N x true
	rm -r tree/cmd
	none tree/flocklimit -N x true
}

@test "nothing of another user's is run" {
	local what
	need_root
	tree "$T/tree"
	for what in tree/cmd tree/cmd/store tree/cmd/store/store-etcd; do
		chown nobody "$what"
		none tree/flocklimit -N x true
		chown root "$what"
	done
	run -0 use tree/flocklimit -N x true
}

@test "with more rights than the caller's, only what is installed is run" {
	need_setgid
	tree "$T/tree"
	chgrp nogroup tree/flocklimit
	chmod g+s tree/flocklimit
	none tree/flocklimit -N x true
}
