# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# Servers with TLS and with users; after store.bash.

# authority NAME; certificate NAME AUTHORITY DAYS EXTENSION: NAME.pem and NAME.key.
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" \
		-out "$1.pem" -days 2 -subj "/CN=$1" 2>/dev/null
}
certificate() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" \
		-out "$1.csr" -subj "/CN=$1" 2>/dev/null
	openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days "$3" \
		-extfile <(echo "$4") -out "$1.pem" 2>/dev/null
}

# tls_server CERTIFICATE [OPTION...]: a server of the test's own; the certificate is in $KEYS.
tls_server() {
	servers_in "$T/servers"
	echo https >"$SERVERS/one.scheme"
	own_server --cert-file="$KEYS/$1.pem" --key-file="$KEYS/$1.key" "${@:2}"
}

# users PASSWORD: root, and ann with that password, who may do all below the test's prefix.
users() {
	etcd_do user add root:all >/dev/null
	etcd_do user grant-role root root >/dev/null
	etcd_do role add team >/dev/null
	etcd_do role grant-permission team readwrite --prefix "$(prefix)/" >/dev/null
	etcd_do user add "ann:$1" >/dev/null
	etcd_do user grant-role ann team >/dev/null
}

# lock_up: the server asks for a user from now on; etcdctl is root.
lock_up() {
	etcd_do auth enable >/dev/null
	export ETCDCTL_USER=root:all
}
