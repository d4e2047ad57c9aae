/* SPDX-License-Identifier: ISC */
/*
 * pace.c - when the next command may start, not only how many.
 *
 * All of it is arithmetic over a few words of the header and the present time.  These words are
 * times of the machine's clock.  A taker in a time namespace has another clock, which is `ahead_ns'
 * ahead of the machine's.  Times that this file takes or returns are by the taker's own clock.
 *
 * rate	Starts are an interval apart on average, and up to `burst' may come at once.  `free_ns' is
 *	when the bucket will be full again; a start is allowed when that is at most burst - 1
 *	intervals ahead, and moves it on by one.
 * stagger	No start is nearer than that to the last.
 * ramp	The capacity begins with `from' and grows by `step' each period, up to the limit; anew when
 *	nothing was held for ramp_idle_ns.
 *
 * A start is counted when its permit is granted, and exactly once even if the granter is killed:
 * `starting' has the ticket from before the commit until `next' was copied to `paced', and
 * flki_pace_repair() copies it if that ticket holds.
 */
#include "state.h"

#include <errno.h>

#include "clock.h"

#define MOST_INTERVAL   (UINT64_MAX >> 16)
#define BURST(rate)     ((rate) >> 48)
#define INTERVAL(rate)  ((rate) & (UINT64_MAX >> 16))
#define FROM(ramp)      ((ramp) >> 48)
#define STEP(ramp)      ((ramp) >> 32 & 0xffff)
#define PERIOD_NS(ramp) (((ramp)&UINT32_MAX) * MS)

uint64_t
flki_pace_now(const struct state *st)
{
	return st->now_ns - (uint64_t)st->ahead_ns;
}

uint64_t
flki_pace_own_time(const struct state *st, uint64_t at)
{
	uint64_t now = flki_pace_now(st);

	return at > now ? flki_plus(st->now_ns, at - now) : 0;
}

/* Nothing has been held for so long that a ramp begins anew. */
static bool
is_rested(const struct header *h, uint64_t now)
{
	if (h->holders.count > 0)
		return false;
	return h->paced.ramp_since_ns == 0 ||
	       now >= flki_plus(h->idle_since_ns, h->pace.ramp_idle_ns);
}

uint64_t
flki_pace_capacity(const struct state *st)
{
	const struct header *h = st->h;
	uint64_t steps, since = h->paced.ramp_since_ns, now = flki_pace_now(st);

	if (h->pace.ramp == 0)
		return UINT64_MAX;
	if (is_rested(h, now) || now < since || PERIOD_NS(h->pace.ramp) == 0)
		return FROM(h->pace.ramp);
	steps = (now - since) / PERIOD_NS(h->pace.ramp);
	return steps > FLK_MAX_UNITS ? UINT64_MAX : FROM(h->pace.ramp) + steps * STEP(h->pace.ramp);
}

static uint64_t
rate_allows(const struct header *h)
{
	uint64_t ahead, burst = BURST(h->pace.rate);

	if (h->pace.rate == 0)
		return 0;
	ahead = INTERVAL(h->pace.rate) * (burst > 0 ? burst - 1 : 0);
	return h->paced.free_ns > ahead ? h->paced.free_ns - ahead : 0;
}

static uint64_t
stagger_allows(const struct header *h)
{
	return h->pace.stagger_ns != 0 && h->paced.last_ns != 0
		   ? flki_plus(h->paced.last_ns, h->pace.stagger_ns)
		   : 0;
}

uint64_t
flki_pace_start(const struct state *st)
{
	uint64_t rate = rate_allows(st->h), stagger = stagger_allows(st->h);

	return flki_pace_own_time(st, rate > stagger ? rate : stagger);
}

/*
 * One timer for a ramp: when the capacity is as much as the head needs, not each time it grows.
 * Time alone brings no start while no permit is held, nor while the limiter is paused.
 */
uint64_t
flki_pace_look(const struct state *st, const struct slot *first)
{
	const struct header *h = st->h;
	uint64_t start = flki_pace_start(st), since = h->paced.ramp_since_ns, steps;
	uint64_t need = flki_plus(flki_plus(h->used, first->weight), h->withheld);

	if (start > st->now_ns)
		return start;
	if (h->paused || h->holders.count == 0 || need <= flki_pace_capacity(st) ||
	    PERIOD_NS(h->pace.ramp) == 0 || STEP(h->pace.ramp) == 0)
		return UINT64_MAX;
	steps = (need - FROM(h->pace.ramp) - 1) / STEP(h->pace.ramp) + 1;
	if (steps > UINT64_MAX / PERIOD_NS(h->pace.ramp))
		return UINT64_MAX;
	return flki_pace_own_time(st, flki_plus(since, steps * PERIOD_NS(h->pace.ramp)));
}

void
flki_pace_unpack(const struct pace_words *from, struct flk_pace *p)
{
	*p = (struct flk_pace){ .interval_ns = INTERVAL(from->rate),
				.burst = (uint32_t)BURST(from->rate),
				.stagger_ns = from->stagger_ns,
				.ramp_from = (uint32_t)FROM(from->ramp),
				.ramp_step = (uint32_t)STEP(from->ramp),
				.ramp_period_ns = PERIOD_NS(from->ramp),
				.ramp_idle_ns = from->ramp_idle_ns };
}

void
flki_pace_copy(const struct header *h, struct flk_pace *p)
{
	const struct pace_words *from = &h->pace;
	const struct pace_words now = {
		.rate = __atomic_load_n(&from->rate, __ATOMIC_RELAXED),
		.stagger_ns = __atomic_load_n(&from->stagger_ns, __ATOMIC_RELAXED),
		.ramp = __atomic_load_n(&from->ramp, __ATOMIC_RELAXED),
		.ramp_idle_ns = __atomic_load_n(&from->ramp_idle_ns, __ATOMIC_RELAXED)
	};

	flki_pace_unpack(&now, p);
}

int
flki_pace_check(const struct flk_pace *p, unsigned which)
{
	uint64_t ms = p->ramp_period_ns / MS;

	if ((which & FLK_SET_RATE) && p->interval_ns != 0 &&
	    (p->interval_ns > MOST_INTERVAL || p->burst < 1 || p->burst > 65535))
		return -EINVAL;
	if ((which & FLK_SET_RAMP) && p->ramp_from != 0 &&
	    (p->ramp_from > 65535 || p->ramp_step > 65535 || p->ramp_step < 1 || ms < 1 ||
	     ms > UINT32_MAX))
		return -EINVAL;
	return which == 0 || which > (FLK_SET_RATE | FLK_SET_STAGGER | FLK_SET_RAMP) ? -EINVAL : 0;
}

/* Stores only a change, so that a look that changes nothing leaves the page clean. */
static void
keep_at_most(uint64_t *value, uint64_t most)
{
	if (*value > most)
		flki_state_store(value, most);
}

/*
 * A bucket owes at most its burst, and no start was in the future.  Without this, a debt that was
 * made under a slow rate would be waited for under a fast one: an hour for one start.  And a start
 * by a taker with a clock that is days ahead, which the taker could not learn, would hold up the
 * others for days.
 */
void
flki_pace_keep(struct state *st)
{
	struct header *h = st->h;
	uint64_t now = flki_pace_now(st);

	if (!flki_pace_is_set(h))
		return;
	if (h->pace.rate != 0)
		keep_at_most(&h->paced.free_ns,
			     flki_plus(now, BURST(h->pace.rate) * INTERVAL(h->pace.rate)));
	keep_at_most(&h->paced.last_ns, now);
	keep_at_most(&h->paced.ramp_since_ns, now);
	keep_at_most(&h->idle_since_ns, now);
}

void
flki_pace_set(struct state *st, const struct flk_pace *p, unsigned which)
{
	struct header *h = st->h;

	if (which & FLK_SET_RATE)
		flki_state_store(&h->pace.rate, p->interval_ns != 0
						    ? (uint64_t)p->burst << 48 | p->interval_ns
						    : 0);
	if (which & FLK_SET_STAGGER)
		flki_state_store(&h->pace.stagger_ns, p->stagger_ns);
	if (which & FLK_SET_RAMP) {
		flki_state_store(&h->pace.ramp_idle_ns, p->ramp_idle_ns);
		flki_state_store(&h->paced.ramp_since_ns, flki_pace_now(st));
		flki_state_store(&h->pace.ramp, p->ramp_from != 0
						    ? (uint64_t)p->ramp_from << 48 |
							  (uint64_t)p->ramp_step << 32 |
							  p->ramp_period_ns / MS
						    : 0);
	}
	flki_pace_keep(st); /* if we are killed before this, the repairer does it */
}

void
flki_pace_begin(struct state *st, uint64_t ticket)
{
	struct header *h = st->h;
	struct paced *next = &h->next;
	uint64_t now = flki_pace_now(st);

	if (!flki_pace_is_set(h))
		return;
	*next = h->paced;
	next->last_ns = now;
	if (h->pace.rate != 0)
		next->free_ns =
		    flki_plus(next->free_ns > now ? next->free_ns : now, INTERVAL(h->pace.rate));
	if (h->pace.ramp != 0 && is_rested(h, now))
		next->ramp_since_ns = now;
	__atomic_store_n(&h->starting, ticket, __ATOMIC_RELEASE);
}

void
flki_pace_end(struct state *st)
{
	if (!flki_pace_is_set(st->h))
		return;
	st->h->paced = st->h->next;
	__atomic_store_n(&st->h->starting, 0, __ATOMIC_RELEASE);
}

void
flki_pace_repair(struct state *st)
{
	uint64_t ticket = st->h->starting;
	uint32_t i;

	for (i = 0; i < st->n && ticket != 0; i++)
		if (atomic_load(&st->slots[i].state) == HELD && st->slots[i].ticket == ticket)
			st->h->paced = st->h->next;
	__atomic_store_n(&st->h->starting, 0, __ATOMIC_RELEASE);
	flki_pace_keep(st);
}
