/* SPDX-License-Identifier: ISC */
/*
 * line.h - a limiter's state in plain memory, in which nobody is dead and nobody sleeps: for tests of
 * the pure transitions.
 */
#ifndef LINE_H
#define LINE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "state.h"

static inline enum fate
all_live(void *ctx, uint32_t i)
{
	(void)ctx;
	(void)i;
	return LIVES;
}

static inline void
nobody_hears(void *ctx, uint32_t i)
{
	(void)ctx;
	(void)i;
}

/* The state of n empty slots and a new header. */
static inline struct state
empty_state(struct header *h, struct slot *slots, uint32_t n)
{
	memset(h, 0, sizeof(*h));
	memset(slots, 0, n * sizeof(*slots));
	h->nslots = n;
	h->override = FLK_AUTO;
	h->waiting = h->holders = (struct list){ NIL, NIL, 0 };
	return (struct state){ .h = h,
			       .slots = slots,
			       .n = n,
			       .me = NIL,
			       .world = { .fate = all_live, .wake = nobody_hears } };
}

/* Slot i asks for exactly this weight. */
static inline void
enter_line(struct state *st, uint32_t i, uint32_t weight, uint32_t limit, enum slot_kind kind)
{
	struct slot *s = &st->slots[i];

	atomic_store(&s->state, IDLE);
	s->least = s->most = weight;
	s->limit = limit;
	flki_state_enqueue(st, i, kind, NULL);
}

#endif
