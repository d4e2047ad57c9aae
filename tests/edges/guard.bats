#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The descriptor that a command inherits, in the hands of another user.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/map.bash

# Root's limiter, and a command that runs as nobody.
another_user() {
	need_root
	need_helper trespass
	setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null || skip "may not change users"
	public
	cp "$HELPERS/trespass" "$PUBLIC/trespass"
	silent 0 "$FLOCKLIMIT" -N x -n 1 true
	inode=$(stat -c %i "$FLOCKLIMIT_DIR/x")
	intruder=(setpriv --reuid 65534 --regid 65534 --clear-groups "$PUBLIC/trespass" "$inode")
}

# unharmed: the limiter x is what a limiter is when nobody holds.
unharmed() {
	[ "$(stat -c '%a %u' "$FLOCKLIMIT_DIR/x")" = '600 0' ]
	ctl check x
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "a command of another user can't change the limiter through what it inherits" {
	another_user
	silent 0 "$FLOCKLIMIT" -N x -n 1 "${intruder[@]}"
	unharmed
	silent 0 "$FLOCKLIMIT" -N x -n 1 --no-fork "${intruder[@]}"
	unharmed
	silent 0 "$FLOCKLIMIT" -N x -n 1 su -s /bin/sh -c "exec $PUBLIC/trespass $inode" nobody
	unharmed
}

@test "nor can a command of flockmap" {
	another_user
	run -0 "$MAP" -N x -n 2 "${intruder[@]}" ::: 1 2 3 4
	unharmed
}

@test "nor can one that got tokens" {
	another_user
	silent 0 "$FLOCKLIMIT" -N x -n 3 --jobserver "${intruder[@]}"
	unharmed
}

@test "a file that anybody can read, locked by a reader: commands start, and rm fails and changes nothing" {
	need_helper trespass
	silent 0 "$FLOCKLIMIT" -N x -n 1 true
	background reader "$HELPERS/trespass" lock "$FLOCKLIMIT_DIR/x"
	eventually says locked reader.out
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	run --separate-stderr -125 ctl rm x
	[[ $stderr == "flocklimitctl: x: "*"another process has locked a byte of the file"* ]]
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	kill -KILL "${pids[reader]}"
	ended reader
	silent 0 ctl rm x
	[ ! -e "$FLOCKLIMIT_DIR/x" ]
}

@test "a reader can keep a limiter from being made in an empty file, and changes nothing in it" {
	need_helper trespass
	silent 0 "$FLOCKLIMIT" -N x -n 1 true
	rm "$FLOCKLIMIT_DIR/x"
	: >"$FLOCKLIMIT_DIR/x"
	background reader "$HELPERS/trespass" lock "$FLOCKLIMIT_DIR/x"
	eventually says locked reader.out
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 --nonblock true
	[[ $stderr == "flocklimit: x: "*"another process has locked a byte of the file"* ]]
	[ ! -s "$FLOCKLIMIT_DIR/x" ]
	kill -KILL "${pids[reader]}"
	ended reader
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

@test "a reader that locks everything can keep the permit of a killed flocklimit, until it ends" {
	need_helper trespass
	hold a -N x -n 1
	background reader "$HELPERS/trespass" lock "$FLOCKLIMIT_DIR/x"
	eventually says locked reader.out
	kill -KILL "${pids[a]}" "$(up a)"
	ended a
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 300ms -q true
	kill -KILL "${pids[reader]}"
	ended reader
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 10 true
}

# keeps_it LABEL: the command of LABEL, whose guard is free and whose wrapper is gone, keeps its permit
# until it ends.
keeps_it() {
	run -75 "$FLOCKLIMIT" -N x -n 1 -t 300ms -q true
	background next "$FLOCKLIMIT" -N x -n 1 echo ran
	eventually in_line 1
	[ ! -s next.out ]
	let_go "$1"
	ended next
	[ "$status" = 0 ]
	silent 0 "$FLOCKLIMIT" -N x -n 1 --nonblock true
}

# gives_away LABEL THIEF OPTION...: a command that runs THIEF, and then holds on until let_go.
gives_away() {
	local label=$1 thief=$2
	shift 2
	mkfifo "$label.fifo"
	background "$label" "$FLOCKLIMIT" -N x -n 1 "$@" \
		bash -c "$thief"'; echo "$?" >"$1.up"; read -r _ <"$1.fifo"' bash "$T/$label"
	eventually test -s "$label.up"
	[ "$(cat "$label.up")" = 0 ]
}

@test "a descendant without rights unlocks the guard: the command keeps its permit" {
	another_user
	gives_away a "${intruder[*]:0:6} $PUBLIC/trespass unlock $inode"
	kill -KILL "${pids[a]}"
	ended a
	keeps_it a
	gives_away b "${intruder[*]:0:6} $PUBLIC/trespass unlock $inode" --no-fork
	keeps_it b
	ended b
}

@test "a command that closes all its descriptors keeps its permit until it ends" {
	gives_away a 'exec 50>&- 51>&- 52>&-'
	kill -KILL "${pids[a]}"
	ended a
	keeps_it a
	gives_away b 'exec 50>&- 51>&- 52>&-' --no-fork
	keeps_it b
	ended b
}

@test "without /proc a command has a guard, too" {
	need_mount
	mkdir -p "$T/shm"
	run -0 unshare -m sh -c 'mount -t tmpfs none "$1/shm" && umount -l /proc && cd "$1/shm" &&
		exec "$2" -f lim -n 1 bash -c "! (echo >&50) 2>/dev/null && : <&50"' sh "$T" "$FLOCKLIMIT"
}
