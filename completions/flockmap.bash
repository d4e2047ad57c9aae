# SPDX-License-Identifier: ISC
# flockmap(1) completion for bash.  Works with bash-completion and without.
# shellcheck shell=bash

_flockmap_limiters() {
	local dir=${FLOCKLIMIT_DIR-} file

	if [[ -n $store || -n ${FLOCKLIMIT_STORE-} ]]; then
		flocklimitctl list ${store:+--store "$store"} 2>/dev/null | awk 'NR > 1 { print $1 }'
		return
	fi
	if [[ -z $dir && $EUID == 0 ]]; then
		dir=/run/flocklimit-0
	elif [[ -z $dir ]]; then
		dir=$(find {/run/flocklimit,/run/lock,/dev/shm,/tmp}/flocklimit-"$EUID" -prune \
			-type d -user "$EUID" 2>/dev/null | head -n 1)
		dir=${dir:-/run/flocklimit/flocklimit-$EUID}
	fi
	for file in "$dir"/*; do
		if [[ -f $file && ! -L $file ]]; then
			printf '%s\n' "${file##*/}"
		fi
	done
}

_flockmap_words() {
	mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

# Completes the value of option $1.
_flockmap_value() {
	case $1 in
	--name | -N | --and)
		_flockmap_words -W "$(_flockmap_limiters)"
		;;
	--file | -f | --arg-file | -a | --joblog)
		compopt -o filenames 2>/dev/null
		_flockmap_words -f
		;;
	--mode)
		_flockmap_words -W '0600 0660'
		;;
	--limit | --jobs | -n | -j)
		_flockmap_words -W '1 2 4 8 16 50% 100%'
		;;
	--timeout | -t | --run-timeout | -T | --kill-after | -k | --ramp-idle)
		_flockmap_words -W '100ms 1s 10s 1m 10m 1h 1d'
		;;
	--settle)
		_flockmap_words -W '0 1s 2s 5s 10s'
		;;
	--gate-patience)
		_flockmap_words -W '10s 1m 10m never'
		;;
	--when-run)
		_flockmap_words -c
		;;
	--stagger)
		_flockmap_words -W 'off 100ms 1s 10s'
		;;
	--rate)
		_flockmap_words -W 'off 1/s 10/s 60/m'
		;;
	--ramp)
		_flockmap_words -W 'off 1+1/30s'
		;;
	--ttl | --grace)
		_flockmap_words -W '10s 30s 60s 5m'
		;;
	--on-lost)
		_flockmap_words -W 'kill warn'
		;;
	--reclaim)
		_flockmap_words -W 'auto manual'
		;;
	--local)
		_flockmap_words -W '1 2 4 8 16'
		;;
	--signal | -s)
		_flockmap_words -W 'TERM INT HUP QUIT KILL USR1 USR2 ALRM CONT STOP TSTP'
		;;
	--order)
		_flockmap_words -W 'input done none'
		;;
	--fail-fast=)
		_flockmap_words -W now
		;;
	--nested)
		_flockmap_words -W 'join queue'
		;;
	*)
		COMPREPLY=()
		;;
	esac
}

# The long option that $1 is short for, if it is just one.
_flockmap_long() {
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

# What flockmap would run begins at word $1; after ::: it is files as often as anything.
_flockmap_command() {
	local i

	for ((i = $1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == ::: ]]; then
			compopt -o filenames 2>/dev/null
			_flockmap_words -f
			return
		fi
	done
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)); then
		_flockmap_words -c
	else
		compopt -o filenames 2>/dev/null
		_flockmap_words -f
	fi
}

_flockmap() {
	local cur=${COMP_WORDS[COMP_CWORD]} valued plain i word letters wants='' last=''
	local shorts_valued=adILNfnjwtETsk store='' piece=''

	valued='--arg-file --delimiter --max-items --replace --name --file --mode --limit --jobs --weight
		--weight-from --and --yield --not-seat --timeout --max-queue --rate --stagger --ramp --ramp-idle
		--when --settle --gate-patience --when-run
		--conflict-exit-code --run-timeout --signal --kill-after --order --retries --joblog
		--nested --store --ttl --grace --on-lost --reclaim --local'
	plain='--null --nonblock --tag --fail-fast --resume --resume-failed --dry-run --quiet
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
			last=$(_flockmap_long "$word")
			[[ " ${valued//[$'\n\t']/ } " == *" $last "* ]] && wants=$last
			;;
		=)
			# NAME=WEIGHT
			if [[ $last == --and ]]; then
				wants=weight
				continue
			fi
			if [[ $last == --fail-fast ]]; then
				wants=--fail-fast=
			fi
			;;
		-?*)
			letters=${word#-}
			while [[ -n $letters ]]; do
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
	if [[ -z $wants && $cur == = && $last == --fail-fast ]]; then
		wants=--fail-fast=
	fi
	if [[ -n $wants ]]; then
		if [[ $cur == = ]]; then
			cur=
		fi
		_flockmap_value "$wants"
	elif ((i < COMP_CWORD)) || [[ $cur != -* || ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
		_flockmap_command "$i"
	else
		_flockmap_words -W "$valued $plain"
	fi
}

complete -F _flockmap flockmap
