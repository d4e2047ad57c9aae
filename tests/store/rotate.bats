#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2030,SC2031,SC2317,SC2034 # how bats works: run, a subshell a test
# Secrets that change while some hold and wait, and authentication that is switched on and off under
# them: with the fake etcd.

load ../helpers/lib.bash
load memory/memory.bash
load fake/fake.bash

# secret FILE TEXT: at once, as whoever rotates secrets writes them.
secret() {
	(umask 077 && echo "$2" >"$1.new")
	mv "$1.new" "$1"
}

# stand USER:PASSWORD PARAMETERS [TTL]: a fake etcd with this user (or none), a holder and a waiter.
stand() {
	fake ${1:+-u "$1"}
	export FLOCKLIMIT_STORE="$STORE/x${2:+?$2}"
	hold a --ttl "${3:-6}" -N x -n 1
	background b "$FLOCKLIMIT" --ttl "${3:-6}" -N x -n 1 echo ran
	eventually stands 1
}

# renewed_since N: a holder's renewal has come through since there were so many.
signs() { log_count LeaseKeepAlive; }
renewed_since() { [ "$(signs)" -ge $(($1 + 3)) ]; }
asked_for_tokens() { log_count Authenticate; }
has_asked() { [ "$(asked_for_tokens)" -ge "$1" ]; }

# stands N: the waiter has its place in the line, and has asked so often to watch it.
asked_to_watch() { log_count 'Watch /x/x/cfg//w/'; }
stands() { [ "$(asked_to_watch)" -ge "$1" ]; }

# other_user USER:PASSWORD: from now on; open watches are asked again, too.
other_user() {
	order user "$1"
	order cut
}

# goes_on: both go on, and then the holder ends and the waiter runs.
goes_on() {
	eventually renewed_since "$(signs)"
	let_go a
	ended a
	cat a.err b.err
	[ "$status" -eq 0 ]
	ended b
	[ "$status" -eq 0 ]
	[ "$(cat b.out)" = ran ]
}

@test "a password is changed, and its file before that: nothing happens" {
	secret password old
	stand ann:old "user=ann&password-file=$T/password"
	secret password new
	other_user ann:new
	goes_on
	[ ! -s a.err ]
	[ ! -s b.err ]
	# Each of the two: once at first, once with the old password, once with the new.
	[ "$(asked_for_tokens)" -le 6 ]
}

@test "a password is changed, and its file only later: both retry, and etcd is not asked again and again" {
	local asked
	secret password old
	stand ann:old "user=ann&password-file=$T/password" 12
	other_user ann:new
	eventually has_asked 4
	# The takers try their calls every some 50 to 500 ms.
	sleep 1.5
	asked=$(asked_for_tokens)
	echo "asked $asked times"
	[ "$asked" -le 8 ]
	kill -0 "${pids[b]}" || { cat b.err; false; }
	secret password new
	goes_on
}

@test "a password that stays wrong: the waiter retries and says why, and etcd is asked ever less" {
	local asked
	secret password old
	stand ann:old "user=ann&password-file=$T/password"
	other_user ann:new
	eventually has_lines 1 b.err
	cat b.err
	says "user or password is wrong" b.err
	says "retrying" b.err
	# For the holder it is too late at its deadline.
	ended a
	cat a.err
	[ "$status" -eq 76 ]
	says "user or password is wrong" a.err
	asked=$(asked_for_tokens)
	echo "asked $asked times"
	[ "$asked" -le 14 ]
	kill -0 "${pids[b]}" || { cat b.err; false; }
}

@test "a new password's file that others may read: it says so" {
	secret password old
	stand ann:old "user=ann&password-file=$T/password" 12
	echo new >wide
	chmod 644 wide
	mv wide password
	other_user ann:new
	eventually has_lines 1 b.err
	cat b.err
	says "chmod 600" b.err
	chmod 600 password
	goes_on
}

@test "a password that is in no file, and is changed: the waiter is refused" {
	export FLOCKLIMIT_STORE_PASSWORD=old
	stand ann:old "user=ann"
	other_user ann:new
	ended b
	cat b.err
	[ "$status" -eq 125 ]
	says "user or password is wrong" b.err
}

@test "a token that ends, and its file has another only later: both retry" {
	secret token dbDgyEJFrlaNVtqZ.1
	# The fake gives these out, one after the other.
	fake -u ann:old
	order login
	export FLOCKLIMIT_STORE="$STORE/x?token-file=$T/token"
	hold a --ttl 12 -N x -n 1
	background b "$FLOCKLIMIT" --ttl 12 -N x -n 1 echo ran
	eventually stands 1
	order logout
	order cut
	order login
	# The waiter's watch is refused, and it goes on asking for one.
	eventually stands $(($(asked_to_watch) + 2))
	kill -0 "${pids[b]}" || { cat b.err; false; }
	secret token dbDgyEJFrlaNVtqZ.2
	goes_on
}

@test "authentication is switched on under takers that have a user and a password, and off again" {
	secret password right
	stand "" "user=ann&password-file=$T/password"
	other_user ann:right
	eventually renewed_since "$(signs)"
	order user
	goes_on
	[ ! -s a.err ]
	[ ! -s b.err ]
}

@test "authentication is switched on under takers that have none: they say what to give" {
	stand "" ""
	other_user ann:right
	ended b
	cat b.err
	[ "$status" -eq 125 ]
	says "it requires a user" b.err
	# The holder has until its deadline.
	order user
	eventually renewed_since "$(signs)"
	let_go a
	ended a
	[ "$status" -eq 0 ]
}
