#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# --until-ready: the permit goes back when the command says READY=1.

load ../helpers/lib.bash
load ../helpers/ctl.bash

# service LABEL OPTION...: a command that sends what say LABEL tells it to, one datagram for a line, with \n in
# it for a newline.  An empty line ends it, with status 7.
service() {
	local label=$1
	shift
	cat >service.py <<-'PY'
		import array, os, signal, socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		to = os.environ["NOTIFY_SOCKET"]
		def send(words, fds=[]):
		    s.sendmsg([words.encode()],
		        [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [], 0, to)
		print("up", os.getpid(), flush=True)
		with open(sys.argv[1]) as lines:
		    for line in iter(lines.readline, "\n"):
		        words = line[:-1].replace("\\n", "\n")
		        if words == "BARRIER=1":
		            ours, theirs = os.pipe()
		            send(words, [theirs])
		            os.close(theirs)
		            os.read(ours, 1)
		        elif words == "READY=1, and stop":
		            send("READY=1")
		            os.kill(os.getpid(), signal.SIGSTOP)
		        else:
		            send(words)
		        print("sent", words.replace("\n", " "), flush=True)
		sys.exit(7)
	PY
	mkfifo "$label.fifo"
	background "$label" "$FLOCKLIMIT" "$@" python3 service.py "$label.fifo"
	# Open for writing until the test ends, in a process of its own: say need not be the last.
	background "$label.open" sh -c 'exec 7>"$1"; echo up; exec sleep 1000' sh "$label.fifo"
	eventually says up "$label.out"
	eventually says up "$label.open.out"
}

say() { timeout 300 sh -c 'printf "%s\n" "$2" >"$1.fifo"' sh "$@"; }

# socket_of LABEL: what the command of `service LABEL' sends to.
socket_of() {
	tr '\0' '\n' <"/proc/$(sed -n 's/^up //p' "$1.out")/environ" | sed -n 's/^NOTIFY_SOCKET=//p'
}

# write_sleeper FILE: sleeper.py [-s] ADDRESS... sends each a descriptor whose last close sleeps for a quarter of an hour: a TCP
# connection that lingers, with data that its peer does not read.  Its last line says to how many it got.
# -s: its parent is stopped until the descriptor is closed here, so that the parent's close is the last.
write_sleeper() {
	cat >"$1" <<-'PY'
		import array, glob, os, signal, socket, struct, sys, time
		args = sys.argv[1:]
		stop = args[0] == "-s" and args.pop(0)
		peer = socket.socket()
		peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
		peer.bind(("127.0.0.1", 0))
		peer.listen(1)
		s = socket.socket()
		s.connect(peer.getsockname())
		s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 900))
		s.setblocking(False)
		try:
		    while True:
		        s.send(bytes(65536))
		except BlockingIOError:
		    pass
		sent = []
		if stop:
		    os.kill(os.getppid(), signal.SIGSTOP)
		    def stopped(task):
		        with open(task + "/stat") as f:
		            return f.read().rpartition(")")[2].split()[0] == "T"
		    # The first thread takes the signal, and then the others stop.
		    while not all(stopped(t) for t in glob.glob("/proc/%d/task/*" % os.getppid())):
		        time.sleep(0.001)
		for to in args:
		    try:
		        ours, theirs = os.pipe() # closed first
		        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b"STATUS=sleep"],
		            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno(), theirs]))], 0,
		            "\0" + to[1:] if to[0] == "@" else to)
		        os.close(theirs)
		        sent.append(ours)
		    except OSError as e:
		        print(to, e)
		if stop:
		    s.close()
		    os.kill(os.getppid(), signal.SIGCONT)
		    os.read(sent[0], 1)
		print("sent to", len(sent), flush=True)
		time.sleep(1000)
	PY
}

# manager: what is sent to the outer NOTIFY_SOCKET, each datagram as a line: its pid, its words.
manager() {
	background manager python3 -c '
import os, socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind("outer")
print("up", flush=True)
while True:
    data, control, flags, address = s.recvmsg(65536, 4096)
    fds = []
    for level, kind, value in control:
        if kind == socket.SCM_CREDENTIALS:
            pid = struct.unpack("3i", value)[0]
        if kind == socket.SCM_RIGHTS:
            fds = struct.unpack("%di" % (len(value) // 4), value)
    print(pid, data.decode().replace("\n", " "), len(fds), flush=True)
    for fd in fds:
        os.close(fd)'
	eventually says up manager.out
	export NOTIFY_SOCKET=$T/outer
}

free() { "$FLOCKLIMIT" -N x -n 1 -q --nonblock true; }
taken() { run -75 free; }

@test "the permit goes back at READY=1, the command runs on, and its status is passed on" {
	service a -N x -n 1 --until-ready
	say a 'STATUS=READY=1 soon'
	say a 'READY=1x'
	eventually says "sent READY=1x" a.out
	taken
	say a 'STATUS=loaded\nREADY=1\nMAINPID=1'
	eventually free
	run ctl show --json x
	[ "$(jq -c '[.used, (.holders | length)]' <<<"$output")" = '[0,0]' ]
	# A second one is harmless.
	say a READY=1
	eventually says "sent READY=1" a.out
	socket=$(socket_of a)
	[ -S "$socket" ]
	say a ''
	ended a
	[ "$status" = 7 ]
	[ ! -s a.err ]
	[ ! -e "${socket%/*}" ]
	silent 0 "$CTL" check x
	run ctl log --json x
	[ "$(jq -sc 'map(.event) - ["granted"]' <<<"$output")" = '["ended","ended"]' ] # the second: of free
	[ "$(jq -sc '.[1] | [.code, .detail]' <<<"$output")" = '[-2,"ready, and runs on"]' ]
	run ctl gantt x
	[[ $output == *"ready, and runs on"* ]]
}

@test "a command that stops itself once it has said READY=1 has given its permit back" {
	local i
	for i in 1 2 3 4 5; do
		rm -f "s$i.fifo"
		service "s$i" -N x -n 1 --until-ready
		say "s$i" 'READY=1, and stop'
		eventually is_state T "$(sed -n 's/^up //p' "s$i.out")"
		eventually free
		kill -CONT "$(sed -n 's/^up //p' "s$i.out")"
		say "s$i" ''
		ended "s$i"
		[ "$status" = 7 ]
	done
}

@test "at most one starts at once, while all run on" {
	local i
	for i in 1 2 3; do
		service "s$i" -N x -n 1 --until-ready
		background next "$FLOCKLIMIT" -N x -n 1 echo ran
		eventually in_line 1
		say "s$i" READY=1
		ended next
		[ "$(cat next.out)" = ran ]
	done
	for i in 1 2 3; do
		is_state S "${pids[s$i]}"
		say "s$i" ''
		ended "s$i"
		[ "$status" = 7 ]
	done
}

unmapped() {
	! grep -q limiters/x "/proc/${pids[$1]}/maps" && ! readlink "/proc/${pids[$1]}/fd/"* | grep -q limiters/x
}

@test "nothing of the limiter stays open in the wrapper, and the guard that the command has keeps nothing" {
	service a -N x -n 1 --until-ready
	say a READY=1
	eventually free
	# It closes them right after it has given the permit back.
	eventually unmapped a
	run readlink "/proc/${pids[a]}/fd/"*
	[[ $output == *socket* ]]
	# kill -9 of the wrapper: the command has the guard open, and no permit.
	kill -KILL "${pids[a]}"
	ended a
	free
	run ctl show --json x
	[ "$(jq -c .used <<<"$output")" = 0 ]
}

@test "kill -9 of the wrapper before READY: the command keeps its permit" {
	service a -N x -n 1 --until-ready
	kill -KILL "${pids[a]}"
	ended a
	taken
	kill -KILL "$(sed -n 's/^up //p' a.out)"
	eventually free
}

@test "a command that ends without READY, and one that says it and ends at once, give back once" {
	local i
	silent 3 "$FLOCKLIMIT" -N x -n 1 --until-ready sh -c 'exit 3'
	free
	for i in 1 2 3 4 5 6; do
		silent 0 "$FLOCKLIMIT" -N x -n 1 --until-ready python3 -c '
import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
os._exit(0)'
	done
	silent 0 "$CTL" check x
	run ctl log --json x
	[ "$(jq -s 'map(select(.event == "ended")) | length' <<<"$output")" = 8 ]
	[ "$(jq -s 'map(select(.event == "granted")) | length' <<<"$output")" = 8 ]
}

@test "a manager hears everything, in order, with descriptors, from the wrapper's pid" {
	manager
	service a -N x -n 1 --until-ready
	say a 'STATUS=one\nEXTEND_TIMEOUT_USEC=9'
	say a BARRIER=1
	say a READY=1
	say a STOPPING=1
	eventually says STOPPING=1 manager.out
	say a ''
	ended a
	pid=$(awk '/STOPPING/ { print $1 }' manager.out)
	diff - manager.out <<-END
		up
		$pid STATUS=one EXTEND_TIMEOUT_USEC=9 0
		$pid BARRIER=1 1
		$pid READY=1 0
		$pid STOPPING=1 0
	END
	says "sent BARRIER=1" a.out
	# The wrapper itself, and not the command.
	[ "$pid" != "$(sed -n 's/^up //p' a.out)" ]
}

@test "when the manager hears READY=1, the permit is back" {
	manager
	service a -N x -n 1 --until-ready
	say a READY=1
	eventually says READY=1 manager.out
	free
}

@test "BARRIER=1 without a manager" {
	service a -N x -n 1 --until-ready
	say a BARRIER=1
	eventually says "sent BARRIER=1" a.out
}

@test "a manager that is gone, and one that has no address, are one line, and -q silences it" {
	NOTIFY_SOCKET=$T/nobody service a -N x -n 1 --until-ready
	say a READY=1
	say a STATUS=on
	eventually free
	say a ''
	ended a
	[ "$status" = 7 ]
	[ "$(wc -l <a.err)" = 1 ]
	says "x: --until-ready: cannot pass a report of the command on to NOTIFY_SOCKET: No such file" a.err

	NOTIFY_SOCKET=vsock:2:9 run --separate-stderr -0 "$FLOCKLIMIT" -N x -n 1 --until-ready true
	one_line
	[[ $stderr == *"NOTIFY_SOCKET 'vsock:2:9' is neither a path nor @NAME"* ]]
	NOTIFY_SOCKET=vsock:2:9 silent 0 "$FLOCKLIMIT" -N x -q -n 1 --until-ready true
}

@test "another user is not believed, and reaches no manager; root and descendants are" {
	need_root
	manager
	service a -N x -n 1 --until-ready
	to=$(socket_of a)
	send='import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.argv[2].encode(), sys.argv[1])'
	# Another user may not be able to run the first python3 of root's path.
	as_other=$(PATH=/usr/bin:/bin command -v python3) || skip "no python3 for another user"
	setpriv --reuid 65534 --clear-groups "$as_other" -c "$send" "$to" READY=1
	python3 -c "$send" "$to" STATUS=root
	eventually says STATUS=root manager.out
	run ! says READY=1 manager.out
	taken
	say a ''
	ended a

	# One that has changed its user is the command all the same.
	background b "$FLOCKLIMIT" -N x -n 1 --until-ready setpriv --reuid 65534 --clear-groups "$as_other" -c '
import os, socket, time
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
time.sleep(1000)'
	eventually says READY=1 manager.out
	free
	# The teardown may not be able to read the environment of another user's process.
	kill -TERM "${pids[b]}"
	ended b
}

@test "another user finds no socket: neither a flood nor a descriptor whose close sleeps reaches the wrapper" {
	need_root
	local as_other socket
	as_other=$(PATH=/usr/bin:/bin command -v python3) || skip "no python3 for another user"
	public
	write_sleeper "$PUBLIC/sleeper.py"
	service a -N x -n 1 --until-ready
	socket=$(socket_of a)
	# In /proc/net/unix are all the names that others can find.
	mapfile -t names < <(awk '/flocklimit/ { print $NF }' /proc/net/unix)
	[ "${#names[@]}" -gt 0 ]
	background stranger setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$as_other" "$PUBLIC/sleeper.py" "${names[@]}"
	eventually says "sent to" stranger.out
	says "sent to 0" stranger.out
	run ! setpriv --reuid 65534 --regid 65534 --clear-groups ls "${socket%/*}"
	say a READY=1
	eventually free
	kill -TERM "${pids[a]}"
	eventually is_gone "${pids[a]}"
}

@test "a descriptor whose close sleeps, from the command itself, keeps the wrapper from nothing" {
	local wrapper
	write_sleeper sleeper.py
	background a "$FLOCKLIMIT" -N x -n 1 --until-ready sh -c 'exec python3 sleeper.py -s "$NOTIFY_SOCKET"'
	eventually says "sent to 1" a.out
	wrapper=${pids[a]}
	kill -TERM "$wrapper"
	eventually is_gone "$wrapper"
	ended a
	[ "$status" = 143 ]
	free
}

# ended_when_ready: -T ends a command that was ready before that.
ended_when_ready() {
	run -124 "$FLOCKLIMIT" -N x -n 1 --until-ready -v -T "$TIME" python3 -c '
import os, socket, time
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
time.sleep(1000)'
	[[ $output == *"x: ready after"* ]]
}

@test "signals and -T work after READY as before" {
	service a -N x -n 1 --until-ready
	say a READY=1
	eventually free
	kill -TERM "${pids[a]}"
	ended a
	[ "$status" = 143 ]
	in_time ended_when_ready
}

@test "a nested command that joins a permit: one line, and the report goes where it would go without us" {
	manager
	run --separate-stderr -0 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -N x --until-ready \
		sh -c 'echo "$NOTIFY_SOCKET"'
	[ "$output" = "$T/outer" ]
	one_line
	[[ $stderr == *"x: --until-ready has no effect: this command joins the permit"* ]]
	silent 0 "$FLOCKLIMIT" -N x -n 1 "$FLOCKLIMIT" -q -N x --until-ready true
}

@test "after READY=1 a flocklimit that the command starts queues, as any other" {
	service a -N x -n 1 --until-ready
	say a READY=1
	eventually free
	held=$(tr '\0' '\n' <"/proc/$(sed -n 's/^up //p' a.out)/environ" | grep ^FLOCKLIMIT_HELD=)
	hold b -N x -n 1
	run -75 env "$held" "$FLOCKLIMIT" -N x -q --nonblock true
}

@test "-v says when; --background and -o work with it" {
	service a -N x -n 1 -o --until-ready -v
	say a READY=1
	eventually free
	eventually says "x: ready after" a.err
	say a ''
	ended a
	"$FLOCKLIMIT" -N x -n 1 --background --until-ready sh -c '
		echo $$ >up
		python3 -c "import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b\"READY=1\", os.environ[\"NOTIFY_SOCKET\"])"
		exec sleep 1000' 3>&-
	eventually free
	eventually is_state S "$(cat up)"
}

@test "systemd's WATCHDOG_PID is not left to name the wrapper" {
	# In the environment bats may have this test's name, too.
	run -0 sh -c 'WATCHDOG_PID=$$ WATCHDOG_USEC=9 exec "$FLOCKLIMIT" -N x -n 1 --until-ready env'
	[ "$(grep ^WATCHDOG <<<"$output")" = WATCHDOG_USEC=9 ]
	WATCHDOG_PID=1 run -0 "$FLOCKLIMIT" -N x -n 1 --until-ready env
	[ "$(grep ^WATCHDOG <<<"$output")" = WATCHDOG_PID=1 ]
}

@test "what a killed wrapper left is removed by the next, and what is in use is not" {
	local killed
	service a -N x -n 2 --until-ready
	service b -N x -n 2 --until-ready
	killed=$(socket_of a)
	kill -KILL "${pids[a]}"
	ended a
	[ -S "$killed" ]
	"$FLOCKLIMIT" -N y -n 1 --until-ready true
	[ ! -e "${killed%/*}" ]
	[ -S "$(socket_of b)" ]
	say b READY=1
	say b ''
	ended b
	[ "$status" = 7 ]
}

@test "what cannot be combined is one line" {
	refused "$FLOCKLIMIT" -N x --until-ready -F true
	[[ $stderr == *"--until-ready and --no-fork cannot be combined"* ]]
	refused "$FLOCKLIMIT" -N x --until-ready --hold-for $$
	[[ $stderr == *"--until-ready and --hold-for cannot be combined"* ]]
	refused "$FLOCKLIMIT" -N x --until-ready --jobserver true
	[[ $stderr == *"--until-ready and --jobserver cannot be combined"* ]]
	refused "$FLOCKLIMIT" -N x --until-ready --fd 9
	[[ $stderr == *"--fd runs no command"*"--until-ready"* ]]
	[ -x "$FLOCKLIMIT_LIBEXEC/store-etcd" ] || skip "no store"
	refused "$FLOCKLIMIT" -N x --until-ready --store etcd://localhost:1/x true
	[[ $stderr == *"x: --until-ready is for limiters of one machine"* ]]
}
