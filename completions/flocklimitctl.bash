# SPDX-License-Identifier: ISC
# flocklimitctl(1) completion for bash.  Works with bash-completion and without.
# shellcheck shell=bash

_flocklimitctl_limiters() {
	flocklimitctl list --raw ${store:+--store "$store"} 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# The tickets of kind $1 in the limiter that the rest names: waiting, holding, or kept (--hold-for).
# The columns of hosts and seats are not always there, and STARTS IN is two words.
_flocklimitctl_tickets() {
	local kind=$1

	shift
	flocklimitctl show --raw ${store:+--store "$store"} "$@" 2>/dev/null | awk -v kind="$kind" '
		NF == 1 { on = $1 == kind || ($1 == "holding" && kind == "kept"); next }
		$1 == "TICKET" || $2 == "TICKET" {
			split("", at)
			for (i = 1; i <= NF; i++)
				at[$i] = i
			command = at["COMMAND"] - ("STARTS" in at)
			next
		}
		NF == 0 { on = 0 }
		on && (kind != "kept" || $command == "--hold-for") { print $at["TICKET"] }'
}

_flocklimitctl_words() {
	mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

_flocklimitctl_options() {
	case $1 in
	'') echo '--name --file --store --all --follow --gate-patience --idle --json --lines --output --ramp-idle --raw --repair
		--settle --signal --text --timeout --unit --help --version' ;;
	list | stats | why) echo '--name --file --store --json --raw --help --version' ;;
	show) echo '--name --file --store --all --json --raw --help --version' ;;
	limit | pause | resume | close | open) echo '--name --file --store --all --help --version' ;;
	when) echo '--name --file --store --gate-patience --settle --help --version' ;;
	ramp) echo '--name --file --store --ramp-idle --help --version' ;;
	wait) echo '--name --file --store --all --timeout --help --version' ;;
	cancel) echo '--name --file --store --signal --help --version' ;;
	log) echo '--name --file --store --all --follow --lines --json --raw --help --version' ;;
	gantt) echo '--name --file --store --all --text --output --help --version' ;;
	suggest) echo '--name --file --store --all --json --raw --unit --help --version' ;;
	check) echo '--name --file --store --all --json --repair --help --version' ;;
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
	unit)
		_flocklimitctl_words -W '256M 512M 1G 2G 4G'
		;;
	settle)
		_flocklimitctl_words -W '0 1s 2s 5s 10s'
		;;
	gate-patience)
		_flocklimitctl_words -W '10s 1m 10m never'
		;;
	timeout | ramp-idle)
		_flocklimitctl_words -W '100ms 1s 10s 1m 10m 1h 1d'
		;;
	esac
}

# More limiters; and after these, the last word is one of $1.
_flocklimitctl_names_or() {
	local known word
	known=" $(_flocklimitctl_limiters | tr '\n' ' ') "

	for word in "${names[@]}"; do
		[[ $known == *" $word "* ]] || return
	done
	((${#limiter[@]})) || set -- ''
	[[ ${limiter[0]-} == --all ]] && known=
	_flocklimitctl_words -W "$1 $known"
}

_flocklimitctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} verb='' word i
	local wants='' cancels=waiting limiter=() names=() store='' piece=''

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -n $wants ]]; then
			# readline makes words of --file, = and value, and of the parts of a URL
			if [[ $word != = ]]; then
				[[ $wants == file ]] && limiter=(--file "$word")
				[[ $wants == name ]] && limiter=("$word") names+=("$word")
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
		*:--all) limiter=(--all) ;;
		*:-f) wants='file' ;;
		*:-N) wants=name ;;
		*:-n) wants=lines ;;
		*:-o) wants=output ;;
		*:-s) wants=signal ;;
		*:-t) wants=timeout ;;
		*:--file | *:--gate-patience | *:--name | *:--lines | *:--ramp-idle | *:--output | *:--settle | *:--signal | *:--store | *:--timeout | *:--unit) wants=${word#--} ;;
		*:-s*) cancels=holding ;;
		*:-*) ;;
		:*) verb=$word ;;
		*)
			names+=("$word")
			((${#limiter[@]})) || limiter=("$word")
			;;
		esac
		[[ $wants == signal ]] && cancels=holding
	done

	if [[ -n $piece && ($cur == [:=@] || $store == *[:=@]) ]]; then
		return
	fi
	if [[ -n $wants ]]; then
		[[ $cur != = ]] || cur=
		_flocklimitctl_value "$wants"
		return
	fi
	if [[ $cur == -* ]]; then
		_flocklimitctl_words -W "$(_flocklimitctl_options "$verb")"
		return
	fi
	case $verb in
	'')
		_flocklimitctl_words -W 'list show top limit rate stagger ramp seat when pause resume close open wait cancel release
			shrink break log why gantt stats suggest check path rm'
		;;
	limit)
		_flocklimitctl_names_or 'auto 0 1 2 4 8 16 50% 100%'
		;;
	rate)
		_flocklimitctl_names_or '1/s 10/s 30/m 60/m 100/h off'
		;;
	stagger)
		_flocklimitctl_names_or '100ms 1s 10s off'
		;;
	ramp)
		_flocklimitctl_names_or '1+1/1s 1+1/30s 1+1/1m off'
		;;
	seat)
		if ((${#names[@]} > 0)) && [[ ${names[-1]} =~ ^[0-9][0-9,-]*$ ]]; then
			_flocklimitctl_words -W 'off on'
		else
			_flocklimitctl_names_or '0 1 2 3 4 5 6 7'
		fi
		;;
	when)
		_flocklimitctl_names_or off
		;;
	cancel | release | shrink | break | why)
		if ((${#limiter[@]} == 0)); then
			_flocklimitctl_words -W "$(_flocklimitctl_limiters)"
			return
		fi
		[[ $verb == break || $verb == shrink ]] && cancels=holding
		[[ $verb == release ]] && cancels=kept
		_flocklimitctl_words -W "$(_flocklimitctl_tickets "$cancels" "${limiter[@]}")"
		;;
	*)
		[[ ${limiter[0]-} == --all ]] || _flocklimitctl_words -W "$(_flocklimitctl_limiters)"
		;;
	esac
}

complete -F _flocklimitctl flocklimitctl
