# SPDX-License-Identifier: ISC
# shellcheck shell=sh
# spin.sh - what check and check-store have in common: sourced, with $source and $model set.

if ! command -v spin >/dev/null; then
	echo '1..0 # SKIP no spin here'
	exit 0
fi
for cc in ${CC:+"$CC"} cc gcc clang; do
	command -v "${cc%% *}" >/dev/null && break
	cc=
done
if [ -z "$cc" ]; then
	echo '1..0 # SKIP no C compiler here'
	exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

tests=0
bad=0
visited=0

result() { # RIGHT WORDS
	tests=$((tests + 1))
	if [ "$1" = true ]; then
		echo "ok $tests - $2"
	else
		echo "not ok $tests - $2"
		bad=1
	fi
}

# compile PROCESSES KIND [FLAG]...: a checker $work/KIND-PROCESSES/pan
compile() {
	dir=$work/$2-$1
	mkdir "$dir"
	n=$1
	shift 2
	# Spin leaves its files where it stands.  MEMLIM is in MB.
	# shellcheck disable=SC2086,SC2154 # CC may have words; source and model are the caller's
	(cd "$dir" && spin -DN="$n" -a "$source/$model" &&
		$cc -O1 -w -DCOLLAPSE -DMEMLIM=8000 "$@" -o pan pan.c) >"$dir/log" 2>&1 ||
		{
			sed 's/^/# /' "$dir/log"
			echo 'Bail out! the model does not compile'
			exit 1
		}
}

# How the search ended: holds, fails, or neither.
verdict() {
	if grep -q 'errors: [1-9]' "$1"; then
		echo fails
	elif grep -q 'errors: 0' "$1" &&
		! grep -Eq 'not completed|too small|out of memory|aborting' "$1"; then
		echo holds
	else
		echo 'came to no end'
	fi
}

# run CHECKER EXPECTED WORDS [VARIABLE=VALUE]...; no deeper than $most steps, if that is set
run() {
	checker=$work/$1
	expected=$2
	words=$3
	shift 3
	option=
	case $checker in */cycles-*) option=-l ;; esac
	# shellcheck disable=SC2086 # no option is no word
	(cd "$checker" && env "$@" ./pan -m"${most:-100000}" $option) >"$checker/out" 2>&1
	got=$(verdict "$checker/out")
	if [ "$got" = "$expected" ]; then
		result true "$words"
	else
		result false "$words: it $got"
	fi
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$checker/out")
	depth=$(sed -n 's/.*depth reached \([0-9]*\).*/\1/p' "$checker/out")
	visited=$(awk -v sum="$visited" -v more="${states:-0}" 'BEGIN { printf "%d", sum + more }')
	seconds=$(sed -n 's/.*elapsed time \([0-9.e+-]*\) s.*/\1/p' "$checker/out")
	why=$(sed -n 's/^pan:[0-9]*: \(.\{1,60\}\).*/: \1/p' "$checker/out" | head -1)
	echo "# ${checker##*-} processes, $*: $got, $states states, depth $depth, ${seconds:-0} s$why"
}

finish() {
	echo "# $model: $tests configurations, $visited states"
	echo "1..$tests"
	exit "$bad"
}
