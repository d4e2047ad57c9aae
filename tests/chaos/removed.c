/* SPDX-License-Identifier: ISC */
/*
 * removed.c - a file that was removed gives no permit; and idle means that none is held.
 */
#include "life.h"

#include <inttypes.h>

/*
 * No taker that is launched after the file was removed finds it, and a taker that is granted after
 * that goes over to the new one before it runs.  So all that ever start in the old one and surely hold
 * after the removal had their permits before: together they are within the limit.
 */
static void
check_removals(const struct life *l, struct verdict *v)
{
	uint64_t first = NEVER;
	struct sum sum;
	size_t i, z;

	for (i = 0; i < l->n; i++)
		if (l->run[i]->started < first)
			first = l->run[i]->started;
	foreach(const struct span, u, l->s->removals) {
		if (u->of != l->run[0]->lim || first >= u->from)
			continue;
		for (i = 0; i < l->n; i++)
			if (l->run[i]->launched > u->to)
				chaos_guilty(v, OLD_FILE, l->run[i]->started,
					     "taker %" PRIu64 " was launched when the file of its "
					     "ticket %" PRIu64 " was gone",
					     l->run[i]->id, l->run[i]->ticket);
		for (z = l->n - 1; z > 0 && l->run[z]->surely < u->to; z--)
			;
		sum = life_up_to(l, z, u->to);
		if (sum.weight > 0 && sum.weight > life_bound(l, l->run[z], &sum))
			chaos_guilty(v, OLD_FILE, u->to,
				     "%" PRIu64
				     " units go on in a file that was removed, of %" PRIu64,
				     sum.weight, life_bound(l, l->run[z], &sum));
		break;
	}
}

/*
 * No taker held it then, and none was granted a permit after that.  A command without a guard may say
 * that it has started when its wrapper is dead, and its permit gone: it is no holder, as in
 * check_starts().
 */
static bool
is_in_removed(const struct run *r, const struct span *removal)
{
	if (r->surely < r->started)
		return false;
	return r->started > removal->to || (r->started < removal->from && r->surely > removal->to);
}

static void
check_idle_removals(const struct life *l, struct verdict *v)
{
	foreach(const struct span, m, l->s->idle_removals) {
		size_t i;
		if (m->of != l->birth)
			continue;
		for (i = 0; i < l->n; i++)
			if (is_in_removed(l->run[i], m))
				chaos_guilty(v, OLD_FILE, m->to,
					     "ticket %" PRIu64
					     " runs in a limiter that was removed",
					     l->run[i]->ticket);
	}
}

/* A run that surely held when flk_wait_idle() was called no longer did when it returned. */
static void
check_idles(const struct life *l, struct verdict *v)
{
	foreach(const struct span, idle, l->s->idles) {
		size_t i;
		if (idle->of != l->birth)
			continue;
		for (i = 0; i < l->n; i++)
			if (l->run[i]->started < idle->from && l->run[i]->surely > idle->to)
				chaos_guilty(v, NOT_IDLE, idle->to,
					     "ticket %" PRIu64 " still holds what is called idle",
					     l->run[i]->ticket);
	}
}

void
life_check_removed(const struct life *l, struct verdict *v)
{
	check_removals(l, v);
	check_idles(l, v);
	check_idle_removals(l, v);
}
