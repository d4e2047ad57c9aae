# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2034 # what tests read
# Shared by the tests of pages, README and completions; after lib.bash.

TOP=$TESTS_SOURCE/..
BUILD=$TESTS_BUILD/..

# same WHAT FILE FILE: two sorted lists are one, and not empty.
same() {
	[ -s "$2" ]
	echo "$1:"
	diff "$2" "$3"
}

# section NAME PAGE: its lines.
section() {
	awk -v wanted="$1" '/^\.Sh / { on = (substr($0, 5) == wanted); next } on' "$2"
}

# a_store: a program for etcd:// that is none: it lets the commands of this machine do what the
# example asks of a store, without the options that mean something only there.
a_store() {
	mkdir libexec
	export FLOCKLIMIT_LIBEXEC=$T/libexec
	cat >libexec/store-etcd <<-'END'
		#!/bin/bash
		unset FLOCKLIMIT_STORE
		words=() program=$FLOCKLIMIT
		while [ $# -gt 0 ]; do
			case $1 in
			--store | --ttl | --grace | --local) shift ;;
			--store=* | --ttl=* | --grace=* | --local=*) ;;
			--on-lost=kill | --on-lost=warn | --reclaim=auto | --reclaim=manual) ;;
			*) words+=("$1") ;;
			esac
			shift
		done
		[[ ${words[0]} != -* ]] && "${FLOCKLIMIT}ctl" --help | grep -qE "^  ([a-z, ]*, )?${words[0]}[, ]" && program=${FLOCKLIMIT}ctl
		echo "store ${words[*]}" >>"$T/stored"
		exec "$program" "${words[@]}"
	END
	chmod +x libexec/store-etcd
	: >stored
}

# literals DIR: the literal blocks of standard input, as they are read, one file each.
literals() {
	awk -v dir="$1" '
		/^\.Bd -literal/ { file = sprintf("%s/%02d", dir, ++n); next }
		/^\.Ed/ { file = "" }
		file != "" { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > file }'
}
