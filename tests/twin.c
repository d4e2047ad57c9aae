/*
 * twin.c - the state machine of lib/state.c and lib/repair.c beside an obviously right twin.
 *
 *	twin.t [OPERATIONS [SEED [OPERATION TO SPEAK FROM]]]
 *
 * The twin knows no list, no sum and no map: it looks at every taker whenever it wants to know
 * something.  After each random operation both must agree.  Besides, every waiter here is either
 * awake or asleep with a set of others that it watches, as in lib/wait.c, and what must wake a
 * sleeper must have woken it.
 */
#include "common.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

#define N          8
#define SLOTS      16
#define OPERATIONS 200000
#define CANCELLED  (-77)

/* ---- the real one ---- */

static union {
	struct header h;
	char page[HEADER];
} head_page;
static struct slot slots[SLOTS];
static struct state st;

/* ---- the world of both ---- */

static bool dead[N], guarded[N];
static bool asleep[N];      /* of those who wait */
static uint32_t watches[N]; /* of those who sleep: a set of takers */

/* ---- the twin ---- */

static struct {
	enum slot_state state;
	enum slot_kind kind;
	uint64_t ticket;
	uint32_t weight, limit, seat;
	int reason;
} twin[N];
static uint64_t tickets, withheld;
static int64_t override;
static uint32_t declared;
static bool paused;

static bool
before(unsigned a, unsigned b)
{
	return twin[a].ticket < twin[b].ticket;
}

/* The first of those in this state whose ticket is above `after'; N for none. */
static unsigned
next_in(enum slot_state state, uint64_t after)
{
	unsigned i, best = N;

	for (i = 0; i < N; i++)
		if (twin[i].state == state && twin[i].ticket > after &&
		    (best == N || before(i, best)))
			best = i;
	return best;
}

static unsigned
predecessor(unsigned me)
{
	unsigned i, best = N;

	for (i = 0; i < N; i++)
		if (twin[i].state == WAITING && before(i, me) && (best == N || before(best, i)))
			best = i;
	return best;
}

static unsigned
successor(unsigned me)
{
	return next_in(WAITING, twin[me].ticket);
}

static uint64_t
twin_used(void)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < N; i++)
		sum += twin[i].state == HELD ? twin[i].weight : 0;
	return sum;
}

static bool
twin_fits(unsigned me)
{
	int64_t limit = twin[me].limit;
	bool alone = true;
	unsigned i;

	for (i = 0; i < N; i++)
		if (twin[i].state == HELD) {
			alone = false;
			if (twin[i].limit < limit)
				limit = twin[i].limit;
		}
	if (override >= 0)
		limit = override;
	limit -= (int64_t)withheld;
	if (paused || limit <= 0)
		return false;
	return alone || (int64_t)(twin_used() + twin[me].weight) <= limit;
}

static uint32_t
twin_seat(void)
{
	uint32_t seat;
	unsigned i;

	for (seat = 0;; seat++) {
		for (i = 0; i < N; i++)
			if (twin[i].state == HELD && twin[i].seat == seat)
				break;
		if (i == N)
			return seat;
	}
}

static bool
twin_barrier_done(unsigned me)
{
	unsigned i;

	for (i = 0; i < N; i++)
		if (i != me && before(i, me) &&
		    (twin[i].state == HELD || (twin[i].state == WAITING && twin[i].kind == TAKER)))
			return false;
	return true;
}

static bool
twin_may_run(unsigned me)
{
	unsigned i;

	for (i = 0; i < N; i++)
		if (twin[i].state == WAITING && twin[i].kind == TAKER && before(i, me))
			return false;
	return twin_fits(me);
}

static void
twin_grant(void)
{
	bool changed = true;
	unsigned i;

	while (changed) {
		changed = false;
		for (i = next_in(WAITING, 0); i != N; i = successor(i)) {
			if (twin[i].kind == BARRIER && twin_barrier_done(i)) {
				twin[i].state = OUT;
				twin[i].reason = 0;
				changed = true;
			} else if (twin[i].kind == TAKER && twin_may_run(i)) {
				twin[i].seat = twin_seat();
				twin[i].state = HELD;
				declared = twin[i].limit;
				changed = true;
			}
		}
	}
}

static void
twin_sweep(unsigned me)
{
	unsigned i;

	for (i = 0; i < N; i++)
		if (i != me && twin[i].state == HELD && dead[i] && !guarded[i])
			twin[i].state = FREE;
	twin_grant();
}

/* What one who looks must see to: the dead right before it, and from the head on the holders. */
static void
twin_mend(unsigned me)
{
	unsigned i;

	while ((i = predecessor(me)) != N && dead[i])
		twin[i].state = FREE;
	if (i == N)
		twin_sweep(me);
	twin_grant();
}

static void
twin_evict(unsigned i, int reason)
{
	twin[i].state = OUT;
	twin[i].reason = reason;
}

/* ---- both ---- */

static enum fate
fate(void *ctx, uint32_t i)
{
	(void)ctx;
	return !dead[i] ? LIVES : guarded[i] ? ORPHAN : DEAD;
}

static void
wake(void *ctx, uint32_t i)
{
	(void)ctx;
	asleep[i] = false;
}

static uint32_t
must_watch(unsigned me)
{
	uint32_t set = 0;
	unsigned i = predecessor(me);

	if (i != N)
		return UINT32_C(1) << i;
	for (i = 0; i < N; i++)
		if (twin[i].state == HELD)
			set |= UINT32_C(1) << i;
	return set;
}

static void
begin_as(uint32_t me)
{
	st = (struct state){ .h = &head_page.h,
			     .slots = slots,
			     .n = SLOTS,
			     .me = me,
			     .now_ns = 1,
			     .world = { .fate = fate, .wake = wake } };
}

static uint32_t
the_dead(void)
{
	uint32_t set = 0;
	unsigned i;

	for (i = 0; i < N; i++)
		set |= (uint32_t)(dead[i] && !guarded[i]) << i;
	return set;
}

/* What flk_wait() does under the lock, and then it sleeps. */
static void
look(unsigned me)
{
	begin_as(me);
	do {
		flki_state_mend(&st, me);
		twin_mend(me);
		watches[me] = must_watch(me);
		/* It may have granted to one who died in the line. */
	} while (twin[me].state == WAITING && (watches[me] & the_dead()) != 0);
	asleep[me] = twin[me].state == WAITING;
}

static void
enter(unsigned me, enum slot_kind kind, bool stays)
{
	struct slot *s = &slots[me];

	begin_as(me);
	s->limit = twin[me].limit = 1 + random_below(6);
	s->weight = twin[me].weight = 1 + random_below(twin[me].limit < 5 ? twin[me].limit : 5);
	flki_state_enter(&st, me, kind);
	twin[me].ticket = ++tickets;
	twin[me].kind = kind;
	twin[me].state = WAITING;
	twin_grant();
	if (atomic_load(&s->state) == WAITING)
		flki_state_mend(&st, me);
	if (twin[me].state == WAITING)
		twin_mend(me);
	if (twin[me].state != WAITING)
		return;
	if (stays) {
		look(me);
	} else {
		flki_state_leave(&st, me);
		twin[me].state = IDLE;
		twin_grant();
	}
}

/* The kernel's part. */
static void
die(unsigned me, bool with_guard)
{
	unsigned i;

	dead[me] = true;
	asleep[me] = false;
	guarded[me] = with_guard && twin[me].state == HELD;
	for (i = 0; i < N; i++)
		if (watches[i] >> me & 1)
			asleep[i] = false;
}

static void
drop_guard(unsigned me)
{
	unsigned first = next_in(WAITING, 0);

	guarded[me] = false;
	if (first != N)
		asleep[first] = false;
}

/* Any index at all: only the slots' states, tickets, weights, limits and seats are the truth. */
static void
scramble(void)
{
	struct header *h = &head_page.h;
	unsigned i;

	h->waiting = (struct list){ random_below(99), random_below(99), random_below(99) };
	h->holders = (struct list){ random_below(99), random_below(99), random_below(99) };
	h->used = random_below(99);
	h->barriers = random_below(9);
	h->min_limit = random_below(9);
	h->min_count = random_below(9);
	h->seat_hint = random_below(9);
	for (i = 0; i < SLOTS; i++) {
		slots[i].prev = random_below(99);
		slots[i].next = random_below(99);
		slots[i].seat_map = random_below(UINT32_MAX);
	}
}

static void
rebuild(void)
{
	unsigned i;

	scramble();
	begin_as(NIL);
	if (!flki_state_rebuild(&st))
		st.bad = true;
	for (i = 0; i < N; i++)
		if (twin[i].state == HELD && dead[i] && !guarded[i])
			twin[i].state = FREE;
	twin_grant();
}

/* Killed inside, between the commit of an operation and its index. */
static void
die_inside(unsigned me)
{
	struct slot *s = &slots[me];
	unsigned how = random_below(4);

	if (twin[me].state == WAITING) {
		atomic_store(&s->state, IDLE);
		twin[me].state = IDLE;
	} else if (how == 0) {
		atomic_store(&s->state, IDLE);
		twin[me].state = IDLE;
	} else if (how == 1 && s->weight > 1) {
		s->weight = twin[me].weight = 1;
	} else if (withheld < 3) {
		s->forget_to = head_page.h.withheld + s->weight;
		withheld += twin[me].weight;
		twin[me].state = FREE;
		atomic_store(&s->state, FORGETTING);
		if (how > 2)
			head_page.h.withheld = s->forget_to;
	}
	die(me, false);
	rebuild();
}

/* ---- agreement ---- */

static char complaint[200];

static bool
complain(const char *what, unsigned i, uint64_t real, uint64_t naive)
{
	snprintf(complaint, sizeof(complaint), "%s of %u: it has %llu, the twin %llu", what, i,
		 (unsigned long long)real, (unsigned long long)naive);
	return false;
}

static bool
agree_on(unsigned i)
{
	const struct slot *s = &slots[i];
	uint32_t state = atomic_load(&s->state);

	if (state != twin[i].state)
		return complain("state", i, state, twin[i].state);
	if (state != WAITING && state != HELD)
		return state != OUT || s->reason == twin[i].reason ||
		       complain("reason", i, (uint64_t)s->reason, (uint64_t)twin[i].reason);
	if (s->ticket != twin[i].ticket)
		return complain("ticket", i, s->ticket, twin[i].ticket);
	if (twin[i].kind == TAKER && s->weight != twin[i].weight)
		return complain("weight", i, s->weight, twin[i].weight);
	if (state == HELD && s->seat != twin[i].seat)
		return complain("seat", i, s->seat, twin[i].seat);
	return true;
}

static bool
agree_on_order(const struct list *list, enum slot_state state)
{
	uint32_t i = list->head;
	unsigned j;

	for (j = next_in(state, 0); j != N; j = next_in(state, twin[j].ticket)) {
		if (i != j)
			return complain("place in a list", j, i, j);
		i = slots[i].next;
	}
	return i == NIL || complain("end of a list", 0, i, NIL);
}

/* Nobody sleeps through what it must see to. */
static bool
is_woken(unsigned i)
{
	uint32_t must;

	if (dead[i] || !asleep[i])
		return true;
	if (twin[i].state != WAITING)
		return complain("sleep, though its fate is decided,", i, 0, twin[i].state);
	must = must_watch(i);
	if ((must & ~watches[i]) != 0)
		return complain("watch", i, watches[i], must);
	return (must & the_dead()) == 0 || complain("sleep beside the dead", i, must, the_dead());
}

static bool
agree(void)
{
	const struct header *h = &head_page.h;
	const char *why;
	unsigned i;

	for (i = 0; i < N; i++)
		if (!agree_on(i) || !is_woken(i))
			return false;
	if (!agree_on_order(&h->holders, HELD) || !agree_on_order(&h->waiting, WAITING))
		return false;
	if (h->used != twin_used())
		return complain("units", 0, h->used, twin_used());
	if (h->withheld != withheld)
		return complain("withheld units", 0, h->withheld, withheld);
	if (h->declared != declared)
		return complain("declared limit", 0, h->declared, declared);
	begin_as(NIL);
	if ((why = flki_state_check(&st)) != NULL || st.bad) {
		snprintf(complaint, sizeof(complaint), "%s", why != NULL ? why : "bad index");
		return false;
	}
	return true;
}

/* ---- a random operation ---- */

static const char *
act_on_holder(unsigned i, uint32_t dice)
{
	uint32_t units;

	if (dead[i]) {
		if (guarded[i] && dice < 20)
			drop_guard(i);
		return "drop guard";
	}
	if (dice < 55) {
		flki_state_release(&st, i);
		twin[i].state = IDLE;
		twin_grant();
		return "release";
	}
	if (dice < 70) {
		if (twin[i].weight < 2)
			return "nothing";
		units = 1 + random_below(twin[i].weight - 1);
		flki_state_release_units(&st, i, units);
		twin[i].weight -= units;
		twin_grant();
		return "release units";
	}
	if (dice < 76 && withheld < 3) {
		flki_state_forget(&st, i);
		withheld += twin[i].weight;
		twin[i].state = IDLE;
		twin_grant();
		return "forget";
	}
	if (dice < 90) {
		die(i, random_below(3) == 0);
		return "holder's death";
	}
	die_inside(i);
	return "holder's death inside";
}

static const char *
act_on_waiter(unsigned i, uint32_t dice)
{
	if (!asleep[i] && !dead[i] && dice < 70) {
		look(i);
		return "look";
	}
	if (dice < 80) {
		st.me = dead[i] ? NIL : i;
		if (dead[i])
			return "nothing";
		asleep[i] = false; /* its deadline came */
		flki_state_leave(&st, i);
		twin[i].state = IDLE;
		twin_grant();
		return "leave";
	}
	if (dice < 88) {
		st.me = NIL;
		flki_state_evict(&st, i, CANCELLED);
		twin_evict(i, CANCELLED);
		twin_grant();
		return "evict";
	}
	if (dead[i])
		return "nothing";
	if (dice < 97) {
		die(i, false);
		return "waiter's death";
	}
	die_inside(i);
	return "waiter's death inside";
}

static const char *
act_on_idle(unsigned i, uint32_t dice)
{
	if (dead[i]) {
		dead[i] = guarded[i] = false; /* another owner claims it */
		atomic_store(&slots[i].state, IDLE);
		twin[i].state = IDLE;
		return "claim";
	}
	if (twin[i].state == OUT) {
		atomic_store(&slots[i].state, IDLE);
		twin[i].state = IDLE;
		return "come back";
	}
	if (dice < 12) {
		enter(i, BARRIER, true);
		return "barrier";
	}
	enter(i, TAKER, dice < 85);
	return dice < 85 ? "enter" : "try";
}

static const char *
steer(void)
{
	unsigned i;

	begin_as(NIL);
	switch (random_below(6)) {
	case 0:
		override = (int64_t)random_below(8) - 1;
		head_page.h.override = override;
		break;
	case 1:
		paused = !paused && random_below(2);
		head_page.h.paused = paused;
		break;
	case 2:
		flki_state_evict_all(&st, CANCELLED);
		for (i = 0; i < N; i++)
			if (twin[i].state == WAITING && twin[i].kind == TAKER)
				twin_evict(i, CANCELLED);
		twin_grant();
		return "evict all";
	case 3:
		flki_state_sweep_holders(&st);
		twin_sweep(N);
		return "sweep";
	case 4:
		rebuild();
		return "rebuild";
	default:
		if (withheld > 0)
			head_page.h.withheld = --withheld;
		break;
	}
	flki_state_grant(&st);
	twin_grant();
	return "steer";
}

static unsigned actor;

static const char *
act(void)
{
	unsigned i = actor = random_below(N);

	if (random_below(100) < 8)
		return steer();
	begin_as(i);
	switch (twin[i].state) {
	case HELD:
		return act_on_holder(i, random_below(100));
	case WAITING:
		return act_on_waiter(i, random_below(100));
	case FREE:
	case IDLE:
	case OUT:
	case FORGETTING:
		break;
	}
	return act_on_idle(i, random_below(100));
}

static void
reset(void)
{
	struct header *h = &head_page.h;
	unsigned i;

	memset(&head_page, 0, sizeof(head_page));
	memset(slots, 0, sizeof(slots));
	memset(twin, 0, sizeof(twin));
	h->waiting = h->holders = (struct list){ NIL, NIL, 0 };
	h->override = override = FLK_AUTO;
	tickets = withheld = declared = 0;
	paused = false;
	for (i = 0; i < N; i++) {
		dead[i] = guarded[i] = asleep[i] = false;
		watches[i] = 0;
		twin[i].state = IDLE;
		atomic_store(&slots[i].state, IDLE);
	}
}

int
main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : OPERATIONS, op;
	unsigned long trace = argc > 3 ? strtoul(argv[3], NULL, 10) : ULONG_MAX;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : now_ns() ^ (unsigned)getpid();
	const char *last = "nothing";
	bool same = true;

	begin(argc > 1 ? 3600 : 60);
	tap_note("twin.t %lu %llu", count, (unsigned long long)seed);
	random_seed(seed);
	for (op = 0; op < count && same; op++) {
		if (op % 1000 == 0) /* short stories are easier to read */
			reset();
		last = act();
		if (op >= trace)
			tap_note("%lu: %s of %u", op, last, actor);
		same = agree();
	}
	ok(same, "%lu random operations, and the twins agree", count);
	if (!same)
		tap_note("operation %lu (%s): %s", op - 1, last, complaint);
	return tap_done();
}
