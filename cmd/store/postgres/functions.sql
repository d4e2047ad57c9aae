-- SPDX-License-Identifier: ISC
-- functions.sql - what a client calls, after schema.sql.

-- ---- within a transaction that has its turn ----

-- Ends the leases that are over, and the chosen one, and their records with them, in a revision of its own;
-- returns the revision after that.
CREATE OR REPLACE FUNCTION flocklimit.expire(revision bigint, chosen bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	-- The index is of use for a value, but not for a function that may return another for each row.
	moment timestamptz := clock_timestamp();
BEGIN
	IF NOT EXISTS (SELECT FROM flocklimit.leases WHERE ends <= moment OR id = chosen) THEN
		RETURN expire.revision;
	END IF;
	WITH over AS (
		DELETE FROM flocklimit.leases WHERE ends <= moment OR id = chosen RETURNING id
	), gone AS (
		DELETE FROM flocklimit.records AS r USING over WHERE r.lease = over.id AND r.lease <> 0
			RETURNING key
	)
	INSERT INTO flocklimit.log SELECT expire.revision + 1, 0, key, true, '', 0, 0 FROM gone;
	IF NOT FOUND THEN
		RETURN expire.revision;
	END IF;
	UPDATE flocklimit.state SET revision = expire.revision + 1;
	RETURN expire.revision + 1;
END $$;

-- Notifies the others that watch what has changed since that revision, and says whether this process does.  It
-- comes last.  As it comes before the turn ends, notifications are in the order of the revisions, and none is
-- missing between two of them: so one has the changes, if there is room, a line for each.
CREATE OR REPLACE FUNCTION flocklimit.wake(since bigint) RETURNS bool
LANGUAGE plpgsql AS $$
DECLARE
	who int;
	secret bigint;
	lines text;
	me bool := false;
BEGIN
	FOR who, secret, lines IN
		SELECT c.pid, c.client, string_agg(concat_ws(' ', c.revision, c.deleted::int, c.created, c.lease,
				encode(c.key, 'hex'), encode(c.value, 'hex')), E'\n' ORDER BY c.revision, c.n, c.key)
		FROM (
			SELECT w.pid, w.client, l.* FROM flocklimit.log l JOIN flocklimit.watchers w
				ON w.stop IS NULL AND w.key = l.key
				WHERE l.revision > since AND CASE WHEN l.deleted THEN w.deletes ELSE w.puts END
			UNION
			SELECT w.pid, w.client, l.* FROM flocklimit.log l JOIN flocklimit.watchers w
				ON w.stop IS NOT NULL AND w.key <= l.key AND w.stop > l.key
				WHERE l.revision > since AND CASE WHEN l.deleted THEN w.deletes ELSE w.puts END
		) AS c GROUP BY c.pid, c.client
	LOOP
		IF who = pg_backend_pid() THEN
			me := true;
		ELSE
			PERFORM pg_notify('flocklimit:' || secret, CASE WHEN length(lines) < 8000 THEN lines ELSE '' END);
		END IF;
	END LOOP;
	RETURN me;
END $$;

CREATE OR REPLACE FUNCTION flocklimit.forget(first bigint) RETURNS void
LANGUAGE sql AS $$
	DELETE FROM flocklimit.log WHERE revision < first;
	UPDATE flocklimit.state SET forgotten = greatest(forgotten, first - 1);
$$;

CREATE OR REPLACE FUNCTION flocklimit.last_row(flag bigint, says bigint) RETURNS flocklimit.found
STABLE LANGUAGE sql AS $$
	SELECT ROW(0, flag, NULL, NULL, revision, says, pg_backend_pid())::flocklimit.found
		FROM flocklimit.state;
$$;

-- ---- a transaction ----
--
-- what[i]: 0 absent, 1 created, 2 changed, 3 no news; 4 get, 5 put, 6 delete; + 8: otherwise, + 16: keys
-- only, + 32: oldest first, + 64: the newest before.  A range is from a key to before its end, also that of
-- one key.  numbers[i]: the revision of a compare, or before which a get looks; the limit of another get; the
-- lease of a put.

CREATE OR REPLACE FUNCTION flocklimit.hold(what int[], keys bytea[], ends bytea[], numbers bigint[])
RETURNS bool STABLE LANGUAGE plpgsql AS $$
DECLARE
	k bytea;
	e bytea;
	good bool;
BEGIN
	FOR i IN 1 .. cardinality(what) LOOP
		k := keys[i];
		e := ends[i];
		CASE what[i]
		WHEN 0 THEN
			good := NOT EXISTS (SELECT FROM flocklimit.records WHERE key >= k AND key < e);
		WHEN 1 THEN
			good := numbers[i] = coalesce(
				(SELECT created FROM flocklimit.records WHERE key = k), 0);
		WHEN 2 THEN
			good := numbers[i] = coalesce(
				(SELECT changed FROM flocklimit.records WHERE key = k), 0);
		WHEN 3 THEN
			good := NOT EXISTS (SELECT FROM flocklimit.records
				WHERE key >= k AND key < e AND changed > numbers[i]);
		ELSE
			good := true;
		END CASE;
		IF NOT good THEN
			RETURN false;
		END IF;
	END LOOP;
	RETURN true;
END $$;

CREATE OR REPLACE FUNCTION flocklimit.get(op int, what int, k bytea, e bytea, number bigint)
RETURNS SETOF flocklimit.found STABLE LANGUAGE sql AS $$
	SELECT op, count(*) OVER (), r.key, CASE WHEN what & 16 = 0 THEN r.value ELSE '' END,
		r.created, r.changed, r.lease
		FROM flocklimit.records r
		WHERE r.key >= k AND r.key < e AND (what & 64 = 0 OR r.created < number)
		ORDER BY CASE what & 96 WHEN 0 THEN 0 WHEN 32 THEN r.created ELSE -r.created END, r.key
		LIMIT CASE WHEN what & 64 = 0 THEN nullif(number, 0) ELSE 1 END;
$$;

-- One that only reads.  Of a copy, too, it reads only when a client has moved in.
CREATE OR REPLACE FUNCTION flocklimit.look(what int[], keys bytea[], ends bytea[], numbers bigint[])
RETURNS SETOF flocklimit.found
STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
	held bool := flocklimit.hold(what, keys, ends, numbers);
	op int := 0;
	rev bigint;
	good bool;
BEGIN
	SELECT revision, place = tableoid INTO rev, good FROM flocklimit.state;
	IF NOT good THEN
		PERFORM flocklimit.raise_copy();
	END IF;
	FOR i IN 1 .. cardinality(what) LOOP
		IF what[i] & 4 <> 0 AND (what[i] & 8 = 0) = held THEN
			op := op + 1;
			RETURN QUERY SELECT * FROM flocklimit.get(op, what[i], keys[i], ends[i], numbers[i]);
		END IF;
	END LOOP;
	RETURN NEXT ROW(0, held::int, NULL, NULL, rev, 0, pg_backend_pid())::flocklimit.found;
END $$;

-- One that may write; seen: the epoch of what the client decided by.
CREATE OR REPLACE FUNCTION flocklimit.txn(seen bigint, what int[], keys bytea[], ends bytea[], numbers bigint[],
	vals bytea[]) RETURNS SETOF flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	rev bigint;
	held bool;
	wrote bool := false;
	me bool := false;
	op int := 0;
	rows bigint;
BEGIN
	before := flocklimit.take_turn(seen);
	rev := flocklimit.expire(before, NULL) + 1;
	held := flocklimit.hold(what, keys, ends, numbers);
	FOR i IN 1 .. cardinality(what) LOOP
		IF what[i] & 4 = 0 OR (what[i] & 8 = 0) <> held THEN
			CONTINUE;
		END IF;
		op := op + 1;
		CASE what[i] & 3
		WHEN 0 THEN
			RETURN QUERY SELECT * FROM flocklimit.get(op, what[i], keys[i], ends[i], numbers[i]);
		WHEN 1 THEN
			IF numbers[i] <> 0 AND
			   NOT EXISTS (SELECT FROM flocklimit.leases WHERE id = numbers[i]) THEN
				RAISE 'there is no such lease' USING ERRCODE = 'FLK01';
			END IF;
			WITH put AS (
				INSERT INTO flocklimit.records VALUES (keys[i], vals[i], rev, rev, numbers[i])
				ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value,
					changed = EXCLUDED.changed, lease = EXCLUDED.lease
				RETURNING *
			)
			INSERT INTO flocklimit.log SELECT rev, i, key, false, value, created, lease FROM put;
			wrote := true;
		WHEN 2 THEN
			WITH gone AS (
				DELETE FROM flocklimit.records WHERE key >= keys[i] AND key < ends[i]
				RETURNING key
			)
			INSERT INTO flocklimit.log SELECT rev, i, key, true, '', 0, 0 FROM gone;
			GET DIAGNOSTICS rows = ROW_COUNT;
			wrote := wrote OR rows > 0;
			RETURN NEXT ROW(op, rows, NULL, NULL, 0, 0, 0)::flocklimit.found;
		END CASE;
	END LOOP;
	IF wrote THEN
		UPDATE flocklimit.state SET revision = rev;
		IF rev % 1000 = 0 THEN
			PERFORM flocklimit.forget(rev - 20000);
		END IF;
	ELSE
		rev := rev - 1;
	END IF;
	IF rev > before THEN
		me := flocklimit.wake(before);
	END IF;
	RETURN NEXT ROW(0, held::int, NULL, NULL, rev, me::int, pg_backend_pid())::flocklimit.found;
END $$;

-- ---- leases: the flag says whether it lives ----

-- It and renew_lease() change no record, and need no turn: expire() looks again at a lease for whose change it
-- had to wait.
CREATE OR REPLACE FUNCTION flocklimit.grant_lease(chosen bigint, seconds bigint) RETURNS flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
	span interval := make_interval(secs => seconds);
BEGIN
	INSERT INTO flocklimit.leases VALUES (chosen, span, clock_timestamp() + span)
		ON CONFLICT DO NOTHING;
	IF NOT FOUND THEN
		RAISE 'that lease exists' USING ERRCODE = 'FLK02';
	END IF;
	RETURN flocklimit.last_row(1, 0);
END $$;

CREATE OR REPLACE FUNCTION flocklimit.renew_lease(chosen bigint) RETURNS flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
	UPDATE flocklimit.leases SET ends = clock_timestamp() + ttl
		WHERE id = chosen AND ends > clock_timestamp();
	RETURN flocklimit.last_row(FOUND::int, 0);
END $$;

CREATE OR REPLACE FUNCTION flocklimit.end_lease(chosen bigint) RETURNS flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	rev bigint;
	me bool := false;
BEGIN
	before := flocklimit.take_turn();
	IF NOT EXISTS (SELECT FROM flocklimit.leases WHERE id = chosen) THEN
		RAISE 'there is no such lease' USING ERRCODE = 'FLK01';
	END IF;
	rev := flocklimit.expire(before, chosen);
	IF rev > before THEN
		me := flocklimit.wake(before);
	END IF;
	RETURN ROW(0, 0, NULL, NULL, rev, me::int, pg_backend_pid())::flocklimit.found;
END $$;

-- ---- connections and watches ----

-- The first call of a connection; says the version.  A row before the last has the epoch as its revision and,
-- in a copy, how many ms ago a client moved in.  After a restart of the server all leases begin anew.
-- A process of the server that has served another client before is behind a pooler, which lends it to a
-- client for one transaction: it would hear of what others watch, and they of what it does.
-- Only a server that was started at another time, as a standby was, or another table can be a copy.
CREATE OR REPLACE FUNCTION flocklimit.hello(client bigint) RETURNS SETOF flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
	s flocklimit.state;
BEGIN
	IF current_setting('synchronous_commit') = 'off' THEN
		PERFORM set_config('synchronous_commit', 'on', false);
	END IF;
	IF coalesce(nullif(current_setting('flocklimit.client', true), ''), client::text) <> client::text THEN
		RAISE 'a pooler is between' USING ERRCODE = 'FLK04';
	END IF;
	PERFORM set_config('flocklimit.client', client::text, false);
	SELECT * INTO s FROM flocklimit.state;
	IF s.started <> pg_postmaster_start_time() OR s.place <> 'flocklimit.state'::regclass THEN
		PERFORM flocklimit.arrive();
		SELECT * INTO s FROM flocklimit.state;
	END IF;
	IF pg_backend_pid() % 16 = 0 THEN
		PERFORM flocklimit.forget_gone();
	END IF;
	RETURN NEXT ROW(1, CASE WHEN s.replaced THEN
		greatest(extract(epoch FROM clock_timestamp()) * 1000 - s.epoch / 1000, 0)::bigint END,
		NULL, NULL, s.epoch, 0, 0)::flocklimit.found;
	RETURN NEXT ROW(0, 0, NULL, NULL, s.revision, s.version, pg_backend_pid())::flocklimit.found;
END $$;

CREATE OR REPLACE FUNCTION flocklimit.arrive() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	now_started timestamptz := pg_postmaster_start_time();
BEGIN
	PERFORM flocklimit.move_in() FROM flocklimit.state s, flocklimit.here() h
		WHERE (s.system, s.timeline, s.place) IS DISTINCT FROM (h.system, h.timeline, h.place);
	LOCK TABLE flocklimit.turn IN EXCLUSIVE MODE;
	UPDATE flocklimit.state SET started = now_started WHERE started <> now_started;
	IF FOUND THEN
		UPDATE flocklimit.leases SET ends = clock_timestamp() + ttl;
	END IF;
END $$;

-- What processes watched that have ended.  It costs little, but not each client must do it.
CREATE OR REPLACE FUNCTION flocklimit.forget_gone() RETURNS void
LANGUAGE sql AS $$
	DELETE FROM flocklimit.watchers w
		WHERE NOT EXISTS (SELECT FROM pg_stat_get_activity(NULL) a WHERE a.pid = w.pid);
$$;

-- The changes from that revision on in what this process watches, or in one watch of it, as of one
-- snapshot.  The flag: some of them are forgotten.  The last row says in how many ms the next lease is over;
-- NULL: there is none.
CREATE OR REPLACE FUNCTION flocklimit.changes(first bigint, which bigint DEFAULT NULL)
RETURNS SETOF flocklimit.found STABLE LANGUAGE plpgsql AS $$
DECLARE
	lost bool := first <= (SELECT forgotten FROM flocklimit.state);
BEGIN
	IF NOT lost THEN
		RETURN QUERY SELECT 1 + l.deleted::int, 0::bigint, l.key, l.value, l.created, l.revision,
			l.lease
			FROM flocklimit.log l WHERE l.revision >= first AND EXISTS (
				SELECT FROM flocklimit.watchers w
				WHERE w.pid = pg_backend_pid() AND w.number = coalesce(which, w.number) AND
				CASE WHEN w.stop IS NULL THEN w.key = l.key
					ELSE w.key <= l.key AND w.stop > l.key END)
			ORDER BY l.revision, l.n, l.key;
	END IF;
	RETURN NEXT flocklimit.last_row(lost::int, (SELECT
		(extract(epoch FROM min(ends) - clock_timestamp()) * 1000)::bigint FROM flocklimit.leases));
END $$;

-- The same, after it has ended the leases that are over.
CREATE OR REPLACE FUNCTION flocklimit.news(first bigint) RETURNS SETOF flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	moment timestamptz := clock_timestamp();
BEGIN
	IF EXISTS (SELECT FROM flocklimit.leases WHERE ends <= moment) THEN
		before := flocklimit.take_turn();
		IF flocklimit.expire(before, NULL) > before THEN
			PERFORM flocklimit.wake(before);
		END IF;
	END IF;
	RETURN QUERY SELECT * FROM flocklimit.changes(first);
END $$;

-- Begins a watch, and says what has changed from that revision on; 0: from now on.  As it has its turn, all
-- that is written later wakes this process.
CREATE OR REPLACE FUNCTION flocklimit.watch(which bigint, first bigint, keys bytea[], ends bytea[],
	flags int[]) RETURNS SETOF flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
	PERFORM flocklimit.take_turn();
	EXECUTE format('LISTEN %I', 'flocklimit:' || current_setting('flocklimit.client'));
	INSERT INTO flocklimit.watchers SELECT pg_backend_pid(),
		current_setting('flocklimit.client')::bigint, which, k, nullif(e, k || '\x00'),
		f & 1 <> 0, f & 2 <> 0
		FROM unnest(keys, ends, flags) AS r (k, e, f);
	IF first = 0 THEN
		RETURN NEXT flocklimit.last_row(0, 0);
	ELSE
		RETURN QUERY SELECT * FROM flocklimit.changes(first, which);
	END IF;
END $$;

CREATE OR REPLACE FUNCTION flocklimit.unwatch(which bigint) RETURNS flocklimit.found
SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM flocklimit.watchers WHERE pid = pg_backend_pid() AND number = which;
	RETURN flocklimit.last_row(0, 0);
END $$;

-- ---- rights ----

DO $$ BEGIN
	CREATE ROLE flocklimit NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA flocklimit FROM PUBLIC;
GRANT USAGE ON SCHEMA flocklimit TO flocklimit;
GRANT EXECUTE ON FUNCTION
	flocklimit.hello(bigint),
	flocklimit.look(int[], bytea[], bytea[], bigint[]),
	flocklimit.txn(bigint, int[], bytea[], bytea[], bigint[], bytea[]),
	flocklimit.grant_lease(bigint, bigint), flocklimit.renew_lease(bigint),
	flocklimit.end_lease(bigint), flocklimit.news(bigint),
	flocklimit.watch(bigint, bigint, bytea[], bytea[], int[]), flocklimit.unwatch(bigint)
	TO flocklimit;

COMMIT;
