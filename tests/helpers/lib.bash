# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# Shared by all the .bats files.  `T' is the test's own directory, `FLOCKLIMIT' the program.

bats_require_minimum_version 1.5.0

# make check says where the tests and the programs are.  For a file that is run by hand, they are
# in the tree of this file.
: "${TESTS_SOURCE:=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
: "${TESTS_BUILD:=$TESTS_SOURCE}"
: "${FLOCKLIMIT:=${TESTS_BUILD%/*}/flocklimit}"
: "${FLOCKLIMIT_LIBEXEC:=${TESTS_BUILD%/*}/cmd/store}"
HELPERS=$TESTS_BUILD/helpers
export TESTS_SOURCE TESTS_BUILD FLOCKLIMIT FLOCKLIMIT_LIBEXEC HELPERS

setup() {
	T=$BATS_TEST_TMPDIR
	export T FLOCKLIMIT_DIR=$T/limiters
	export FLOCKLIMIT_LIMITS= # no file of this machine
	umask 022                 # a limits file that the caller's group may write would be refused
	unset FLOCKLIMIT_NAME FLOCKLIMIT_HELD SHELL MAKEFLAGS MFLAGS MAKELEVEL
	# A leak checker stops its process with ptrace, which tests of signals can't bear; nor that
	# a sanitizer handles signals itself.
	export ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0:handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0
	declare -gA pids=()
	cd "$T" || return 1
	! declare -F setup_more >/dev/null || setup_more # what a file's tests have in common
}

# Each test would inherit a signal that comes in ignored or blocked, and bash can't undo that.
if grep -Eq '^Sig(Blk|Ign):[[:space:]]*0*[1-9a-f]' /proc/self/status; then
	echo "a signal comes in ignored or blocked, as under nohup: run tests by make check, or by" \
		"tests/helpers/bound bats FILE" >&2
	return 1
fi

# Ends what the test started and did not end itself.
teardown() {
	local pid label
	# What a failed test's background commands said may be why it failed.
	if [ -z "${BATS_TEST_COMPLETED-}" ]; then
		for label in "${!pids[@]}"; do
			[ ! -s "$T/$label.err" ] || sed "s/^/$label said: /" "$T/$label.err"
		done
	fi
	for pid in "${pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
	done
	# Commands that outlive their wrapper: whoever has our T in its environment; and again, as of a store's
	# keeper and its deputy each replaces the other, until none of them is there to be killed.
	# shellcheck disable=SC2046 # a line is a word here
	while kill -KILL $(grep -lzxF "T=$T" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3) 2>/dev/null; do
		:
	done
	[ -z "${PUBLIC-}" ] || rm -rf "$PUBLIC"
}

# eventually CMD...: polls until CMD succeeds; fails after two minutes, which a busy machine may need.
# The pause is a read from a pipe that nobody writes to: sleep(1) would be a process each time.
eventually() {
	local deadline=$((SECONDS + 120)) polls=0 pause=0.01
	until "$@"; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "never came true: $*" >&2
			return 1
		fi
		[ $((++polls)) -ne 50 ] || pause=0.05
		read -rt "$pause" <&9 || :
	done 9<> <(:)
}

# in_time CMD...: succeeds if CMD does with $TIME of 200 ms, or of 2, 20 or 100 s.  For a command that
# must get somewhere before a time limit ends it, which takes a busy machine longer.
in_time() {
	local TIME
	for TIME in 200ms 2s 20s 100s; do
		if "$@"; then
			return 0
		fi
	done
	return 1
}

# background LABEL CMD...: starts CMD; its output is in $T/LABEL.out and .err, its pid in pids[LABEL].
background() {
	local label=$1
	shift
	# Now, and not when the child gets to it: what an earlier one said is no answer.
	: >"$T/$label.out"
	: >"$T/$label.err"
	"$@" </dev/null >"$T/$label.out" 2>"$T/$label.err" 3>&- &
	pids["$label"]=$!
}

# with_descriptors N CMD...: CMD may have N descriptors, and of the runner's it has the first three.
with_descriptors() (
	local n=$1 fd
	for fd in /proc/"$BASHPID"/fd/*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || eval "exec $fd>&-"
	done
	ulimit -n "$n"
	exec "${@:2}"
)

# as_job CMD...: what CMD starts is in a process group of its own, as an interactive shell has it.
# Where the tests run without a terminal, theirs may be orphaned, and the kernel stops no such.
as_job() {
	set -m
	"$@"
	set +m
}

# ended LABEL: waits for the end of it; its exit status is in $status.
ended() {
	status=0
	wait "${pids[$1]}" || status=$?
	unset "pids[$1]"
}

# terminal LABEL CMD...: as background, on a terminal; what is written to 8 is typed there.
terminal() {
	local label=$1
	shift
	need_terminal
	mkfifo "$T/$label.keys"
	"$HELPERS/pty" env --default-signal=INT,QUIT "$@" <"$T/$label.keys" >"$T/$label.out" \
		2>&1 3>&- &
	pids["$label"]=$!
	exec 8>"$T/$label.keys"
}

# hold LABEL OPTION...: a command that holds its permit until let_go; its pid is in $T/LABEL.up.
hold() {
	local label=$1
	shift
	mkfifo "$T/$label.fifo"
	# shellcheck disable=SC2016 # for the inner shell
	background "$label" "$FLOCKLIMIT" "$@" sh -c 'echo $$ >"$1.up"; exec cat "$1.fifo"' \
		sh "$T/$label"
	eventually test -s "$T/$label.up"
	# It starts its command, and then notes whom; what follows is to meet it at rest.
	eventually is_state S "${pids[$label]}"
}

# up LABEL: the pid of a holder's command.
up() {
	cat "$T/$1.up"
}

# let_go LABEL: the holder's command ends, with status 0.
let_go() {
	# shellcheck disable=SC2016 # for the inner shell
	timeout 300 sh -c ': >"$1"' sh "$T/$1.fifo"
}

# lease FILE KIND [give|later]: another process, of pids[lease], has a lease on FILE: F_RDLCK or
# F_WRLCK.  With `give' it gives the lease up when the kernel asks for it, with `later' it says then
# that it was asked, and waits for SIGUSR1; without, it never does.
lease() {
	background lease python3 -c '
import fcntl, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO, signal.SIGUSR1])
f = open(sys.argv[1], "rb")
fcntl.fcntl(f, fcntl.F_SETLEASE, getattr(fcntl, sys.argv[2]))
print("up", flush=True)
if sys.argv[3:]:
    signal.sigwait([signal.SIGIO])
    if sys.argv[3] == "later":
        print("asked", flush=True)
        signal.sigwait([signal.SIGUSR1])
    fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_UNLCK)
else:
    signal.pause()' "$@"
	eventually says up lease.out
}

# in_line N [NAME]: N takers wait for the limiter, which is full.
in_line() {
	"$FLOCKLIMIT" -N "${2:-x}" --nonblock true 2>&1 | grep -q " $1 ahead of you"
}

# waits N: N takers wait for the limiter in the file lim, which is full.
waits() {
	"$FLOCKLIMIT" -f lim --nonblock true 2>&1 | grep -q " $1 ahead of you"
}

# stop_in_line LABEL N: LABEL waits for lim, the Nth in the line, with a time limit of $time, and is stopped
# there.  On a busy machine its time may be over before that: it gets more.
stop_in_line() {
	for time in 0.7 5 60; do
		background "$1" "$FLOCKLIMIT" -f lim -t "$time" echo ran
		eventually waits_or_gone "$2" "$1"
		kill -STOP "${pids[$1]}" 2>/dev/null || :
		eventually stopped_or_gone "$1"
		! waits "$2" || return 0
		kill -CONT "${pids[$1]}" 2>/dev/null || :
		ended "$1"
	done
	return 1
}

waits_or_gone() { waits "$1" || is_gone "${pids[$2]}"; }
stopped_or_gone() { is_state T "${pids[$1]}" || is_gone "${pids[$1]}"; }

# is_state LETTERS PID: the process is in one of these states.
is_state() {
	local line
	{ read -r line <"/proc/$2/stat"; } 2>/dev/null || return 1
	line=${line##*) }
	[[ $1 == *"${line%% *}"* ]]
}

# is_gone PID: there is no such process, or only its zombie.  The zombie is looked for first: it may be
# reaped between the two looks.
is_gone() {
	is_state ZX "$1" || ! [ -e "/proc/$1" ]
}

# has_lines N FILE
has_lines() {
	[ "$(wc -l 2>/dev/null <"$2")" = "$1" ]
}

# says WORDS FILE: the file has this text.
says() {
	grep -qF -- "$1" "$2" 2>/dev/null
}

# one_line: what `run --separate-stderr' caught on stderr is one line of ours.
one_line() {
	echo "stderr: $stderr"
	# shellcheck disable=SC2154 # run sets it
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "flocklimit: "* ]]
}

# refused CMD...: status 125, nothing on stdout, one line on stderr.
refused() {
	run --separate-stderr -125 "$@"
	[ -z "$output" ]
	one_line
}

# silent STATUS CMD...: that status, and nothing printed.
silent() {
	local expected=$1
	shift
	run "-$expected" "$@"
	[ -z "$output" ]
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# need_unshare OPTION...: root can make these namespaces, which many a container refuses it.
need_unshare() {
	need_root
	unshare "$@" true 2>/dev/null || skip "may not make namespaces: unshare $*"
}

need_mount() {
	need_unshare -m
	unshare -m mount -t tmpfs none "$T" 2>/dev/null || skip "may not mount"
}

# A machine without a devpts has no terminals to give.
need_terminal() {
	need_helper pty
	"$HELPERS/pty" true </dev/null || skip "no terminal can be opened"
}

# need_setgid: a program's file can give it more rights than its caller's: no_new_privs and nosuid forbid it.
need_setgid() {
	need_root
	cp "$(command -v id)" setgid
	chgrp nogroup setgid
	chmod 2755 setgid
	[ "$(./setgid -gn)" = nogroup ] || skip "set-group-ID has no effect"
	rm setgid
}

need_helper() {
	[ -x "$HELPERS/$1" ] || {
		echo "$HELPERS/$1 is not built: make check builds it" >&2
		return 1
	}
}

# public: a directory that other users can reach, in $PUBLIC, with the program in it.
public() {
	PUBLIC=$(mktemp -d "${TMPDIR:-/tmp}/public.XXXXXX")
	chmod 755 "$PUBLIC"
	cp "$FLOCKLIMIT" "$PUBLIC/flocklimit"
	mkdir "$PUBLIC/limiters"
	chown 65534:65534 "$PUBLIC/limiters"
}

# as_nobody CMD...: as an ordinary user, from root; as user $NOBODY if that is set.
as_nobody() {
	env FLOCKLIMIT_DIR="$PUBLIC/limiters" \
		setpriv --reuid "${NOBODY:-65534}" --regid 65534 --clear-groups "$@"
}

# patch FILE OFFSET BYTES: overwrites bytes, given as printf(1) has them.
patch() {
	# shellcheck disable=SC2059 # the format is the data
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
