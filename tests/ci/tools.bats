#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2094 # an example that is called as its file is
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# The examples of doc/ci.md for cron, systemd, builds and tests, with the real tools where they are installed.

load ../helpers/lib.bash
load ../helpers/docs.bash
load ci.bash

need() {
	local name
	for name; do
		command -v "$name" >/dev/null || skip "no $name"
	done
}

@test "the crontab runs as cron would have it" {
	local line
	in_path mirror thumbnails
	while read -r _ _ _ _ _ line; do
		echo "$line"
		# To cron, a bare % is the end of the line.
		[[ ! ${line//\\%/} == *%* ]]
		sh -e -c "${line//\\%/%}"
	done < <(example cron)
	[ "$(wc -l <log)" = 3 ]
	# While one runs, the first line skips and says nothing.
	hold a -N mirror -n 1
	silent 0 sh -c "$(example cron | sed -n '1s/^[^ ]* \* \* \* \* *//p')"
	[ "$(wc -l <log)" = 3 ]
}

@test "the systemd unit is sound, and its line runs" {
	local line
	in_path report
	example report@.service >report@.service
	line=$(sed -n 's/^ExecStart=//p' report@.service)
	line=${line//\/usr\/local\/bin\//}
	sh -c "${line//%i/july}"
	[ "$(cat log)" = "report july in reports, limit 2" ]
	need systemd-analyze
	# verify looks for the programs.
	sed "s|/usr/local/bin/|$T/bin/|g" report@.service >"report@july.service"
	systemd-analyze --man=no verify "$T/report@july.service" >said 2>&1 || :
	cat said
	# What other units of this machine lack is not ours.
	run -1 grep -F report said
}

@test "the unit of a service that is limited while it starts is sound, and its line runs" {
	local line
	in_path replica
	example replica@.service >replica@.service
	line=$(sed -n 's/^ExecStart=//p' replica@.service)
	line=${line//\/usr\/local\/bin\//}
	sh -c "${line//%i/one}"
	[ "$(cat log)" = "replica one in start, limit 2" ]
	need systemd-analyze
	sed "s|/usr/local/bin/|$T/bin/|g" replica@.service >"replica@one.service"
	systemd-analyze --man=no verify "$T/replica@one.service" >said 2>&1 || :
	cat said
	run -1 grep -F replica said
}

@test "the tmpfiles line is the installed one" {
	[ "$(example flocklimit.conf)" = "$(grep -v '^#' "$TOP/tmpfiles.d/flocklimit.conf")" ]
}

# jobserver_line TOOL: runs the page's line of this tool.
jobserver_line() {
	example jobserver | grep -- "--jobserver $1" >line
	[ "$(wc -l <line)" = 1 ]
	timeout 300 sh -e line >out 2>&1
	cat out
}

@test "make takes its jobs from the limiter" {
	need make
	in_path
	printf 'all: a b c d\na b c d:\n\t@flocklimitctl show --json cpu | jq .used >$@.used; sleep .3\n' >Makefile
	jobserver_line make
	cat ./*.used
	# They ran at once.
	[ "$(cat ./*.used | sort -n | tail -n 1)" -ge 2 ]
}

@test "ninja takes its jobs from the limiter, since 1.13" {
	need ninja
	in_path
	printf 'rule r\n  command = flocklimitctl show --json cpu | jq .used >$out; sleep .3\nbuild a.used: r\nbuild b.used: r\nbuild c.used: r\n' >build.ninja
	jobserver_line ninja
	[ "$(cat ./*.used | wc -l)" = 3 ]
	printf '%s\n' 1.13 "$(ninja --version)" | sort -VC || skip "ninja $(ninja --version) knows no jobserver; it said: $(grep flocklimit: out)"
	[ "$(cat ./*.used | sort -n | tail -n 1)" -ge 2 ]
}

@test "cargo: each rustc takes a permit, and so in the line of flocklimit(1)" {
	local line
	need cargo
	cargo --version >/dev/null || skip "cargo does not run here"
	in_path
	example limited-rustc >bin/limited-rustc
	chmod +x bin/limited-rustc
	example cargo >script
	line=$(grep '^FLOCKLIMIT_NAME=cpu RUSTC_WRAPPER=' "$TOP/man/flocklimit.1")
	mkdir src
	printf '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
	echo 'fn main() {}' >src/main.rs
	export CARGO_HOME=$T/cargo CARGO_NET_OFFLINE=true
	timeout 300 sh -e script
	[ -x target/debug/x ]
	"$CTL" log --json cpu | jq -es 'any(.command | tostring | contains("rustc"))'
	rm -r target
	"$CTL" rm cpu
	timeout 300 sh -e -c "$line"
	[ -x target/debug/x ]
	"$CTL" log --json cpu | jq -es 'any(.command | tostring | contains("rustc"))'
}

# a_program: a Makefile with two objects.
a_program() {
	need make cc
	printf 'int main(void)\n{\n\treturn 0;\n}\n' | tee a.c >b.c
	printf 'CC = false\nall: a.o b.o\n%%.o: %%.c\n\t$(CC) -c -o $@ $<\n' >Makefile
}

granted() {
	"$CTL" stats 2>/dev/null | sed -n "s/^flocklimit_granted_total{limiter=\"$1\"} //p"
}

@test "ccache: a miss takes a permit, and a hit none" {
	need ccache
	a_program
	in_path
	example limited >bin/limited
	chmod +x bin/limited
	example ccache >script
	export CCACHE_DIR=$T/ccache
	sh -e script
	[ "$(granted cc)" = 2 ]
	rm a.o b.o
	sh -e script
	[ -s a.o ]
	[ "$(granted cc)" = 2 ]
}

@test "distcc: each compiler takes a permit of the farm" {
	need distcc distccd
	a_program
	in_path
	mkdir distcc
	export DISTCC_DIR=$T/distcc DISTCC_FALLBACK=0 DISTCC_HOSTS
	local port=$((20000 + RANDOM % 20000)) user=()
	# As root, distccd becomes the user distcc, which needs a directory for what it compiles.
	[ "$(id -u)" = 0 ] || user=(--user "$(id -un)")
	public
	chmod 1777 "$PUBLIC"
	background farm env TMPDIR="$PUBLIC" distccd --no-detach --daemon --listen 127.0.0.1 --allow 127.0.0.1 --port "$port" \
		--enable-tcp-insecure --log-stderr "${user[@]}"
	DISTCC_HOSTS=127.0.0.1:$port
	eventually bash -c ": <>/dev/tcp/127.0.0.1/$port" 2>/dev/null
	sh -e -c "$(example distcc)"
	kill "${pids[farm]}"
	ended farm
	[ "$(grep -c COMPILE_OK farm.err)" = 2 ]
	[ "$(granted farm)" = 2 ]
}

@test "pytest-xdist and ctest have as many workers as units" {
	in_path pytest ctest
	example workers >script
	sh -e script
	[ "$(cat log)" = "pytest -n 4 in cpu, limit 16
ctest -j 4 in cpu, limit 16" ]
}

@test "ctest runs under its units" {
	need ctest
	in_path
	for n in 1 2 3 4; do
		echo "add_test(t$n sh -c \"echo t$n \$FLOCKLIMIT_WEIGHT >>$T/log\")"
	done >CTestTestfile.cmake
	example workers | grep ctest >script
	sh -e script
	[ "$(sort log)" = "t1 4
t2 4
t3 4
t4 4" ]
}

@test "the fixture of pytest limits tests in all workers" {
	local pytest
	for pytest in "python3 -m pytest" "/usr/bin/python3 -m pytest"; do
		$pytest --version 2>&1 | grep -q pytest && $pytest -h 2>/dev/null | grep -q numprocesses && break
		pytest=''
	done
	[ -n "$pytest" ] || skip "no pytest with xdist"
	in_path
	example conftest.py >conftest.py
	cat >test_it.py <<-'PY'
		import os, time, pytest

		@pytest.mark.parametrize("n", range(6))
		def test_it(browser, n):
		    name = f"{os.environ['T']}/seat{browser}"
		    os.close(os.open(name, os.O_CREAT | os.O_EXCL))
		    time.sleep(0.2)
		    os.unlink(name)
	PY
	$pytest -q -p no:cacheprovider --basetemp="$T/pytest" -n 4 test_it.py 3>&-
	[ "$(granted browser)" = 6 ]
	eventually "$FLOCKLIMIT" -N browser -n 2 -w 2 --nonblock -q true
}
