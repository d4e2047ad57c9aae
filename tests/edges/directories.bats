#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Where a limiter of a given name is kept.  Each test has a /run, a /dev/shm and a /tmp of its own,
# in a mount namespace: nothing of the machine's is touched.

load ../helpers/lib.bash
load ../helpers/world.bash

@test "root's directory: no other user can be there first" {
	world '
		mkdir -m 1777 /run/flocklimit
		for place in /run/flocklimit /run/lock /dev/shm /tmp; do
			user 1001 mkdir $place/flocklimit-0
		done
		flocklimit -N x -n 1 true
		stat -c "%n %a %u" /run/flocklimit-0 /run/flocklimit-0/x
		flocklimitctl list | tail -n 1'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = '/run/flocklimit-0 700 0' ]
	[ "${lines[1]}" = '/run/flocklimit-0/x 600 0' ]
	[[ ${lines[2]} == 'x '* ]]
	[ -z "$stderr" ]
}

@test "root where there is no /run, or it is read-only: a line that says what to do" {
	world '
		mkdir /dev/shm/bin
		cp /run/bin/* /dev/shm/bin
		export PATH=/dev/shm/bin:$PATH
		cd /
		mount -o remount,ro /run
		flocklimit -N x true || echo $?
		flocklimitctl list
		umount -l /run
		mount -t tmpfs -o ro none /run
		flocklimit -N x true || echo $?
		FLOCKLIMIT_DIR=/dev/shm/mine flocklimit -N x echo ran'
	[ "$status" -eq 0 ]
	[ "$(grep -v NAME <<<"$output")" = $'125\n125\nran' ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	[ "${stderr_lines[0]}" = 'flocklimit: x: /run/flocklimit-0/x: Read-only file system: choose another path with --file, or another directory with FLOCKLIMIT_DIR' ]
	[ "${stderr_lines[1]}" = "${stderr_lines[0]}" ]
}

@test "a user's directory: in the first place that is sticky and for everybody" {
	world '
		mkdir -m 1777 /run/flocklimit
		for place in /run/flocklimit /run/lock /dev/shm /tmp; do
			user 1000 flocklimit -N x -n 1 true
			stat -c "%n %a %u" $place/flocklimit-1000
			rm -r $place/flocklimit-1000
			chmod 755 $place
		done
		user 1000 flocklimit -N x -n 1 true || echo $?
		user 1000 flocklimitctl list || echo $?'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = '/run/flocklimit/flocklimit-1000 700 1000' ]
	[ "${lines[1]}" = '/run/lock/flocklimit-1000 700 1000' ]
	[ "${lines[2]}" = '/dev/shm/flocklimit-1000 700 1000' ]
	[ "${lines[3]}" = '/tmp/flocklimit-1000 700 1000' ]
	[ "${lines[4]}" = 125 ]
	[ "${lines[5]}" = 125 ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	[[ ${stderr_lines[0]} == 'flocklimit: x: no existing directory can contain the limiter directory: '*FLOCKLIMIT_DIR ]]
	[[ ${stderr_lines[1]} == 'flocklimitctl: no existing directory can contain the limiter directory: '*FLOCKLIMIT_DIR ]]
}

@test "a place that comes later, or is closed, never splits a limiter in use" {
	world '
		mkfifo -m 666 go
		user 1000 flocklimit -N x -n 1 sh -c "echo in; read -r x <go" >out &
		until [ -s out ]; do sleep 0.01; done
		mkdir -m 1777 /run/flocklimit
		user 1001 mkdir -m 755 /run/flocklimit/flocklimit-1000
		user 1000 flocklimit -N x -n 1 --nonblock -q true || echo $?
		chmod 755 /run/lock
		user 1000 flocklimit -N x -n 1 --nonblock -q true || echo $?
		user 1000 flocklimitctl list | tail -n 1
		echo >go
		wait
		ls /run/flocklimit/flocklimit-1000 | wc -l'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 75 ]
	[ "${lines[1]}" = 75 ]
	[[ ${lines[2]} == 'x '* ]]
	[ "${lines[3]}" = 0 ]
	[ -z "$stderr" ]
}

@test "another user's directory is refused, and so is a link: whose it is, and what to do" {
	# The number 1 has a name, which is in no line that is too long, and 1001 has none.
	world '
		mkdir -m 1777 /run/flocklimit
		echo "$(printf "%511s" "" | tr " " z)eve:x:1:1:::" >passwd
		printf "%s\\n" "root:x:0:0:::" "# eve:x:1" "eve:x:" "" ann::1:1::: >>passwd
		mount --bind passwd /etc/passwd
		user 1001 mkdir -m 777 /run/flocklimit/flocklimit-1000
		user 1000 flocklimit -N x true || echo $?
		user 1000 flockmap -N x true ::: 1 || echo $?
		user 1000 flocklimitctl show x || echo $?
		user 1000 flocklimitctl list || echo $?
		rmdir /run/flocklimit/flocklimit-1000
		mkdir -m 700 home
		chown 1000 home
		user 1 ln -s /run/own/home /run/flocklimit/flocklimit-1000
		user 1000 flocklimit -N x true || echo $?
		ls home /run/lock /dev/shm /tmp | grep -c x || :
		user 1000 env FLOCKLIMIT_DIR=/run/own/home flocklimit -N x echo ran'
	[ "$status" -eq 0 ]
	[ "$output" = $'125\n125\n125\n125\n125\n0\nran' ]
	[ "${#stderr_lines[@]}" -eq 5 ]
	local why='/run/flocklimit/flocklimit-1000 belongs to user 1001: ask the operator to remove it, or choose another directory with FLOCKLIMIT_DIR'
	[ "${stderr_lines[0]}" = "flocklimit: x: $why" ]
	[ "${stderr_lines[1]}" = "flockmap: x: $why" ]
	[ "${stderr_lines[2]}" = "flocklimitctl: x: $why" ]
	[ "${stderr_lines[3]}" = "flocklimitctl: $why" ]
	[ "${stderr_lines[4]}" = "flocklimit: x: ${why/1001/ann}" ]
}

@test "the effective user counts, whatever the real one is" {
	world '
		mkdir -m 1777 /run/flocklimit
		FLOCKLIMIT_DIR=/tmp setpriv --ruid 1001 --euid 1000 --clear-groups flocklimit -N x -n 1 true
		setpriv --ruid 1001 --euid 0 --clear-groups flocklimit -N x -n 1 true
		ls -d /run/*/flocklimit-* /run/flocklimit-* /tmp/*'
	[ "$output" = $'/run/flocklimit-0\n/run/flocklimit/flocklimit-1000' ]
}

@test "many at once, the first of their user: they find one directory" {
	world '
		mkdir -m 1777 /run/flocklimit
		seq 30 | user 1000 xargs -P 30 -I{} flocklimit -N x -n 100 sh -c "echo \$FLOCKLIMIT_TICKET" >tickets
		sort -u tickets | wc -l
		ls -d /run/*/flocklimit-1000 /dev/shm/flocklimit-1000 /tmp/flocklimit-1000 2>/dev/null || :'
	[ "$output" = $'30\n/run/flocklimit/flocklimit-1000' ]
}

@test "a relative FLOCKLIMIT_DIR is refused" {
	mkdir limiters
	refused env FLOCKLIMIT_DIR=limiters "$FLOCKLIMIT" -N x true
	[[ $stderr == 'flocklimit: x: FLOCKLIMIT_DIR is not an absolute path: '* ]]
	run --separate-stderr -125 env FLOCKLIMIT_DIR=limiters "${FLOCKLIMIT%limit}map" -N x true ::: 1
	[[ $stderr == 'flockmap: x: FLOCKLIMIT_DIR is not an absolute path: '* ]]
	run --separate-stderr -125 env FLOCKLIMIT_DIR=limiters "${FLOCKLIMIT}ctl" list
	[[ $stderr == 'flocklimitctl: FLOCKLIMIT_DIR is not an absolute path: '* ]]
	run --separate-stderr -125 env FLOCKLIMIT_DIR=limiters "${FLOCKLIMIT}ctl" show x
	[[ $stderr == *'FLOCKLIMIT_DIR is not an absolute path: '* ]]
	[ -z "$(ls limiters)" ]
	# A path is not looked for there.
	silent 0 env FLOCKLIMIT_DIR=limiters "$FLOCKLIMIT" -f ./lim true
}
