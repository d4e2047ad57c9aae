#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Limiter files and directories that are not what they should be.

load ../helpers/lib.bash

# refused_file PATH WORDS: -f PATH is refused with a line that names it and says WORDS.
refused_file() {
	refused timeout 300 "$FLOCKLIMIT" -f "$1" -t 5 echo ran
	[[ $stderr == *"$1"* ]]
	[[ $stderr == *"$2"* ]]
}

@test "a symbolic link" {
	"$FLOCKLIMIT" -f real true
	ln -s real link
	ln -s nowhere dangling
	refused_file ./link 'symbolic link'
	refused_file "$T/dangling" 'symbolic link'
	[ ! -e nowhere ]
	ln -s ../real limiters-link
	mkdir limiters
	ln -s ../real limiters/x
	refused "$FLOCKLIMIT" -N x true
}

@test "a directory, a FIFO, a socket, a device" {
	mkdir dir
	refused_file ./dir 'regular file'
	refused_file ./dir/ ''
	mkfifo fifo
	refused_file ./fifo 'regular file'
	refused_file /dev/null ''
	refused_file /dev/zero ''
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")' || return 0
	refused_file ./sock 'regular file'
}

@test "a path that can't be" {
	refused_file ./no/such/dir 'No such file or directory'
	: >plain
	refused_file ./plain/below ''
	refused_file "./$(printf 'a%.0s' {1..300})" ''
	refused "$FLOCKLIMIT" -f "/$(printf 'a/%.0s' {1..3000})" true
	refused "$FLOCKLIMIT" -f "$(printf 'a/%.0s' {1..3000})" true
}

@test "a file that everybody may write" {
	"$FLOCKLIMIT" -f lim true
	chmod 666 lim
	refused_file ./lim 'chmod o-w'
	chmod 600 lim
	silent 0 "$FLOCKLIMIT" -f lim true
}

@test "a file of another user's" {
	need_root
	"$FLOCKLIMIT" -f lim true
	chown 65534 lim
	refused_file ./lim 'another user'
	chmod 660 lim
	silent 0 "$FLOCKLIMIT" -f lim true # root is in its group
	chgrp 65534 lim
	refused_file ./lim 'another user'
}

@test "a file on which another process has a lease" {
	local kind
	"$FLOCKLIMIT" -f lim --mode 0660 true
	for kind in F_RDLCK F_WRLCK; do
		lease lim $kind
		refused_file ./lim 'has a lease on the file: end that process'
		kill "${pids[lease]}"
		ended lease
		silent 0 "$FLOCKLIMIT" -f lim true
	done
}

@test "root's file, from an ordinary user: by its group, or not at all" {
	need_root
	public
	"$FLOCKLIMIT" -f "$PUBLIC/lim" true
	refused as_nobody "$PUBLIC/flocklimit" -f "$PUBLIC/lim" true
	[[ $stderr == *"$PUBLIC/lim"* ]]
	chgrp 65534 "$PUBLIC/lim"
	chmod 660 "$PUBLIC/lim"
	silent 0 as_nobody "$PUBLIC/flocklimit" -f "$PUBLIC/lim" -n 1 -t 0 true
	hold a -f "$PUBLIC/lim" -n 1
	run -75 as_nobody "$PUBLIC/flocklimit" -f "$PUBLIC/lim" -n 1 --nonblock true
}

@test "an ordinary user shares with root: both wait for each other" {
	need_root
	public
	touch "$PUBLIC/lim"
	chown 65534:65534 "$PUBLIC/lim"
	silent 0 as_nobody "$PUBLIC/flocklimit" -f "$PUBLIC/lim" true
	refused "$FLOCKLIMIT" -f "$PUBLIC/lim" true
}

@test "short, wrong and random files" {
	echo hello >text
	refused_file ./text 'neither a limiter nor an empty file'
	[ "$(cat text)" = hello ]
	head -c 100000 /dev/urandom >random
	refused_file ./random 'neither a limiter nor an empty file'
	head -c 4096 /dev/urandom >random
	refused_file ./random 'neither a limiter nor an empty file'
	head -c 5000 /dev/zero >zeros
	refused_file ./zeros 'neither a limiter nor an empty file'
	[ "$(stat -c %s zeros)" -eq 5000 ]
	printf x >one
	refused_file ./one 'neither a limiter nor an empty file'
}

@test "the message names the file of a limiter by name" {
	mkdir limiters
	echo hello >limiters/x
	refused "$FLOCKLIMIT" -N x true
	[[ $stderr == "flocklimit: x: "* ]]
	[[ $stderr == *"$T/limiters/x"* ]]
}

@test "a limiter that was cut short" {
	local size
	for size in 1 4095 4096 4097 8191; do
		rm -f lim
		"$FLOCKLIMIT" -f lim true
		truncate -s "$size" lim
		refused_file ./lim ''
	done
}

@test "a limiter of another version" {
	"$FLOCKLIMIT" -f lim true
	patch lim 8 '\377'
	refused_file ./lim 'version'
}

@test "another magic" {
	"$FLOCKLIMIT" -f lim true
	patch lim 0 'x'
	refused_file ./lim 'neither a limiter'
}

@test "random bytes in a limiter: an error or success, never a crash, never a hang" {
	local i offset
	for ((i = 0; i < 60; i++)); do
		rm -f lim
		"$FLOCKLIMIT" -f lim -n 2 true
		offset=$((48 + i * 7919 % 300)) # behind the lock
		if ((i % 2)); then
			offset=$((4096 + 4160 * 64 + i * 7919 % 4000))
		fi
		head -c $((1 + i * 31 % 32)) /dev/urandom | dd of=lim bs=1 seek="$offset" conv=notrunc status=none
		status=0
		timeout -k 1 300 "$FLOCKLIMIT" -f lim -n 2 -t 100ms true 2>err 3>&- || status=$?
		echo "offset $offset: status $status: $(cat err)"
		[ "$status" -eq 0 ] || [ "$status" -eq 75 ] || [ "$status" -eq 125 ]
		[ "$status" -eq 0 ] || has_lines 1 err
	done
}

@test "a lock that names nobody who could be: soon over, with a line or without" {
	local bytes
	for bytes in '\377\377\377\377\377\377\377\377' '\002\000\000\000\377\000\000\000' '\001'; do
		rm -f lim
		"$FLOCKLIMIT" -f lim -n 2 true
		patch lim 40 "$bytes"
		run --separate-stderr timeout 300 "$FLOCKLIMIT" -f lim -n 2 -t 100ms true
		echo "$bytes: status $status"
		[ "$status" -eq 0 ] || [ "$status" -eq 125 ]
		[ "$status" -eq 0 ] || one_line
	done
}

@test "an empty file becomes a limiter, and keeps its mode" {
	touch lim
	chmod 640 lim
	silent 0 "$FLOCKLIMIT" -f lim -n 1 true
	[ -s lim ]
	[ "$(stat -c %a lim)" = 640 ]
	silent 0 "$FLOCKLIMIT" -f "$(mktemp -p "$T")" true
}

@test "many at once at an empty file, and at none" {
	touch lim
	seq 40 | xargs -P 40 -I{} "$FLOCKLIMIT" -f lim -n 100 sh -c 'echo "$FLOCKLIMIT_TICKET"' >tickets
	[ "$(sort -u tickets | wc -l)" -eq 40 ]
	seq 40 | xargs -P 40 -I{} "$FLOCKLIMIT" -f new -n 100 sh -c 'echo "$FLOCKLIMIT_TICKET"' >tickets
	[ "$(sort -u tickets | wc -l)" -eq 40 ]
	[ "$(find . -name 'new*' | wc -l)" -eq 1 ]
}

@test "a file of another boot is started afresh" {
	case $(stat -f -c %T "$T") in
	tmpfs | ramfs) skip "what is in memory has no other boot" ;;
	esac
	hold a -f lim -n 1
	cp lim old # a permit is held in it, as after a power loss
	let_go a
	ended a
	patch old 24 'abcdefghijklmnop'
	run -0 "$FLOCKLIMIT" -f old -n 1 -t 0 sh -c 'echo "$FLOCKLIMIT_TICKET"'
	[ "$output" = 1 ]
	run -0 "$FLOCKLIMIT" -f old -n 1 -t 0 sh -c 'echo "$FLOCKLIMIT_TICKET"'
	[ "$output" = 2 ]
}

@test "cut short under a waiter: one line and 125, no SIGBUS death" {
	hold a -f lim -n 1
	background b "$FLOCKLIMIT" -f lim -v true
	eventually says waiting: b.err
	cp lim saved
	truncate -s 0 lim
	let_go a
	ended a
	[ "$status" -eq 0 ] || [ "$status" -eq 125 ]
	# It looks when it is woken; what wakes it is gone with the file.  It may have looked before.
	kill -TERM "${pids[b]}" || :
	ended b
	[ "$status" -eq 125 ] || [ "$status" -eq 143 ]
	run ! grep -i 'bus error' b.err
}

@test "cut short under a holder: the command's end is as ever" {
	hold a -f lim -n 1
	truncate -s 0 lim
	let_go a
	ended a
	[ "$status" -eq 0 ] || [ "$status" -eq 125 ]
	[ "$status" -eq 0 ] || has_lines 1 a.err
}

@test "a full file system" {
	need_mount
	mkdir full
	run -125 timeout 300 unshare -m sh -c 'mount -t tmpfs -o size=16k none full || exit 99
		head -c 16384 /dev/zero >full/file 2>/dev/null
		"$FLOCKLIMIT" -f full/lim true; status=$?
		[ ! -s full/lim ] || echo "left $(stat -c %s full/lim)"
		exit $status'
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "flocklimit: full/lim: "*space* ]]
}

@test "a limiter that can't grow on a full file system" {
	need_mount
	mkdir full
	run -0 timeout 300 unshare -m sh -c 'mount -t tmpfs -o size=12k none full || exit 99
		"$FLOCKLIMIT" -f full/lim true
		head -c 100000 /dev/zero >full/file 2>/dev/null
		mkfifo go
		exec 5<>go # what is written to it stays for those who open it later
		for i in $(seq 17); do "$FLOCKLIMIT" -f full/lim -n 100 sh -c "read -r x <go" & done 2>err
		i=0
		until [ -s err ] || [ $((i += 1)) -gt 500 ]; do sleep 0.01; done
		cat err >&2
		seq 17 >&5
		wait
		exit 0' 3>&-
	[[ $output == *space* ]]
	[[ $output != *[Bb]us* ]]
}

@test "no permission" {
	need_root
	public
	"$FLOCKLIMIT" -f "$PUBLIC/lim" true
	refused as_nobody "$PUBLIC/flocklimit" -f "$PUBLIC/lim" true
	[[ $stderr == *"ermission denied"* || $stderr == *"another user"* ]]
	mkdir -m 755 "$PUBLIC/readonly"
	refused as_nobody "$PUBLIC/flocklimit" -f "$PUBLIC/readonly/lim" true
	mkdir -m 700 "$PUBLIC/closed"
	refused as_nobody "$PUBLIC/flocklimit" -f "$PUBLIC/closed/lim" true
	refused as_nobody env FLOCKLIMIT_DIR="$PUBLIC/closed" "$PUBLIC/flocklimit" -N x true
	refused as_nobody env FLOCKLIMIT_DIR="$PUBLIC/readonly" "$PUBLIC/flocklimit" -N x true
}

@test "an unsafe limiter directory" {
	mkdir -m 777 unsafe
	chmod 777 unsafe
	refused env FLOCKLIMIT_DIR="$T/unsafe" "$FLOCKLIMIT" -N x true
	[[ $stderr == *"FLOCKLIMIT_DIR"* ]]
	chmod 1777 unsafe
	silent 0 env FLOCKLIMIT_DIR="$T/unsafe" "$FLOCKLIMIT" -N x true
}

@test "another user's file in a sticky directory is not used" {
	need_root
	public
	chmod 1777 "$PUBLIC"
	as_nobody env FLOCKLIMIT_DIR="$PUBLIC" "$PUBLIC/flocklimit" -N x true
	refused env FLOCKLIMIT_DIR="$PUBLIC" "$FLOCKLIMIT" -N x true
	[[ $stderr == *x* ]]
}

@test "no processes left" {
	need_root
	public
	refused as_nobody prlimit --nproc=0:0 "$PUBLIC/flocklimit" -N x -n 1 true
	[[ $stderr == *"process"* ]]
	silent 0 as_nobody "$PUBLIC/flocklimit" -N x -n 1 -t 0 true
}

@test "no descriptors left" {
	sh -c 'ulimit -n 3; "$FLOCKLIMIT" -V' || skip "a dynamic program needs some itself"
	refused sh -c 'ulimit -n 3; "$FLOCKLIMIT" -N x true'
	[[ $stderr == *"ulimit -n"* ]]
	# As few as a command needs anyway.
	silent 0 sh -c 'ulimit -n 8; "$FLOCKLIMIT" -N x true'
}

@test "no file size allowed" {
	# The line goes through a pipe: it could not be written to a file either.
	run -125 bash -c 'set -o pipefail; (trap "" XFSZ; ulimit -f 0; "$FLOCKLIMIT" -f new true) 2>&1 | cat'
	[ "${#lines[@]}" -eq 1 ]
	[ ! -s new ]
}

@test "a removed limiter is made anew" {
	silent 0 "$FLOCKLIMIT" -N x -n 1 true
	rm limiters/x
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 true
	rm -r limiters
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 true
}

@test "no room for another taker" {
	"$FLOCKLIMIT" -N x -n 2 true
	# Every slot that a limiter can have, and every one alive: thread 1 does not end.
	python3 - "$FLOCKLIMIT_DIR/x" <<-'EOF'
		import struct, sys
		slots, size, header, nslots = 131072, 512, 4096 + 4160 * 64, 56
		with open(sys.argv[1], "r+b") as f:
		    f.truncate(header + slots * size)
		    f.seek(nslots)
		    f.write(struct.pack("<I", slots))
		    for i in range(slots):
		        f.seek(header + i * size)
		        f.write(struct.pack("<I", 1))
	EOF
	refused "$FLOCKLIMIT" -N x -n 2 true
	[[ $stderr == *"no room for another taker"* ]]
}
