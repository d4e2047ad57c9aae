/* SPDX-License-Identifier: ISC */
/*
 * verdict.c - what a log is found guilty of.
 */
#include "judge.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#define SHOWN 10 /* of each kind */

static const char *const names[GUILTS] = {
	[OVER_LIMIT] = "over the limit",
	[OVERTAKEN] = "overtaken",
	[UNTRUE_LIMIT] = "told what was not so",
	[RAN_TWICE] = "ran twice",
	[TICKET_ORDER] = "ticket out of order",
	[SEAT_SHARED] = "seat shared",
	[OLD_FILE] = "in a removed file",
	[NOT_IDLE] = "not idle",
	[CANCELLED] = "ran though cancelled",
	[PLACE_LOST] = "place lost",
	[STATUS] = "unexpected status",
	[VANISHED] = "vanished",
	[LOST] = "capacity lost",
	[STALLED] = "stalled",
	[UNREADABLE] = "unreadable",
};

void
chaos_guilty(struct verdict *v, enum guilt g, uint64_t t, const char *format, ...)
{
	va_list args;

	v->all++;
	if (v->count[g]++ >= SHOWN || v->silent)
		return;
	printf("%s, at %" PRIu64 ": ", names[g], t);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void
chaos_tell(const struct verdict *v, const char *format, ...)
{
	va_list args;

	if (v->silent)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void
tell_counts(const struct story *s, const struct verdict *v)
{
	unsigned takers = 0, starts = 0, pairs = 0, kills = 0, terms = 0, stops = 0, cancelled = 0;

	foreach(const struct run, r, s->runs) {
		if (!chaos_is_first(r)) {
			pairs += r->started != 0;
			continue;
		}
		takers++;
		starts += r->started != 0;
		cancelled += r->cancelled != 0;
	}
	foreach(const struct harm, h, s->harms) {
		kills += h->sig == SIGKILL;
		terms += h->sig == SIGTERM;
		stops += h->sig == SIGSTOP;
	}
	chaos_tell(v,
		   "%u takers, %u commands started, %u of them in two limiters; %u KILL, %u TERM, "
		   "%u STOP; steered %zu times, "
		   "%zu files removed, %zu limiters, %zu times idle, %u cancelled",
		   takers, starts, pairs, kills, terms, stops, s->steers.n,
		   s->removals.n - s->idle_removals.n, s->idle_removals.n, s->idles.n, cancelled);
}

void
chaos_judge(const char *path, uint64_t most_ns, struct verdict *v)
{
	struct story s = { .end = 0 };

	if (!chaos_read(&s, path, v)) {
		chaos_guilty(v, UNREADABLE, 0, "%s: it can't be opened", path);
		return;
	}
	tell_counts(&s, v);
	chaos_laws(&s, v);
	chaos_ends(&s, v);
	chaos_stalls(&s, most_ns, v);
	chaos_tell(v, "violations: %u", v->all);
	chaos_forget(&s);
}
