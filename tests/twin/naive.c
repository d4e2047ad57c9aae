/* SPDX-License-Identifier: ISC */
/*
 * naive.c - the rules as the manual has them.  No list, no sum, no map: whoever wants to know
 * something looks at every taker.
 *
 * Each store that counts asks naive_may_store() first: so it can be killed after any of them.
 */
#include "twin.h"

#include "clock.h"

struct naive naive[MOST];
uint32_t takers;
struct naive_header naive_header;

static uint32_t stores_left;
static bool dies_at_once, died;

void
naive_live_for(uint32_t stores, bool right_then)
{
	stores_left = stores;
	dies_at_once = right_then && stores != UNCUT;
	died = false;
}

bool
naive_lives(void)
{
	return !died;
}

bool
naive_may_store(void)
{
	died |= stores_left == 0;
	if (died)
		return false;
	stores_left--;
	died = dies_at_once && stores_left == 0;
	return true;
}

static bool
turns(unsigned me, enum slot_state state)
{
	if (!naive_may_store())
		return false;
	naive[me].state = state;
	return true;
}

static void sweep(unsigned me);
static void reap_the_end(void);

static uint32_t
holders(void)
{
	uint32_t count = 0;
	unsigned i;

	for (i = 0; i < takers; i++)
		count += naive[i].state == HELD;
	return count;
}

/* ---- a taker's life ---- */

/*
 * To the end of the line, but before those there that let it: they consent to more than it does,
 * and are not used up.  They count that before it is in the line.
 */
static void
stand(unsigned me)
{
	unsigned i, last = NOBODY;

	for (i = naive_next(WAITING, NOBODY); i != NOBODY; i = naive_next(WAITING, i))
		last = i;
	naive[me].rank = last == NOBODY ? 1 : naive[last].rank + 1;
	naive[me].passed = naive[me].passed_by = 0;
	while (naive_header.fair && last != NOBODY && naive[last].tag > naive[me].tag) {
		naive[me].passed++;
		naive[me].rank = naive[last].rank;
		last = naive_predecessor(last);
	}
	while (!naive_header.fair && last != NOBODY && naive[me].kind == TAKER &&
	       naive[last].kind == TAKER && naive[last].passed_by < naive[last].want.yield &&
	       naive[me].want.yield < naive[last].want.yield) {
		naive[last].passed_by++;
		naive[me].passed++;
		naive[me].rank = naive[last].rank;
		naive[me].tag = naive[last].tag;
		last = naive_predecessor(last);
	}
	for (i = 0; i < takers; i++)
		if (i != me && naive[i].state == WAITING && naive[i].rank >= naive[me].rank)
			naive[i].rank++;
}

static void
enter(unsigned me, enum slot_kind kind, const struct op *op)
{
	naive[me].want = op->want;
	naive[me].weight = naive[me].least = op->want.weight;
	naive[me].most = op->want.most > 0 ? op->want.most : op->want.weight;
	naive[me].limit = op->want.limit;
	naive[me].not_seats = op->a;
	naive[me].asks = (op->d & ASKS) != 0;
	naive[me].kind = kind;
	if (kind == TAKER && holders() <= SEATS && naive_has_room(me))
		sweep(me);
	if (naive_lives() && kind == TAKER && naive_header.fair)
		reap_the_end();
	if (!naive_lives())
		return;
	naive_turns_arrive(me, op->b);
	stand(me);
	naive[me].since = world_clock;
	naive[me].status = FLK_UNKNOWN;
	naive[me].took = (struct took){ 0, 0 };
	naive[me].ticket = ++naive_header.tickets;
	if (turns(me, WAITING))
		naive_grant();
}

static void
leave(unsigned me)
{
	if (naive_lives())
		naive_turns_leave(me);
	if (!turns(me, IDLE))
		return;
	naive_count(LEFT);
	naive_grant();
}

static void
release(unsigned me)
{
	if (!turns(me, IDLE))
		return;
	naive_count(RELEASED);
	naive_took(true, naive[me].since);
	naive_note(FLK_EV_RELEASED, me, naive[me].status);
	naive_grant();
}

static void
release_units(unsigned me, uint32_t units)
{
	uint32_t seat, left;

	if (!naive_may_store())
		return;
	left = (naive[me].weight -= units) - 1;
	/* It keeps its own, and the first of the others. */
	for (seat = 0; naive[me].each && seat < ALL_SEATS; seat++) {
		if (seat == naive[me].own)
			continue;
		naive[me].has[seat] &= left > 0;
		left -= naive[me].has[seat];
	}
	naive_note(FLK_EV_UNITS, me, (int)units);
	naive_grant();
}

/* As many as are free, while nobody waits. */
static uint32_t
room_to_grow(unsigned me, uint32_t units)
{
	int64_t limit = (int64_t)naive_limit(naive[me].limit);
	int64_t left = limit - (int64_t)naive_header.withheld - (int64_t)naive_used();
	uint32_t seat, seats = 0;
	unsigned i;

	for (i = naive_next(WAITING, NOBODY); i != NOBODY; i = naive_next(WAITING, i))
		if (naive[i].kind == TAKER)
			return 0;
	if (naive_header.paused || naive_header.closed)
		return 0;
	for (seat = 0; seat < SEATS && seat < naive_said_limit(naive[me].limit); seat++)
		seats += naive_may_sit(me, seat);
	if (naive[me].each && left > seats)
		left = seats;
	if (left > (int64_t)naive[me].most - (int64_t)naive[me].weight)
		left = (int64_t)naive[me].most - (int64_t)naive[me].weight;
	return left <= 0 ? 0 : left < units ? (uint32_t)left : units;
}

/* It has its seats only at the second store; without seats the first is enough. */
static void
grow(unsigned me, uint32_t units)
{
	uint32_t seat, left;

	if ((units = room_to_grow(me, units)) == 0)
		return;
	if (naive_lives())
		naive_turns_grow(me, units);
	if (!naive_may_store())
		return;
	if (!naive[me].each)
		naive[me].weight += units;
	if (!naive_may_store())
		return;
	if (naive[me].each)
		naive[me].weight += units;
	for (seat = 0, left = units; naive[me].each && left > 0; seat++) {
		if (!naive_may_sit(me, seat))
			continue;
		naive[me].has[seat] = true;
		left--;
	}
	naive_note(FLK_EV_GREW, me, (int)units);
}

static void
forget(unsigned me)
{
	naive_header.withheld += naive[me].weight;
	if (!turns(me, IDLE))
		return;
	naive_count(RELEASED);
	naive_note(FLK_EV_FORGOT, me, (int)naive[me].weight);
	naive_grant();
}

/* It was not to wait behind so many: those that it has passed have their consent again. */
static void
turn_away(unsigned me, uint32_t queue)
{
	uint32_t ahead = 0;
	unsigned i;

	for (i = naive_next(WAITING, NOBODY); i != me; i = naive_next(WAITING, i))
		ahead += naive[i].kind == TAKER;
	if (ahead < queue)
		return;
	if (naive_lives() && naive_header.waiter == naive[me].ticket)
		naive_turns_leave(me);
	if (!turns(me, IDLE))
		return;
	if (naive_lives() && !naive_header.fair)
		for (i = naive_next(WAITING, me); i != NOBODY; i = naive_next(WAITING, i))
			naive[i].passed_by--;
	naive_count(LEFT);
	naive_grant();
}

static bool
put_out(unsigned me, int reason)
{
	if (!turns(me, OUT))
		return false;
	naive[me].reason = reason;
	naive_count(EVICTED);
	naive_note(FLK_EV_EVICTED, me, reason);
	return true;
}

static void
evict(unsigned me, int reason)
{
	if (naive_lives())
		naive_turns_leave(me);
	if (put_out(me, reason))
		naive_grant();
}

static void
evict_all(int reason)
{
	unsigned i;

	for (i = naive_next(WAITING, NOBODY); i != NOBODY; i = naive_next(WAITING, i)) {
		if (naive[i].kind == TAKER && !put_out(i, reason))
			return;
	}
	naive_grant();
}

/* ---- the dead ---- */

static bool
reap(unsigned me)
{
	bool held = naive[me].state == HELD;

	if (!held && naive_lives())
		naive_turns_leave(me);
	if (!turns(me, FREE))
		return false;
	naive_count(REAPED);
	naive_note(FLK_EV_REAPED, me, held);
	return true;
}

static void
sweep(unsigned me)
{
	bool any = false;
	unsigned i;

	for (i = naive_next(HELD, NOBODY); i != NOBODY; i = naive_next(HELD, i)) {
		if (i == me || !is_dead(i))
			continue;
		if (!reap(i))
			return;
		any = true;
	}
	if (any)
		naive_grant();
}

/* The dead behind whom nobody lives; and then, if nobody waits, the holders. */
static void
reap_the_end(void)
{
	unsigned i, last;

	do {
		last = NOBODY;
		for (i = naive_next(WAITING, NOBODY); i != NOBODY; i = naive_next(WAITING, i))
			last = i;
		if (last != NOBODY && is_dead(last) && !reap(last))
			return;
	} while (last != NOBODY && is_dead(last));
	if (last == NOBODY)
		sweep(NOBODY);
	naive_grant();
}

/* What one who looks must see to: the dead right before it, and from the head on the holders. */
void
naive_mend(unsigned me)
{
	unsigned i;

	while ((i = naive_next(WAITING, me)) != NOBODY && naive[i].ticket < naive[me].ticket &&
	       is_dead(i))
		if (!reap(i))
			return;
	while ((i = naive_predecessor(me)) != NOBODY && is_dead(i))
		if (!reap(i))
			return;
	if (i == NOBODY)
		sweep(me);
	naive_grant();
}

void
naive_rebuild(void)
{
	naive_header.waiter = 0;
	naive_count(REPAIRED);
	naive_note(FLK_EV_REPAIRED, NOBODY, 0);
	sweep(NOBODY);
	if (naive_header.closed)
		evict_all(-FLK_CLOSED);
	naive_grant();
}

/* ---- an operation ---- */

static void
comes_in(const struct op *op, enum slot_kind kind)
{
	struct naive *me = &naive[op->who];

	enter(op->who, kind, op);
	if (me->state == WAITING)
		naive_mend(op->who);
	if (me->state == WAITING && kind == TAKER)
		sweep(op->who);
	if (me->state == WAITING && op->deed == TRIES)
		turn_away(op->who, op->e);
	if (me->state == WAITING)
		naive_note(FLK_EV_QUEUED, op->who, (int)me->passed);
}

static void
looks(const struct op *op)
{
	struct naive *me = &naive[op->who];

	if (me->state == WAITING)
		naive_mend(op->who);
	if (me->state == WAITING && op->a)
		sweep(op->who);
	if (me->state == WAITING && naive_header.closed && me->kind == TAKER) {
		leave(op->who);
		naive_note(FLK_EV_LEFT, op->who, -FLK_CLOSED);
	}
}

static void
steers(const struct op *op)
{
	if (!naive_may_store())
		return;
	switch (op->deed) {
	case OVERRIDES:
		naive_header.override = op->a == UNCUT ? FLK_AUTO : (int64_t)op->a;
		naive_note(FLK_EV_OVERRIDE, NOBODY, (int)naive_header.override);
		break;
	case PAUSES:
	case RESUMES:
		naive_header.paused = op->deed == PAUSES;
		naive_note(op->deed == PAUSES ? FLK_EV_PAUSED : FLK_EV_RESUMED, NOBODY, 0);
		break;
	case REFUSES:
		naive_header.closed = true;
		naive_note(FLK_EV_CLOSED, NOBODY, 0);
		evict_all(-FLK_CLOSED);
		break;
	case ADMITS:
		naive_header.closed = false;
		naive_note(FLK_EV_OPENED, NOBODY, 0);
		break;
	case TAKES_OUT:
		naive_header.seats_off |= UINT64_C(1) << op->a;
		naive_note(FLK_EV_SEAT_OFF, NOBODY, (int)op->a);
		break;
	case PUTS_BACK:
		naive_header.seats_off &= ~(UINT64_C(1) << op->a);
		naive_note(FLK_EV_SEAT_ON, NOBODY, (int)op->a);
		break;
	case RESTORES:
		naive_header.withheld -= op->a;
		naive_note(FLK_EV_RESTORED, NOBODY, (int)op->a);
		break;
	case TAKES_TURNS:
		naive_turns_set(op->a != 0);
		naive_note(op->a != 0 ? FLK_EV_FAIR : FLK_EV_UNFAIR, NOBODY,
			   op->a != 0 ? FLK_FAIR_KEY : 0);
		break;
	case GATES:
		naive_header.gated = op->a != 0;
		naive_header.settle_ns = op->b * MS;
		naive_note(FLK_EV_GATE, NOBODY, 0);
		break;
	default:
		naive_header.declared_before = naive_header.declared;
		naive_header.declared = op->a;
		naive_note(FLK_EV_DECLARED, NOBODY, (int)op->a);
		break;
	}
	naive_grant();
}

void
naive_acts(const struct op *op)
{
	naive_visit(op);
	switch (op->deed) {
	case ENTERS:
	case TRIES:
		comes_in(op, TAKER);
		break;
	case BARS:
		comes_in(op, BARRIER);
		break;
	case LOOKS:
		looks(op);
		break;
	case LEAVES:
		leave(op->who);
		naive_note(FLK_EV_LEFT, op->who, (int)op->a);
		break;
	case RELEASES:
		naive[op->who].status = (int)op->a;
		naive[op->who].took = (struct took){ op->b, op->c };
		release(op->who);
		break;
	case RELEASES_UNITS:
		release_units(op->who, op->a);
		break;
	case FORGETS:
		forget(op->who);
		break;
	case COMES_BACK:
	case IS_CLAIMED:
		naive[op->who].state = IDLE;
		break;
	case DIES:
	case DIES_GUARDED:
	case COMMAND_ENDS:
		break;
	case EVICTS:
		evict(op->who, CANCELLED);
		break;
	case EVICTS_ALL:
		evict_all(CANCELLED);
		break;
	case SHRINKS:
		release_units(op->who, op->a);
		break;
	case GROWS:
		reap_the_end();
		if (naive[op->who].state == HELD)
			grow(op->who, op->a);
		naive_grant();
		break;
	case SWEEPS:
		sweep(NOBODY);
		break;
	case REBUILDS:
	case REPAIRS:
		naive_rebuild();
		break;
	default:
		steers(op);
		break;
	}
}
