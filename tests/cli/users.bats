#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# The limiters of other users: root looks at them, and changes nothing.

load ../helpers/lib.bash
load ../helpers/ctl.bash
load ../helpers/world.bash

# theirs: another user's limiter, in $FILE, with a holder `a' and a waiter `b'.
theirs() {
	need_root
	public
	FILE=$PUBLIC/limiters/x
	mkfifo -m 666 "$PUBLIC/go"
	background a as_nobody "$PUBLIC/flocklimit" -N x -n 1 sh -c 'read -r x <"$1"' sh "$PUBLIC/go"
	eventually shows '.holders | length' 1
	background b as_nobody "$PUBLIC/flocklimit" -N x -n 1 true
	eventually shows '.waiters | length' 1
}
shows() { [ "$(as_nobody "$CTL" show --json x 2>/dev/null | jq "$1")" = "$2" ]; }

over() {
	echo >"$PUBLIC/go"
	ended a
	ended b
	[ "$status" = 0 ]
}

@test "by its path: what there is to see is seen, and nothing is written" {
	theirs
	as_nobody "$CTL" pause x
	as_nobody "$CTL" resume x
	cp "$FILE" before
	run -0 "$CTL" show -f "$FILE"
	[[ $output == "$FILE: open, 1 of 1 in use, 1 waiting"* ]]
	[[ $output == *"sh -c read"* ]]
	[ "$("$CTL" show -f "$FILE" --json | jq -c '[.used, .holders[0].uid, (.waiters | length), .state]')" = '[1,65534,1,"open"]' ]
	run -0 "$CTL" list -f "$FILE"
	[[ $output == *"$FILE "*"1/1 "*"open"* ]]
	run -0 "$CTL" log -f "$FILE" -n 20 || run -0 "$CTL" log --file "$FILE"
	[[ $output == *" paused "* ]]
	run -0 "$CTL" why -f "$FILE" 2
	[[ $output == *"ticket 2 (true, weight 1) waited "*" so far"* ]]
	run -0 "$CTL" gantt --text --file "$FILE"
	run -0 "$CTL" stats -f "$FILE"
	[[ $output == *"flocklimit_waiters{limiter=\"$FILE\"} 1"* ]]
	cmp before "$FILE"
	over
}

@test "what steers it is refused" {
	theirs
	local verb
	for verb in pause 'limit 3' 'cancel 2' 'shrink 1 1' 'fair user' check rm; do
		# shellcheck disable=SC2086
		set -- $verb
		ctl_line 125 "$1" -f "$FILE" "${@:2}"
		[[ $stderr == *"belongs to user"* ]]
	done
	over
}

@test "log follows it" {
	theirs
	background follow timeout 60 "$CTL" log --follow --file "$FILE"
	eventually grep -q " queued " follow.out
	as_nobody "$CTL" pause x
	eventually grep -q " paused " follow.out
	as_nobody "$CTL" resume x
	kill "${pids[follow]}"
	ended follow
	over
}

# seen FILTER WORDS: what root sees, by its path.
seen() { [ "$("$CTL" show -f "$FILE" --json | jq -c "$1")" = "$2" ]; }

@test "a holder that was killed is not shown; one whose command lives is" {
	theirs
	kill -KILL "$(as_nobody "$CTL" show --json x | jq .holders[0].pid)"
	eventually seen '[(.holders | length), .holders[0].orphan]' '[1,true]'
	over || :
	eventually seen '.holders | length' 0
}

@test "a file that is no limiter, or none any more" {
	theirs
	local name
	over
	mkfifo "$PUBLIC/limiters/fifo"
	ln -s "$FILE" "$PUBLIC/limiters/link"
	ln -s /dev/zero "$PUBLIC/limiters/zero"
	mkdir "$PUBLIC/limiters/dir"
	head -c 300000 /dev/zero >"$PUBLIC/limiters/zeros"
	head -c 300000 /dev/urandom >"$PUBLIC/limiters/noise"
	: >"$PUBLIC/limiters/empty"
	chown -h 65534 "$PUBLIC"/limiters/*
	for name in fifo link zero dir zeros noise empty; do
		run -125 timeout 60 "$CTL" show -f "$PUBLIC/limiters/$name" || [ "$status" = 1 ]
		[ "${#lines[@]}" = 1 ]
	done
}

@test "its owner cuts, forges and replaces it meanwhile: a line, or what the file says" {
	theirs
	over
	cp "$FILE" good
	background forger as_nobody bash -c 'cd "$1" && n=0
		while [ ! -e stop ]; do
			case $((n++ % 4)) in
			0) : >x ;;
			1) cat "$2" >x ;;
			2) head -c 9000 /dev/urandom | dd of=x bs=1 seek=$((n % 100 * 3000)) conv=notrunc 2>/dev/null ;;
			3) rm -f x; cp "$2" x ;;
			esac
		done' bash "$PUBLIC/limiters" "$T/good"
	chmod 644 good
	chmod 755 "$T"
	local i
	for i in {1..60}; do
		run timeout 60 "$CTL" show -f "$FILE"
		[ "$status" = 0 ] || [ "$status" = 1 ] || [ "$status" = 125 ] || { echo "status $status: $output"; false; }
		run timeout 60 "$CTL" log --file "$FILE"
		[ "$status" -le 1 ] || [ "$status" = 125 ]
	done
	touch "$PUBLIC/limiters/stop"
	ended forger
}

@test "--users and --user: by the directories of all" {
	world '
		exec 2>&1
		flocklimit -N mine -n 2 true
		user 1001 flocklimit -N build -n 3 true
		user 1002 flocklimit -N build -n 4 true
		user 1003 mkdir /tmp/flocklimit-1001
		user 1003 ln -s /dev/zero /dev/shm/flocklimit-1003
		flocklimitctl list --users | sed "s/  */ /g"
		echo
		flocklimitctl list --user 1001 | sed "s/  */ /g"
		flocklimitctl show --user 1002 build | head -n 1
		flocklimitctl stats --users | grep -c _limit_units{
		flocklimitctl show --user 1003 build || echo $?
		flocklimitctl show --user 1002 no || echo $?
		flocklimitctl list --users x || echo $?
		flocklimitctl pause --user 1002 build || echo $?
		{ user 1001 flocklimitctl list --users || echo $?; } 2>&1 | sed "s/  */ /g"'
	[ "$status" -eq 0 ]
	diff - <<-'END' <(echo "$output")
		NAME USED HOLDERS WAITERS OLDEST WAIT STATE
		/run/flocklimit-0/mine 0/2 0 0 - idle
		/run/lock/flocklimit-1001/build 0/3 0 0 - idle
		/run/lock/flocklimit-1002/build 0/4 0 0 - idle

		NAME USED HOLDERS WAITERS OLDEST WAIT STATE
		/run/lock/flocklimit-1001/build 0/3 0 0 - idle
		build: idle, 0 of 4 in use, 0 waiting
		3
		flocklimitctl: --user 1003: that user has no limiter directory
		1
		flocklimitctl: no: there is no such limiter (/run/lock/flocklimit-1002/no): flocklimitctl list shows those there are
		1
		flocklimitctl: 'x': --users is for the limiters of all users: name none, or use --user
		125
		flocklimitctl: --user: means nothing to pause: see pause --help
		125
		flocklimitctl: /run/flocklimit-0: Permission denied: that user and root may look
		flocklimitctl: /run/lock/flocklimit-1002: Permission denied: that user and root may look
		NAME USED HOLDERS WAITERS OLDEST WAIT STATE
		/run/lock/flocklimit-1001/build 0/3 0 0 - idle
	END
}
