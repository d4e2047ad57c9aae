/* SPDX-License-Identifier: ISC */
/*
 * leases.c - leases: what they end, and when.
 */
#include <string.h>

#include "../../helpers/tap.h"
#include "clock.h"
#include "suite.h"

#define TTL 2

static bool
renewal_is_refused(const struct outcome *o)
{
	return o->a.result == RECORDS_NOLEASE || (o->a.result == RECORDS_OK && !o->a.alive);
}

static void
ends_by_hand(struct records *r)
{
	int64_t id = new_lease(), revision;
	const struct outcome *o;
	struct txn *x;

	is(leased(r, id, 60)->a.result, RECORDS_OK, "a lease is granted");
	is(leased(r, id, 60)->a.result, RECORDS_EXISTS, "not twice by one number");
	revision = put(r, key("lease/a"), "a", id);
	put(r, key("lease/b"), "b", id);
	put(r, key("lease/c"), "c", id);
	put(r, key("lease/c"), "c", 0);
	x = txn_new();
	txn_get(x, key("lease/a"), NULL);
	txn_get(x, key("lease/c"), NULL);
	o = did(r, x);
	ok(o->kv[0][0].lease == id && o->kv[1][0].lease == 0, "a record says its lease, or none");
	is(ended(r, id)->a.result, RECORDS_OK, "a lease is ended");
	ok(!is_there(r, key("lease/a")) && !is_there(r, key("lease/b")), "its records go with it");
	ok(is_there(r, key("lease/c")), "... but for one that has left it");
	is(ended(r, id)->a.result, RECORDS_NOLEASE, "it can't be ended twice");
	ok(renewal_is_refused(renewed(r, id)), "nor renewed then");
	ok(revision > 0, "a put on a lease is a put");
}

static void
needs_its_lease(struct records *r)
{
	struct txn *x = txn_new();

	txn_put(x, key("lease/x"), "", 0, 0);
	txn_put(x, key("lease/y"), "", 0, new_lease());
	is(did(r, x)->a.result, RECORDS_NOLEASE, "a put needs its lease");
	ok(!is_there(r, key("lease/x")), "... or nothing of its transaction is done");
}

static void
ends_by_time(struct records *r)
{
	int64_t id = new_lease(), other = new_lease();
	uint64_t begun = flki_boottime_ns();

	leased(r, id, TTL);
	leased(r, other, TTL);
	put(r, key("lease/t"), "", id);
	put(r, key("lease/o"), "", other);
	while (flki_boottime_ns() - begun < 2 * TTL * SECOND) {
		run_for(r, TTL * SECOND / 4);
		if (!renewed(r, id)->a.alive)
			break;
	}
	ok(flki_boottime_ns() - begun >= 2 * TTL * SECOND && is_there(r, key("lease/t")),
	   "a lease that is renewed lives on");
	ok(!is_there(r, key("lease/o")), "another does not");
	begun = flki_boottime_ns();
	while (is_there(r, key("lease/t")) && flki_boottime_ns() - begun < 60 * SECOND)
		run_for(r, SECOND / 10);
	begun = flki_boottime_ns() - begun;
	ok(begun >= TTL * SECOND * 9 / 10 && begun < (TTL + 3) * SECOND,
	   "it ends when its time is over");
}

void
cases_lease(void)
{
	struct records *r = store_open();

	ends_by_hand(r);
	needs_its_lease(r);
	ends_by_time(r);
	records_close(r);
}
