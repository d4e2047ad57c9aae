#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016,SC1003 # for the inner shells
# shellcheck disable=SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# flockmap -c: an item in a shell's line is a word, and never a command.

load ../helpers/lib.bash
load ../helpers/map.bash

# Would be run, or end its word, wherever it is not quoted.
evil='$(echo >ran)`echo >ran`'\'';echo >ran;'\''";echo >ran;"
echo >ran
\'

@test "-c: items are quoted, whatever is in them" {
	for item in "$evil" '' ' ' -n "it's" '*' '~' $'a\tb' $'\377' '${HOME}' '\' '!'; do
		run -0 "$MAP" -0 -n 1 -c 'printf "<%s>" {} x{}y $x{}' < <(printf '%s\0' "$item")
		[ "$output" = "<$item><x${item}y><$item>" ]
	done
	[ ! -e ran ]
	touch 'a b' "it's"
	run -0 "$MAP" -n 2 -c 'cat < {} > {}.out; ls {.}.out' ::: 'a b' "it's"
	[ "$output" = $'a b.out\nit\'s.out' ]
	run -0 "$MAP" -n 2 -c 'echo {/} {//} {.} {/.} {#}' ::: "/x y/a'b.c"
	[ "$output" = "a'b.c /x y /x y/a'b a'b 1" ]
	run -0 "$MAP" -n 1 -c 'printf "%s," {2} {1}; echo' ::: a 'b c' ::: "d'"
	[ "$output" = $'d\',a,\nd\',b c,' ]
	run -0 "$MAP" -n 1 -L 3 -c 'printf "<%s>" {} ; printf "%s" pre{}' ::: a 'b c' d
	[ "$output" = "<a><b c><d>preab cd" ]
	run -0 "$MAP" -n 1 -I sh -c 'printf "<%s>" sh' ::: "a'b"
	[ "$output" = "<a'b>" ]
	run -0 "$MAP" -n 1 -I @ -c 'echo @ {.}' ::: "a'.b"
	[ "$output" = "a'.b a'" ]
}

# Each line takes an item, or takes none.
@test "-c: where an item may stand, and where not" {
	for line in 'echo {}' 'x={}; echo "$x"' 'echo "a"{}"b"' "echo 'a'{}" 'echo $(echo {})' 'echo \\{}' \
		'echo ${x}{}' 'echo "${x}"{}' 'echo a#{}' 'echo "#" {}' 'echo # no'$'\n''echo {}' 'if :; then echo {}; fi' \
		'case {} in *) echo;; esac' 'echo "\"" {}' 'echo $# {}' '(echo {})' 'echo "$x" {} # "' 'cat <{}'; do
		echo "$line"
		run "$MAP" -0 -n 1 -c "$line" < <(printf '%s\0' "$evil")
		[[ $output != *"quoted already"* ]]
		[ ! -e ran ]
	done
	for line in 'echo "{}"' "echo '{}'" 'echo \{}' 'echo `echo {}`' 'echo "$(echo {})"' 'echo $((1 + {}))' \
		'echo ${x:-{}}' 'echo "${x:-{}}"' 'cat <<E'$'\n''{}'$'\n''E' 'echo # {}' "echo \$'a' {}" 'echo ${}' \
		'echo \'$'\n''# '\'$'\n'' x '\'' {}' 'echo "a $(echo "b") " {}' 'echo "$[ {} ]"'; do
		echo "$line"
		map_line 125 "$MAP" -n 1 -c "$line" ::: a
		[[ $stderr == *"quoted already: write it outside of quotes"* ]]
	done
}

@test "-c: the line is the whole command, and has an item" {
	map_line 125 "$MAP" -n 1 -c 'echo {}' gzip ::: a
	[[ $stderr == *"-c is the whole command in one word: drop 'gzip'"* ]]
	map_line 125 "$MAP" -n 1 -c 'echo' ::: a
	[[ $stderr == *"-c 'echo': write where the item stands: {} or the like" ]]
	map_line 125 "$MAP" -n 1 -c 'echo {#}' ::: a
	run -0 "$MAP" -n 1 -c 'echo {}' < <(echo a)
	[ "$output" = a ]
	run -0 "$MAP" -n 1 -c ': {}; echo "$FLOCKLIMIT_LIMITER"; exit 0' ::: a
	[ "$output" = flockmap ]
	run -0 "$MAP" -N mine -n 1 -c ': {}; echo "$FLOCKLIMIT_LIMITER"' ::: a
	[ "$output" = mine ]
	run -0 "$MAP" --dry-run -c 'echo {} > "x y"' ::: "a'b"
	[ "$(sh -c "$output; cat x\ y")" = "a'b" ]
}
