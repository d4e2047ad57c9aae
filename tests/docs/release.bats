#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2154,SC2317,SC2030,SC2031 # how bats works: run, skip, a subshell a test
# make release: what is refused, and what an SPDX document must have.  make install: which pages.

load ../helpers/lib.bash
load ../helpers/docs.bash

# A repository with what `tagged' reads.
repository() {
	command -v git >/dev/null || skip "no git"
	mkdir -p packaging/release
	cp "$TOP/packaging/release/tagged" packaging/release/
	printf 'AC_INIT([flocklimit], [1.2.3], [], [flocklimit])\n' >configure.ac
	printf '# News\n\n## 1.2.3 (2026-11-23)\n' >NEWS.md
	mkdir -p tests/proofs
	cp "$TOP/tests/proofs/proof" tests/proofs/
	printf 'model    check-model    configure.ac\n' >tests/proofs/table
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	unset GIT_DIR GIT_WORK_TREE
	git init -q .
	tests/proofs/proof run model true
	commit
}

commit() {
	git add -A
	git commit -q -m x
}

# no WORDS: `tagged' refuses in one line, with these words.
no() {
	run -1 packaging/release/tagged 1.2.3
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "release: "*"$1"*"make release-trial" ]]
}

@test "make release: from the tag of this version, and clean" {
	repository
	no "there is no tag v1.2.3"
	git tag v1.2.3
	run -0 packaging/release/tagged 1.2.3
	[ -z "$output" ]
	: >untracked
	no "not clean"
	commit
	no "another commit"
}

@test "make release: configure.ac and NEWS.md have the version" {
	repository
	echo '## 1.2.3 (unreleased)' >NEWS.md
	commit
	git tag v1.2.3
	no "NEWS.md has no section"
	sed -i s/1.2.3/1.2.4/ configure.ac
	commit
	git tag -f v1.2.3
	no "configure.ac is not 1.2.3"
}

@test "make release: each long proof was run on this commit" {
	repository
	echo >>configure.ac
	commit
	git tag v1.2.3
	no "a long proof was not run on this commit"
}

@test "the document of what was linked has what SPDX requires, and its check misses nothing" {
	command -v jq >/dev/null || skip "no jq"
	mkdir maps bin
	cp "$TOP/packaging/release/"{sbom,sbom-check} bin/
	printf '#!/bin/sh\nprintf "amd64.flocklimit\\tmusl-dev\\t1.2.3-1\\tMIT\\n"\n' >bin/linked
	chmod +x bin/linked
	: >"maps/amd64.flocklimit"
	SOURCE_DATE_EPOCH=0 bin/sbom 1.2.3 maps >good
	bin/sbom-check good
	[ "$(jq -r .creationInfo.created good)" = 1970-01-01T00:00:00Z ]
	local without
	for without in .spdxVersion .dataLicense .SPDXID .name .documentNamespace .creationInfo.created \
		.creationInfo.creators .packages '.packages[0]' '.packages[1].downloadLocation' '.packages[0].name' \
		'.packages[1].licenseConcluded' .relationships '.relationships[1]'; do
		echo "$without"
		jq "del($without)" good >bad
		run ! bin/sbom-check bad
	done
}

@test "make install: the pages of what was built, and no others" {
	[ -f "$BUILD/Makefile" ] || skip "the build has gone"
	make -s -C "$BUILD" install-man DESTDIR="$T" mandir=/man 3>&-
	{
		for page in flocklimit flockmap flocksem flocklimitctl; do
			# A link leads to the program of another build.
			[ ! -x "$BUILD/$page" ] || [ -L "$BUILD/$page" ] || echo "man1/$page.1"
		done
		! grep -q '^lib_LTLIBRARIES = .' "$BUILD/Makefile" ||
			printf 'man3/%s.3\n' flk_map flk_steer flk_taker libflocklimit
		echo man5/flocklimit-limits.5
		echo man7/flocklimit.7
		[ ! -x "$BUILD/cmd/store/store-etcd" ] || echo man7/flocklimit-store.7
	} | sort >built
	find man -type f -printf '%P\n' | sort | diff built -
}
