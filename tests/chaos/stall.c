/* SPDX-License-Identifier: ISC */
/*
 * stall.c - how long did a taker wait that could have run?
 *
 * For each start of b: when could it have been granted?  Not before it was launched; nor before
 * those with a lower fence that still held, and those that were yet to be granted before b, left
 * room for b beside them.  From then on a taker at the head stood waiting with room for it, and
 * what passes until the start of b is the stall: the release, the grant, the wake-up, and the
 * start of the command.
 *
 * Not the limiter's doing, and so left out: the time until the last of
 *  - a wrapper or agent of this limiter was stopped: as the head, or inside the lock;
 *  - the limiter was steered;
 *  - one left that never ran: it may have stood at the head with more weight, or have held a
 *    permit for a moment;
 *  - one that takes two permits began anew, as a file of the two was removed: it may have held the
 *    other permit until it learned of that;
 * and those altogether whose limiter file was removed while they waited.  A taker of two permits could
 * have run when the later one of them had room.
 *
 * Given twice: as it was, and less the longest time that the machine took meanwhile for what it
 * was to do for us at once (B).  The second is what is judged: by a strict measure where the
 * machine was idle for a second before and after, else only by what is no accident of scheduling.
 */
#include "judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#define IDLE_NS UINT64_C(10000000) /* an idle machine is never later than that */
#define BUSY_NS UINT64_C(2000000000)
#define AROUND  UINT64_C(1000000000)

struct line { /* of one limiter file: those that ran, by fence */
	const struct story *s;
	struct run **run;
	uint64_t *last; /* the latest `room' of those up to here */
	size_t n;
};

struct never_ran { /* left the line, or began anew, at some time between */
	uint64_t from, to, lim, launched;
};

struct figures {
	uint64_t *raw, *net;
	size_t n, idle_n;
	uint64_t idle_worst, most_ns;
	uint64_t busy_ns; /* the least stall that is no accident of scheduling on this machine */
	uint64_t *beats;  /* how late the machine was, sorted */
	size_t beats_n;
	unsigned stopped, steered, left, moved;
};

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int
by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int
by_to(const void *a, const void *b)
{
	const struct never_ran *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

static int
by_birth_and_fence(const void *a, const void *b)
{
	const struct run *x = *(const struct run *const *)a, *y = *(const struct run *const *)b;

	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return x->fence < y->fence ? -1 : x->fence > y->fence;
}

static int
by_room_down(const void *a, const void *b)
{
	const struct run *x = *(const struct run *const *)a, *y = *(const struct run *const *)b;

	return x->room > y->room ? -1 : x->room < y->room;
}

/* ---- when was there room? ---- */

/* Puts back, from the last to leave, those before b, until b does not fit beside them. */
static uint64_t
room_for(const struct line *l, size_t place, const struct run **before)
{
	const struct run *b = l->run[place];
	uint64_t used = 0, limit = b->told;
	bool own = b->n == 0 || b->n == b->told;
	size_t n = 0, i;

	for (i = place; i-- > 0 && l->last[i] > b->launched;)
		if (l->run[i]->room > b->launched)
			before[n++] = l->run[i];
	if (n > 1)
		qsort(before, n, sizeof(*before), by_room_down);
	for (i = 0; i < n; i++) {
		used += before[i]->w;
		if (own && before[i]->n != 0)
			limit = least(limit, before[i]->n);
		else if (own)
			limit = least(limit, before[i]->told);
		if (used + b->least > limit)
			return before[i]->room;
	}
	return b->launched;
}

/* ---- what is left out ---- */

static uint64_t
after_stops(const struct story *s, const struct run *b, uint64_t from)
{
	uint64_t since = from;

	foreach(const struct span, stop, s->stops) {
		if (stop->from > b->started)
			break;
		if (stop->of == b->lim && stop->to > since)
			since = stop->to;
	}
	return since;
}

/* Behind a gate that always holds each start waits for its own look.  A limiter has one gate. */
static uint64_t
after_steering(const struct story *s, const struct run *b, uint64_t from)
{
	bool looks = false;

	foreach(const struct steer, g, s->steers) {
		if (g->since > b->started)
			break;
		if (g->lim != b->lim)
			continue;
		if (g->verb == LOOKS || g->verb == GATE)
			looks = g->verb == LOOKS && g->value != 0;
		if (g->until > from)
			from = g->until;
	}
	return looks ? b->started : from;
}

static uint64_t
after_those_who_left(const struct array *left, uint64_t longest, const struct run *b, uint64_t from)
{
	const struct never_ran *x = left->at;
	size_t low = 0, high = left->n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (x[middle].to <= from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < left->n && x[low].to <= b->started + longest; low++)
		if (x[low].lim == b->lim && x[low].launched < b->started &&
		    x[low].from < b->started && x[low].to > from)
			from = x[low].to;
	return from;
}

/* How late the machine was at most for anything between. */
static uint64_t
machine(const struct story *s, uint64_t from, uint64_t to)
{
	const struct span *beat = s->beats.at;
	size_t low = 0, high = s->beats.n, middle;
	uint64_t late = 0;

	/* None takes longer than 2 s, or we would not be here. */
	while (low < high) {
		middle = (low + high) / 2;
		if (beat[middle].from + 2000000000u < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->beats.n && beat[low].from < to; low++)
		if (beat[low].to > from && beat[low].to - beat[low].from > late)
			late = beat[low].to - beat[low].from;
	return late;
}

/* ---- all of it ---- */

static void
add_left(struct array *left, uint64_t *longest, const struct run *r, uint64_t from, uint64_t to)
{
	*(struct never_ran *)chaos_add(left, sizeof(struct never_ran)) = (struct never_ran){
		.from = least(from, to), .to = to, .lim = r->lim, .launched = r->launched
	};
	if (from < to && to - from > *longest)
		*longest = to - from;
}

static struct array
who_left(const struct story *s, uint64_t *longest)
{
	struct array left = { .n = 0 };

	*longest = 0;
	foreach(const struct run, r, s->runs) {
		const struct run *also = chaos_run(s, r->also);
		uint64_t from, until = r->started != 0 ? r->started : r->reaped;
		if (also != NULL && (from = chaos_removed(s, also, until)) != NEVER)
			add_left(&left, longest, r, from, until);
		/* An idler holds up nobody. */
		if (r->started != 0 || r->reaped == 0 || r->flags & IDLER)
			continue;
		from = chaos_first_harm(s, WRAPPER, r->taker, 0, 0);
		if (r->group != 0)
			from = least(from, chaos_first_harm(s, GROUP, r->group, 0, 0));
		if (r->flags & WAIT)
			from = least(from, r->launched + r->wait_ms * 1000000);
		if (r->flags & QUEUE && WIFEXITED(r->status) && from > r->reaped)
			from = r->launched; /* it was turned away at the door */
		if (r->flags & RUN)
			from = least(from, r->launched + r->run_ms * 1000000);
		if (also != NULL && also->started != 0)
			from = r->launched; /* it ran, and nobody knows what its permit was */
		add_left(&left, longest, r, from, r->reaped);
	}
	if (left.n > 0)
		qsort(left.at, left.n, sizeof(struct never_ran), by_to);
	return left;
}

/* When each of one limiter could have been granted. */
static void
find_could(const struct line *l, const struct array *left, uint64_t longest, struct figures *f)
{
	const struct run **before = malloc(l->n * sizeof(*before));
	size_t i;

	if (before == NULL)
		abort();
	for (i = 0; i < l->n; i++) {
		struct run *b = l->run[i];
		uint64_t since, with[3];
		b->could = NEVER;
		if (chaos_removed(l->s, b, b->started) != NEVER) {
			f->moved++;
			continue;
		}
		since = room_for(l, i, before);
		with[0] = after_stops(l->s, b, since);
		with[1] = after_steering(l->s, b, since);
		with[2] = after_those_who_left(left, longest, b, since);
		f->stopped += with[0] >= b->started;
		f->steered += with[1] >= b->started;
		f->left += with[2] >= b->started;
		since = with[0] > since ? with[0] : since;
		since = with[1] > since ? with[1] : since;
		since = with[2] > since ? with[2] : since;
		b->could = since;
	}
	free(before);
}

static void
measure(const struct story *s, const struct run *b, struct figures *f, struct verdict *v)
{
	const struct run *also = chaos_run(s, b->also);
	uint64_t since = b->could, late, stall, net;
	bool idle;

	if (also != NULL && (also->started == 0 || also->could > since))
		since = also->started != 0 ? also->could : NEVER;
	if (since >= b->started)
		return;
	stall = b->started - since;
	late = machine(s, since, b->started);
	net = stall > late ? stall - late : 0;
	idle = machine(s, since - AROUND, b->started + AROUND) <= IDLE_NS;
	f->idle_n += idle;
	if (idle && stall > f->idle_worst)
		f->idle_worst = stall;
	if (f->most_ns != 0 && net > f->most_ns && (idle || net > f->busy_ns))
		chaos_guilty(v, STALLED, since,
			     "ticket %" PRIu64 " of limiter %" PRIu64
			     " could have run %.1f ms sooner",
			     b->ticket, b->lim, (double)net / 1e6);
	f->raw[f->n] = stall;
	f->net[f->n] = net;
	f->n++;
}

static double
ms(const uint64_t *sorted, size_t n, double part)
{
	return n == 0 ? 0 : (double)sorted[(size_t)(part * (double)(n - 1))] / 1e6;
}

static void
tell(struct figures *f, struct verdict *v)
{
	qsort(f->raw, f->n, sizeof(*f->raw), by_number);
	qsort(f->net, f->n, sizeof(*f->net), by_number);
	chaos_tell(v,
		   "stall with free capacity: median %.2f ms, p99 %.2f, longest %.2f; net of the "
		   "machine's: %.2f, %.2f, %.2f",
		   ms(f->raw, f->n, 0.5), ms(f->raw, f->n, 0.99), ms(f->raw, f->n, 1),
		   ms(f->net, f->n, 0.5), ms(f->net, f->n, 0.99), ms(f->net, f->n, 1));
	chaos_tell(v,
		   "of %zu starts; left out as somebody was stopped %u, steered %u, left %u, or "
		   "the file was removed %u",
		   f->n, f->stopped, f->steered, f->left, f->moved);
	chaos_tell(v,
		   "the machine was up to %.2f ms late for what was to be done at once, p99 %.2f; "
		   "while it was idle: longest stall %.2f ms, of %zu starts",
		   ms(f->beats, f->beats_n, 1), ms(f->beats, f->beats_n, 0.99),
		   (double)f->idle_worst / 1e6, f->idle_n);
}

/*
 * A start is a chain: the waiter wakes, forks, and the command begins.  Only one link of it is taken
 * off as the machine's, so on a machine that is itself seconds late, as with a small part of a CPU,
 * another one may be that late.
 */
static void
measure_machine(const struct story *s, struct figures *f)
{
	const struct span *beat = s->beats.at;
	size_t i;

	f->beats = malloc((s->beats.n + 1) * sizeof(*f->beats));
	if (f->beats == NULL)
		abort();
	for (i = 0; i < s->beats.n; i++)
		f->beats[i] = beat[i].to - beat[i].from;
	f->beats_n = s->beats.n;
	qsort(f->beats, f->beats_n, sizeof(*f->beats), by_number);
	f->busy_ns = BUSY_NS;
	if (f->beats_n > 0)
		f->busy_ns += f->beats[(f->beats_n - 1) * 99 / 100];
}

void
chaos_stalls(struct story *s, uint64_t most_ns, struct verdict *v)
{
	struct run **by_fence = malloc((s->runs.n + 1) * sizeof(*by_fence));
	uint64_t *last = malloc((s->runs.n + 1) * sizeof(*last)), longest;
	struct figures f = { .raw = malloc((s->runs.n + 1) * sizeof(*f.raw)),
			     .net = malloc((s->runs.n + 1) * sizeof(*f.net)),
			     .most_ns = most_ns };
	struct array left = who_left(s, &longest);
	size_t n = 0, i, k;

	if (by_fence == NULL || last == NULL || f.raw == NULL || f.net == NULL)
		abort();
	foreach(struct run, r, s->runs)
		if (r->started != 0)
			by_fence[n++] = r;
	measure_machine(s, &f);
	if (n > 0)
		qsort(by_fence, n, sizeof(*by_fence), by_birth_and_fence);
	for (i = 0; i < n; i = k) {
		struct line l = { .s = s, .run = by_fence + i, .last = last + i };
		for (k = i; k < n && by_fence[k]->birth == by_fence[i]->birth; k++) {
			last[k] = by_fence[k]->room;
			if (k > i && last[k - 1] > last[k])
				last[k] = last[k - 1];
			l.n++;
		}
		find_could(&l, &left, longest, &f);
	}
	foreach(const struct run, r, s->runs)
		if (r->started != 0 && chaos_is_first(r))
			measure(s, r, &f, v);
	tell(&f, v);
	free(f.beats);
	free(by_fence);
	free(last);
	free(f.raw);
	free(f.net);
	free(left.at);
}
