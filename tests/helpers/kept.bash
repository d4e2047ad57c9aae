# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2317 # STORE: of memory.bash; skip: of bats
# For tests of limiters wherever they are kept: in files or, if KEPT_IN is "store", in one
# (tests/store/memory/commands.bats).  Needs lib.bash.

load ../store/memory/memory.bash

if [ "${KEPT_IN-}" = store ]; then
	setup_more() {
		serve
		export FLOCKLIMIT_STORE=$STORE/team
	}
fi

# of_files WHY: in a store this is different.
of_files() { [ "${KEPT_IN-}" != store ] || skip "a store: $1"; }
