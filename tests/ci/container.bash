# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what tests read
# A container without a container engine: namespaces, a tree of its own, and volumes; after lib.bash.

need_container() { need_unshare -mpf --mount-proc; }

# a_tree PROGRAM...: tree/ has these programs, their libraries, those of a flocklimit that is not static,
# and limits/ for a volume.
a_tree() {
	local program file
	mkdir -p tree/{bin,usr/bin,proc,limits,dev} limits
	for program in "$@" "$(command -v env)" "$FLOCKLIMIT"; do
		[ "$program" = "$FLOCKLIMIT" ] || cp -L "$program" tree/bin/
		for file in $(ldd "$program" 2>/dev/null | grep -oE '/[^ ]+'); do
			mkdir -p "tree/${file%/*}"
			cp -L "$file" "tree/$file"
		done
	done
	: >tree/usr/bin/flocklimit
	: >tree/dev/null
}

# container COMMAND...: by run or background, becomes it as process 1 of a PID namespace, in tree/, with the VOLUMES of the page.
container() {
	local volume
	for volume in "${VOLUMES[@]}"; do
		set -- "$volume" "$@"
	done
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare -mpf --kill-child sh -c '
		mount -t proc proc tree/proc && mount --bind /dev/null tree/dev/null || exit
		n=$1
		shift
		while [ "$n" -gt 0 ]; do
			from=${1%%:*} to=${1#*:}
			case $from in
			/srv/limits) from=$T/limits ;;
			*/flocklimit) from=$FLOCKLIMIT ;;
			esac
			mount --bind "$from" "tree/${to%:ro}" || exit
			shift
			n=$((n - 1))
		done
		exec chroot tree "$@"' sh "${#VOLUMES[@]}" "$@"
}
