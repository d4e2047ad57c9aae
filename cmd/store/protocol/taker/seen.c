/* SPDX-License-Identifier: ISC */
/*
 * seen.c - the look that a keeper keeps, so that its next claim needs none.
 *
 * A claim that gave a permit says that nobody else was granted one since its look: so that look and the new
 * permit are the limiter as of its answer, but for permits that have ended.  The next taker of the keeper
 * claims by that.  One taker at a time has it, and it comes back with that taker's permit.
 *
 * A claim that fails, as the look was too old, is a place in the line, and its answer has what the taker
 * needs to grant itself: so it takes no more calls than to look first.  A permit of this keeper that ended
 * while a taker had the look stays in it: in the end nothing fits, and the next taker looks.
 */
#include "taker.h"

#include <string.h>

#define SEEN_NS SECOND /* where others claim, too, an older one is not worth a try */

static void
swap(struct seen *seen, struct fleet_taker *t)
{
	struct look look = seen->look;

	seen->look = t->look;
	t->look = look;
}

bool
seen_take(struct fleet_taker *t)
{
	struct seen *seen = &t->fleet->seen;

	if (!seen->there || seen->until_ns <= flki_boottime_ns())
		return false;
	seen->there = false;
	swap(seen, t);
	return true;
}

void
seen_return(struct fleet_taker *t)
{
	struct seen *seen = &t->fleet->seen;

	seen->there = true;
	swap(seen, t);
}

void
seen_granted(struct fleet_taker *t, const struct record *r, int64_t revision)
{
	struct look *l = &t->look;
	struct look_taker *h;

	/*
	 * With a limit that nobody has declared, the claim has written cfg, too; and with a pace or turns,
	 * what they count.
	 */
	if (r->limit != l->config.declared || starts_are_paced(&l->config.pace) ||
	    l->config.fair != FLK_FAIR_OFF || (h = look_add_holder(l)) == NULL)
		return;
	memcpy(h->self, t->self, STORE_SELF);
	h->record = *r;
	h->created = h->changed = l->read = l->revision = revision;
	t->fleet->seen.until_ns = flki_boottime_ns() + SEEN_NS;
	seen_return(t);
}

void
seen_is_old(struct fleet *fleet, int64_t revision)
{
	if (fleet->seen.look.revision < revision)
		fleet->seen.there = false;
}

void
seen_ended(const struct fleet_taker *t)
{
	struct look *l = &t->fleet->seen.look;
	struct look_taker *h = look_holder(l, t->self);

	if (h != NULL)
		*h = l->holder[--l->holders];
}
