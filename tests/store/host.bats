#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# Takers that may share a keeper do, over the store in memory.

load ../helpers/lib.bash
load memory/memory.bash

setup() {
	T=$BATS_TEST_TMPDIR
	export T FLOCKLIMIT_DIR=$T/limiters FLOCKLIMIT_LIMITS=""
	export ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0:handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0
	unset FLOCKLIMIT_KEEPER FLOCKLIMIT_NAME FLOCKLIMIT_HELD SHELL MAKEFLAGS MFLAGS MAKELEVEL
	declare -gA pids=()
	cd "$T" || return 1
	serve
	export FLOCKLIMIT_STORE=$STORE/team
}

# processes NAME: the pids of this test's processes of that name.
processes() {
	local pid
	for pid in $(pgrep -r RSDTt -x "$1"); do
		! grep -qzxF "T=$T" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
	done
}

keepers() { processes store-keeper; }
deputies() { processes store-deputy; }
keepers_are() { [ "$(keepers | wc -w)" = "$1" ] && [ "$(deputies | wc -w)" = "$1" ]; }

# another KEEPER DEPUTY: there is one of each, and the keeper, or the deputy, is not that one.
another() {
	keepers_are 1 && [ "$(keepers)" != "$1" ] && [ "$(deputies)" != "$2" ]
}

permits() { [ "$(count /team/x/cfg//h/)" = "$1" ]; }
waiters() { [ "$(count /team/x/cfg//w/)" = "$1" ]; }
lives() { [ "$(count /team/x/cfg//l/)" = "$1" ]; }

# at_rest: nothing is held, and the keeper has gone and left nothing but the user's key.
at_rest() {
	eventually permits 0
	eventually waiters 0
	eventually keepers_are 0
	[ "$(ls limiters/.keepers-*)" = key ]
	eventually lives 0
}

# a_line LABEL...: they wait in that order, and each writes its label into `order'.
a_line() {
	local label n=0
	for label; do
		background "$label" "$FLOCKLIMIT" -N x -n 1 "$ttl" sh -c 'echo "$1" >>order' sh "$label"
		eventually waiters $((++n))
	done
}

# served LABEL...: they were, in that order.
served() {
	local label
	for label; do
		ended "$label"
		[ "$status" = 0 ] || { cat "$label.err"; false; }
		[ ! -s "$label.err" ] || { cat "$label.err"; false; }
	done
	[ "$(xargs <order)" = "$*" ]
}

ttl=--ttl=60s

@test "takers share one keeper, and it goes when nobody has needed it for a while" {
	hold a -N x -n 1 "$ttl"
	first=$(keepers)
	hold b -N y -n 1 "$ttl"
	background m "${FLOCKLIMIT%limit}map" -N z -n 2 "$ttl" echo ::: one two
	ended m
	a_line c d
	keepers_are 1
	[ "$(keepers)" = "$first" ]
	# One life for each limiter, whoever waits or holds.
	lives 1
	let_go a
	ended a
	served c d
	run -0 "$FLOCKLIMIT" -N x -n 2 "$ttl" echo ran
	[ "$output" = ran ]
	[ "$(keepers)" = "$first" ]
	let_go b
	ended b
	at_rest
}

@test "a bad word for the keeper is refused" {
	refused env FLOCKLIMIT_KEEPER=none "$FLOCKLIMIT" -N x -n 1 true
	[[ $stderr == *"FLOCKLIMIT_KEEPER 'none': use host or own"* ]]
}

@test "the keeper has nothing of the command's, and is in no session of the job" {
	hold a -N x -n 1 "$ttl"
	keeper=$(keepers)
	[ "$(readlink "/proc/$keeper/cwd")" = / ]
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$keeper/fd/$fd")" = /dev/null ]
		[ "$(readlink "/proc/$(deputies)/fd/$fd")" = /dev/null ]
	done
	[ "$(ps -o sid= -p "$keeper")" != "$(ps -o sid= -p "${pids[a]}")" ]
	[ "$(ps -o args= -p "$keeper" | xargs)" = "flocklimit: keeper" ]
	let_go a
	ended a
	at_rest
}

@test "kill -9 of the job that started the keeper: the others do not notice" {
	setsid "$FLOCKLIMIT" -N x -n 1 "$ttl" sh -c 'echo $$ >up; exec sleep 1000' 3>&- &
	eventually test -s up
	keeper=$(keepers)
	hold z -N z -n 1 "$ttl"
	a_line b c
	kill -KILL "-$(ps -o sid= -p "$(cat up)" | xargs)"
	served b c
	[ "$(keepers)" = "$keeper" ]
	let_go z
	ended z
	at_rest
}

@test "kill -9 of the keeper: another goes on with all permits and places" {
	hold a -N x -n 1 "$ttl"
	a_line b c d
	for i in 1 2 3; do
		keeper=$(keepers)
		kill -KILL "$keeper"
		eventually another "$keeper" none
	done
	permits 1
	waiters 3
	kill -KILL "${pids[c]}"
	ended c
	eventually waiters 2
	let_go a
	ended a
	[ "$status" = 0 ]
	served b d
	at_rest
}

@test "without room for what they would share, a taker has a keeper of its own" {
	need_mount
	mkdir -m 700 limiters
	run -0 --separate-stderr unshare -m sh -c \
		'mount -t tmpfs -o mode=700,size=64k none limiters && exec "$0" -N x -n 1 echo ran' "$FLOCKLIMIT"
	[ "$output" = ran ]
	[ -z "$stderr" ]
}

@test "kill -9 of keeper and deputy: wrappers start others, which go on with all of it" {
	hold a -N x -n 1 "$ttl"
	a_line b c
	keeper=$(keepers) deputy=$(deputies)
	kill -KILL "$deputy" "$keeper"
	eventually another "$keeper" "$deputy"
	permits 1
	waiters 2
	let_go a
	ended a
	[ "$status" = 0 ]
	served b c
	at_rest
}

@test "kill -9 of waiters and keeper at once: the places of the dead are given up" {
	hold a -N x -n 1 "$ttl"
	a_line b c d
	keeper=$(keepers)
	kill -KILL "${pids[b]}" "${pids[c]}" "$keeper"
	ended b
	ended c
	eventually another "$keeper" none
	eventually waiters 1
	let_go a
	ended a
	served d
	at_rest
}

@test "kill -9 of wrapper and keeper: the command keeps its permit until it has ended" {
	hold a -N x -n 1 "$ttl"
	command=$(up a)
	keeper=$(keepers)
	kill -KILL "${pids[a]}" "$keeper"
	ended a
	eventually another "$keeper" none
	permits 1
	a_line b
	run -75 "$FLOCKLIMIT" -N x -n 1 "$ttl" -q --nonblock true
	kill -0 "$command"
	let_go a
	served b
	at_rest
}

@test "the same, after the deputy was killed, and nobody else is there" {
	hold a -N x -n 1 "$ttl"
	keeper=$(keepers) deputy=$(deputies)
	kill -KILL "$deputy"
	eventually another none "$deputy"
	[ "$(keepers)" = "$keeper" ]
	kill -KILL "${pids[a]}" "$keeper"
	ended a
	eventually another "$keeper" none
	run -75 "$FLOCKLIMIT" -N x -n 1 "$ttl" -q --nonblock true
	let_go a
	at_rest
}

@test "the job that started the keeper dies with it: its permit is free after ttl and grace" {
	hold a -N x -n 1 --ttl 2s
	ttl=--ttl=2s a_line b
	keeper=$(keepers) deputy=$(deputies)
	kill -KILL "${pids[a]}" "$(up a)" "$deputy" "$keeper"
	ended a
	served b
	at_rest
}

@test "a stopped keeper is replaced after a third of the ttl, and the command runs on" {
	hold a -N x -n 1 --ttl 3s
	ttl=--ttl=3s a_line b c
	keeper=$(keepers)
	kill -STOP "$keeper"
	eventually another "$keeper" none
	is_gone "$keeper"
	[ ! -s a.err ]
	permits 1
	let_go a
	ended a
	[ "$status" = 0 ]
	served b c
	at_rest
}

@test "a stopped keeper and its stopped deputy, as in a frozen cgroup, are replaced, too" {
	hold a -N x -n 1 --ttl 3s
	ttl=--ttl=3s a_line b c
	keeper=$(keepers) deputy=$(deputies)
	kill -STOP "$keeper" "$deputy"
	eventually another "$keeper" "$deputy"
	is_gone "$keeper"
	[ ! -s a.err ]
	let_go a
	ended a
	[ "$status" = 0 ]
	served b c
	at_rest
}

@test "the same, where takers only wait" {
	"$FLOCKLIMIT" -N x -n 1 --ttl 3s true
	"${FLOCKLIMIT}ctl" pause x
	ttl=--ttl=3s a_line b
	keeper=$(keepers) deputy=$(deputies)
	kill -STOP "$keeper" "$deputy"
	eventually another "$keeper" "$deputy"
	waiters 1
	"${FLOCKLIMIT}ctl" resume x
	served b
	at_rest
}

@test "wrapper, keeper and deputy are stopped past the deadline: the command is killed when they go on" {
	hold a -N x -n 1 --ttl 2s
	command=$(up a) keeper=$(keepers) deputy=$(deputies)
	FLOCKLIMIT_KEEPER=own ttl=--ttl=2s a_line b # as on another machine
	kill -STOP "${pids[a]}" "$keeper" "$deputy"
	served b
	kill -0 "$command"
	kill -CONT "${pids[a]}" "$keeper" "$deputy"
	ended a
	[ "$status" = 76 ]
	is_gone "$command"
	# The wrapper may have killed both, as they had not run, and left the place where they met.
	"$FLOCKLIMIT" -N x -n 1 --ttl 2s true
	at_rest
}

@test "a stopped wrapper keeps its permit and its place over the death of the keeper" {
	hold a -N x -n 1 "$ttl"
	a_line b c
	kill -STOP "${pids[a]}" "${pids[b]}"
	keeper=$(keepers)
	kill -KILL "$keeper"
	eventually another "$keeper" none
	let_go a
	permits 1
	waiters 2
	kill -CONT "${pids[a]}" "${pids[b]}"
	ended a
	[ "$status" = 0 ]
	served b c
	at_rest
}

# a_cgroup: the name of a new one, which can be frozen.
a_cgroup() {
	local top
	for top in /sys/fs/cgroup/freezer /sys/fs/cgroup; do
		! mkdir "$top/flocklimit-test-$$" 2>/dev/null || {
			echo "$top/flocklimit-test-$$"
			return
		}
	done
}

# freeze CGROUP 1|0
freeze() {
	if [ -e "$1/cgroup.freeze" ]; then
		echo "$2" >"$1/cgroup.freeze"
	elif [ "$2" = 1 ]; then
		echo FROZEN >"$1/freezer.state"
	else
		echo THAWED >"$1/freezer.state"
	fi
}

@test "a job's frozen cgroup does not stop the keeper that it started" {
	local cgroup keeper status_of_b=1
	need_root
	cgroup=$(a_cgroup)
	[ -n "$cgroup" ] || skip "no cgroup can be made"
	ttl=--ttl=3s
	background a sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$cgroup" \
		"$FLOCKLIMIT" -N x -n 2 "$ttl" sleep 1000
	eventually permits 1 || { rmdir "$cgroup"; false; }
	keeper=$(keepers)
	freeze "$cgroup" 1
	! "$FLOCKLIMIT" -N x -n 2 "$ttl" sleep 5 || status_of_b=0
	freeze "$cgroup" 0
	xargs -r kill -KILL <"$cgroup/cgroup.procs" 2>/dev/null || :
	ended a
	eventually rmdir "$cgroup"
	[ "$status_of_b" = 0 ]
	[ "$(keepers)" = "$keeper" ]
	at_rest
}

@test "a lost permit is reported by the wrapper" {
	hold a -N x -n 1 --ttl 2s
	kill -STOP "${pids[store]}"
	ended a
	[ "$status" = 76 ]
	says "flocklimit: x: lost the permit at" a.err
	says "pid $(up a) is sent TERM" a.err
	kill -CONT "${pids[store]}"
	eventually keepers_are 0
}

@test "flocklimit is the small wrapper, but the store's program with a keeper of its own or a jobserver" {
	program() { "$FLOCKLIMIT" -N x -n 9 "$ttl" "$@" sh -c 'readlink /proc/$PPID/exe'; }
	hold a -N x -n 9 "$ttl"
	[[ $(program) == */flocklimit-wrapper ]]
	[[ $(program --jobserver) == */store-memory ]]
	[[ $(FLOCKLIMIT_KEEPER=own program) == */store-memory ]]
	let_go a
	ended a
	at_rest
}

@test "a password is replaced, and then keeper and deputy are killed: their takers go on" {
	(umask 077 && echo one >password)
	export FLOCKLIMIT_STORE="$STORE/team?password-file=$T/password"
	hold a -N x -n 1 "$ttl"
	a_line b c
	echo two >password
	keeper=$(keepers) deputy=$(deputies)
	kill -KILL "$keeper" "$deputy"
	eventually another "$keeper" "$deputy"
	let_go a
	ended a
	[ "$status" = 0 ]
	served b c
	at_rest
}

@test "another ttl, URL, credential or --on-lost is another keeper" {
	hold a -N x -n 9 --ttl 60s
	hold b -N x -n 9 --ttl 61s
	keepers_are 2
	hold c -N x -n 9 --ttl 60s --on-lost=warn
	keepers_are 3
	FLOCKLIMIT_STORE=$STORE/other hold d -N x -n 9 --ttl 60s
	keepers_are 4
	FLOCKLIMIT_STORE_PASSWORD=secret hold e -N x -n 9 --ttl 60s
	keepers_are 5
	hold f -N y -n 9 --ttl 60s
	keepers_are 5
	run -1 grep -r secret limiters/.keepers-*
	for i in a b c d e f; do
		let_go "$i"
		ended "$i"
		[ "$status" = 0 ]
	done
	eventually keepers_are 0
}

@test "users in one limiter directory have keepers of their own" {
	need_root
	setpriv --reuid 65534 --clear-groups true 2>/dev/null || skip "may not become another user"
	mkdir -m 1777 limiters
	chmod 755 "$T" "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
	setpriv --reuid 65534 --clear-groups test -w limiters || skip "the directory is out of another user's reach"
	setpriv --reuid 65534 --clear-groups test -x "$FLOCKLIMIT_LIBEXEC/store-memory" ||
		skip "the program is out of another user's reach"
	hold a -N x -n 2 "$ttl"
	background b setpriv --reuid 65534 --clear-groups "$FLOCKLIMIT" -N x -n 2 "$ttl" sleep 1000
	eventually permits 2
	meetings_are 2
	[ "$(stat -c '%u %a' limiters/.keepers-65534)" = "65534 700" ]
	kill "${pids[b]}"
	ended b
	let_go a
	ended a
	eventually meetings_are 0
}

# meetings_are N: what root may see of other users' keepers.
meetings_are() { [ "$(find limiters -name '*.socket' | wc -l)" = "$1" ]; }

@test "without the right to a priority, and from a nice job" {
	drop=()
	[ "$(id -u)" != 0 ] || drop=(setpriv --bounding-set "-sys_nice,-sys_resource")
	background a "${drop[@]}" nice -n 5 "$FLOCKLIMIT" -N x -n 1 "$ttl" sleep 1000
	eventually permits 1
	a_line b
	kill "${pids[a]}"
	ended a
	served b
	at_rest
}

@test "where keepers can't meet, a taker has one of its own" {
	mkdir limiters
	: >"limiters/.keepers-$(id -u)"
	run -0 "$FLOCKLIMIT" -N x -n 1 "$ttl" echo ran
	[ "$output" = ran ]
	eventually permits 0
	eventually keepers_are 0
}
