# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# Machines a, b and c, each a network namespace with a member of the cluster, and a router between
# them that loses, repeats and blocks what it is told to.  All of it is the test's own, and goes with
# its processes.  After store.bash and quorum.bash.

PATH=$PATH:/usr/sbin:/sbin
ROUTED=({a,b,c}) # machine I is 10.77.I.2, and the router is 10.77.I.1 there

# machine NAME: a namespace, which lasts as long as its process.
machine() {
	background "net.$1" unshare -n sleep 3600
	eventually is_apart "${pids[net.$1]}"
}
is_apart() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

# on MACHINE CMD...: executes it there.
on() {
	local machine=$1
	shift
	nsenter -n -t "${pids[net.$machine]}" "$@"
}

# net: three machines and the router; skips where that is not permitted, or not to be had.
net() {
	local i name
	need_root
	command -v ip nft >/dev/null || skip "there is no ip or no nft: install iproute2 and nftables"
	unshare -n true 2>/dev/null || skip "no network namespace can be made"
	machine router
	on router sh -c 'ip link set lo up && echo 1 >/proc/sys/net/ipv4/ip_forward' ||
		skip "nothing can be routed in a network namespace"
	for i in 1 2 3; do
		name=${ROUTED[i - 1]}
		machine "$name"
		on router ip link add "to-$name" type veth peer name eth netns "${pids[net.$name]}" ||
			skip "no pair of network devices can be made"
		on router ip addr add "10.77.$i.1/24" dev "to-$name"
		on router ip link set "to-$name" up
		on "$name" ip link set lo up
		on "$name" ip addr add "10.77.$i.2/24" dev eth
		on "$name" ip link set eth up
		on "$name" ip route add default via "10.77.$i.1"
	done
	router "" "" || skip "the router can't be told what to do: nft"
}

# router RULES [DUPLICATES]: what it does with what it forwards, from now on.
router() {
	on router nft -f - <<-END
		table ip bad
		delete table ip bad
		table ip bad {
			chain lose {
				type filter hook forward priority 0
				$1
			}
			chain repeat {
				type filter hook forward priority 10
				${2-}
			}
		}
	END
}

# cut_off NAME...: nothing comes from these machines, and nothing to them.
cut_off() {
	local name rules=
	for name; do
		rules+="iifname to-$name drop; oifname to-$name drop; "
	done
	router "$rules"
}

# net_cluster: a member on each machine; the operator sits at the router.
net_cluster() {
	local i name
	net
	servers_in "$T/servers"
	for i in 1 2 3; do
		name=${ROUTED[i - 1]}
		echo "10.77.$i.2" >"$SERVERS/$name.host"
		echo "${pids[net.$name]}" >"$SERVERS/$name.net"
	done
	NET=(nsenter -n -t "${pids[net.router]}")
	need_etcd
	cluster a b c
	ADDRESS=
	for i in 1 2 3; do
		ADDRESS=$ADDRESS,10.77.$i.2:$(cat "$SERVERS/${ROUTED[i - 1]}.port")
	done
	ADDRESS=${ADDRESS#,}
	use_store
	watched
}

# at MACHINE FUNCTION ARG...: takers that it begins are on that machine.
at() {
	VIA=(nsenter -n -t "${pids[net.$1]}")
	shift
	"$@"
	VIA=()
}
