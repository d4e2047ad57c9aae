#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# No room: on the file system, of descriptors, of processes, of memory.

load ../helpers/lib.bash

# Everything below runs in a mount namespace, so that no mount outlives its test.
inside() {
	export -f background eventually ended hold is_state let_go up has_lines says
	timeout 300 unshare -m bash -c "set -e; declare -A pids=(); T='$T'; cd '$T'; mkdir -p full; $1" 3>&-
}

# A limiter on FS without room for one, then with room.
no_room_at_first() {
	need_mount
	run -0 inside "$1"'
		head -c 100M /dev/zero >full/ballast 2>/dev/null || :
		for way in "-f full/lim" "-N x"; do
			status=0
			FLOCKLIMIT_DIR=$T/full "$FLOCKLIMIT" $way -n 1 echo ran 2>err || status=$?
			echo "status $status: $(cat err)"
		done
		ls -I lost+found full
		rm full/ballast
		"$FLOCKLIMIT" -f full/lim -n 1 sh -c "echo ticket \$FLOCKLIMIT_TICKET"
		ls -I lost+found full
		stat -c "%s bytes" full/lim'
	echo "$output"
	[ "${#lines[@]}" -eq 6 ]
	[ "${lines[0]}" = "status 125: flocklimit: full/lim: $T/full/lim: no space left on its file system: free some" ]
	[ "${lines[1]}" = "status 125: flocklimit: x: $T/full/x: no space left on its file system: free some" ]
	[ "${lines[2]}" = ballast ] # and nothing else
	[ "${lines[3]}" = "ticket 1" ]
	[ "${lines[4]}" = lim ]
	[ "${lines[5]}" = "278528 bytes" ]
}

# Sixteen hold, which is what a new limiter has slots for; there is no room for more.
no_room_for_more() {
	need_mount
	run -0 inside "$1"'
		lim="full/lim -n 100"
		for i in $(seq 16); do hold h$i -f $lim; done
		head -c 100M /dev/zero >>full/ballast 2>/dev/null || :
		before=$(stat -c %s full/lim)
		for option in "" --nonblock "-t 1" -o; do
			status=0
			timeout 300 "$FLOCKLIMIT" -f $lim $option echo ran 2>err || status=$?
			echo "status $status: $(cat err)"
		done
		cat full/lim | head -c $before >/dev/null # it can still be read
		# Who holds is not harmed: one ends, and its place is free for the next.
		let_go h1; ended h1; echo "first $status $(cat h1.err)"
		"$FLOCKLIMIT" -f $lim -t 0 echo in its place
		# With room, a seventeenth and eighteenth run beside the others.
		rm full/ballast
		rm -f h1.fifo h1.up
		hold h1 -f $lim
		hold h17 -f $lim
		hold h18 -f $lim
		"$FLOCKLIMIT" -f $lim -n 18 -t 0 true 2>err || cat err
		for i in $(seq 18); do
			let_go h$i; ended h$i
			[ "$status" = 0 ] && [ ! -s h$i.err ] || echo "h$i: $status $(cat h$i.err)"
		done
		"$FLOCKLIMIT" -f full/lim -n 1 -t 0 echo all free
		ls -I lost+found full'
	echo "$output"
	local i
	for i in 0 1 2 3; do
		[ "${lines[i]}" = "status 125: flocklimit: full/lim: $T/full/lim: no space left on its file system: free some" ]
	done
	[ "${lines[4]}" = "first 0 " ]
	[ "${lines[5]}" = "in its place" ]
	[[ "${lines[6]}" == "flocklimit: full/lim: no permit without waiting: 18 of 18 in use, 0 ahead of you "* ]]
	[ "${lines[7]}" = "all free" ]
	[ "${lines[8]}" = lim ]
	[ "${#lines[@]}" -eq 9 ]
}

# A disk of so many KiB, to be mounted at full.
on_ext4() {
	command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"
	[ -e /dev/loop-control ] || skip "no loop devices"
	truncate -s 4M disk
	mkfs.ext4 -q -b 1024 -O ^has_journal disk
	unshare -m mount -o loop disk "$T" 2>/dev/null || skip "may not mount a file"
}

@test "a tmpfs without room for a limiter: a line, nothing left; and later there is room" {
	no_room_at_first 'mount -t tmpfs -o size=20k none full;'
}

@test "a disk without room for a limiter: the same" {
	on_ext4
	no_room_at_first 'mount -o loop disk full;'
}

@test "no inode left for a limiter" {
	need_mount
	run inside 'mount -t tmpfs -o nr_inodes=3 none full; touch full/a full/b 2>/dev/null || :
		"$FLOCKLIMIT" -f full/lim true'
	[ "$status" -eq 125 ]
	[ "$output" = "flocklimit: full/lim: $T/full/lim: no space left on its file system: free some" ]
}

@test "a tmpfs without room for a seventeenth: it alone is refused" {
	no_room_for_more 'mount -t tmpfs -o size=64k none full;'
}

@test "a disk without room for a seventeenth: the same" {
	on_ext4
	no_room_for_more 'mount -o loop disk full;'
}

@test "takers in line when a newcomer finds no room are served in their turn" {
	need_mount
	run -0 inside 'mount -t tmpfs -o size=12k none full
		lim="full/lim -n 1"
		hold h -f $lim
		for i in $(seq 15); do
			background w$i "$FLOCKLIMIT" -f $lim -v sh -c "echo \$1 >>order" sh $i
			eventually says waiting: w$i.err
		done
		head -c 100M /dev/zero >full/ballast 2>/dev/null || :
		"$FLOCKLIMIT" -f $lim true || echo "seventeenth $?"
		kill -KILL ${pids[w3]}
		"$FLOCKLIMIT" -f $lim -t 0 -q true || echo "in the place of a dead one $?"
		let_go h
		ended h
		for i in 1 2 4 5 6 7 8 9 10 11 12 13 14 15; do ended w$i; [ $status = 0 ]; done
		cat order | tr "\n" " "' 2>/dev/null
	echo "$output"
	[[ "${lines[0]}" == "flocklimit: full/lim: "*"no space left on its file system"* ]]
	[ "${lines[1]}" = "seventeenth 125" ]
	[ "${lines[-1]}" = "1 2 4 5 6 7 8 9 10 11 12 13 14 15 " ]
}

@test "a quota is as a full disk" {
	command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"
	[ -e /dev/loop-control ] || skip "no loop devices"
	command -v setquota >/dev/null || skip "no setquota"
	need_root
	public
	truncate -s 8M disk
	mkfs.ext4 -q -O quota disk 2>/dev/null || skip "no quotas in mkfs.ext4"
	unshare -m mount -o loop disk "$T" 2>/dev/null || skip "may not mount a file"
	run inside 'mount -o loop,usrquota disk full || exit 99
		chmod 777 full; setquota -u 65534 4 4 0 0 full || exit 99
		setpriv --reuid 65534 --regid 65534 --clear-groups '"$PUBLIC"'/flocklimit -f full/lim true'
	[ "$status" -ne 99 ] || skip "no quotas here"
	[ "$status" -eq 125 ]
	[[ $output == *"no space left on its file system"* ]]
}

# ---- what a process may have ----

# by_steps FIRST STEP LAST HOW: with HOW N for N from FIRST on, each run is refused with one line
# that says $words, until the first that is not; from then on every one succeeds.
by_steps() {
	local n refusals=0 good=0
	for ((n = $1; n <= $3; n += $2)); do
		status=0
		"$4" "$n" >out 2>err || status=$?
		if [ "$status" -eq 0 ]; then
			good=$((good + 1))
			[ "$(cat out)" = ran ]
			[ ! -s err ]
			continue
		fi
		echo "$n: status $status: $(cat err)"
		[ "$good" -eq 0 ]
		[ "$status" -eq 125 ]
		[ ! -s out ]
		has_lines 1 err
		grep -q "^flocklimit: x: .*$words" err
		refusals=$((refusals + 1))
	done
	echo "$refusals refused, then $good runs"
	[ "$refusals" -gt 0 ]
	[ "$good" -gt 0 ]
	# Nothing is kept, nothing is left.
	silent 0 "$FLOCKLIMIT" -N x -n 1 -t 0 true
	[ "$(ls limiters)" = x ]
}

is_static() {
	file "$FLOCKLIMIT" | grep -q 'statically linked' || skip "a dynamic program needs some itself"
}

@test "descriptors, from none on: a line each time, until there are enough" {
	is_static
	# A child of its own, so that what it inherits is known: 0, 1, 2.
	one_more() {
		[ -n "$keep" ] || rm -f limiters/x
		# shellcheck disable=SC2094 # the program runs, and is read
		with_descriptors "$1" "$FLOCKLIMIT" -N x -n 1 /proc/self/fd/0 -V <"$FLOCKLIMIT" >said || return
		echo ran
	}
	local keep
	mkdir -m 700 limiters
	words='no file descriptors left: raise ulimit -n$'
	for keep in '' yes; do
		by_steps 0 1 9 one_more
	done
}

@test "descriptors, for one who waits and looks after orphans" {
	is_static
	local n
	# With few, there is none for the thread that waits for the orphan: it looks on a tick.
	for n in 6 7 8; do
		rm -f a.fifo a.up
		hold a -N x -n 1
		kill -KILL "${pids[a]}"
		ended a
		background b with_descriptors "$n" "$FLOCKLIMIT" -N x -n 1 -t 20 -v "$FLOCKLIMIT" -V
		eventually says waiting: b.err
		let_go a
		ended b
		echo "$n: $status: $(cat b.err)"
		[ "$status" -eq 0 ]
	done
}

@test "whatever needs descriptors says so, and what to raise" {
	local n form
	for form in --jobserver --until-ready --background '--and y' '--when-run true'; do
		for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
			# shellcheck disable=SC2086 # two words
			run --separate-stderr with_descriptors "$n" "$FLOCKLIMIT" -N x -n 1 $form true
			[ "$status" -ne 0 ] || continue
			# A program that is not static needs one before it is a program.
			[[ $stderr != *"error while loading shared libraries"* ]] || continue
			echo "$form, $n: $status: $stderr"
			[ "$status" -eq 125 ]
			[[ $stderr =~ ^flocklimit:\ .*:\ raise\ ulimit\ -n$ ]]
		done
		[ "$status" -eq 0 ]
		silent 0 "$FLOCKLIMIT" -N x -n 1 -t 20 true
	done
}

@test "a gate that can't be looked at for want of descriptors says so" {
	local when
	for when in 'mem>1K' 'running<100000' 'disk:/>1'; do
		run --separate-stderr with_descriptors 3 "$FLOCKLIMIT" -N x -n 1 --when "$when" true
		[[ $stderr != *"error while loading shared libraries"* ]] || skip "not static"
		echo "$when: $status: $stderr"
		[[ $when == disk:* ]] || [ "$stderr" = "flocklimit: --when '$when': no file descriptors left to look: raise ulimit -n" ]
	done
}

@test "flocklimitctl without a descriptor says what to raise" {
	"$FLOCKLIMIT" -N x -n 1 true
	run --separate-stderr with_descriptors 4 "$FLOCKLIMIT"ctl show x
	[[ $stderr != *"error while loading shared libraries"* ]] || skip "not static"
	[ "$status" -eq 0 ] || [[ $stderr == *": raise ulimit -n" ]]
}

@test "a new limiter where no file may grow: a line that says what to raise" {
	run -125 --separate-stderr bash -c 'ulimit -f 4; exec "$FLOCKLIMIT" -N new -n 1 true'
	[[ $stderr == *"File too large: raise ulimit -f" ]]
	silent 0 "$FLOCKLIMIT" -N new -n 1 true
}

@test "processes, from none on: a line each time, until there are enough" {
	need_root
	public
	# The kernel counts all processes of a user: other tests, here or beside, have their own.
	local NOBODY=$((20000 + $$ % 40000))
	chown "$NOBODY" "$PUBLIC/limiters"
	one_more() {
		as_nobody setpriv --no-new-privs prlimit --nproc="$1:$1" "$PUBLIC/flocklimit" -N x -n 1 echo ran
	}
	as_nobody prlimit --nproc=100:100 true || skip "no such limit here"
	local n refusals=0 good=0
	for ((n = 0; n <= 20; n++)); do
		run --separate-stderr one_more "$n"
		if [ "$status" -eq 0 ]; then
			good=$((good + 1))
			[ "$output" = ran ]
		else
			[ "$good" -eq 0 ]
			[ "$status" -eq 125 ]
			[ "$stderr" = "flocklimit: x: cannot start a process: Resource temporarily unavailable: raise ulimit -u, or the cgroup's pids.max, or let others end" ]
			refusals=$((refusals + 1))
		fi
	done
	echo "$refusals refused, then $good runs"
	[ "$refusals" -gt 0 ]
	[ "$good" -gt 0 ]
	# The permit was given back each time.
	silent 0 as_nobody "$PUBLIC/flocklimit" -N x -n 1 -t 0 true
	run -0 as_nobody "$PUBLIC/flocklimit" -N x -n 1 -t 0 sh -c 'echo "$FLOCKLIMIT_SEAT"'
	[ "$output" = 0 ]
}

@test "the next in the line runs when the one before it can't start a process" {
	need_root
	public
	mkfifo -m 666 "$PUBLIC/go"
	background a as_nobody "$PUBLIC/flocklimit" -N x -n 1 cat "$PUBLIC/go"
	eventually is_waiting_for a
	background b as_nobody prlimit --nproc=1:1 "$PUBLIC/flocklimit" -v -N x -n 1 echo b
	eventually says waiting: b.err
	background c as_nobody "$PUBLIC/flocklimit" -v -N x -n 1 echo c
	eventually says waiting: c.err
	timeout 300 sh -c ': >"$1"' sh "$PUBLIC/go"
	ended a
	ended b
	[ "$status" -eq 125 ]
	says 'cannot start a process' b.err
	ended c
	[ "$status" -eq 0 ]
	[ "$(cat c.out)" = c ]
}

# is_waiting_for LABEL: its limiter has no room.
is_waiting_for() {
	! as_nobody "$PUBLIC/flocklimit" -N x -n 1 -t 0 -q true
}

@test "memory, in steps: a line each time, until there is enough" {
	is_static
	one_more() {
		sh -c 'ulimit -v "$1"; exec "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -V' sh "$1" >said || return
		echo ran
	}
	# Below, the kernel can't even load the program.
	local least
	for ((least = 256; least < 20000; least += 64)); do
		! sh -c 'ulimit -v "$1"; exec "$FLOCKLIMIT" -V' sh "$least" >/dev/null 2>&1 || break
	done
	words='no memory to map the limiter: raise ulimit -v$'
	by_steps $((least + 64)) 1024 80000 one_more
}

@test "memory, to the page around what is just not enough" {
	is_static
	local low=2000 high=120000 middle n
	one_more() {
		sh -c 'ulimit -v "$1"; exec "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -V' sh "$1" >said || return
		echo ran
	}
	while ((high - low > 4)); do
		middle=$(((low + high) / 2 & ~3))
		if one_more "$middle" >/dev/null 2>&1; then high=$middle; else low=$middle; fi
	done
	words='memory'
	by_steps $((high - 64)) 4 $((high + 64)) one_more
}
