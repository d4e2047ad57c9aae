#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016,SC2034 # for the inner shells, for container.bash
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# The examples of doc/ci.md for GitLab, Jenkins and Buildkite, and their cancelled jobs, with a fake runner.

load ../helpers/lib.bash
load ../helpers/docs.bash
load ci.bash
load container.bash

@test "every example of the page has a test" {
	local name n=0
	while read -r name; do
		echo "$name"
		grep -qE "example $name( |\$|\))" "$TESTS_SOURCE"/ci/*.bats
		n=$((n + 1))
	done < <(awk '/^```[a-z]/ { print $2 }' "$TOP/doc/ci.md")
	[ "$n" -ge 1 ]
	# A block without a name has no test.
	run -1 grep -nxE '```[a-z]+ *' "$TOP/doc/ci.md"
}

@test "the links of the page lead somewhere" {
	local to
	sed -n 's/^##* //p' "$TOP/doc/ci.md" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9 \n-' | tr ' ' - | sed 's/^/#/' >anchors
	while read -r to; do
		echo "$to"
		grep -qxF -- "$to" anchors
	done < <(grep -oE '\]\(#[^)]*\)' "$TOP/doc/ci.md" | sed 's/^](//; s/)$//')
}

@test "GitLab, shell executor: the job runs under its limiter" {
	need_runner
	in_path terraform
	example gitlab >jobs.yml
	runner gitlab jobs.yml deploy
	[ "$(cat log)" = "terraform apply -auto-approve in terraform, limit 1" ]
}

@test "GitLab, docker executor: containers with the page's volumes share the limiter" {
	need_runner
	need_container
	example gitlab-docker >config.toml
	"$PYTHON" - >settings <<-'END' || skip "this Python reads no TOML"
		import tomllib
		with open("config.toml", "rb") as f:
		    settings = tomllib.load(f)["runners"][0]
		assert settings["executor"] == "docker"
		print(*settings["docker"]["volumes"])
		print(*settings["environment"])
	END
	{ read -ra VOLUMES; read -ra variables; } <settings
	example gitlab >jobs.yml
	"$PYTHON" -c 'import yaml; print("\n".join(yaml.safe_load(open("jobs.yml"))["deploy"]["script"]))' >job
	a_tree "$(command -v bash)" "$(command -v sleep)"
	printf '#!/bin/bash\necho "$FLOCKLIMIT_LIMITER $*" >/limits/said; until [ -e /limits/go ]; do sleep .1; done\n' >tree/bin/terraform
	chmod +x tree/bin/terraform
	cp job tree/job
	background a container env "${variables[@]}" bash -e /job
	eventually test -s limits/said
	[ "$(cat limits/said)" = "terraform apply -auto-approve" ]
	# Another container, and the machine itself, wait for it.
	background b container env "${variables[@]}" bash -e /job
	FLOCKLIMIT_DIR=$T/limits eventually in_line 1 terraform
	: >limits/go
	ended a
	[ "$status" -eq 0 ]
	ended b
	[ "$status" -eq 0 ]
}

@test "Jenkins: the sh line runs under the limiter of the environment" {
	need_runner
	in_path
	example jenkins >Jenkinsfile
	printf '#!/bin/sh\necho "gradlew $* in $FLOCKLIMIT_LIMITER, limit $FLOCKLIMIT_LIMIT" >log\n' >gradlew
	chmod +x gradlew
	runner jenkins Jenkinsfile
	[ "$(cat log)" = "gradlew build in gradle, limit 3" ]
}

@test "Buildkite: the step, the hook, and both" {
	need_runner
	in_path
	printf '#!/bin/sh\necho "tests in $FLOCKLIMIT_LIMITER, limit $FLOCKLIMIT_LIMIT, ticket $FLOCKLIMIT_TICKET" >>log\n' >integration-tests
	chmod +x integration-tests
	example buildkite >pipeline.yml
	runner buildkite pipeline.yml
	mkdir hooks
	example buildkite-hook >hooks/command
	chmod +x hooks/command
	FAKE_HOOKS=$T/hooks runner buildkite pipeline.yml
	printf '%s\n' 'steps:' '  - command: ./integration-tests' '    agents:' '      queue: heavy' >bare.yml
	FAKE_HOOKS=$T/hooks runner buildkite bare.yml
	# Another queue has no limit.
	sed -i s/heavy/light/ bare.yml
	FAKE_HOOKS=$T/hooks runner buildkite bare.yml
	cat log
	diff log - <<-'END'
		tests in heavy, limit 2, ticket 1
		tests in heavy, limit 2, ticket 2
		tests in heavy, limit 2, ticket 3
		tests in , limit , ticket 
	END
}

@test "the setting for runners on several machines reaches the store's program" {
	in_path
	a_store
	example store >settings
	set -a
	# shellcheck disable=SC1091 # of this test
	. ./settings
	set +a
	[[ $FLOCKLIMIT_STORE == etcd://* ]]
	flocklimit -N licence -n 8 true
	grep -q '^store -N licence -n 8 true' stored
}

@test "the page's line against hanging commands: kill, and no room in time" {
	in_path make
	printf '#!/bin/sh\nwhile :; do sleep .1; done\n' >bin/make
	example cancelled | sed 's/-T 20m -k 5s/-T 100ms -k 100ms/; s/-t 10m/-t 100ms/' >line
	# Ignored from its first instruction on, however late that comes.
	run -137 env --ignore-signal=TERM sh line
	hold a -N tests -n 1
	run -200 sh line
}

# cancelled SYSTEM ARG...: somebody cancels the job, whose command writes its pid to ./pid, while another waits.
cancelled() {
	export FAKE_LOG=$T/signals
	background job "$PYTHON" "$TESTS_SOURCE/ci/runner" "$@"
	eventually test -s pid
	background next flocklimit -N x -n 1 sh -c 'echo "next, after $(grep -c "^State:.[^ZX]" "/proc/$1/status" 2>/dev/null)" >>log' sh "$(cat pid)"
	eventually in_line 1
	kill -USR1 "${pids[job]}"
	ended job
	echo "status $status"
	cat "$FAKE_LOG"
}

# jobs SCRIPT: the same job for the three systems, in which ./work is SCRIPT.
jobs_with() {
	need_runner
	in_path
	printf '#!/bin/sh\n%s\n' "$1" >work
	chmod +x work
	printf '%s\n' 'one:' '  script:' '    - flocklimit -N x -n 1 ./work' >gitlab.yml
	printf '%s\n' 'steps:' '  - command: flocklimit -N x -n 1 ./work' >buildkite.yml
	echo "sh 'flocklimit -N x -n 1 ./work'" >Jenkinsfile
}

@test "a cancelled job of each system ends at TERM, and the next job follows" {
	local system
	jobs_with 'trap "echo term >>terms; exit 3" TERM; echo $$ >pid; while :; do sleep .1; done'
	for system in "gitlab gitlab.yml one" "buildkite buildkite.yml" "jenkins Jenkinsfile"; do
		echo "--- $system"
		rm -f pid log signals terms
		# shellcheck disable=SC2086 # words
		cancelled $system
		[ "$status" -ne 0 ]
		ended next
		[[ $(cat log) == 'next, after '?(0) ]]
		[ "$(grep -c '^SIGTERM$' signals)" = 1 ]
		[ -s terms ]
	done
}

@test "a cancelled job of each system that ignores TERM is killed, and the next job follows" {
	local system
	jobs_with 'trap "" TERM; echo $$ >pid; while :; do sleep .1; done'
	for system in "gitlab gitlab.yml one" "buildkite buildkite.yml" "jenkins Jenkinsfile"; do
		echo "--- $system"
		rm -f pid log signals
		# shellcheck disable=SC2086 # words
		cancelled $system
		case $system in
		gitlab*)
			# The shell of the script has ended at TERM, so nothing is killed.  The limit holds.
			run -1 grep SIGKILL signals
			in_line 1
			kill -KILL "$(cat pid)"
			;;
		*) grep -qx SIGKILL signals ;;
		esac
		ended next
		[[ $(cat log) == 'next, after '?(0) ]]
	done
}
