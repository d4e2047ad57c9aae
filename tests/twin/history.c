/* SPDX-License-Identifier: ISC */
/*
 * history.c - what the naive one would tell of itself: an event for each thing that happens,
 * totals, and how long they waited and held.
 *
 * Who is killed tells no more; what is recorded right after a store that counts is lost with it.
 */
#include "twin.h"

#include <string.h>

static struct event told[EVENTS];
static uint64_t events, seen; /* ever told, and of those compared */
static uint64_t total[TOTALS];
static struct flk_times waits, holds;
static bool silent;

void
naive_history_reset(void)
{
	events = seen = 0;
	memset(total, 0, sizeof(total));
	memset(&waits, 0, sizeof(waits));
	memset(&holds, 0, sizeof(holds));
	silent = false;
}

void
naive_hush(bool hush)
{
	silent = hush;
}

static bool
may_tell(void)
{
	return !silent && naive_lives();
}

void
naive_note(enum flk_event_kind kind, unsigned who, int code)
{
	const struct naive *me = who != NOBODY ? &naive[who] : NULL;
	struct event *e = &told[events % EVENTS];

	if (!may_tell() || (me != NULL && me->kind == BARRIER))
		return;
	*e = (struct event){ .when_ns = world_clock, .kind = kind, .code = code };
	if (kind == FLK_EV_GATE && naive_header.gated)
		memcpy(e->when, TWIN_GATE, sizeof(TWIN_GATE));
	if (me != NULL) {
		e->ticket = me->ticket;
		e->weight = me->weight;
		e->limit = me->limit;
		e->seat = naive_seat(who);
		if (kind == FLK_EV_GRANTED && me->each) {
			e->kind = WITH_SEAT(kind, 1);
			e->seat = (uint32_t)naive_seats(who);
			e->code = (int32_t)(naive_seats(who) >> 32);
		}
		if (kind == FLK_EV_QUEUED && me->not_seats != 0 && me->limit <= FLK_SEATS) {
			e->kind = WITH_SEAT(kind, me->limit);
			e->seat = (uint32_t)me->not_seats;
			e->limit = (uint32_t)(me->not_seats >> 32);
		}
		if (kind == FLK_EV_GREW && me->each) {
			e->kind = WITH_SEAT(kind, me->limit <= FLK_SEATS ? me->limit : FLK_SEATS);
			e->seat = (uint32_t)naive_seats(who);
			e->limit = (uint32_t)(naive_seats(who) >> 32);
		}
		if (kind == FLK_EV_RELEASED) {
			e->kind = WITH_SEAT(kind, naive_seat(who));
			e->took = me->took;
		}
		/* Of an eviction the event names the operator: here that is nobody. */
		e->pid = e->uid = kind == FLK_EV_EVICTED ? 0 : who + 1;
		memcpy(e->command, TWIN_COMMAND, sizeof(TWIN_COMMAND));
	}
	events++;
}

void
naive_count(enum total which)
{
	if (may_tell())
		total[which]++;
}

/* In milliseconds and fours. */
void
naive_took(bool held, uint64_t since)
{
	struct flk_times *times = held ? &holds : &waits;
	uint64_t took = world_clock - since;
	double most = 1e6;
	unsigned i;

	if (!may_tell())
		return;
	for (i = 0; i < FLK_BUCKETS - 1 && (double)took > most; i++)
		most *= 4;
	times->count[i]++;
	times->sum_ns += took;
}

/* ---- the same? ---- */

static bool
has_a_seat(const struct event *e)
{
	return KIND(e->kind) == FLK_EV_GRANTED || KIND(e->kind) == FLK_EV_GREW ||
	       e->kind == FLK_EV_UNITS || e->kind == FLK_EV_FORGOT ||
	       (e->kind == FLK_EV_REAPED && e->code == 1);
}

/* What it took stands where the others have seat and limit. */
static const char *
release_differs(unsigned n, const struct event *e, const struct event *mine)
{
	if (SEAT(e->kind) != SEAT(mine->kind))
		return complain("the seat of event", n, SEAT(e->kind), SEAT(mine->kind));
	if (e->took.peak_kib != mine->took.peak_kib)
		return complain("the memory of event", n, e->took.peak_kib, mine->took.peak_kib);
	if (e->took.cpu_ms != mine->took.cpu_ms)
		return complain("the CPU time of event", n, e->took.cpu_ms, mine->took.cpu_ms);
	return NULL;
}

static const char *
event_differs(unsigned n, const struct event *e, const struct event *mine)
{
	if (KIND(e->kind) != KIND(mine->kind) ||
	    (KIND(e->kind) == FLK_EV_GRANTED && e->kind != mine->kind))
		return complain("the kind of event", n, e->kind, mine->kind);
	if (e->code != mine->code)
		return complain("the code of event", n, (uint64_t)e->code, (uint64_t)mine->code);
	if (e->ticket != mine->ticket)
		return complain("the ticket of event", n, e->ticket, mine->ticket);
	if (e->when_ns != mine->when_ns)
		return complain("the time of event", n, e->when_ns, mine->when_ns);
	if (e->weight != mine->weight ||
	    (KIND(e->kind) != FLK_EV_RELEASED && e->limit != mine->limit))
		return complain("the weight of event", n, e->weight, mine->weight);
	/* A taker that evicts all, because the limiter is closed, is no operator. */
	if (e->kind != FLK_EV_EVICTED && (e->pid != mine->pid || e->uid != mine->uid))
		return complain("the process of event", n, e->pid, mine->pid);
	if (mine->ticket != 0 && strcmp(e->command, mine->command) != 0)
		return complain("the command of event", n, (unsigned char)e->command[0],
				(unsigned char)mine->command[0]);
	if (KIND(e->kind) == FLK_EV_RELEASED)
		return release_differs(n, e, mine);
	if (has_a_seat(e) && e->seat != mine->seat)
		return complain("the seat of event", n, e->seat, mine->seat);
	return NULL;
}

const char *
history_differs(void)
{
	const uint64_t real_total[TOTALS] = {
		[GRANTED] = real->granted, [RELEASED] = real->released, [LEFT] = real->left,
		[EVICTED] = real->evicted, [REAPED] = real->reaped,     [REPAIRED] = real->repaired,
	};
	uint64_t n = atomic_load(&real->events);
	const char *why;
	unsigned i;

	for (; seen < n && seen < events; seen++)
		if ((why = event_differs((unsigned)seen, &real_history[seen % EVENTS],
					 &told[seen % EVENTS])) != NULL)
			return why;
	if (n != events)
		return complain("the number of events", 0, n, events);
	for (i = 0; i < TOTALS; i++)
		if (real_total[i] != total[i])
			return complain("the total", i, real_total[i], total[i]);
	if (memcmp(&real->waits, &waits, sizeof(waits)) != 0)
		return complain("the time waited", 0, real->waits.sum_ns, waits.sum_ns);
	if (memcmp(&real->holds, &holds, sizeof(holds)) != 0)
		return complain("the time held", 0, real->holds.sum_ns, holds.sum_ns);
	return NULL;
}
