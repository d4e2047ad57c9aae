# SPDX-License-Identifier: ISC
# flocklimit(1) completion for bash.  Works with bash-completion and without.
# shellcheck shell=bash

# The limiter directory, as the program finds it.
_flocklimit_dir() {
	local dir=${FLOCKLIMIT_DIR-}

	if [[ -z $dir && $EUID == 0 ]]; then
		dir=/run/flocklimit-0
	elif [[ -z $dir ]]; then
		dir=$(find {/run/flocklimit,/run/lock,/dev/shm,/tmp}/flocklimit-"$EUID" -prune \
			-type d -user "$EUID" 2>/dev/null | head -n 1)
		dir=${dir:-/run/flocklimit/flocklimit-$EUID}
	fi
	printf '%s\n' "$dir"
}

_flocklimit_limiters() {
	local dir file

	if [[ -n $store || -n ${FLOCKLIMIT_STORE-} ]]; then
		flocklimitctl list ${store:+--store "$store"} 2>/dev/null | awk 'NR > 1 { print $1 }'
		return
	fi
	dir=$(_flocklimit_dir)
	for file in "$dir"/*; do
		if [[ -f $file && ! -L $file ]]; then
			printf '%s\n' "${file##*/}"
		fi
	done
}

_flocklimit_words() {
	mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

# Completes the value of option $1.
_flocklimit_value() {
	case $1 in
	--name | -N | --and)
		_flocklimit_words -W "$(_flocklimit_limiters)"
		;;
	--file | -f)
		compopt -o filenames 2>/dev/null
		_flocklimit_words -f
		;;
	--mode)
		_flocklimit_words -W '0600 0660'
		;;
	--limit | --jobs | -n | -j)
		_flocklimit_words -W '1 2 4 8 16 50% 100%'
		;;
	--timeout | -t | --run-timeout | -T | --kill-after | -k)
		_flocklimit_words -W '100ms 1s 10s 1m 10m 1h 1d'
		;;
	--ttl | --grace)
		_flocklimit_words -W '10s 30s 60s 5m'
		;;
	--on-lost)
		_flocklimit_words -W 'kill warn'
		;;
	--reclaim)
		_flocklimit_words -W 'auto manual'
		;;
	--local)
		_flocklimit_words -W '1 2 4 8 16'
		;;
	--signal | -s)
		_flocklimit_words -W 'TERM INT HUP QUIT KILL USR1 USR2 ALRM CONT STOP TSTP'
		;;
	--settle)
		_flocklimit_words -W '0 1s 2s 5s 10s'
		;;
	--gate-patience)
		_flocklimit_words -W '10s 1m 10m never'
		;;
	--when-run)
		_flocklimit_words -c
		;;
	--stagger | --ramp-idle)
		_flocklimit_words -W '100ms 1s 10s 1m 10m 1h 1d off'
		;;
	--rate)
		_flocklimit_words -W '1/s 10/s 30/m 60/m 100/h off'
		;;
	--ramp)
		_flocklimit_words -W '1+1/1s 1+1/30s 1+1/1m off'
		;;
	--nested)
		_flocklimit_words -W 'join queue'
		;;
	--jobserver=)
		_flocklimit_words -W 'fifo pipe'
		;;
	--hold-for)
		_flocklimit_words -W "$(ps -o pid= 2>/dev/null)"
		;;
	--command | -c)
		_flocklimit_words -c
		;;
	*)
		COMPREPLY=()
		;;
	esac
}

# The long option that $1 is short for, if it is just one.
_flocklimit_long() {
	local option found=

	for option in $valued $plain; do
		if [[ $option == "$1" ]]; then
			printf '%s\n' "$1"
			return
		elif [[ $option == "$1"* ]]; then
			[[ -z $found ]] || return
			found=$option
		fi
	done
	printf '%s\n' "$found"
}

# What flocklimit would run begins at word $1.
_flocklimit_command() {
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)); then
		_flocklimit_words -c
	else
		compopt -o filenames 2>/dev/null
		_flocklimit_words -f
	fi
}

_flocklimit() {
	local cur=${COMP_WORDS[COMP_CWORD]} valued plain i word letters wants='' line='' last=''
	local shorts_valued=NfnjwtETskc store='' piece=''

	valued='--and --name --file --mode --limit --jobs --weight --yield --not-seat --timeout --max-queue
		--conflict-exit-code --run-timeout --signal --kill-after --command
		--nested --hold-for --fd --rate --stagger --ramp --ramp-idle
		--when --settle --gate-patience --when-run
		--store --ttl --grace --on-lost --reclaim --local'
	plain='--background --jobserver --nonblock --preserve-status --until-ready --no-fork --close --unlock --verbose --quiet
		--help --version'
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $wants ]]; then
			# readline makes words of --name, = and value, and of the parts of a URL
			if [[ $word != = ]]; then
				[[ $wants != --store ]] || { store=$word piece=yes; }
				wants=
			fi
			continue
		fi
		if [[ -n $piece && ($word == [:=@] || $store == *[:=@]) ]]; then
			store+=$word
			continue
		fi
		piece=
		case $word in
		--)
			i=$((i + 1))
			break
			;;
		--*)
			last=$(_flocklimit_long "$word")
			[[ $last == --command ]] && line=yes
			[[ " ${valued//[$'\n\t']/ } " == *" $last "* ]] && wants=$last
			;;
		=)
			# NAME=WEIGHT
			if [[ $last == --and ]]; then
				wants=weight
				continue
			fi
			# A value that may be left out needs its =, which readline makes a word of.
			if [[ $last != --jobserver ]]; then
				break
			fi
			wants=--jobserver=
			;;
		-?*)
			letters=${word#-}
			while [[ -n $letters ]]; do
				[[ $letters == c* ]] && line=yes
				if [[ $shorts_valued == *"${letters:0:1}"* ]]; then
					[[ ${#letters} == 1 ]] && wants=-$letters
					break
				fi
				letters=${letters:1}
			done
			;;
		*)
			break
			;;
		esac
	done

	if [[ -n $piece && ($cur == [:=@] || $store == *[:=@]) ]]; then
		return
	fi
	if [[ -z $wants && $cur == = && $last == --jobserver && ${COMP_WORDS[COMP_CWORD - 1]} == --* ]]; then
		wants=--jobserver=
	fi
	if [[ -n $wants ]]; then
		if [[ $cur == = ]]; then
			cur=
		fi
		_flocklimit_value "$wants"
	elif ((i < COMP_CWORD)) || [[ $cur != -* || ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
		[[ -n $line ]] || _flocklimit_command "$i"
	else
		_flocklimit_words -W "$valued $plain"
	fi
}

complete -F _flocklimit flocklimit
