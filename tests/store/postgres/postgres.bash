# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # what run sets, and what tests read
# Shared by the tests of stores in a real PostgreSQL; after etcd/store.bash, whose servers and keys these
# functions replace.  A server's data is in $SERVERS/NAME/data; there is only `one', or also a standby.

# need_postgres: PG is where its programs are.
need_postgres() {
	local bin
	for bin in "$(pg_config --bindir 2>/dev/null)" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do
		[ ! -x "$bin/initdb" ] || [ ! -x "$bin/postgres" ] || PG=$bin
	done
	[ -n "${PG-}" ] || skip "there is no PostgreSQL server"
	[ -x "$FLOCKLIMIT_LIBEXEC/store-postgres" ] || skip "there is no store-postgres"
	command -v psql >/dev/null || skip "there is no psql"
	export PG
}

# as_server COMMAND...: PostgreSQL refuses to run as root.
as_server() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid nobody --regid nogroup --clear-groups "$@"
	else
		"$@"
	fi
}

# The user of the servers must reach their data, and a test's own directory may be closed to it.
servers_in() {
	SERVERS=$(mktemp -d)
	[ "$(id -u)" != 0 ] || chown nobody "$SERVERS"
	export SERVERS
}

health() {
	"$PG/pg_isready" -q -h "$SERVERS" -p "$(cat "$SERVERS/$1.port")"
}

launch() {
	(cd "$SERVERS" && as_server env -i PATH="$PATH" "$PG/postgres" -D "$SERVERS/$1/data") \
		</dev/null >>"$SERVERS/$1.log" 2>&1 3>&- &
	disown
	# A server that was killed may leave children that end a moment later.
	eventually health "$1"
	head -n 1 "$SERVERS/$1/data/postmaster.pid" >"$SERVERS/$1.pid"
}
serves() { eventually health "$1"; }

# settings NAME: of a new server; fsync stays on.
settings() {
	cat >>"$SERVERS/$1/data/postgresql.conf" <<-END
		listen_addresses = '127.0.0.1'
		port = $(cat "$SERVERS/$1.port")
		unix_socket_directories = '$SERVERS'
		max_connections = 300
		dynamic_shared_memory_type = mmap
	END
	cat >"$SERVERS/$1/data/pg_hba.conf" <<-END
		local all all trust
		host all secret all scram-sha-256
		local replication all trust
		host all all all trust
	END
}

# one_server: `one', its address in $ADDRESS.
one_server() {
	need_postgres
	[ -s "$SERVERS/one.port" ] || a_port >"$SERVERS/one.port"
	as_server mkdir "$SERVERS/one"
	(cd "$SERVERS" && as_server "$PG/initdb" -D one/data -A trust -U postgres -E UTF8 --locale=C --no-sync) \
		>"$SERVERS/one.log" 2>&1
	settings one
	launch one
	ADDRESS=127.0.0.1:$(cat "$SERVERS/one.port")
	export ADDRESS
	sql "CREATE DATABASE fl"
	set_up fl
	sql "CREATE ROLE fl LOGIN IN ROLE flocklimit; CREATE ROLE other LOGIN;
		CREATE ROLE secret LOGIN IN ROLE flocklimit PASSWORD 'right'"
}

address_of() { echo "127.0.0.1:$(cat "$SERVERS/$1.port")"; }

# standby NAME: a streaming replica of `one'; in_step NAME: it has all that `one' has; cut_off NAME: it hears
# of no more; promote NAME: it is the primary from now on, and sql asks it.
standby() {
	a_port >"$SERVERS/$1.port"
	as_server mkdir "$SERVERS/$1"
	(cd "$SERVERS" && as_server "$PG/pg_basebackup" -c fast -h "$SERVERS" -p "$(cat one.port)" -U postgres -R -D "$1/data") >&2
	settings "$1"
	launch "$1"
}
in_step() {
	local lsn
	lsn=$(sql "SELECT pg_current_wal_lsn()")
	SERVER=$1 eventually has_replayed "$lsn"
}
has_replayed() { [ "$(sql "SELECT pg_last_wal_replay_lsn() >= '$1'")" = t ]; }
cut_off() {
	SERVER=$1 sql "ALTER SYSTEM SET primary_conninfo = ''"
	SERVER=$1 sql "SELECT pg_reload_conf()" >&2
	eventually is_cut_off
}
is_cut_off() { [ "$(sql "SELECT count(*) FROM pg_stat_replication")" = 0 ]; }
promote() {
	SERVER=$1
	[ "$(sql "SELECT pg_promote()")" = t ]
}

# sql STATEMENT [DATABASE [ROLE]]; set_up DATABASE.
sql() {
	psql -XqAt -v ON_ERROR_STOP=1 -h "$SERVERS" -p "$(cat "$SERVERS/${SERVER:-one}.port")" -U "${3:-postgres}" \
		-d "${2:-postgres}" -c "$1"
}
set_up() { "$CTL" --store "postgres://postgres@$ADDRESS/?database=$1" setup --apply; }

# processes NAME: the server's, its own first.
processes() { pid_of "$1" && pgrep -P "$(pid_of "$1")"; }
freeze() { processes "$1" | xargs kill -STOP; }
thaw() { processes "$1" | xargs kill -CONT; }

# end_server NAME: all its processes are killed at once, as when its machine fails.
end_server() {
	local pid all
	all=$(processes "$1") || return 0
	# shellcheck disable=SC2086 # a list of them
	kill -KILL $all 2>/dev/null || :
	for pid in $all; do
		eventually is_gone "$pid"
	done
}
# end_servers: for good, with what the kernel keeps of them.
end_servers() {
	local name
	[ -n "${SERVERS-}" ] || return 0
	for name in "$SERVERS"/*.pid; do
		[ -e "$name" ] || continue
		name=$(basename "$name" .pid)
		thaw "$name" 2>/dev/null || :
		end_server "$name"
		ipcrm -m "$(awk 'NR == 7 { print $2 }' "$SERVERS/$name/data/postmaster.pid")" 2>/dev/null || :
	done
	rm -rf "$SERVERS"
}

# own TTL: a server of the test's own, and takers with this time to live.
own() {
	times "$1"
	servers_in
	OWN=1
	one_server
	use_store
}

# use_store [PARAMETERS [USER]]
# shellcheck disable=SC2120 # tests give them
use_store() {
	STORE="postgres://${2:-fl}@$ADDRESS$(prefix)?database=fl${1-}"
	FLOCKLIMIT_STORE=$STORE
	export STORE FLOCKLIMIT_STORE
}

# keys_like PATTERN: the test's own keys that match.
keys_like() {
	sql "SELECT convert_from(key, 'UTF8') FROM flocklimit.records" fl | grep "^$(prefix)/" | grep -- "$1"
}
no_keys() { ! keys_like '//[ehlpstw]/'; }
keys() { keys_like "//$1/" | grep -c .; }
queued() { [ "$(keys_like "/${2:-x}/cfg//w/" | grep -c .)" = "$1" ]; }
holders() { [ "$(keys_like "/${2:-x}/cfg//h/" | grep -c .)" = "$1" ]; }

# shellcheck disable=SC2119
[ -z "${ADDRESS-}" ] || use_store
