# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# shellcheck disable=SC2016 # for the inner shells
# Shared by the tests of stores that need a real etcd; after lib.bash.  Servers have a name; their
# data is in $SERVERS/NAME, which is the file's if setup_file starts them, or the test's own.

CTL=${FLOCKLIMIT}ctl
MAP=${FLOCKLIMIT%limit}map
STORE_BUILD=$TESTS_BUILD/store/etcd
export CTL MAP STORE_BUILD
export ETCDCTL_API=3
export FLOCKLIMIT_KEEPER=own # each taker stands for one on a machine of its own
VIA=()
NET=() # what is executed to ask the servers, if they are in another network: net.bash

# need_etcd: no test that needs one is ever skipped.
need_etcd() {
	command -v etcd >/dev/null || {
		echo "there is no etcd: install Debian's etcd-server" >&2
		return 1
	}
	command -v etcdctl >/dev/null || {
		echo "there is no etcdctl: install Debian's etcd-client" >&2
		return 1
	}
}

# servers_in DIR: where the servers' data goes from now on.
servers_in() {
	SERVERS=$1
	mkdir -p "$SERVERS"
	export SERVERS
}

# a_port: one on which nobody listens, below those that the kernel gives to clients.
a_port() {
	local port
	while :; do
		port=$((10000 + (RANDOM << 15 | RANDOM) % 22000))
		# shellcheck disable=SC2188 # only whether it can be opened
		(: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	echo "$port"
}

# url_of SERVER; peer_of SERVER: where clients and its peers find it; at 127.0.0.1, if there is no
# $SERVERS/SERVER.host.
host_of() { if [ -s "$SERVERS/$1.host" ]; then cat "$SERVERS/$1.host"; else echo 127.0.0.1; fi; }
url_of() { echo "$(cat "$SERVERS/$1.scheme")://$(host_of "$1"):$(cat "$SERVERS/$1.port")"; }
peer_of() { echo "http://$(host_of "$1"):$(cat "$SERVERS/$1.peer")"; }
pid_of() { cat "$SERVERS/$1.pid"; }

# launch NAME [OPTION...]: begins it, or goes on with the data that it has, on the same ports.
launch() {
	local name=$1 url
	shift
	[ -s "$SERVERS/$name.scheme" ] || echo http >"$SERVERS/$name.scheme"
	url=$(url_of "$name")
	if [ $# -gt 0 ]; then
		printf '%s\n' "$@" >"$SERVERS/$name.options"
	elif [ -e "$SERVERS/$name.options" ]; then
		mapfile -t extra <"$SERVERS/$name.options"
		set -- "${extra[@]}"
	fi
	# What a test started is known by its T; servers of the whole file have none.
	local at=()
	[ ! -s "$SERVERS/$name.net" ] || at=(nsenter -n -t "$(cat "$SERVERS/$name.net")")
	"${at[@]}" env -i PATH="$PATH" ${T:+T="$T"} etcd --name "$name" --data-dir "$SERVERS/$name" \
		--listen-client-urls "$url" --advertise-client-urls "$url" \
		--listen-peer-urls "$(peer_of "$name")" \
		--initial-advertise-peer-urls "$(peer_of "$name")" \
		--initial-cluster "$(cat "$SERVERS/cluster")" --initial-cluster-token "$SERVERS" \
		--logger zap --log-outputs stderr "$@" \
		</dev/null >>"$SERVERS/$name.log" 2>&1 3>&- &
	echo $! >"$SERVERS/$name.pid"
	disown
}

# health NAME: it serves, and knows a leader.
health() {
	"${NET[@]}" curl -fsk -m 1 "${TLS_CLIENT[@]}" "$(url_of "$1")/health" 2>/dev/null | grep -q true
}

# serves NAME: waits until it does; fails as soon as it has ended.
serves() {
	local deadline=$((SECONDS + 10))
	until health "$1"; do
		if ! kill -0 "$(pid_of "$1")" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
			tail -n 3 "$SERVERS/$1.log" >&2
			return 1
		fi
		sleep 0.01
	done
}

# cluster NAME...: new servers that know each other; other ports if somebody was quicker.
cluster() {
	local name try text
	for try in 1 2 3 4 5; do
		text=
		for name; do
			a_port >"$SERVERS/$name.port"
			a_port >"$SERVERS/$name.peer"
			rm -rf "${SERVERS:?}/$name"
			text=$text,$name=$(peer_of "$name")
		done
		echo "${text#,}" >"$SERVERS/cluster"
		for name; do
			# Alone, it need not wait for others to stand for election.
			if [ $# -eq 1 ]; then
				launch "$name" --heartbeat-interval=10 --election-timeout=50 "${ETCD_OPTIONS[@]}"
			else
				launch "$name" --heartbeat-interval=50 --election-timeout=500 "${ETCD_OPTIONS[@]}"
			fi
		done
		for name; do
			serves "$name" || {
				end_servers
				continue 2
			}
		done
		return 0
	done
	return 1
}

# one_server: `one', its address in $ADDRESS; three_servers: a, b and c.
one_server() {
	need_etcd
	cluster one
	ADDRESS=$(host_of one):$(cat "$SERVERS/one.port")
	export ADDRESS
}

# own_server [OPTION...]: one of the test's own, with these options of etcd.
own_server() {
	servers_in "$T/servers"
	ETCD_OPTIONS=("$@")
	one_server
}

three_servers() {
	local name
	need_etcd
	cluster a b c
	ADDRESS=
	for name in a b c; do
		ADDRESS=$ADDRESS,127.0.0.1:$(cat "$SERVERS/$name.port")
	done
	ADDRESS=${ADDRESS#,}
	export ADDRESS
}

# is_closed PID: its last thread has ended, and so its ports are free.  One of several may be a zombie
# before the others.
is_closed() {
	local threads=("/proc/$1/task"/*)
	is_gone "$1" && [ "${#threads[@]}" -le 1 ]
}

# end_server NAME [SIGNAL]: it is gone when this returns.
end_server() {
	local pid
	pid=$(pid_of "$1")
	kill -"${2:-KILL}" "$pid" 2>/dev/null || return 0
	kill -CONT "$pid" 2>/dev/null || :
	eventually is_closed "$pid"
}

# end_servers: all of them, whatever state they are in.
end_servers() {
	local file
	for file in "$SERVERS"/*.pid; do
		[ ! -e "$file" ] || kill -KILL "$(cat "$file")" 2>/dev/null || :
	done
}

# again NAME: launched once more, with the data that it has; serves when this returns.
again() {
	launch "$1"
	serves "$1"
}

freeze() { kill -STOP "$(pid_of "$1")"; }
thaw() { kill -CONT "$(pid_of "$1")"; }

# leader: the name of who leads now, as the others see it; leads NAME.
leader() {
	local name answer
	for name in "${@:-a}"; do
		answer=$("${NET[@]}" curl -fs -m 1 -d '{}' "$(url_of "$name")/v3/maintenance/status") || continue
		jq -r .leader <<<"$answer" | sed "s/^0*//" | while read -r id; do
			member_named "$name" "$id"
		done
		return
	done
	return 1
}

# member_named NAME ID: asks NAME who ID is.
member_named() {
	"${NET[@]}" curl -fs -m 1 -d '{}' "$(url_of "$1")/v3/cluster/member/list" |
		jq -r --arg id "$2" '.members[] | select(.ID == $id).name'
}

# etcd_do ARG...: etcdctl, at the servers that are there.
etcd_do() {
	"${NET[@]}" timeout 300 etcdctl --endpoints="$ADDRESS" "$@"
}

# prefix: a test has keys of its own, in servers that it may share.
prefix() { echo "/t$BATS_TEST_NUMBER"; }

# use_store [SCHEME [PARAMETERS]]: where limiters are from now on.
# shellcheck disable=SC2120 # tests give them
use_store() {
	STORE=${1:-etcd}://$ADDRESS$(prefix)${2-}
	FLOCKLIMIT_STORE=$STORE
	export STORE FLOCKLIMIT_STORE
}

# times TTL: of takers from now on, with the least grace that is taken for it: a command that is cut off
# has $DEADLINE ms, and a dead one's permit is given on after $RECLAIM ms, and before $LATEST.
times() {
	local grace=$(((3030 + 347 * $1 + 999) / 1000))
	TTL=$1
	RECLAIM=$(((TTL + grace) * 1000))
	DEADLINE=$((RECLAIM - 1000 - RECLAIM / 100))
	LATEST=$((RECLAIM + 3500))
}
times 2

fl() { "$FLOCKLIMIT" --ttl "$TTL" "$@"; }
ctl() { "${NET[@]}" "$CTL" "$@"; }

# no_keys [NAME]: nothing is left of takers; but what was declared of the limiter.
no_keys() {
	! etcd_do get --prefix "$(prefix)/${1-}" --keys-only | grep -E '//[ehlpstw]/'
}

# keys LETTER: how many keys of that kind there are.
keys() {
	etcd_do get --prefix "$(prefix)/" --keys-only | grep -c "//$1/"
}
has_keys() { [ "$(keys "$2")" = "$1" ]; }

# queued N [NAME]: so many wait; holders N [NAME].
queued() { [ "$(etcd_do get --prefix "$(prefix)/${2:-x}/cfg//w/" --keys-only | grep -c .)" = "$1" ]; }
holders() { [ "$(etcd_do get --prefix "$(prefix)/${2:-x}/cfg//h/" --keys-only | grep -c .)" = "$1" ]; }

# ---- the witness -----------------------------------------------------------------------------

# watched: from here on there is a log of who runs, and somebody who sees them die.
watched() {
	LOG=$T/log
	export LOG
	: >"$LOG"
	"$STORE_BUILD/witness" -d "$LOG" 3>&- &
	pids[watch]=$!
	eventually says WATCHING "$LOG"
}

# taker LABEL HOLD OPTION...: a taker whose command is the witness; HOLD: seconds, or a fifo.  What is in
# VIA is executed to begin it: a command that ends with executing its arguments.
taker() {
	local label=$1 hold=$2
	shift 2
	"$STORE_BUILD/witness" -w "$LOG" "$label"
	background "$label" "${VIA[@]}" env TAKER="$label" "$FLOCKLIMIT" --ttl "$TTL" -N x "$@" \
		"$STORE_BUILD/witness" "$LOG" "$hold"
}

# holder LABEL OPTION...: one that runs until release LABEL.
holder() {
	mkfifo "$1.go"
	taker "$1" "$1.go" "${@:2}"
	eventually begun "$1"
}
release() { timeout 300 sh -c ': >"$1.go"' sh "$1"; }

# line_up N LABEL OPTION...: LABEL waits, and is the Nth to do so; it will run for a moment.
line_up() {
	taker "$2" 0.02 "${@:3}"
	eventually queued "$1"
}

# a_pair: `a' holds the only permit and `b' waits for it; $gone is a time at which both stood so.
a_pair() {
	watched
	holder a -n 1
	taker b 0.02 -n 1
	eventually waits_one
	gone=$(the_clock)
}
# By the command, which finds and trusts the server as the takers do; etcdctl may not.
waits_one() { [ "$("${VIA[@]}" "$CTL" show --json x | jq '.waiters | length')" = 1 ]; }

# passes_on: the holder's end is the waiter's turn; the limit held.
passes_on() {
	release a
	over a
	[ "$status" -eq 0 ] || return 1
	over b
	[ "$status" -eq 0 ] || return 1
	judged -n 1 || return 1
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a b " ]
}

# goes_on: both outlive what happened at $gone by more than a dead taker's permit lasts.
goes_on() {
	until_clock $((gone + RECLAIM + 1000))
	not_begun b || return 1
	waits_one || return 1
	! says "lost the permit" a.err || return 1
	passes_on
}

# line_of N: `a' holds the only permit, and w1 to wN wait; the last word of the holder's life may be as old
# as $gone when something happens to the server then.
line_of() {
	local i
	watched
	holder a -n 1
	LINE=()
	for ((i = 1; i <= $1; i++)); do
		line_up "$i" "w$i" -n 1
		LINE+=("w$i")
	done
	gone=$(the_clock)
}

# all_run LABEL...: they end well.
all_run() {
	local label
	for label; do
		over "$label"
		[ "$status" -eq 0 ] || return 1
	done
}

# in_order: all of line_of ran, by their places; the limit held.
# shellcheck disable=SC2119 # of all limiters
in_order() {
	all_run "${LINE[@]}" || return 1
	judged -n 1 || return 1
	spotless
	[ "$(awk '/^BEGIN/ { printf "%s ", $8 }' "$LOG")" = "a ${LINE[*]} " ]
}

# survives: the holder of line_of went on, and the line runs when it has ended.
survives() {
	until_clock $((gone + RECLAIM))
	not_begun w1 || return 1
	release a
	all_run a || return 1
	in_order || return 1
	! says "lost the permit" a.err
}

# ends: the holder's command was ended in time, and said why.
ends() {
	over a
	cat a.err
	[ "$status" -eq 76 ] || return 1
	measured "the command was ended after $(($(stopped a) - gone)) ms"
	[ "$(($(stopped a) - gone))" -le "$DEADLINE" ] || return 1
	says "flocklimit: x: lost the permit" a.err
}

# keeper_stops: the keeper of the holder `a' is stopped: the command is ended before the waiter `b' runs; then
# it goes on, and finds that the permit is lost.
keeper_stops() {
	watched
	holder a -n 1
	line_up 1 b -n 1
	kill -STOP "$(keeper_of a)"
	over a
	[ "$status" -eq 76 ] || return 1
	all_run b || return 1
	judged -n 1 || return 1
	kill -CONT "$(keeper_of a)"
	eventually no_keeper a
}

# begun LABEL, not_begun LABEL; run_of LABEL: whether its command has begun, and its pid.
begun() { grep -q "^BEGIN .* $1\$" "$LOG"; }
not_begun() { ! begun "$1"; }
run_of() { awk -v who="$1" '$1 == "BEGIN" && $8 == who { print $3 }' "$LOG"; }
done_with() { grep -qE "^(END|DEAD|KILLED) [0-9]+ $(run_of "$1")\$" "$LOG"; }

# began LABEL, stopped LABEL: when, in ms; LABEL's first run.
began() { awk -v who="$1" '$1 == "BEGIN" && $8 == who { printf "%d\n", $2 / 1e6; exit }' "$LOG"; }
stopped() {
	awk -v pid="$(run_of "$1")" '/^(END|DEAD|KILLED)/ && $3 == pid { printf "%d\n", $2 / 1e6; exit }' "$LOG"
}

# end_run LABEL SIGNAL: kills its command, and says so.
end_run() { "$STORE_BUILD/witness" -k "$LOG" "$(run_of "$1")" "$2"; }

# keeper_of LABEL: the pid of what keeps its permits.
keeper_of() {
	local pid
	# shellcheck disable=SC2013 # a line is a word here
	for pid in $(grep -lzxF "T=$T" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		grep -qzxF "TAKER=$1" "/proc/$pid/environ" 2>/dev/null || continue
		[ "$pid" = "${pids[$1]-}" ] || [[ $(readlink "/proc/$pid/exe") != */store-* ]] || echo "$pid"
	done
}
no_keeper() { [ -z "$(keeper_of "$1")" ]; }

# over LABEL: waits for the end of the taker, and notes it; its status is in $status.
over() {
	ended "$1"
	"$STORE_BUILD/witness" -g "$LOG" "$1" "$status"
}

# judged [-n LIMIT] [OPTION...]: the laws held.
judged() {
	cat "$LOG"
	"$STORE_BUILD/judge" "$@" "$LOG"
}

# the_clock: CLOCK_BOOTTIME, ms.
the_clock() { "$STORE_BUILD/witness" -t; }

# a_store: for setup_file and teardown_file of those to whom one server is enough.
a_store() {
	servers_in "$BATS_FILE_TMPDIR/servers"
	one_server
}

# spotless [NAME]: nothing is left of anybody, in the store or among the processes.
# shellcheck disable=SC2120 # tests give it
spotless() {
	eventually no_keys "$@"
	eventually no_leftovers
}
no_leftovers() {
	local pid
	# shellcheck disable=SC2013 # a line is a word here
	for pid in $(grep -lzxF "T=$T" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		[[ $(readlink "/proc/$pid/exe") != */store-* ]] || is_state ZX "$pid" || return 1
	done
}

# measured WORDS: for people to see, also where nothing is wrong.
measured() { echo "# $BATS_TEST_DESCRIPTION: $*" >&3; }

# until_clock MS: waits until that time.
until_clock() {
	while [ "$(the_clock)" -lt "$1" ]; do
		sleep 0.02
	done
}

# shellcheck disable=SC2119
[ -z "${ADDRESS-}" ] || use_store
