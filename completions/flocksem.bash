# SPDX-License-Identifier: ISC
# flocksem(1) completion for bash.  Works with bash-completion and without.
# shellcheck shell=bash

# An id is the name of its limiter where that has no byte in %XX.
_flocksem_ids() {
	local dir=${FLOCKLIMIT_DIR-} file

	if [[ -n ${FLOCKLIMIT_STORE-} ]]; then
		flocklimitctl list 2>/dev/null | awk 'NR > 1 && $1 !~ /%/ { print $1 }'
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
		if [[ -f $file && ! -L $file && $file != *%* ]]; then
			printf '%s\n' "${file##*/}"
		fi
	done
}

_flocksem_words() {
	mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

_flocksem_files() {
	compopt -o filenames 2>/dev/null
	_flocksem_words -f
}

# Completes the value of option $1.
_flocksem_value() {
	case $1 in
	--id | --semaphorename | --semaphore-name)
		_flocksem_words -W "$(_flocksem_ids)"
		;;
	--jobs | --max-procs | -j | -P)
		_flocksem_words -W '1 2 4 8 16 +0 -1 50% 100%'
		[[ ${#COMPREPLY[@]} != 0 ]] || _flocksem_files
		;;
	--arg-file | -a)
		_flocksem_files
		;;
	--st | --semaphoretimeout | --semaphore-timeout)
		_flocksem_words -W '1s 10s 1m 10m 1h -1s -10s -1m -10m -1h'
		;;
	--timeout)
		_flocksem_words -W '1s 10s 1m 10m 1h 1d'
		;;
	--nice)
		_flocksem_words -W '5 10 19'
		;;
	*)
		COMPREPLY=()
		;;
	esac
}

# The long option that $1 is short for, if it is just one.
_flocksem_long() {
	local option found=

	for option in $valued $plain $accepted; do
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

# What flocksem would run begins at word $1.
_flocksem_command() {
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)); then
		_flocksem_words -c
	else
		_flocksem_files
	fi
}

_flocksem() {
	local cur=${COMP_WORDS[COMP_CWORD]} valued plain accepted i word letters wants='' last=''

	valued='--id --jobs --max-procs --st --timeout --arg-file --nice'
	plain='--bg --fg --wait --quote --dry-run --help --version'
	# Other words for these, and what has no effect: not offered.
	accepted='--semaphorename --semaphore-name --semaphoretimeout --semaphore-timeout --env'
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $wants ]]; then
			# readline makes words of --id, = and value
			[[ $word == = ]] || wants=
			continue
		fi
		case $word in
		--)
			i=$((i + 1))
			break
			;;
		--*)
			last=$(_flocksem_long "$word")
			[[ " $valued $accepted " == *" $last "* ]] && wants=$last
			;;
		-?*)
			letters=${word#-}
			while [[ -n $letters ]]; do
				if [[ jPa == *"${letters:0:1}"* ]]; then
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

	if [[ -n $wants ]]; then
		if [[ $cur == = ]]; then
			cur=
		fi
		_flocksem_value "$wants"
	elif ((i < COMP_CWORD)) || [[ $cur != -* || ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
		_flocksem_command "$i"
	else
		_flocksem_words -W "$valued $plain"
	fi
}

complete -F _flocksem flocksem
