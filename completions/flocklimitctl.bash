# flocklimitctl(1) completion for bash.  Works with bash-completion and without.
# shellcheck shell=bash

_flocklimitctl_limiters() {
	flocklimitctl list --raw ${store:+--store "$store"} 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# The tickets of kind $1 in the limiter that the rest names: waiting, holding, or kept (--hold-for).
_flocklimitctl_tickets() {
	local kind=$1

	shift
	flocklimitctl show --raw ${store:+--store "$store"} "$@" 2>/dev/null | awk -v kind="$kind" '
		NF == 1 { on = $1 == kind || ($1 == "holding" && kind == "kept"); next }
		$1 == "TICKET" || $2 == "TICKET" { column = $1 == "TICKET" ? 1 : 2; next }
		NF == 0 { on = 0 }
		on && (kind != "kept" || $7 == "--hold-for") { print $column }'
}

_flocklimitctl_words() {
	mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

_flocklimitctl_options() {
	case $1 in
	list | show | stats) echo '--name --file --store --json --raw --help --version' ;;
	limit | pause | resume | close | open) echo '--name --file --store --all --help --version' ;;
	ramp) echo '--name --file --store --ramp-idle --help --version' ;;
	wait) echo '--name --file --store --timeout --help --version' ;;
	cancel) echo '--name --file --store --signal --help --version' ;;
	log) echo '--name --file --store --follow --lines --json --raw --help --version' ;;
	gantt) echo '--name --file --store --text --output --help --version' ;;
	check) echo '--name --file --store --json --repair --help --version' ;;
	rm) echo '--name --file --store --idle --help --version' ;;
	*) echo '--name --file --store --help --version' ;;
	esac
}

# Completes the value of option $1.
_flocklimitctl_value() {
	case $1 in
	name)
		_flocklimitctl_words -W "$(_flocklimitctl_limiters)"
		;;
	file | output)
		compopt -o filenames 2>/dev/null
		_flocklimitctl_words -f
		;;
	lines)
		_flocklimitctl_words -W '10 100 1000'
		;;
	signal)
		_flocklimitctl_words -W 'TERM INT HUP QUIT KILL USR1 USR2 ALRM CONT STOP TSTP'
		;;
	timeout | ramp-idle)
		_flocklimitctl_words -W '100ms 1s 10s 1m 10m 1h 1d'
		;;
	esac
}

_flocklimitctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} word i
	local wants='' cancels=waiting limiter=() given=0 store='' piece=''

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_flocklimitctl_words -W 'list show top limit rate stagger ramp pause resume close open wait cancel release
			break log gantt stats check rm --help --version'
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $wants ]]; then
			# readline makes words of --file, = and value, and of the parts of a URL
			if [[ $word != = ]]; then
				[[ $wants == file ]] && limiter=(--file "$word")
				[[ $wants == name ]] && limiter=("$word") given=$((given + 1))
				[[ $wants == store ]] && store=$word piece=yes
				wants=
			fi
			continue
		fi
		if [[ -n $piece && ($word == [:=@] || $store == *[:=@]) ]]; then
			store+=$word
			continue
		fi
		piece=
		case $verb:$word in
		log:-f) ;;
		*:--all) limiter=(--all) given=1 ;;
		*:-f) wants='file' ;;
		*:-N) wants=name ;;
		*:-n) wants=lines ;;
		*:-o) wants=output ;;
		*:-s) wants=signal ;;
		*:-t) wants=timeout ;;
		*:--file | *:--name | *:--lines | *:--ramp-idle | *:--output | *:--signal | *:--store | *:--timeout) wants=${word#--} ;;
		*:-s*) cancels=holding ;;
		*:-*) ;;
		*)
			given=$((given + 1))
			((${#limiter[@]})) || limiter=("$word")
			;;
		esac
		[[ $wants == signal ]] && cancels=holding
	done
	[[ ${limiter[0]-} == --file ]] || given=$((given - 1))

	if [[ -n $piece && ($cur == [:=@] || $store == *[:=@]) ]]; then
		return
	fi
	if [[ -n $wants ]]; then
		[[ $cur != = ]] || cur=
		_flocklimitctl_value "$wants"
	elif [[ $cur == -* ]]; then
		_flocklimitctl_words -W "$(_flocklimitctl_options "$verb")"
	elif ((${#limiter[@]} == 0)); then
		_flocklimitctl_words -W "$(_flocklimitctl_limiters)"
	else
		case $verb in
		list | stats | rm | pause | resume | close | open)
			_flocklimitctl_words -W "$(_flocklimitctl_limiters)"
			;;
		limit)
			((given)) || _flocklimitctl_words -W 'auto 0 1 2 4 8 16 50% 100%'
			;;
		rate)
			((given)) || _flocklimitctl_words -W '1/s 10/s 30/m 60/m 100/h off'
			;;
		stagger)
			((given)) || _flocklimitctl_words -W '100ms 1s 10s off'
			;;
		ramp)
			((given)) || _flocklimitctl_words -W '1+1/1s 1+1/30s 1+1/1m off'
			;;
		cancel)
			_flocklimitctl_words -W "$(_flocklimitctl_tickets "$cancels" "${limiter[@]}")"
			;;
		break)
			_flocklimitctl_words -W "$(_flocklimitctl_tickets holding "${limiter[@]}")"
			;;
		release)
			_flocklimitctl_words -W "$(_flocklimitctl_tickets kept "${limiter[@]}")"
			;;
		esac
	fi
}

complete -F _flocklimitctl flocklimitctl
