# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154 # for the inner shell, and what run sets
# A /run, a /dev/shm and a /tmp of a test's own, in a mount namespace: nothing of the machine's is touched.

# world SCRIPT: runs it as root in a new world, with the programs in its PATH.
world() {
	need_mount
	run --separate-stderr timeout 300 unshare -m bash -c '
		set -eu
		mount -t tmpfs -o mode=755 none /run
		mkdir /run/bin /run/own
		cp "$FLOCKLIMIT" "${FLOCKLIMIT}ctl" "${FLOCKLIMIT%limit}map" /run/bin
		mount -t tmpfs -o mode=1777 none /dev/shm
		cd /run/own
		mount -t tmpfs -o mode=1777 none /tmp
		mkdir -m 1777 /run/lock
		unset FLOCKLIMIT_DIR
		export PATH=/run/bin:$PATH
		user() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
		fails() { if "$@"; then echo "this should fail: $*" >&2; exit 99; fi; }
		'"$1" bash 3>&-
	echo "$output"
	echo "$stderr"
}
