# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2034 # ports: for the tests
# For tests that use the fake etcd or the proxy.  Needs lib.bash, and memory.bash for the fake.

STORE_TOOLS=$TESTS_BUILD/store

# fake [OPTION...]: a fake etcd, as serve of memory.bash.
fake() {
	start_store etcd://127.0.0.1: fake/fake "$@"
}

# proxy LABEL PORT: a proxy to a port; its own is in ports[LABEL].
proxy() {
	declare -gA ports
	background "$1" "$STORE_TOOLS/fake/proxy" -c "$T/$1.ctl" "$2"
	eventually has_lines 1 "$T/$1.out"
	ports["$1"]=$(cat "$T/$1.out")
}

# tell LABEL LINE: what the proxy is to do.
tell() {
	curl -sS --fail --max-time 10 --unix-socket "$T/$1.ctl" --data-binary "$2" http://operator/
}
