# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# Shared by the tests of --jobserver; after lib.bash and ctl.bash.

# client LABEL OPTION...: a build whose client takes and gives back tokens as it is told.
client() {
	local label=$1
	shift
	mkfifo "$label.told"
	cat >client.sh <<-'E'
		exec 8<>"$1.told" 9<>"${MAKEFLAGS##*fifo:}"
		echo $$ >"$1.up"
		while read -r what <&8; do
			case $what in
			take) dd bs=1 count=1 status=none <&9 >/dev/null && echo took >>"$1.said" ;;
			give) printf + >&9 && echo gave >>"$1.said" ;;
			job) sleep 1000 9<&- & echo $! >"$1.job" ;;
			end) exit 7 ;;
			esac
		done
	E
	background "$label" "$FLOCKLIMIT" -N x --jobserver=fifo "$@" sh client.sh "$label"
	eventually test -s "$label.up"
}

# tell LABEL WORD
tell() { timeout 300 sh -c 'echo "$2" >"$1.told"' sh "$1" "$2"; }

# took LABEL N: it was told to, and has had so many tokens.
took() {
	tell "$1" take
	eventually says_so took "$2" "$1.said"
}

says_so() { [ "$(grep -c "$1" "$3" 2>/dev/null)" = "$2" ]; }

# patiently CMD...: succeeds if CMD does.  A client has 2 s to say its version (clients.c), so a CMD that took
# as long may fail because the machine stood still, and is tried again.
patiently() {
	local began i
	for i in {1..20}; do
		began=${EPOCHREALTIME/[^0-9]/}
		! "$@" || return 0
		[ $((${EPOCHREALTIME/[^0-9]/} - began)) -ge 2000000 ] || return 1
	done
	return 1
}

used() { [ "$(field .used)" = "$1" ]; }

soon() {
	eventually is_gone "${pids[$1]}"
	ended "$1"
}

# makefile N: N jobs, each of which witnesses itself in a line that nobody can tear.
makefile() {
	printf 'jobs := $(shell seq %s)\nall: $(jobs)\n$(jobs): ; @%s\n' "$1" \
		'echo "+ $(WHO)" >>log; sleep 0.02; echo "- $(WHO)" >>log' >Makefile
}

# most: how many of them ran at once.
most() { awk '{ n += $1 == "+" ? 1 : -1; if (n > m) m = n } END { print m }' log; }

# No file was made.
nothing_left() { [ -z "$(ls "$T/tmp")" ]; }

with_tmp() {
	mkdir "$T/tmp"
	export TMPDIR=$T/tmp
}

knows_fifo() { [ "$(printf '%s\n' 4.4 "$(make --version | sed -n '1s/GNU Make //p')" | sort -V | head -1)" = 4.4 ]; }
