/* SPDX-License-Identifier: ISC */
/*
 * real.c - lib/state.c, lib/seats.c and lib/repair.c as they stand, but that one may be killed right
 * before and right after each store that counts.  What lies between two of them is index, and
 * real_scramble() makes of that whatever a killed taker could have left, and worse.
 */
#include "twin.h"

#include <setjmp.h>
#include <string.h>

#include "clock.h"

static jmp_buf death;
static uint32_t places_left;

/* The first place is the one before the first store. */
static void
may_die(void)
{
	if (places_left != UNCUT && places_left-- == 0)
		longjmp(death, 1);
}

/* A newcomer that claims a slot needs no lock for it: every slot that may be claimed is. */
static void
newcomers_claim(void)
{
	uint32_t i;

	for (i = 0; i < takers; i++) {
		uint32_t state = real_slots[i].state;
		if (is_dead(i) && (state == FREE || state == IDLE || state == OUT)) {
			real_slots[i].pid = real_slots[i].uid = 0;
			real_slots[i].command[0] = '\0';
		}
	}
}

#undef atomic_store
#undef atomic_store_explicit
#define atomic_store(p, v)                 (may_die(), (void)(*(p) = (v)), newcomers_claim(), may_die())
#define atomic_store_explicit(p, v, order) atomic_store(p, v)
#define __atomic_store_n(p, v, order)      atomic_store(p, v)

#include "state.c"
#include "seats.c"
#include "repair.c"

static union {
	struct header h;
	char page[HEADER];
} first_page;

struct header *const real = &first_page.h;
struct slot real_slots[2 * MOST];
struct event real_history[EVENTS];
struct state real_state;

static enum fate
fate(void *ctx, uint32_t i)
{
	(void)ctx;
	return !world[i].dead ? LIVES : world[i].guarded ? ORPHAN : DEAD;
}

static void
wake(void *ctx, uint32_t i)
{
	(void)ctx;
	world[i].asleep = false;
}

void
real_begin(uint32_t me)
{
	real_state = (struct state){ .h = real,
				     .slots = real_slots,
				     .history = real_history,
				     .n = real->nslots,
				     .me = me,
				     .now_ns = world_clock,
				     .world = { .fate = fate, .wake = wake } };
}

void
real_reset(const struct story *story)
{
	memset(&first_page, 0, sizeof(first_page));
	memset(real_slots, 0, story->slots * sizeof(real_slots[0]));
	real->nslots = story->slots;
	real->event_room = EVENTS;
	real->waiting = real->holders = (struct list){ NIL, NIL, 0 };
	real->override = FLK_AUTO;
	real->last_ticket = story->first_ticket;
}

/* Its own numbers: a story must play the same, whatever was dropped from it. */
static uint32_t
junk(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8 & 1 ? *seed >> 9 : *seed >> 16 & 31;
}

void
real_scramble(uint32_t seed)
{
	unsigned i;

	real->waiting = (struct list){ junk(&seed), junk(&seed), junk(&seed) };
	real->holders = (struct list){ junk(&seed), junk(&seed), junk(&seed) };
	real->used = junk(&seed);
	real->barriers = junk(&seed);
	real->min_limit = junk(&seed);
	real->min_count = junk(&seed);
	real->seat_hint = junk(&seed);
	for (i = 0; i < real->nslots; i++) {
		real_slots[i].prev = junk(&seed);
		real_slots[i].next = junk(&seed);
		real_slots[i].seat_bits = (uint64_t)junk(&seed) << 32 | junk(&seed);
		/* Its granter may have been killed before the commit. */
		if (real_slots[i].state == WAITING) {
			real_slots[i].weight = junk(&seed);
			real_slots[i].seats = junk(&seed);
			real_slots[i].seat = junk(&seed);
		}
	}
}

/* ---- an operation, done the way that lib/taker.c, wait.c and limiter.c do it ---- */

static bool
real_waits(uint32_t me)
{
	return atomic_load(&real_slots[me].state) == WAITING;
}

static void
real_enters(const struct op *op, enum slot_kind kind)
{
	bool swept = false;
	struct flk_request want = op->want;
	char key[FLK_KEY];
	uint32_t passed;

	twin_key(op->b, key);
	want.not_seats = op->a;
	flki_state_ask(&real_slots[op->who], &want);
	real_slots[op->who].asks = (op->d & ASKS) != 0 ? UINT32_MAX : 0; /* for ever */
	real_slots[op->who].limit = op->want.limit;
	real_slots[op->who].pid = real_slots[op->who].uid = op->who + 1;
	memcpy(real_slots[op->who].command, TWIN_COMMAND, sizeof(TWIN_COMMAND));
	passed = flki_state_enqueue(&real_state, op->who, kind,
				    real->fair != 0 && kind == TAKER ? key : NULL);
	if (real_waits(op->who))
		swept = flki_state_reap_watched(&real_state, op->who);
	if (real_waits(op->who) && kind == TAKER && !swept)
		flki_state_sweep_holders(&real_state);
	if (real_waits(op->who) && op->deed == TRIES)
		flki_state_turn_away(&real_state, op->who, op->e);
	if (real_waits(op->who) && kind == TAKER)
		flki_state_note(&real_state, FLK_EV_QUEUED, op->who, (int32_t)passed);
}

static void
real_looks(const struct op *op)
{
	bool swept = false;

	if (real_waits(op->who))
		swept = flki_state_reap_watched(&real_state, op->who);
	if (real_waits(op->who) && op->a && !swept)
		flki_state_sweep_holders(&real_state);
	if (real_waits(op->who) && real->closed && real_slots[op->who].kind == TAKER) {
		flki_state_leave(&real_state, op->who);
		flki_state_note(&real_state, FLK_EV_LEFT, op->who, -FLK_CLOSED);
	}
}

static void
real_steers(const struct op *op)
{
	static const enum flk_event_kind kinds[] = {
		[OVERRIDES] = FLK_EV_OVERRIDE, [PAUSES] = FLK_EV_PAUSED,
		[RESUMES] = FLK_EV_RESUMED,    [REFUSES] = FLK_EV_CLOSED,
		[ADMITS] = FLK_EV_OPENED,      [RESTORES] = FLK_EV_RESTORED,
		[DECLARES] = FLK_EV_DECLARED,  [TAKES_OUT] = FLK_EV_SEAT_OFF,
		[PUTS_BACK] = FLK_EV_SEAT_ON,
	};
	struct flk_gate gate = { .settle_ns = op->b * MS, .patience_ns = UINT64_MAX };
	bool has_code = op->deed == OVERRIDES || op->deed == RESTORES || op->deed == DECLARES ||
			op->deed == TAKES_OUT || op->deed == PUTS_BACK;

	flki_state_wake_head(&real_state);
	may_die();
	switch (op->deed) {
	case OVERRIDES:
		real->override = op->a == UNCUT ? FLK_AUTO : (int64_t)op->a;
		break;
	case PAUSES:
	case RESUMES:
		real->paused = op->deed == PAUSES;
		break;
	case REFUSES:
	case ADMITS:
		real->closed = op->deed == REFUSES;
		break;
	case TAKES_OUT:
		real->seats_off |= UINT64_C(1) << op->a;
		break;
	case PUTS_BACK:
		real->seats_off &= ~(UINT64_C(1) << op->a);
		break;
	case RESTORES:
		real->withheld -= op->a;
		break;
	case TAKES_TURNS:
		if ((real->fair != 0) != (op->a != 0))
			flki_fair_set(&real_state);
		real->fair = op->a != 0 ? FLK_FAIR_KEY : FLK_FAIR_OFF;
		break;
	case GATES:
		strcpy(gate.when, op->a != 0 ? TWIN_GATE : "");
		flki_gate_set(&real_state, &gate);
		break;
	default:
		real->declared = op->a;
		break;
	}
	may_die();
	/* UNCUT is auto, and that is -1. */
	if (op->deed == TAKES_TURNS)
		flki_state_note_steering(&real_state, op->a != 0 ? FLK_EV_FAIR : FLK_EV_UNFAIR,
					 op->a != 0 ? FLK_FAIR_KEY : 0);
	else if (op->deed == GATES)
		flki_state_note_gate(&real_state, gate.when);
	else
		flki_state_note_steering(&real_state, kinds[op->deed],
					 has_code ? (int32_t)op->a : 0);
	if (op->deed == REFUSES)
		flki_state_evict_all(&real_state, -FLK_CLOSED);
	flki_state_grant(&real_state);
}

/* What lib/look.c has measured, and the answer to a question, before the taker gets the lock. */
static void
bring(uint32_t f)
{
	real_state.reading =
	    (struct reading){ .gate =
				  (f & READING) != 0 && flki_gate_is_set(real) ? real->gate.is : 0,
			      .at_ns = world_clock - (f >> AGE) * MS,
			      .failed = (f & HELD_TRUE) == 0 };
	real_state.answered = (f & YES) != 0;
	flki_gate_note_reading(&real_state);
}

static void
do_it(const struct op *op)
{
	bring(op->d);
	switch (op->deed) {
	case ENTERS:
	case TRIES:
		real_enters(op, TAKER);
		break;
	case BARS:
		real_enters(op, BARRIER);
		break;
	case LOOKS:
		real_looks(op);
		break;
	case LEAVES:
		flki_state_leave(&real_state, op->who);
		if (real_slots[op->who].kind == TAKER)
			flki_state_note(&real_state, FLK_EV_LEFT, op->who, (int32_t)op->a);
		break;
	case RELEASES:
		real_slots[op->who].status = (int32_t)op->a;
		real_slots[op->who].took = (struct took){ op->b, op->c };
		flki_state_release(&real_state, op->who);
		break;
	case RELEASES_UNITS:
		flki_state_release_units(&real_state, op->who, op->a);
		break;
	case FORGETS:
		flki_state_forget(&real_state, op->who);
		break;
	case COMES_BACK:
	case IS_CLAIMED:
		atomic_store(&real_slots[op->who].state, IDLE);
		break;
	case DIES:
	case DIES_GUARDED:
	case COMMAND_ENDS:
		break;
	case EVICTS:
		flki_state_wake_head(&real_state);
		flki_state_evict(&real_state, op->who, CANCELLED);
		break;
	case EVICTS_ALL:
		flki_state_wake_head(&real_state);
		flki_state_evict_all(&real_state, CANCELLED);
		break;
	case SHRINKS:
		flki_state_wake_head(&real_state);
		flki_state_release_units(&real_state, op->who, op->a);
		break;
	case GROWS:
		flki_state_wake_head(&real_state);
		flki_state_reap_watched(&real_state, NIL);
		if (real_slots[op->who].state == HELD)
			flki_state_grow(&real_state, op->who, op->a);
		flki_state_grant(&real_state);
		break;
	case SWEEPS:
		flki_state_sweep_holders(&real_state);
		break;
	case REPAIRS:
		real_scramble(op->a);
		flki_state_wake_head(&real_state);
		real_state.bad = false;
		flki_state_salvage(&real_state);
		if (!flki_state_rebuild(&real_state))
			real_state.bad = true;
		break;
	case REBUILDS:
		real_scramble(op->a);
		if (!flki_state_rebuild(&real_state))
			real_state.bad = true;
		break;
	default:
		real_steers(op);
		break;
	}
}

bool
real_acts(const struct op *op)
{
	places_left = op->cut;
	if (setjmp(death) == 0)
		do_it(op);
	places_left = UNCUT;
	return op->cut == UNCUT;
}
