/* SPDX-License-Identifier: ISC */
/*
 * errors.c - deliberate errors: a transaction that lacks a compare or a deed, as if the protocol had
 * forgotten it; a server that does not do what an engine must; a clock that is not what it should be.
 * Each must break a law.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "truth.h"

const struct error *error;

/* ---- transactions ---- */

static bool
is_of(const struct txn_item *item, enum txn_kind kind, enum key_kind key)
{
	return item->kind == kind && key_kind(item->key) == (char)key;
}

static bool
does(const struct txn *x, enum txn_kind kind, enum key_kind key)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		if (is_of(&x->item[i], kind, key))
			return true;
	return false;
}

/* The item is there, and has no effect. */
static void
spoil(struct txn_item *item)
{
	free(item->key);
	free(item->end);
	item->key = strdup("/none");
	item->end = NULL;
	item->kind = item->part == TXN_IF ? IF_ABSENT : DO_DELETE;
	item->revision = 0;
}

static void
forget(struct txn *x, enum txn_kind kind, enum key_kind key)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		if (is_of(&x->item[i], kind, key))
			spoil(&x->item[i]);
}

static void
set_lease(struct txn *x, enum key_kind key, int64_t lease)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		if (is_of(&x->item[i], DO_PUT, key))
			x->item[i].lease = lease;
}

#define WEAKENS(name, ...)                             \
	static void name(void *context, struct txn *x) \
	{                                              \
		(void)context;                         \
		__VA_ARGS__;                           \
	}

/* clang-format off */
WEAKENS(past_line, if (does(x, DO_PUT, PERMIT)) forget(x, IF_ABSENT, PLACE))
WEAKENS(past_grants, forget(x, IF_NO_NEWS, PERMIT))
WEAKENS(past_steering, if (does(x, DO_PUT, PERMIT)) forget(x, IF_CHANGED, CONFIG))
WEAKENS(without_place, if (does(x, DO_PUT, PERMIT)) forget(x, IF_CREATED, PLACE))
WEAKENS(keeps_place, if (does(x, DO_PUT, PERMIT)) forget(x, DO_DELETE, PLACE))
WEAKENS(same_look, if (!does(x, DO_PUT, PERMIT)) forget(x, IF_CREATED, PLACE))
WEAKENS(no_release, if (does(x, DO_DELETE, PLACE)) forget(x, DO_DELETE, PERMIT))
WEAKENS(no_leaving, if (does(x, DO_DELETE, PERMIT)) forget(x, DO_DELETE, PLACE))
WEAKENS(no_tidying, if (does(x, DO_DELETE, PERMIT)) forget(x, DO_DELETE, MARK))
WEAKENS(no_life, if (does(x, DO_PUT, PLACE) || does(x, DO_PUT, PERMIT)) forget(x, DO_PUT, LIFE))
WEAKENS(life_for_ever, set_lease(x, LIFE, 0))
WEAKENS(past_tail, if (does(x, DO_PUT, PERMIT)) forget(x, DO_GET, TAIL))
WEAKENS(keeps_tail, forget(x, DO_DELETE, TAIL))
WEAKENS(no_bell, forget(x, DO_PUT, BELL))
WEAKENS(old_mark, if (does(x, DO_PUT, LIFE)) forget(x, DO_DELETE, MARK))
WEAKENS(no_memory, if (does(x, DO_DELETE, PERMIT)) forget(x, DO_PUT, RUN))
WEAKENS(memory_twice, forget(x, IF_CREATED, PERMIT))
WEAKENS(no_count, forget(x, DO_PUT, TALLY))
WEAKENS(counts_anew, forget(x, DO_GET, TALLY))
WEAKENS(past_starts, if (does(x, DO_PUT, PERMIT)) forget(x, IF_CHANGED, AGAIN))
WEAKENS(past_turns, if (does(x, DO_PUT, PERMIT)) forget(x, IF_CHANGED, AROUND))
WEAKENS(past_comers, if (does(x, DO_PUT, PERMIT)) forget(x, IF_NO_NEWS, PLACE))
WEAKENS(no_turn, forget(x, DO_PUT, AROUND))
WEAKENS(no_start, forget(x, DO_PUT, AGAIN))
/* clang-format on */

static void
lacks_first(void *context, struct txn *x)
{
	size_t i;

	(void)context;
	for (i = 0; i < x->n; i++) {
		struct txn_item *item = &x->item[i];
		if (!is_of(item, DO_PUT, BATCH) || item->size <= 16 + STORE_SELF)
			continue;
		item->size -= STORE_SELF;
		memmove(item->value + 16, item->value + 16 + STORE_SELF, item->size - 16);
	}
}

static void
any_mark(void *context, struct txn *x)
{
	(void)context;
	if (!does(x, DO_DELETE, PERMIT))
		return;
	forget(x, IF_CHANGED, MARK);
	forget(x, IF_ABSENT, LIFE);
}

/* It finds the last of all, and be that the waiter itself. */
static void
any_before(void *context, struct txn *x)
{
	size_t i;

	(void)context;
	for (i = 0; i < x->n; i++)
		if (x->item[i].newest_before != 0)
			x->item[i].newest_before = INT64_MAX;
}

static void
any_mark_of_place(void *context, struct txn *x)
{
	(void)context;
	if (!does(x, DO_DELETE, PLACE) || !does(x, IF_ABSENT, LIFE))
		return;
	forget(x, IF_CHANGED, MARK);
	forget(x, IF_ABSENT, LIFE);
}

/* A place that is taken back stays, with those that are held. */
static void
keeps_dead(void *context, struct txn *x)
{
	(void)context;
	if (does(x, IF_ABSENT, LIFE))
		forget(x, DO_DELETE, PLACE);
}

/* Nothing shows that the grace is not over. */
static void
short_grace(void *context, struct txn *x)
{
	(void)context;
	forget(x, DO_PUT, GRACE);
}

/* The permit goes with the lease that shows that its taker is alive. */
static void
permit_on_lease(void *context, struct txn *x)
{
	size_t i;

	(void)context;
	for (i = 0; i < x->n; i++)
		if (is_of(&x->item[i], DO_PUT, LIFE))
			set_lease(x, PERMIT, x->item[i].lease);
}

/* The same of a place. */
static void
place_on_lease(void *context, struct txn *x)
{
	size_t i;

	(void)context;
	for (i = 0; i < x->n; i++)
		if (is_of(&x->item[i], DO_PUT, LIFE))
			set_lease(x, PLACE, x->item[i].lease);
}

/* Only the first deed is done. */
static void
half(void *context, struct txn *x)
{
	bool first = true;
	size_t i;

	(void)context;
	for (i = 0; i < x->n; i++) {
		if (x->item[i].part != TXN_THEN || x->item[i].kind == DO_GET)
			continue;
		if (!first)
			spoil(&x->item[i]);
		first = false;
	}
}

/* ---- servers ---- */

static void
always_held(void *context, struct memory_answer *a)
{
	(void)context;
	a->a.held = true;
}

/* What happens next is forgotten, too. */
static void
forgets_all(void *context, struct txn *x)
{
	(void)context;
	(void)x;
	memory_compact(world_memory(), memory_revision(world_memory()) + 3);
}

static uint32_t
never_ends(void *context, uint32_t ttl_s)
{
	(void)context;
	return ttl_s * 1000;
}

static uint32_t
ends_early(void *context, uint32_t ttl_s)
{
	(void)context;
	return ttl_s / 3;
}

static unsigned
loses(void *context, const struct memory_record *change)
{
	(void)context;
	(void)change;
	return chance_of(800);
}

/* ---- histories in which they have a chance ---- */

static void
operated(struct plan *p)
{
	p->operators = true;
	p->fault_ns = 2 * SECOND;
}

static void
deadly(struct plan *p)
{
	p->faults[CUTS] = p->faults[KILLS] = p->faults[STOPS] = true;
	p->faults[EARLY] = false;
	p->hold_ns = 20 * SECOND;
	p->calm_ns = 60 * SECOND;
}

static void
early_and_cut(struct plan *p)
{
	deadly(p);
	p->faults[EARLY] = true;
	p->fault_ns = SECOND;
	p->faults[KILLS] = false;
	p->hold_ns = 60 * SECOND;
	p->calm_ns = 120 * SECOND;
	p->ttl_s = 4;
	p->grace_s = expiry_least_grace(4);
}

static void
sleepy(struct plan *p)
{
	deadly(p);
	p->faults[SLEEPS] = true;
	p->drift = true;
}

static void
restarting(struct plan *p)
{
	p->faults[RESTARTS] = true;
	p->faults[EARLY] = false;
}

/* What a repairer does comes when its suspect is alive again. */
static void
sluggish(struct plan *p)
{
	p->faults[CUTS] = p->faults[STOPS] = true;
	p->faults[EARLY] = false;
	p->slow = 100;
	p->fault_ns = SECOND;
	p->hold_ns = 60 * SECOND;
	p->calm_ns = 120 * SECOND;
	p->manual = false;
}

static void
waiting(struct plan *p)
{
	sluggish(p);
	p->limit = 1;
	p->takers = 6;
	p->machines = 6;
	p->hold_ns = 10 * SECOND;
	p->leavers = p->hasty = p->operators = false;
}

static void
held(struct plan *p)
{
	waiting(p);
	p->ttl_s = 2;
	p->grace_s = expiry_least_grace(2);
	p->hold_ns = 60 * SECOND;
	p->faults[KILLS] = p->faults[DEATHS] = false;
	p->slow = 200;
}

static void
late_claims(struct plan *p)
{
	sluggish(p);
	p->faults[KILLS] = p->hasty = p->leavers = true;
	p->hold_ns = SECOND;
}

/* A wrapper and the keeper of its host are killed, and the others go on. */
static void
bereft(struct plan *p)
{
	deadly(p);
	p->host = p->faults[WRAPPERS] = true;
	p->faults[CUTS] = p->faults[STOPS] = p->manual = false;
	p->machines = 2;
	p->takers = 6;
	p->limit = 1;
	p->mixed = p->operators = false;
	p->fault_ns = SECOND;
}

static void
replaced(struct plan *p)
{
	late_claims(p);
	p->host = true;
	p->faults[KILLS] = false;
}

/* Many leave at once, and what one leaves may be enough for another only with what is left already. */
static void
calm(struct plan *p)
{
	unsigned i;

	for (i = 0; i < FAULTS; i++)
		p->faults[i] = false;
	p->operators = p->manual = false;
	p->loss = p->slow = 0;
	p->leavers = true;
	p->takers = 20;
	p->machines = 6;
	p->mixed = p->hasty = false;
	p->limit = 4;
	p->heaviest = 3;
	p->hold_ns = 3 * SECOND;
	p->arrive_ns = 10 * SECOND;
	p->delay_ns = 50 * MS;
}

/* Many wait for one permit. */
static void
crowded(struct plan *p)
{
	p->crowd = 1;
	p->limit = p->heaviest = 1;
	p->mixed = p->hasty = p->manual = false;
	p->hold_ns = 100 * MS;
	p->arrive_ns = 100 * MS;
	p->takers = 8;
	p->machines = 8;
}

static void
roomy(struct plan *p)
{
	p->limit = p->takers;
	p->heaviest = 1;
	p->mixed = false;
	p->arrive_ns = 50 * MS;
}

static void
paced(struct plan *p)
{
	p->which = FLK_SET_RATE;
	p->pace = (struct flk_pace){ .interval_ns = SECOND, .burst = 1 };
	p->hold_ns = 10 * MS;
	p->arrive_ns = SECOND;
	p->delay_ns = 200 * MS;
	p->takers = 6;
	p->machines = 6;
}

static void
fair(struct plan *p)
{
	p->which = FLK_SET_FAIR;
	p->keys = 3;
	p->limit = 1;
	p->heaviest = 1;
	p->mixed = p->hasty = p->manual = false;
	p->hold_ns = 10 * MS;
	p->arrive_ns = 2 * SECOND;
	p->delay_ns = 100 * MS;
	p->takers = 12;
	p->machines = 6;
}

#define TXN(called, says, found, planned, weakens)                                       \
	{                                                                                \
		.name = called, .words = says, .law = found, .plan = planned, .rules = { \
			.weaken = weakens                                                \
		}                                                                        \
	}

const struct error errors[] = {
	TXN("past-line", "a newcomer is granted though others wait", ORDER, NULL, past_line),
	TXN("past-grants", "a newcomer is granted though another was since it looked", STORE_OVER,
	    NULL, past_grants),
	TXN("same-seat", "the same, where there is room for all", SEATS, roomy, past_grants),
	TXN("past-steering", "a grant is made though an operator came in between", STEERED,
	    operated, past_steering),
	TXN("without-place", "a waiter is granted whose place is gone", TOLD, sluggish,
	    without_place),
	TXN("keeps-place", "a grant does not end the place", ONCE, NULL, keeps_place),
	TXN("any-mark", "a permit is taken back by an old mark", KEPT, held, any_mark),
	TXN("any-mark-of-place", "the same of a place", PLACES, waiting, any_mark_of_place),
	TXN("no-release", "a release does not end the permit", TOLD, NULL, no_release),
	TXN("no-leaving", "a waiter that leaves keeps its place", TOLD, NULL, no_leaving),
	TXN("no-tidying", "a mark is left behind", WHOLE, deadly, no_tidying),
	TXN("no-life", "a claim does not show its keeper's life", GHOSTS, late_claims, no_life),
	TXN("short-grace", "a permit is taken back as soon as its grace is marked", KEPT, deadly,
	    short_grace),
	TXN("permit-on-lease", "a permit has no grace", NEVER_OVER, deadly, permit_on_lease),
	TXN("life-for-ever", "a dead holder looks alive", ENDS, deadly, life_for_ever),
	TXN("any-before", "a waiter whose claim was not answered stands behind a later one", ENDS,
	    late_claims, any_before),
	TXN("past-tail", "who grants all does not see that one more has come", IDLE, calm,
	    past_tail),
	TXN("keeps-tail", "a line has an end that is gone", LEAKS, NULL, keeps_tail),
	TXN("no-bell", "who leaves does not tell that nobody has looked since", IDLE, calm,
	    no_bell),
	TXN("old-mark", "a life that is shown again keeps its mark", KEPT, sluggish, old_mark),
	TXN("keeps-dead", "a place of the dead is not taken back", CLEARED, NULL, keeps_dead),
	TXN("place-on-lease", "a place goes with the lease of its keeper", PLACES, restarting,
	    place_on_lease),
	TXN("no-memory", "a permit that ends is forgotten", REMEMBERED, calm, no_memory),
	TXN("memory-twice", "a release that comes late is remembered again", REMEMBERED, sluggish,
	    memory_twice),
	TXN("no-count", "what is released is not counted", COUNTED, NULL, no_count),
	TXN("counts-anew", "a count does not go on from the one before", COUNTED, NULL,
	    counts_anew),
	TXN("lacks-first", "a batch lacks the first of the line", ORDER, crowded, lacks_first),
	TXN("no-turn", "a turn is not counted", TURNS, fair, no_turn),
	TXN("turn-twice", "two are granted by the same turns", TURNS, fair, past_turns),
	TXN("past-comers", "a waiter is granted though another has come whose turn it is", TURNS,
	    fair, past_comers),
	TXN("no-start", "a start is not counted", PACED, paced, no_start),
	TXN("start-twice", "two starts count from the same", PACED, paced, past_starts),
	TXN("half", "a transaction is done in part", TOLD, NULL, half),
	{ .name = "always-held",
	  .words = "a server says that a transaction held that did not",
	  .law = TOLD,
	  .rules = { .answers = always_held } },
	{ .name = "forgets-all",
	  .words = "a server has forgotten what a watch begins with, each time",
	  .law = BUSY,
	  .rules = { .weaken = forgets_all } },
	{ .name = "keeps-leases",
	  .words = "a server does not end a lease though it says so",
	  .law = GHOSTS,
	  .plan = late_claims,
	  .rules = { .keeps_leases = true } },
	{ .name = "never-ends",
	  .words = "a server's leases do not end",
	  .law = ENDS,
	  .plan = deadly,
	  .rules = { .ttl = never_ends } },
	{ .name = "ends-early",
	  .words = "a server's leases end too early",
	  .law = KEPT,
	  .rules = { .ttl = ends_early } },
	{ .name = "early-and-cut",
	  .words = "a server ends the lease of a taker that is then cut off",
	  .law = NEVER_OVER,
	  .plan = early_and_cut },
	{ .name = "falls-back",
	  .words = "a server that restarts counts from an earlier revision",
	  .law = FENCE,
	  .plan = restarting,
	  .falls_back = true },
	{ .name = "loses-news",
	  .words = "a server does not report each change",
	  .law = PROMPT,
	  .rules = { .reports = loses } },
	{ .name = "same-look",
	  .words = "the same, and a short look does not see that the waiter before is gone",
	  .law = ENDS,
	  .rules = { .reports = loses, .weaken = same_look } },
	{ .name = "loses-grants",
	  .words = "the same, to an operator who follows",
	  .law = FOLLOWED,
	  .plan = operated,
	  .rules = { .reports = loses } },
	{ .name = "no-heirs",
	  .words = "a keeper that takes over does not fence what the one before has sent last",
	  .law = GHOSTS,
	  .plan = late_claims,
	  .no_heirs = true },
	{ .name = "no-ledger",
	  .words = "a keeper that takes over does not know what killed wrappers had",
	  .law = ENDS,
	  .plan = bereft,
	  .no_ledger = true },
	{ .name = "no-grants",
	  .words = "... and not that they held",
	  .law = NEVER_OVER,
	  .plan = bereft,
	  .no_grants = true },
	{ .name = "no-fence",
	  .words = "a stopped keeper is replaced, and goes on",
	  .law = GHOSTS,
	  .plan = replaced,
	  .no_fence = true },
	{ .name = "sleepy-clock",
	  .words = "a machine's clock stands while it is suspended",
	  .law = NEVER_OVER,
	  .plan = sleepy,
	  .sleepy_clock = true },
	{ .name = NULL }
};

const struct error *
error_named(const char *name)
{
	const struct error *e;

	for (e = errors; e->name != NULL; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	return NULL;
}
