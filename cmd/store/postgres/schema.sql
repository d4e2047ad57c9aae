-- SPDX-License-Identifier: ISC
-- schema.sql - what the engine keeps in a database, and where that is.  functions.sql follows, in the same
-- transaction.  A client only calls functions; a role that is a member of flocklimit may.  Run again, both
-- only add what is missing.
--
-- A function that writes locks the table turn first, until its transaction ends.  So revisions become
-- visible in their order, and each statement after the lock sees all that was committed before: these
-- functions need READ COMMITTED.  What only reads is STABLE: all of it is as of one snapshot.
--
-- Every answer has a last row with op = 0: n is a flag, created the revision of the store, lease the
-- number of the server's process, and changed what the function says.

BEGIN;

CREATE SCHEMA IF NOT EXISTS flocklimit;

-- One row.  Of what changed at `forgotten' and before, the log has nothing; started is when the server was.
--
-- system, timeline and place say where the row is: in which cluster, in which history of it, and in which table.
-- They are others after a failover, and in a copy that was restored from a dump or from an archive: such a copy
-- may lack what the last transactions did.  The first client that comes then moves in (hello): epoch, a number
-- that no other copy has, is when it did so.
CREATE TABLE IF NOT EXISTS flocklimit.state (
	one bool PRIMARY KEY DEFAULT true CHECK (one),
	version int NOT NULL,
	revision bigint NOT NULL,
	forgotten bigint NOT NULL,
	started timestamptz NOT NULL,
	system bigint NOT NULL,
	timeline text NOT NULL,
	place oid NOT NULL,
	epoch bigint NOT NULL, -- microseconds
	replaced bool NOT NULL -- epoch is when a copy was moved into, not when the first one began
) WITH (fillfactor = 10);

CREATE TABLE IF NOT EXISTS flocklimit.turn ();

CREATE TABLE IF NOT EXISTS flocklimit.leases (
	id bigint PRIMARY KEY,
	ttl interval NOT NULL,
	ends timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS leases_ends ON flocklimit.leases (ends);

CREATE TABLE IF NOT EXISTS flocklimit.records (
	key bytea PRIMARY KEY,
	value bytea NOT NULL,
	created bigint NOT NULL,
	changed bigint NOT NULL,
	lease bigint NOT NULL -- 0: none
);
CREATE INDEX IF NOT EXISTS records_lease ON flocklimit.records (lease) WHERE lease <> 0;

-- Changes, in the order of revision, n and key.  A revision changes a key once: its primary key says so.
CREATE TABLE IF NOT EXISTS flocklimit.log (
	revision bigint,
	n int NOT NULL,
	key bytea,
	deleted bool NOT NULL,
	value bytea NOT NULL,
	created bigint NOT NULL,
	lease bigint NOT NULL,
	PRIMARY KEY (revision, key)
);

-- What each server process is to be woken for.  stop: NULL for one key.  Nothing is lost with it: its
-- clients lose their connections at the same time.  Any role of the database may notify a channel, and listen
-- to it, whose name it knows: so the name has a number that only the client knows, and this table.
CREATE UNLOGGED TABLE IF NOT EXISTS flocklimit.watchers (
	pid int NOT NULL,
	client bigint NOT NULL,
	number bigint NOT NULL,
	key bytea NOT NULL,
	stop bytea,
	puts bool NOT NULL,
	deletes bool NOT NULL
);
CREATE INDEX IF NOT EXISTS watchers_pid ON flocklimit.watchers (pid, number);
CREATE INDEX IF NOT EXISTS watchers_key ON flocklimit.watchers (key) WHERE stop IS NULL;
CREATE INDEX IF NOT EXISTS watchers_range ON flocklimit.watchers (key) WHERE stop IS NOT NULL;

DO $$ BEGIN
	CREATE TYPE flocklimit.found AS
		(op int, n bigint, key bytea, value bytea, created bigint, changed bigint, lease bigint);
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;

-- ---- where it is ----

CREATE OR REPLACE FUNCTION flocklimit.here(OUT system bigint, OUT timeline text, OUT place oid)
STABLE LANGUAGE sql AS $$
	SELECT system_identifier, left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8),
		'flocklimit.state'::regclass::oid FROM pg_catalog.pg_control_system();
$$;

INSERT INTO flocklimit.state
	SELECT true, 1, 1, 0, pg_catalog.pg_postmaster_start_time(), system, timeline, place, 1, false
	FROM flocklimit.here()
	ON CONFLICT DO NOTHING;

CREATE OR REPLACE FUNCTION flocklimit.raise_copy() RETURNS void
STABLE LANGUAGE plpgsql AS $$
BEGIN
	RAISE 'the store was replaced by a copy' USING ERRCODE = 'FLK03';
END $$;

-- Waits for this transaction's turn, and returns the revision.  The table of a dump that is restored while
-- clients are connected is another one: they must connect again, for hello() to move in.  A client that
-- looked before that must not write by what it saw then; 0: it has seen nothing yet.
CREATE OR REPLACE FUNCTION flocklimit.take_turn(seen bigint DEFAULT 0) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	rev bigint;
	good bool;
BEGIN
	LOCK TABLE flocklimit.turn IN EXCLUSIVE MODE;
	SELECT revision, place = tableoid AND seen IN (0, epoch) INTO rev, good FROM flocklimit.state;
	IF NOT good THEN
		PERFORM flocklimit.raise_copy();
	END IF;
	RETURN rev;
END $$;

-- A copy.  Its revisions must be above all that were ever used, so that no ticket is given twice; whoever
-- watches it must look anew; and its leases begin anew.
CREATE OR REPLACE FUNCTION flocklimit.move_in() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	LOCK TABLE flocklimit.turn IN EXCLUSIVE MODE;
	UPDATE flocklimit.state s SET system = h.system, timeline = h.timeline, place = h.place,
		revision = revision + 1000000000, forgotten = revision + 1000000000,
		epoch = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, replaced = true
		FROM flocklimit.here() h
		WHERE (s.system, s.timeline, s.place) IS DISTINCT FROM (h.system, h.timeline, h.place);
	IF FOUND THEN
		DELETE FROM flocklimit.log;
		DELETE FROM flocklimit.watchers;
		UPDATE flocklimit.leases SET ends = clock_timestamp() + ttl;
	END IF;
END $$;

