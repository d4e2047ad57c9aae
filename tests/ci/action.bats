#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# The action for GitHub Actions, in a fake runner and with a file server that plays the release page.

load ../helpers/lib.bash
load ../helpers/docs.bash
load ci.bash

# release TAG: srv/ has one, with the program in an archive and its sum.
release() {
	local dir=srv/someone/flocklimit/releases/download/$1 archive
	archive=flocklimit-${1#v}-linux-$(uname -m).tar.gz
	mkdir -p "$dir" "tree/flocklimit-${1#v}/bin"
	cp "$FLOCKLIMIT" "tree/flocklimit-${1#v}/bin/"
	tar -C tree -czf "$dir/$archive" "flocklimit-${1#v}"
	(cd "$dir" && sha256sum "$archive" >SHA256SUMS && echo "$(printf '%064d' 0)  flocklimit-${1#v}.tar.xz" >>SHA256SUMS)
	PAGE=$dir ARCHIVE=$archive
}

# a_runner [REF]: a machine without flocklimit, with the action checked out at REF, and the release page.
a_runner() {
	need_runner
	VERSION=$("$FLOCKLIMIT" --version | awk '{ print $2; exit }')
	[[ ,$PATH, != *flocklimit* ]] || PATH=/usr/local/bin:/usr/bin:/bin
	! command -v flocklimit || skip "flocklimit is installed here"
	release "v$VERSION"
	mkdir -p temp work "_actions/someone/flocklimit/${1-v0}"
	export FAKE_ACTION=$T/_actions/someone/flocklimit/${1-v0} FAKE_LOG=$T/signals RUNNER_TEMP=$T/temp
	export GITHUB_ACTIONS=true GITHUB_REPOSITORY=else/where GITHUB_SERVER_URL FAKE_REPOSITORY=someone/flocklimit FAKE_REF=${1-v0}
	cp -r "$TOP/action.yml" "$TOP/action" "$TOP/configure.ac" "$FAKE_ACTION/"
	background page "$PYTHON" -u -m http.server --bind 127.0.0.1 --directory srv 0
	eventually says 'port ' page.out
	GITHUB_SERVER_URL=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\).*/\1/p' page.out)
	in_stubs npm
	cd work || return
	printf '#!/bin/sh\necho "upload in $FLOCKLIMIT_LIMITER" >>"$T/log"\n' >upload-report
	chmod +x upload-report
}

# in_stubs NAME...: commands that say how they were called, but no flocklimit.
in_stubs() {
	in_path "$@"
	rm bin/flock*
}

# workflow LINE...: one step of the action, with these inputs.
workflow() {
	printf '%s\n' 'jobs:' '  one:' '    steps:' '      - uses: someone/flocklimit@v0' >workflow.yml
	[ $# -eq 0 ] || printf '%s\n' '        with:' >>workflow.yml
	[ $# -eq 0 ] || printf '          %s\n' "$@" >>workflow.yml
}

@test "the workflow of the page runs: installed from the release, limited, and in later steps" {
	a_runner
	example github >workflow.yml
	runner github workflow.yml browser
	cat "$T/log"
	[ "$(cat "$T/log")" = "npm ci in browser, limit 2
npm run browser-tests in browser, limit 2
upload in upload" ]
	grep -qF "outputs path=$RUNNER_TEMP/flocklimit/flocklimit-$VERSION/bin/flocklimit" "$FAKE_LOG"
	grep -qF "GET /someone/flocklimit/releases/download/v$VERSION/$ARCHIVE " "$T/page.err"
}

@test "the action without a script only installs" {
	a_runner
	workflow
	runner github workflow.yml one
	grep -q '^outputs path=' "$FAKE_LOG"
	[ "$(grep -c '^status' "$FAKE_LOG")" = 1 ]
	[ ! -e "$FLOCKLIMIT_DIR" ]
}

@test "the action takes the release of its tag, and its repository from its path" {
	a_runner v9.9.9
	cd ..
	release v9.9.9
	cd work || return
	workflow
	FAKE_REPOSITORY='' runner github workflow.yml one
	grep -qF "GET /someone/flocklimit/releases/download/v9.9.9/SHA256SUMS " "$T/page.err"
}

@test "the action in its own repository takes the release of that repository" {
	a_runner
	mkdir -p "$T/checkout"
	cp -r "$FAKE_ACTION"/* "$T/checkout/"
	mv "$T/srv/someone" "$T/srv/else"
	mv "$T/srv/else/flocklimit" "$T/srv/else/where"
	workflow
	FAKE_ACTION=$T/checkout FAKE_REPOSITORY='' FAKE_REF='' runner github workflow.yml one
	grep -qF "GET /else/where/releases/download/v$VERSION/$ARCHIVE " "$T/page.err"
}

@test "a runner that has flocklimit needs no release page" {
	a_runner
	ln -s "$FLOCKLIMIT" "$T/bin/"
	workflow 'name: x' 'run: echo "$FLOCKLIMIT_LIMITER" >>"$T/log"'
	GITHUB_SERVER_URL=http://127.0.0.1:1 runner github workflow.yml one
	[ "$(cat "$T/log")" = x ]
}

@test "a release that is wrong, lacks the program or is missing fails the step in one line" {
	a_runner
	workflow
	cp "$T/$PAGE/$ARCHIVE" good
	echo more >>"$T/$PAGE/$ARCHIVE"
	run -1 runner github workflow.yml one
	[[ $output == "::error title=flocklimit::"*"/$ARCHIVE has a wrong SHA-256 sum" ]]
	[ ! -e "$RUNNER_TEMP/flocklimit/flocklimit-$VERSION" ]
	cp good "$T/$PAGE/$ARCHIVE"
	sed -i "s/$(uname -m)/pdp11/" "$T/$PAGE/SHA256SUMS"
	run -1 runner github workflow.yml one
	[[ $output == "::error title=flocklimit::"*"has no program for $(uname -m): install flocklimit on the runner" ]]
	rm "$T/$PAGE/SHA256SUMS"
	run -1 runner github workflow.yml one
	[[ ${lines[-1]} == "::error title=flocklimit::"*"/SHA256SUMS cannot be loaded" ]]
}

@test "weight, timeout and store reach flocklimit, the store not by its arguments" {
	a_runner
	printf '#!/bin/sh\necho "store $FLOCKLIMIT_STORE" "$@" >>"$T/log"\nexec "$FLOCKLIMIT" "$@"\n' >"$T/bin/flocklimit"
	chmod +x "$T/bin/flocklimit"
	cd "$T" || return
	a_store
	cd work
	workflow 'name: x' 'limit: 9' 'weight: 3' 'timeout: 1h' 'store: etcd://user:secret@db/ci' 'run: env >"$T/env"'
	runner github workflow.yml one
	grep -q '^store etcd://user:secret@db/ci -N x -n 9 -w 3 -t 1h -- /' "$T/log"
	grep -qx FLOCKLIMIT_WEIGHT=3 "$T/env"
	run -1 grep '^INPUT_' "$T/env"
}

@test "the script of the step is a step: its status, its errors, its files, its odd characters" {
	a_runner
	ln -s "$FLOCKLIMIT" "$T/bin/"
	workflow 'name: x' 'run: |' '  echo "A=it'"'"'s \$ %" >>"$GITHUB_ENV"' '  false | true' '  echo not reached >>"$T/log"'
	run -1 runner github workflow.yml one
	[ ! -s "$T/log" ]
	workflow 'name: x' 'run: |' '  echo "A=it'"'"'s %" >>"$GITHUB_ENV"' '  ! read -r line'
	printf '%s\n' '      - run: echo "$A" >>"$T/log"' >>workflow.yml
	runner github workflow.yml one </dev/null
	[ "$(cat "$T/log")" = "it's %" ]
	workflow 'name: x' 'run: exit 7'
	run -7 runner github workflow.yml one
	workflow 'run: true'
	run -1 runner github workflow.yml one
	[[ ${lines[-1]} == '::error title=flocklimit::'*'add the input `name'"'" ]]
}

@test "without room in time, the step fails with 75" {
	a_runner
	ln -s "$FLOCKLIMIT" "$T/bin/"
	hold a -N x -n 1
	workflow 'name: x' 'limit: 1' 'timeout: 100ms' 'run: echo ran >>"$T/log"'
	run -75 runner github workflow.yml one
	[ ! -s "$T/log" ]
}

@test "a cancelled step: every process has INT at once, and the permit lasts until the last has ended" {
	a_runner
	ln -s "$FLOCKLIMIT" "$T/bin/"
	workflow 'name: x' 'limit: 1' 'run: |' '  (trap "echo int >>$T/log; sleep .5; echo done >>$T/log; exit" INT; : >up; while :; do sleep .1; done)' '  true'
	background job "$PYTHON" "$TESTS_SOURCE/ci/runner" github workflow.yml one
	eventually test -e up
	background next "$FLOCKLIMIT" -N x -n 1 sh -c 'echo next >>"$T/log"'
	eventually in_line 1
	kill -USR1 "${pids[job]}"
	ended job
	ended next
	cat "$T/log"
	[ "$(tr '\n' ' ' <"$T/log")" = 'int done next ' ]
	[ "$(sed -n '/^SIG/,$p' "$FAKE_LOG" | head -n 1)" = SIGINT ]
	run -1 grep SIGTERM "$FAKE_LOG"
}

@test "a cancelled step that ignores INT and TERM is killed, and the next job starts" {
	a_runner
	ln -s "$FLOCKLIMIT" "$T/bin/"
	workflow 'name: x' 'limit: 1' 'run: |' '  trap "" INT TERM' '  echo $$ >pid' '  while :; do sleep .1; done'
	background job "$PYTHON" "$TESTS_SOURCE/ci/runner" github workflow.yml one
	eventually test -s pid
	background next "$FLOCKLIMIT" -N x -n 1 echo next
	eventually in_line 1
	kill -USR1 "${pids[job]}"
	ended job
	[ "$status" -eq 137 ]
	ended next
	[ "$status" -eq 0 ]
	cat "$FAKE_LOG"
	[ "$(grep -c '^SIG' "$FAKE_LOG")" = 3 ]
	# The runner kills one process after the other, so the next job may start a moment before it gets to this one.
	eventually is_gone "$(cat pid)"
}

@test "a step that is cancelled in the moment in which its script starts leaves nothing behind" {
	echo 'sleep 100' >script
	# The shell of the step gets the signal before it notes which process it has started.
	echo '[[ $0 != */action/step ]] || trap "[[ \$BASH_COMMAND != group=*! ]] || kill -INT $$" DEBUG' >early
	# The pipe is open for as long as the script runs.
	run -0 env BASH_ENV="$T/early" timeout 60 env --default-signal=INT sh -c '"$1" "$2" | cat' sh "$TOP/action/step" script
}

@test "a step that is cancelled while it waits leaves the line" {
	a_runner
	ln -s "$FLOCKLIMIT" "$T/bin/"
	hold a -N x -n 1
	workflow 'name: x' 'limit: 1' 'run: echo ran >>"$T/log"'
	background job "$PYTHON" "$TESTS_SOURCE/ci/runner" github workflow.yml one
	eventually in_line 1
	kill -USR1 "${pids[job]}"
	ended job
	[ "$status" -eq 130 ]
	eventually in_line 0
	[ ! -s "$T/log" ]
}
