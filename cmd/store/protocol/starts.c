/* SPDX-License-Identifier: ISC */
/*
 * starts.c - see starts.h.  What lib/pace.c needs of a limiter is put into a header for it, for as long as
 * a question takes.
 */
#include "starts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "lib/state.h" /* for its pace alone */

#define STARTS_VERSION 1
#define STARTS_TEXT    80
#define MOST_NS        ((uint64_t)INT64_MAX)
#define AGAIN_NS       (5 * SECOND)

bool
starts_are_paced(const struct flk_pace *p)
{
	return p->interval_ns != 0 || p->stagger_ns != 0 || p->ramp_from != 0;
}

/* ---- a header for lib/pace.c ---- */

struct stage {
	struct header h;
	struct state st;
};

/*
 * A clock that is ahead by a little shows no rest.  By more than what makes a ramp begin anew, it would keep the
 * ramp from that for as long: then there was a rest.
 */
static uint64_t
rest_of(const struct flk_pace *pace, const struct starts *s, uint64_t now)
{
	if (s->rest_ns > flki_plus(now, pace->ramp_idle_ns))
		return 0;
	return s->rest_ns < now ? s->rest_ns : now;
}

static void
set_stage(struct stage *g, const struct flk_pace *pace, const struct starts *s,
	  const struct room *room)
{
	memset(g, 0, sizeof(*g));
	g->st.h = &g->h;
	g->st.now_ns = flki_clock_ns(CLOCK_REALTIME);
	flki_pace_set(&g->st, pace, FLK_SET_PACE);
	g->h.paced = (struct paced){ s->free_ns, s->last_ns, s->ramp_since_ns };
	g->h.idle_since_ns = rest_of(pace, s, g->st.now_ns);
	if (room == NULL)
		return;
	g->h.holders.count = (uint32_t)room->holders;
	g->h.used = room->used;
	g->h.paused = room->set->paused || room->set->closed;
}

static void
take_from_stage(const struct stage *g, struct starts *s)
{
	s->free_ns = g->h.paced.free_ns;
	s->last_ns = g->h.paced.last_ns;
	s->ramp_since_ns = g->h.paced.ramp_since_ns;
}

/* ---- granters ---- */

uint64_t
starts_next(const struct flk_pace *pace, const struct starts *s)
{
	struct stage g;
	uint64_t at;

	if (!starts_are_paced(pace))
		return 0;
	set_stage(&g, pace, s, NULL);
	at = flki_pace_start(&g.st);
	return at > g.st.now_ns ? flki_plus(flki_monotonic_ns(), at - g.st.now_ns) : 0;
}

uint64_t
starts_capacity(const struct flk_pace *pace, const struct starts *s, const struct room *room)
{
	struct stage g;

	if (pace->ramp_from == 0)
		return UINT64_MAX;
	set_stage(&g, pace, s, room);
	return flki_pace_capacity(&g.st);
}

uint64_t
starts_allow(const struct flk_pace *pace, const struct starts *s, const struct room *room)
{
	return starts_next(pace, s) != 0 ? 0 : starts_capacity(pace, s, room);
}

void
starts_rest(struct starts *s)
{
	s->rest_ns = flki_clock_ns(CLOCK_REALTIME);
}

void
starts_count(const struct flk_pace *pace, struct starts *s, const struct room *room)
{
	struct stage g;

	if (!starts_are_paced(pace))
		return;
	set_stage(&g, pace, s, room);
	flki_pace_begin(&g.st, 1);
	flki_pace_end(&g.st);
	take_from_stage(&g, s);
}

uint64_t
starts_due(const struct flk_pace *pace, const struct starts *s, const struct room *room,
	   uint32_t weight)
{
	const struct slot first = { .weight = weight };
	struct stage g;
	uint64_t at;

	if (!starts_are_paced(pace))
		return UINT64_MAX;
	set_stage(&g, pace, s, room);
	at = flki_pace_look(&g.st, &first);
	if (at == UINT64_MAX)
		return at;
	at = at > g.st.now_ns ? at - g.st.now_ns : 0;
	return flki_boottime_ns() + (at < AGAIN_NS ? at : AGAIN_NS);
}

/* ---- keys ---- */

/* "1 FREE LAST SINCE"; "1 REST" */
bool
starts_read(struct starts *s, char kind, const struct record_kv *kv)
{
	uint64_t n[3] = { 0 };
	size_t numbers = kind == 'a' ? 3 : 1, i;
	char *end;
	bool good = strtoul(kv->value, &end, 10) == STARTS_VERSION;

	for (i = 0; i < numbers && good; i++) {
		good = *end == ' ' && end[1] >= '0' && end[1] <= '9';
		n[i] = good ? strtoull(end + 1, &end, 10) : 0;
		good &= n[i] <= MOST_NS;
	}
	good &= end == kv->value + kv->value_size;
	if (!good)
		memset(n, 0, sizeof(n));
	if (kind == 'a') {
		s->changed = kv->changed;
		s->free_ns = n[0];
		s->last_ns = n[1];
		s->ramp_since_ns = n[2];
	} else {
		s->rest_ns = n[0];
	}
	return good;
}

void
starts_add_compare(const struct flk_pace *pace, const struct starts *read, struct txn *x,
		   const struct key *limiter)
{
	struct key again = key_again(limiter);

	if (starts_are_paced(pace))
		txn_if_changed(x, again.s, read->changed);
}

static void
put_again(struct txn *x, const struct key *limiter, const struct starts *s)
{
	struct key again = key_again(limiter);
	char text[STARTS_TEXT];
	int n = snprintf(text, sizeof(text), "%d %" PRIu64 " %" PRIu64 " %" PRIu64, STARTS_VERSION,
			 s->free_ns, s->last_ns, s->ramp_since_ns);

	txn_put(x, again.s, text, (size_t)n, 0);
}

void
starts_put(const struct flk_pace *pace, const struct starts *s, struct txn *x,
	   const struct key *limiter)
{
	if (starts_are_paced(pace))
		put_again(x, limiter, s);
}

static void
put_rest(struct txn *x, const struct key *limiter, uint64_t rest_ns)
{
	struct key rest = key_at_rest(limiter);
	char text[STARTS_TEXT];
	int n = snprintf(text, sizeof(text), "%d %" PRIu64, STARTS_VERSION, rest_ns);

	txn_put(x, rest.s, text, (size_t)n, 0);
}

void
starts_put_rest(const struct flk_pace *pace, const struct starts *read, struct txn *x,
		const struct key *limiter)
{
	struct key rest = key_at_rest(limiter);

	if (pace->ramp_from != 0)
		put_rest(x, limiter, flki_clock_ns(CLOCK_REALTIME));
	else if (read->rest_ns != 0)
		txn_delete(x, rest.s, NULL);
}

void
starts_put_all(const struct flk_pace *pace, const struct starts *s, struct txn *x,
	       const struct key *limiter)
{
	struct key again = key_again(limiter), rest = key_at_rest(limiter);

	txn_if_changed(x, again.s, s->changed);
	put_again(x, limiter, s);
	if (pace->ramp_from != 0)
		put_rest(x, limiter, s->rest_ns);
	else
		txn_delete(x, rest.s, NULL);
}

void
starts_delete(struct txn *x, const struct key *limiter)
{
	struct key again = key_again(limiter), rest = key_at_rest(limiter);

	txn_delete(x, again.s, NULL);
	txn_delete(x, rest.s, NULL);
}

/* ---- operators, and takers that declare a pace ---- */

void
starts_pace(struct flk_pace *pace, struct starts *s, unsigned which, const struct flk_pace *to)
{
	struct stage g;

	set_stage(&g, pace, s, NULL);
	flki_pace_set(&g.st, to, which & FLK_SET_PACE);
	flki_pace_copy(&g.h, pace);
	if (pace->ramp_from == 0)
		pace->ramp_idle_ns = 0; /* nobody would read it */
	take_from_stage(&g, s);
	if (s->rest_ns > g.st.now_ns)
		s->rest_ns = g.st.now_ns;
}

bool
starts_same_pace(const struct flk_pace *a, const struct flk_pace *b)
{
	const struct starts none = { 0 };
	struct stage g, h;

	set_stage(&g, a, &none, NULL);
	set_stage(&h, b, &none, NULL);
	return memcmp(&g.h.pace, &h.h.pace, sizeof(g.h.pace)) == 0;
}
