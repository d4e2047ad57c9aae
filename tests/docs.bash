# shellcheck shell=bash
# shellcheck disable=SC2034 # what tests read
# Shared by the tests of pages, README and completions.

TOP=$BATS_TEST_DIRNAME/..
BUILD=${TESTS_BUILD:-$BATS_TEST_DIRNAME}/..

# same WHAT FILE FILE: two sorted lists are one, and not empty.
same() {
	[ -s "$2" ]
	echo "$1:"
	diff "$2" "$3"
}

# section NAME PAGE: its lines.
section() {
	awk -v wanted="$1" '/^\.Sh / { on = (substr($0, 5) == wanted); next } on' "$2"
}

# literals DIR: the literal blocks of standard input, as they are read, one file each.
literals() {
	awk -v dir="$1" '
		/^\.Bd -literal/ { file = sprintf("%s/%02d", dir, ++n); next }
		/^\.Ed/ { file = "" }
		file != "" { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > file }'
}
