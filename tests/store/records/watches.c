/* SPDX-License-Identifier: ISC */
/*
 * watches.c - what a watch reports.
 */
#include <stdio.h>
#include <string.h>

#include "../../helpers/tap.h"
#include "clock.h"
#include "suite.h"

static bool
said(const struct heard *h, const char *want)
{
	if (strcmp(h->text, want) == 0)
		return true;
	tap_note("the watch said: %s", h->text);
	return false;
}

static struct records_watch *
watch_all(struct records *r, int64_t from, struct heard *h)
{
	struct records_range range = { .key = key("watch/"), .end = key("watch0") };

	return records_watch(r, &range, 1, from, hear, h);
}

static void
from_now(struct records *r)
{
	struct heard h = { .begun = 0 };
	struct records_watch *w;
	int64_t revision = put(r, key("watch/old"), "", 0);
	struct txn *x;

	w = watch_all(r, 0, &h);
	ok(until(r, &h.begun, 1), "a watch begins");
	ok(h.revision > revision, "it says from where");
	put(r, key("watch/a"), "1", 0);
	put(r, key("elsewhere"), "1", 0);
	x = txn_new();
	txn_put(x, key("watch/b"), "2", 1, 0);
	txn_delete(x, key("watch/old"), NULL);
	revision = did(r, x)->a.revision;
	ok(until(r, &h.changes, 2) && h.changes == 3, "all changes of a revision come in one step");
	ok(said(&h, "+a=1 +b=2 -old "), "it reports each change, in order");
	is(h.last, revision, "a change has its revision");
	records_unwatch(w);
	put(r, key("watch/c"), "3", 0);
	run_for(r, SECOND / 5);
	is(h.changes, 3, "a watch that has ended reports nothing");
}

static void
from_the_past(struct records *r)
{
	struct heard h = { .begun = 0 };
	int64_t revision = put(r, key("watch/p"), "1", 0);
	struct records_watch *w;
	struct txn *x;

	put(r, key("watch/p"), "2", 0);
	x = txn_new();
	txn_delete(x, key("watch/p"), NULL);
	did(r, x);
	w = watch_all(r, revision, &h);
	ok(until(r, &h.changes, 3) && said(&h, "+p=1 +p=2 -p "),
	   "a watch from the past reports what happened since");
	put(r, key("watch/p"), "3", 0);
	ok(until(r, &h.changes, 4) && said(&h, "+p=1 +p=2 -p +p=3 "), "... and goes on");
	ok(h.begun == 1 && h.revision == 0, "it has begun once");
	records_unwatch(w);
}

static void
of_some(struct records *r)
{
	struct heard h = { .begun = 0 };
	struct records_range range[] = { { .key = key("watch/x"), .no_put = true },
					 { .key = key("watch/y") } };
	struct records_watch *w = records_watch(r, range, 2, 0, hear, &h);
	struct txn *x;

	until(r, &h.begun, 1);
	put(r, key("watch/x"), "1", 0);
	put(r, key("watch/y"), "1", 0);
	put(r, key("watch/z"), "1", 0);
	x = txn_new();
	txn_delete(x, key("watch/y"), NULL);
	did(r, x);
	x = txn_new();
	txn_delete(x, key("watch/x"), NULL);
	did(r, x);
	ok(until(r, &h.changes, 3), "a watch of deletions, and one of all");
	ok(strstr(h.text, "-x ") != NULL && strstr(h.text, "+y=1 -y ") != NULL && h.changes == 3,
	   "... reports no others");
	records_unwatch(w);
}

static void
of_leases(struct records *r)
{
	struct heard h = { .begun = 0 };
	struct records_watch *w = watch_all(r, 0, &h);
	int64_t id = new_lease();

	until(r, &h.begun, 1);
	leased(r, id, 60);
	put(r, key("watch/l"), "1", id);
	ended(r, id);
	ok(until(r, &h.changes, 2) && said(&h, "+l=1 -l "), "it reports what a lease ends");
	records_unwatch(w);
}

static void
ends_itself(struct records *r)
{
	struct heard h = { .begun = 0 };
	struct records_watch *w = watch_all(r, 0, &h);

	until(r, &h.begun, 1);
	h.end = w;
	put(r, key("watch/e"), "1", 0);
	put(r, key("watch/e"), "2", 0);
	run_for(r, SECOND / 5);
	ok(said(&h, "+e=1 "), "a watch may be ended while it reports");
}

static void
compacted(struct records *r)
{
	struct heard h = { .begun = 0 };
	int64_t revision;
	struct records_watch *w;

	if (ground->compact == NULL) {
		tap_skip("nobody compacts this store");
		return;
	}
	revision = put(r, key("watch/f"), "1", 0);
	put(r, key("watch/f"), "2", 0);
	ground->compact(put(r, key("watch/f"), "3", 0));
	w = watch_all(r, revision, &h);
	ok(until(r, &h.compacted, 1) && h.changes == 0,
	   "a watch from before what is forgotten says so");
	records_unwatch(w);
}

static void
closed(struct records *r)
{
	struct heard h = { .begun = 0 };
	struct outcome o = { .times = 0 };
	struct txn *x = txn_new();

	watch_all(r, 0, &h);
	txn_put(x, key("watch/g"), "1", 1, 0);
	records_txn(r, x, 5000, remember, &o);
	records_close(r);
	ok(o.times == 0 && h.begun == 0, "a store that is closed answers nothing");
}

void
cases_watch(void)
{
	struct records *r = store_open();

	from_now(r);
	from_the_past(r);
	of_some(r);
	of_leases(r);
	ends_itself(r);
	compacted(r);
	closed(r);
}
