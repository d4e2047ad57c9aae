/* SPDX-License-Identifier: ISC */
/*
 * memories.c - what the store remembers of permits, and counts: each once, by the transaction that ends it.
 */
#include <stdlib.h>
#include <string.h>

#include "protocol/run.h"
#include "protocol/tally.h"
#include "sim.h"
#include "truth.h"

#define AT_ONCE 512

/* Permits that have ended since the last check. */
static struct end {
	const struct taker *taker;
	int64_t ticket, revision;
	bool remembered;
} end[AT_ONCE];
static size_t ends;

void
memories_end(const struct taker *t, int64_t revision)
{
	if (ends < AT_ONCE)
		end[ends++] = (struct end){ t, t->permit, revision, false };
}

static void
remembers(const struct memory_record *r)
{
	struct run run;
	size_t i;

	if (!run_decode(&run, &r->kv)) {
		breaks(REMEMBERED, "%s makes no sense", r->kv.key);
		return;
	}
	if (!run.held)
		return;
	sim.uncounted += run.end == RUN_RELEASED;
	for (i = 0; i < ends; i++)
		if (end[i].ticket == (int64_t)run.taker.record.ticket &&
		    end[i].revision == r->kv.changed && !end[i].remembered)
			break;
	if (i < ends)
		end[i].remembered = true;
	else
		breaks(REMEMBERED, "ticket %llu is remembered as ended, and has not ended so",
		       (unsigned long long)run.taker.record.ticket);
}

static void
counts(const struct memory_record *r)
{
	struct records_found found = { .kv = &r->kv, .n = 1 };
	struct records_answer a = { .found = &found, .n = 1 };
	unsigned long seat = strtoul(strrchr(r->kv.key, '/') + 1, NULL, 16);
	struct tally *was = &sim.tally[seat < SIM_SEATS ? seat : 0], now;
	struct key limiter = { .s = "" };

	if (r->deleted) { /* with the limiter */
		*was = (struct tally){ .released = 0 };
		return;
	}
	memcpy(limiter.s, r->kv.key, (size_t)(strstr(r->kv.key, "//") - r->kv.key));
	now = tally_found(&limiter, &a);
	if (seat >= SIM_SEATS || now.released != was->released + 1 ||
	    now.waited.sum_ns < was->waited.sum_ns || now.held.sum_ns < was->held.sum_ns)
		breaks(COUNTED, "%llu permits of seat %lu are counted after %llu",
		       (unsigned long long)now.released, seat, (unsigned long long)was->released);
	*was = now;
	sim.uncounted--;
}

void
memories_change(const struct memory_record *r, char kind)
{
	if (kind == RUN && !r->deleted)
		remembers(r);
	else if (kind == TALLY)
		counts(r);
}

/* Its keeper gives up the wait: the line is too long, or an operator has closed the limiter. */
static bool
is_given_up(const struct taker *t)
{
	return (t->stage == ENTERING && t->want.limit_queue) ||
	       ((t->stage == ENTERING || t->stage == WAITING) && sim.plan.operators);
}

/* What has left when its grant came, and what had no answer in time, may be forgotten. */
static bool
may_be_forgotten(const struct taker *t)
{
	return t->stage == LEAVING || is_given_up(t) || sim.trouble_ns != 0 || sim.plan.loss != 0 ||
	       sim.plan.slow != 0;
}

void
memories_check(void)
{
	for (; ends > 0; ends--) {
		const struct end *e = &end[ends - 1];
		if (!e->remembered && !may_be_forgotten(e->taker))
			breaks(REMEMBERED, "the permit of t%u, ticket %lld, ends and is forgotten",
			       e->taker->number, (long long)e->ticket);
	}
	if (sim.uncounted != 0)
		breaks(COUNTED, "%d more are remembered than counted", sim.uncounted);
}
