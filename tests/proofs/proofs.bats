#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for make
# shellcheck disable=SC2154,SC2030,SC2031 # how bats works: run, a subshell a test
# A proof that was not run on the tip is noticed.

load ../helpers/lib.bash

# A repository with what the stamps depend on.
stamp_a_tree() {
	command -v git >/dev/null || skip 'no git here'
	tree=$T/tree
	mkdir -p "$tree/tests/proofs" "$tree/tests/model" "$tree/lib"
	# What is written there, and not what a make beside this test is about to rename.
	cp "$TESTS_SOURCE/proofs/proof" "$tree/tests/proofs/"
	cp "$TESTS_SOURCE"/model/*.pml "$tree/tests/model/"
	cp "$TESTS_SOURCE"/../lib/*.[ch] "$tree/lib/"
	cp "$TESTS_SOURCE/../bootstrap" "$tree/"
	cat >"$tree/tests/proofs/table" <<-'EOF'
		# a comment
		model           check-model           tests/model lib
		fresh           check-fresh           bootstrap
	EOF
	cd "$tree" || return 1
	git init -q .
	git add .
	proof=tests/proofs/proof
	"$proof" run model 'echo "ok 1 - a state"; echo "# 7 states"; echo 1..1'
	"$proof" run fresh 'printf "5 passed, 0 failed"' # a last line without a newline
}

# changes FILE: one byte of it.
changes() { printf x >>"$1"; }

@test 'a stamp fits the tree on which its proof passed, and has its figures' {
	stamp_a_tree
	run "$proof" look
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == 'fits    model: '*'; 7 states' ]]
	[[ ${lines[1]} == 'fits    fresh: '*'; 5 passed, 0 failed' ]]
}

@test 'a changed byte of the model, of lib/ or of bootstrap is noticed' {
	stamp_a_tree
	git -c user.name=a -c user.email=a@example.invalid commit -qm stamps
	changes tests/model/laws.pml
	run "$proof" look
	[ "$status" -eq 1 ]
	[[ ${lines[0]} == 'stale   model: since '*'changed: tests/model'*'make check-model' ]]
	[[ ${lines[1]} == 'fits    fresh: '* ]]
	changes lib/wait.c
	changes bootstrap
	run "$proof" look
	[[ ${lines[0]} == *'changed: tests/model/laws.pml lib/wait.c ;'* ]]
	[[ ${lines[1]} == 'stale   fresh: '*'changed: bootstrap'* ]]
}

@test 'the files that changed are named where git knows them' {
	stamp_a_tree
	git add .
	git -c user.name=a -c user.email=a@example.invalid commit -qm stamps
	changes lib/wait.c
	changes tests/model/README.md
	run "$proof" look model
	[[ ${lines[0]} == *'changed: lib/wait.c ;'* ]]
}

@test 'of many files that changed the first are named' {
	stamp_a_tree
	touch lib/{a,b,c,d,e,f,g}.c
	git add .
	git -c user.name=a -c user.email=a@example.invalid commit -qm stamps
	for file in a b c d e f g; do changes "lib/$file.c"; done
	run "$proof" look model
	[[ ${lines[0]} == *'changed: lib/a.c lib/b.c lib/c.c lib/d.c lib/e.c lib/f.c and 1 more ;'* ]]
}

@test 'a page is no part of a proof, and a new file is' {
	stamp_a_tree
	changes tests/model/README.md
	"$proof" look
	echo >lib/new.c
	run "$proof" look model
	[ "$status" -eq 1 ]
}

@test 'a stamp that the proof did not write is refused' {
	stamp_a_tree
	sed -i 's/7 states/8 states/' tests/proofs/stamps/model
	run "$proof" look
	[ "$status" -eq 2 ]
	[[ ${lines[0]} == 'FORGED  model: '* ]]
	changes lib/wait.c
	"$proof" run model true
	hash=$(sed -n 's/^on \(.*\) lib$/\1/p' tests/proofs/stamps/model)
	changes lib/wait.c
	run "$proof" look model
	[ "$status" -eq 1 ]
	PROOF_STAMPS=$T/new "$proof" run model true
	new=$(sed -n 's/^on \(.*\) lib$/\1/p' "$T/new/model")
	sed -i "s/$hash/$new/" tests/proofs/stamps/model
	run "$proof" look model
	[ "$status" -eq 2 ]
}

@test 'a proof that fails has no stamp, nor has one under which the tree changed' {
	stamp_a_tree
	rm tests/proofs/stamps/model
	run "$proof" run model 'echo no; false' 'echo yes'
	[ "$status" -eq 1 ]
	[[ $output == *'model failed: echo no; false'* && $output != *yes* ]]
	[ ! -e tests/proofs/stamps/model ]
	run "$proof" run model 'echo >lib/new.c'
	[ "$status" -eq 1 ]
	[[ $output == *'has changed meanwhile'* ]]
	[ ! -e tests/proofs/stamps/model ]
	run "$proof" look
	[ "$status" -eq 1 ]
	[[ ${lines[0]} == 'stale   model: it has no stamp; make check-model' ]]
}

@test 'make -n proves nothing' {
	stamp_a_tree
	rm tests/proofs/stamps/model
	printf 'check:\n\t@tests/proofs/proof run model "$(MAKE) -s one"\none:\n\techo 1 passed\n' >Makefile
	make -n check
	[ ! -e tests/proofs/stamps/model ]
	make -kw check
	"$proof" look model
}

@test 'a part of a proof, and a proof outside a clone, run without a stamp' {
	stamp_a_tree
	"$proof" run part 'echo >ran'
	[ -e ran ]
	[ ! -e tests/proofs/stamps/part ]
	rm -rf .git tests/proofs/stamps
	"$proof" run model true
	[ ! -e tests/proofs/stamps/model ]
}
