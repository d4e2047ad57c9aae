/* SPDX-License-Identifier: ISC */
/*
 * follow.c - what happens in a limiter: reads all of it once, and watches from there on.
 */
#include "roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "records/retry.h"
#include "kind.h"

#define CALL_MS 5000

struct follow {
	struct fleet_part part; /* due: to read, or to report what the last change meant */
	struct fleet *fleet;
	struct records_call *call;
	struct records_watch *watch; /* NULL: to be read, or no more will come */
	unsigned failures;
	bool begun, ended; /* we have reported that */
	struct roster roster;
};

static void
report(struct follow *f, int code, const char *why)
{
	struct flk_event e = { .kind = 0, .code = code, .number = f->roster.number };

	f->roster.happens(f->roster.context, &e, why);
}

static void
fail(struct follow *f, int code, const char *why)
{
	f->part.due_ns = UINT64_MAX;
	f->ended = true;
	report(f, code, why);
}

static void
read_anew(struct follow *f, bool at_once)
{
	f->part.due_ns = at_once ? 0 : flki_boottime_ns() + retry_pause(f->failures++);
}

static void
unwatch(struct follow *f)
{
	records_unwatch(f->watch);
	f->watch = NULL;
}

static void
hears(void *context, const struct records_news *news)
{
	struct follow *f = context;
	char why[RECORDS_TEXT];

	switch (news->kind) {
	case WATCH_BEGUN:
		if (!f->begun)
			report(f, 0, NULL);
		f->begun = true;
		break;
	case WATCH_CHANGE:
		roster_change(&f->roster, news->change);
		f->part.due_ns = 0; /* no other change may come for long: report this one then */
		break;
	case WATCH_COMPACTED:
		unwatch(f);
		read_anew(f, true);
		break;
	case WATCH_FAILED:
		snprintf(why, sizeof(why), "%s", news->text);
		unwatch(f);
		roster_flush(&f->roster);
		fail(f, -FLK_STORE, why);
		break;
	}
}

static void
watch(struct follow *f, int64_t revision)
{
	struct key from, to;
	struct records_range range = { .key = from.s, .end = to.s };

	key_whole(&f->fleet->limiter, &from, &to);
	f->watch = records_watch(f->fleet->store->records, &range, 1, revision + 1, hears, f);
	if (f->watch == NULL)
		fail(f, -ENOMEM, NULL);
}

static void
got_all(void *context, const struct records_answer *reply)
{
	struct follow *f = context;
	struct look l;

	f->call = NULL;
	if (reply->result == RECORDS_DENIED || reply->result == RECORDS_WRONG) {
		fail(f, -FLK_STORE, reply->text);
		return;
	}
	if (reply->result != RECORDS_OK) {
		read_anew(f, false);
		return;
	}
	f->failures = 0;
	look_init(&l, &f->fleet->limiter);
	if (look_read(&l, LOOK_ALL, reply)) {
		if (f->roster.look.read == 0)
			roster_report_past(&f->roster, &l, reply);
		roster_read(&f->roster, &l);
		watch(f, f->roster.look.revision);
	} else {
		fail(f, -FLK_STORE, l.trouble);
	}
	look_free(&l);
}

static void
step(struct fleet_part *part)
{
	struct follow *f = (struct follow *)(void *)part;
	struct key m = key_of(&f->fleet->limiter, 'm', NULL), end = key_end(&m);
	struct txn *x;

	part->due_ns = UINT64_MAX;
	roster_flush(&f->roster);
	if (f->roster.failed && !f->ended) {
		fail(f, -ENOMEM, NULL);
		return;
	}
	if (f->watch != NULL || f->call != NULL || f->ended)
		return;
	x = look_txn(&f->fleet->limiter, LOOK_ALL);
	if (f->roster.look.read == 0)
		txn_get(x, m.s, end.s);
	f->call = records_txn(f->fleet->store->records, x, CALL_MS, got_all, f);
	if (f->call == NULL)
		read_anew(f, false);
}

static void
end(struct fleet_part *part)
{
	struct follow *f = (struct follow *)(void *)part;

	if (f->call != NULL)
		records_cancel(f->call);
	if (f->watch != NULL)
		records_unwatch(f->watch);
	look_free(&f->roster.look);
	free(f);
}

void
fleet_follow(struct fleet *fleet, fleet_happens *happens, void *context)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return; /* then the caller sees no event, as if nothing happened */
	f->part.step = step;
	f->part.end = end;
	f->fleet = fleet;
	f->roster.happens = happens;
	f->roster.context = context;
	look_init(&f->roster.look, &fleet->limiter);
	fleet_part_add(fleet, &f->part);
}
