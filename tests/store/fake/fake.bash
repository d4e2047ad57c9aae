# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154 # pids: of lib.bash
# For tests that use the fake etcd, the proxy, or a real etcd.  Needs lib.bash.

STORE_TOOLS=$TESTS_BUILD/store

# fake LABEL [OPTION...]: a fake etcd; its port is in ports[LABEL], its log in $T/LABEL.log.
fake() {
	local label=$1
	shift
	declare -gA ports
	background "$label" "$STORE_TOOLS/fake/fake" -c "$T/$label.ctl" -l "$T/$label.log" "$@"
	eventually has_lines 1 "$T/$label.out"
	ports["$label"]=$(cat "$T/$label.out")
}

# proxy LABEL PORT: a proxy to a port; its own is in ports[LABEL].
proxy() {
	declare -gA ports
	background "$1" "$STORE_TOOLS/fake/proxy" -c "$T/$1.ctl" "$2"
	eventually has_lines 1 "$T/$1.out"
	ports["$1"]=$(cat "$T/$1.out")
}

# tell LABEL LINE: what the fake or the proxy is to do.
tell() {
	curl -sS --fail --max-time 10 --unix-socket "$T/$1.ctl" --data-binary "$2" http://operator/
}

# connections LABEL: so many by gRPC have come to the fake.
connections() {
	grep -c '^[0-9]* connection$' "$T/$1.log"
}

# ask LABEL PATH BODY [OPTION...]: a call of the JSON gateway.
ask() {
	local label=$1 path=$2 body=$3
	shift 3
	curl -sS --max-time 10 "$@" --data-binary "$body" "http://127.0.0.1:${ports[$label]}/v3/$path"
}

# b64 TEXT
b64() {
	printf %s "$1" | base64 -w 0
}

# put_of KEY VALUE, key_of KEY: bodies.
put_of() {
	printf '{"key":"%s","value":"%s"}' "$(b64 "$1")" "$(b64 "$2")"
}

key_of() {
	printf '{"key":"%s"}' "$(b64 "$1")"
}
