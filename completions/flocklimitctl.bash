# flocklimitctl(1) completion for bash.  Works with bash-completion and without.
# shellcheck shell=bash

_flocklimitctl_limiters() {
	flocklimitctl list --raw 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# The tickets of limiter $1.
_flocklimitctl_tickets() {
	flocklimitctl show --raw "$1" 2>/dev/null |
		awk '$1 == "TICKET" { on = 1; next } $2 == "TICKET" { on = 2; next }
			on && $on ~ /^[0-9]+$/ { print $on }'
}

_flocklimitctl_words() {
	mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

_flocklimitctl_options() {
	case $1 in
	list | show | stats) echo '--file --json --raw --help' ;;
	wait) echo '--file --timeout --help' ;;
	cancel) echo '--file --signal --help' ;;
	log) echo '--file --follow --lines --json --raw --help' ;;
	gantt) echo '--file --text --output --help' ;;
	check) echo '--file --json --repair --help' ;;
	rm) echo '--file --idle --help' ;;
	*) echo '--file --help' ;;
	esac
}

_flocklimitctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local verb=${COMP_WORDS[1]} name='' i
	COMPREPLY=()

	if ((COMP_CWORD == 1)); then
		_flocklimitctl_words -W 'list show top limit pause resume close open wait cancel release
			log gantt stats check rm --help --version'
		return
	fi
	case $prev in
	--signal | -s)
		_flocklimitctl_words -W 'TERM INT HUP QUIT KILL USR1 USR2 CONT STOP'
		return
		;;
	--timeout | -t)
		_flocklimitctl_words -W '1s 10s 1m 10m 1h'
		return
		;;
	--lines | -n)
		_flocklimitctl_words -W '10 100 1000'
		return
		;;
	--file | --output | -o)
		compopt -o filenames 2>/dev/null
		_flocklimitctl_words -f
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		_flocklimitctl_words -W "$(_flocklimitctl_options "$verb")"
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} != -* ]]; then
			name=${COMP_WORDS[i]}
			break
		fi
	done
	case $verb:$name in
	*:)
		_flocklimitctl_words -W "$(_flocklimitctl_limiters)"
		;;
	list:* | stats:* | rm:* | pause:* | resume:* | close:* | open:*)
		_flocklimitctl_words -W "$(_flocklimitctl_limiters)"
		;;
	limit:*)
		_flocklimitctl_words -W 'auto 0 1 2 4 8 16 50% 100%'
		;;
	cancel:* | release:*)
		_flocklimitctl_words -W "$(_flocklimitctl_tickets "$name")"
		;;
	esac
}

complete -F _flocklimitctl flocklimitctl
