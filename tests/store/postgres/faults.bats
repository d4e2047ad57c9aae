#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck shell=bats
# shellcheck disable=SC2016 # for the inner shells
# shellcheck disable=SC2153,SC2154,SC2317,SC2030,SC2031,SC2034 # how bats works: run, skip, a subshell a test
# A real PostgreSQL whose transactions are cut in the middle, that is asked twice, that waits for a standby,
# and that is reached by TLS.

load ../../helpers/lib.bash
load ../etcd/store.bash
load ../fake/fake.bash
load postgres.bash

setup_file() {
	need_postgres
	a_store
}
teardown_file() { end_servers; }

eval "lib_$(declare -f teardown)"
teardown() {
	lib_teardown
	[ -z "${OWN-}" ] || end_servers
}

# grants_sleep: the next transaction that grants a permit does not end by itself.
grants_sleep() {
	sql "CREATE SEQUENCE flocklimit.sleepers;
		CREATE FUNCTION flocklimit.sleep() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
			IF pg_postmaster_start_time() = '$(sql "SELECT pg_postmaster_start_time()")' AND
			   nextval('flocklimit.sleepers') = 1 THEN
				PERFORM pg_sleep(600);
			END IF;
			RETURN NULL;
		END \$\$;
		CREATE TRIGGER sleep AFTER INSERT ON flocklimit.records FOR EACH ROW
			WHEN (convert_from(NEW.key, 'UTF8') LIKE '%//h/%') EXECUTE FUNCTION flocklimit.sleep()" fl
}
sleepers() { sql "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"; }
one_sleeps() { [ -n "$(sleepers)" ]; }

@test "killed in the middle of a release that grants: it is done once, after the restart" {
	own 12
	line_of 2
	grants_sleep
	release a
	eventually one_sleeps
	end_server one
	launch one
	all_run a
	in_order
}

@test "the connection is lost in the middle of a release that grants: it is done once, by another" {
	own 12
	line_of 2
	grants_sleep
	release a
	eventually one_sleeps
	sql "SELECT pg_terminate_backend($(sleepers))" >&2
	all_run a
	in_order
}

# released KEY FENCE: how many rows that deleted, and whether the permit had that fence.
released() {
	sql "SELECT coalesce(sum(n) FILTER (WHERE op = 1), 0), max(n) FILTER (WHERE op = 0)
		FROM flocklimit.txn(0, '{1,6}', ARRAY['$1', '$1']::bytea[], ARRAY['$1'::bytea || '\\x00', '$1'::bytea || '\\x00'],
			'{$2,0}', '{NULL,NULL}')" fl
}

@test "a release that comes twice deletes one row, and then nothing" {
	local key fence first again
	times 12
	watched
	holder a -n 2
	holder b -n 2
	IFS='|' read -r key fence <<<"$(sql "SELECT key, created FROM flocklimit.records
		WHERE convert_from(key, 'UTF8') LIKE '$(prefix)/x/cfg//h/%' ORDER BY created LIMIT 1" fl)"
	first=$(released "$key" "$fence")
	again=$(released "$key" "$fence")
	[ "$first" = "1|1" ]
	[ "$again" = "0|0" ]
	holders 1
	# Its holder is told; what it releases then is not there any more.
	over a
	[ "$status" -eq 76 ]
	holders 1
	release b
	all_run b
	spotless
}

@test "a synchronous standby that does not answer: nothing is granted until it does" {
	own 12
	standby two
	sql "ALTER SYSTEM SET synchronous_standby_names = '*'"
	sql "SELECT pg_reload_conf()" >&2
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	freeze two
	run --separate-stderr -75 "$FLOCKLIMIT" -N x -n 1 -t 1 true
	one_line
	thaw two
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	spotless
}

# at HOST [PARAMETERS]: by TLS.
at() { FLOCKLIMIT_STORE="postgres://fl@$1:${ADDRESS##*:}$(prefix)?database=fl&sslmode=verify-full${2-}"; }

@test "TLS: the certificate must be the host's, and signed by whom the URL or libpq's variable names" {
	own 12
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
		-keyout key.pem -out cert.pem 2>/dev/null
	as_server sh -c 'umask 077 && cat >"$1"' sh "$SERVERS/one/data/server.key" <key.pem
	as_server sh -c 'cat >"$1"' sh "$SERVERS/one/data/server.crt" <cert.pem
	at localhost "&cacert=$T/cert.pem"
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *"does not support SSL"* ]]
	echo "ssl = on" >>"$SERVERS/one/data/postgresql.conf"
	end_server one
	launch one
	run -0 "$FLOCKLIMIT" -N x -n 1 true
	at localhost
	PGSSLROOTCERT=$T/cert.pem run -0 "$FLOCKLIMIT" -N x -n 1 true
	at 127.0.0.1 "&cacert=$T/cert.pem"
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *certificate* ]]
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout other.key -out other.pem 2>/dev/null
	at localhost "&cacert=$T/other.pem"
	run --separate-stderr -125 "$FLOCKLIMIT" -N x -n 1 true
	one_line
	[[ $stderr == *certificate* ]]
}
