/* SPDX-License-Identifier: ISC */
/*
 * estimate.c - how long each waiter has to wait yet: we assume that every permit lasts as long as
 * permits did on average so far, and play the line through.
 */
#include "estimate.h"

#include <stdlib.h>

#include "now.h"

struct end {
	double at_s;
	uint32_t weight;
};

static double
average_s(const struct flk_times *t)
{
	uint64_t count = 0;
	int i;

	for (i = 0; i < FLK_BUCKETS; i++)
		count += t->count[i];
	return count > 0 ? (double)t->sum_ns / 1e9 / (double)count : -1;
}

static int
by_time(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* The shortest time from one start to the next. */
static double
distance_s(const struct flk_pace *p)
{
	uint64_t ns = p->interval_ns > p->stagger_ns ? p->interval_ns : p->stagger_ns;

	return (double)ns / 1e9;
}

/*
 * The array has the ends in the order of time: the holders' ends are sorted, and each new end is
 * later than all before it, because all permits last equally long.
 */
void
estimate(const struct flk_snapshot *s, double *wait_s)
{
	double average = average_s(&s->held), now = 0;
	double start = seconds_until(s->next_start_ns);
	uint32_t i, next = 0, n = s->holders;
	uint64_t used = s->used, most = s->limit;
	struct end *end = calloc((size_t)s->holders + s->waiters + 1, sizeof(*end));
	bool known = end != NULL && average >= 0 && most > 0 && !s->set.paused && !s->set.closed;

	for (i = 0; i < s->holders && known; i++) {
		double left = average - seconds_since(s->entry[i].since_ns);
		end[i] = (struct end){ .at_s = left > 0 ? left : 0, .weight = s->entry[i].weight };
	}
	if (known)
		qsort(end, n, sizeof(*end), by_time);
	for (i = 0; i < s->waiters; i++) {
		uint32_t weight = s->entry[s->holders + i].weight;
		if (weight > most)
			weight = (uint32_t)most;
		while (known && next < n && used + weight > most) {
			now = end[next].at_s > now ? end[next].at_s : now;
			used -= end[next++].weight;
		}
		now = now > start ? now : start;
		start = now + distance_s(&s->set.pace);
		wait_s[i] = known ? now : -1;
		if (known)
			end[n++] = (struct end){ .at_s = now + average, .weight = weight };
		used += weight;
	}
	free(end);
}
