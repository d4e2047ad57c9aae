#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A limiter that was copied while it was held: the copy is another limiter, and begins afresh.  One that
# is only seen by another path, or through another mount, is the same.

load ../helpers/lib.bash

# begins_afresh FILE: its first ticket is drawn, whoever held the original.
begins_afresh() {
	run -0 "$FLOCKLIMIT" -f "$1" -n 1 -t 0 sh -c 'echo "$FLOCKLIMIT_TICKET"'
	[ "$output" = 1 ]
	run -0 "$FLOCKLIMIT" -f "$1" -n 1 -t 0 sh -c 'echo "$FLOCKLIMIT_TICKET"'
	[ "$output" = 2 ]
}

is_held() {
	run -75 "$FLOCKLIMIT" -f "$1" -n 1 -t 0 -q true
}

# world SCRIPT: in a mount namespace, in $T; `held FILE' runs a holder of it until `let_go', and
# `tries FILE' prints the ticket that is drawn there, or 75.
world() {
	need_mount
	run --separate-stderr timeout 60 unshare -m bash -c '
		set -eu
		held() {
			rm -f in go
			mkfifo go
			"$FLOCKLIMIT" -f "$1" -n 1 sh -c "echo >in; read -r x <go" &
			until [ -s in ]; do sleep 0.01; done
		}
		let_go() {
			echo >go
			wait
		}
		tries() {
			"$FLOCKLIMIT" -f "$1" -n 1 -t 0 -q sh -c "echo \$FLOCKLIMIT_TICKET" || echo $?
		}
		'"$1" bash 3>&-
	echo "$output"
	echo "$stderr"
	[ "$status" -ne 99 ] || skip "may not mount that"
}

@test "a copy, with all that cp keeps, on a disk and in memory" {
	local dir
	PUBLIC=$(mktemp -d /dev/shm/flocklimit-test.XXXXXX) # teardown removes it
	for dir in "$T" "$PUBLIC"; do
		hold "in${dir//\//_}" -f "$dir/lim" -n 1
		cp -a "$dir/lim" "$dir/copy"
		begins_afresh "$dir/copy"
		is_held "$dir/lim"
	done
}

@test "a copy in the place of the original, which was removed" {
	hold a -f lim -n 1
	cp -a lim saved
	kill -KILL "${pids[a]}" "$(up a)"
	ended a
	rm lim
	cp -a saved lim # as likely as not with the inode number of the original
	begins_afresh lim
}

@test "a copy whose original was paused and overridden, and waited for" {
	hold a -f lim -n 1
	background b "$FLOCKLIMIT" -f lim -n 1 -v true
	eventually says waiting: b.err
	"${FLOCKLIMIT}ctl" limit --file lim 7
	"${FLOCKLIMIT}ctl" pause --file lim
	cp lim copy
	# Nothing is made by looking.
	run --separate-stderr -1 "${FLOCKLIMIT}ctl" show --file copy
	[[ $stderr == *'there is no limiter'* ]]
	begins_afresh copy
	"${FLOCKLIMIT}ctl" resume --file lim
	let_go a
	ended a
	ended b
}

@test "many at once at a copy: one of them makes it afresh" {
	hold a -f lim -n 1
	cp lim copy
	seq 30 | timeout 60 xargs -P 30 -I{} "$FLOCKLIMIT" -f copy -n 100 sh -c 'echo "$FLOCKLIMIT_TICKET"' >tickets
	seq 30 | cmp - <(sort -n tickets)
	is_held lim
}

@test "another name, a hard link, a move: the same limiter" {
	hold a -f lim -n 1
	ln lim link
	is_held link
	mv lim moved
	is_held moved
}

@test "a bind mount of the file or its directory, and a new one: the same limiter" {
	world '
		mkdir dir bound
		: >one
		held dir/lim
		mount --bind dir bound
		mount --bind dir/lim one
		tries bound/lim
		tries one
		umount bound
		mount --bind dir bound
		tries bound/lim
		let_go'
	[ "$output" = $'75\n75\n75' ]
}

@test "overlayfs: what it copies up is a copy, what it shows is not" {
	world '
		mkdir lower upper work merged upper2 work2 merged2 bound
		held lower/lim
		# Of its own file system: in memory, the upper may not be on an overlay.
		mount -t tmpfs none work || exit 99
		mkdir work/1 work/2 work/u1 work/u2
		mount -t overlay -o lowerdir=lower,upperdir=work/u1,workdir=work/1 none merged || exit 99
		mount -t overlay -o lowerdir=lower,upperdir=work/u2,workdir=work/2 none merged2 || exit 99
		tries merged/lim
		tries merged2/lim
		tries merged/lim
		tries lower/lim
		let_go
		held merged/lim
		mount --bind merged bound
		tries bound/lim
		tries work/u1/lim
		tries merged2/lim
		umount bound
		let_go
		tries merged/lim
		umount merged
		mount -t overlay -o lowerdir=lower,upperdir=work/u1,workdir=work/1 none merged
		tries merged/lim'
	[ "$output" = $'1\n1\n2\n75\n75\n75\n2\n6\n7' ]
}

@test "a snapshot of a file system, with the same inode in it" {
	world '
		mkdir a b
		truncate -s 8M image
		mkfs.ext4 -q -F image || exit 99
		mount -o loop image a 2>/dev/null || exit 99
		held a/lim
		sync -f a/lim
		cp image snapshot
		mount -o loop snapshot b || exit 99
		stat -c %i a/lim b/lim | sort -u | wc -l
		tries b/lim
		tries b/lim
		tries a/lim
		let_go'
	[ "$output" = $'1\n1\n2\n75' ]
}
