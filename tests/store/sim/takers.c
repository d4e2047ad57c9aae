/* SPDX-License-Identifier: ISC */
/*
 * takers.c - takers, as their wrappers see them: they enter, run a command while they hold, and give
 * the permit back; their keepers tell them what becomes of them.
 *
 * A command may run from the report of the grant until it ends by itself, until the taker is told
 * that the permit is lost, or until its deadline, whichever comes first.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kind.h"
#include "sim.h"

static const char *const kinds[] = {
	[FLEET_QUEUED] = "queued",     [FLEET_GRANTED] = "granted", [FLEET_REFUSED] = "refused",
	[FLEET_RENEWED] = "renewed",   [FLEET_LOST] = "lost",       [FLEET_LEFT] = "left",
	[FLEET_RELEASED] = "released", [FLEET_AWAY] = "away",       [FLEET_BACK] = "back",
	[FLEET_NOTE] = "note"
};

bool
taker_is_over(const struct taker *t)
{
	return t->stage == ENDED || t->stage == DEAD;
}

bool
taker_runs(const struct taker *t)
{
	return t->stage == RUNS && !t->broken && !t->machine->suspended &&
	       (sim.plan.manual || clock_shows(&t->machine->clock) < expiry_deadline(&t->expiry));
}

static void
over(struct taker *t, enum stage stage)
{
	if (!taker_is_over(t))
		sim.open--;
	t->stage = stage;
	t->wished = false;
}

/* It is told that the store has nothing of it any more. */
static void
has_nothing(const struct taker *t, const struct fleet_event *e)
{
	if (t->place != 0 || t->permit != 0)
		breaks(TOLD, "t%u is %s, and the store has its %s", t->number, kinds[e->kind],
		       t->permit != 0 ? "permit" : "place");
}

static void
finish(struct taker *t, const struct fleet_event *e)
{
	has_nothing(t, e);
	t->unclaimed = false;
	fleet_taker_free(t->kept);
	t->kept = NULL;
	over(t, ENDED);
}

/* ---- what its keeper is asked to do ---- */

/* Its keeper does it when it runs; without a keeper, the next one does. */
static void
wish(struct taker *t, enum stage stage)
{
	t->stage = stage;
	t->wished = true;
	machine_wake(t->machine);
}

void
taker_obey(struct taker *t)
{
	if (!t->wished || t->kept == NULL)
		return;
	t->wished = false;
	if (t->stage == RELEASING) {
		fleet_ended(t->kept, 0, 0, 0);
		fleet_release(t->kept);
	} else if (t->stage == LEAVING) {
		fleet_leave(t->kept);
	}
}

/* ---- its own times ---- */

static bool
is_stale(const struct act *act)
{
	const struct taker *t = act->who;

	return act->which != t->round;
}

static void
command_ends(struct act *act)
{
	struct taker *t = act->who;

	if (is_stale(act) || t->stage != RUNS)
		return;
	trace("t%u: its command ends", t->number);
	if (t->bereft && !t->row.used)
		over(t, ENDED); /* only the keeper knew of it */
	else
		wish(t, RELEASING);
}

static void
gives_up(struct act *act)
{
	struct taker *t = act->who;

	if (is_stale(act) || (t->stage != ENTERING && t->stage != WAITING))
		return;
	trace("t%u: gives up", t->number);
	wish(t, LEAVING);
}

/* At its deadline its command is killed, and the permit given back. */
static void
deadline(struct act *act)
{
	struct taker *t = act->who;
	uint64_t at = expiry_deadline(&t->expiry);

	if (is_stale(act) || t->stage != RUNS || sim.plan.manual)
		return;
	if (clock_shows(&t->machine->clock) < at || t->machine->suspended) {
		uint64_t when = clock_when(&t->machine->clock, at);

		later(when > true_ns && when != NEVER ? when - true_ns : 100 * MS, deadline, t,
		      t->round);
		return;
	}
	trace("t%u: its command is killed at its deadline", t->number);
	sim.losses++;
	wish(t, RELEASING);
}

/* ---- what it is told ---- */

static void enter(struct taker *t);

static void
told_of_grant(struct taker *t, const struct fleet_event *e)
{
	if (t->stage != ENTERING && t->stage != WAITING && t->stage != RUNS)
		return;
	if (t->stage == RUNS) { /* by another keeper */
		expiry_renew(&t->expiry, e->alive_ns);
		return;
	}
	sim.grants++;
	t->ticket = e->ticket;
	t->under = e->limit;
	t->seat = e->seat;
	t->stage = RUNS;
	expiry_begin(&t->expiry, sim.plan.ttl_s, sim.plan.grace_s, false, e->alive_ns);
	law_granted(t, e);
	later(sim.calm ? chance_below(SECOND) : chance_below(sim.plan.hold_ns), command_ends, t,
	      t->round);
	later(100 * MS, deadline, t, t->round);
}

static void
told_of_refusal(struct taker *t, const struct fleet_event *e)
{
	/* A keeper died before the store knew of the taker: it enters anew. */
	if (e->code == -FLK_NOPERMIT && t->stage != LEAVING && t->stage != RELEASING) {
		has_nothing(t, e);
		fleet_taker_free(t->kept);
		enter(t);
		return;
	}
	sim.refusals++;
	if (e->code == -FLK_STORE)
		breaks(TOLD, "t%u is refused: %s", t->number, e->text);
	finish(t, e);
}

static bool deaf;

void
taker_deafen(bool is_deaf)
{
	deaf = is_deaf;
}

/* Before its wrapper hears of it. */
static void
write_row(struct taker *t, const struct fleet_event *e)
{
	if (e->kind == FLEET_GRANTED)
		t->row.held = true;
	else if (e->kind == FLEET_REFUSED || e->kind == FLEET_LOST || e->kind == FLEET_LEFT ||
		 e->kind == FLEET_RELEASED)
		t->row.used = false;
}

/*
 * Its wrapper has yet to come, and will ask; or it was killed, and the keeper does not know that it has left
 * a command behind.
 */
static bool
is_unheard(struct taker *t, const struct fleet_event *e)
{
	if (!t->unclaimed || (t->bereft && (t->stage != RUNS || t->row.held)))
		return false;
	if (!t->row.used) {
		has_nothing(t, e);
		fleet_taker_free(t->kept);
		t->kept = NULL;
		t->unclaimed = false;
	}
	return true;
}

static void
told(void *context, const struct fleet_event *e)
{
	struct taker *t = context;

	if (deaf)
		return;
	write_row(t, e);
	if (is_unheard(t, e))
		return;
	trace("t%u: %s, ticket %llu, code %d%s%s", t->number, kinds[e->kind],
	      (unsigned long long)e->ticket, e->code, e->text != NULL ? ": " : "",
	      e->text != NULL ? e->text : "");
	switch (e->kind) {
	case FLEET_QUEUED:
		t->ticket = e->ticket;
		if (t->stage == ENTERING)
			t->stage = WAITING;
		break;
	case FLEET_GRANTED:
		told_of_grant(t, e);
		break;
	case FLEET_RENEWED:
		if (t->stage == RUNS)
			expiry_renew(&t->expiry, e->alive_ns);
		break;
	case FLEET_REFUSED:
		told_of_refusal(t, e);
		break;
	case FLEET_LOST:
		sim.losses++;
		finish(t, e);
		break;
	case FLEET_LEFT:
	case FLEET_RELEASED:
		finish(t, e);
		break;
	default:
		break;
	}
}

/* ---- its beginning ---- */

/* By a name that no taker ever had: its last six digits are its number. */
static void
enter(struct taker *t)
{
	t->round++;
	snprintf(t->self, sizeof(t->self), "%010llx%06x",
		 (unsigned long long)(chance() & 0xffffffffff), t->number);
	t->cancelled = t->broken = false;
	t->place = t->permit = t->granted = t->left_at = 0;
	t->stage = ENTERING;
	t->ticket = 0;
	if (fleet_taker_new(&t->kept, t->machine->fleet, t->self, told, t) != 0)
		breaks(TOLD, "no taker %s", t->self);
	t->row.used = true;
	t->row.held = false;
	trace("t%u: enters as %s, weight %u, limit %u%s", t->number, t->self, t->want.weight,
	      t->want.limit, t->want.no_wait ? ", no wait" : "");
	fleet_enter(t->kept, &t->want);
	if (sim.plan.leavers && !sim.calm && chance_of(300))
		later(chance_below(chance_of(500) ? 20 * SECOND : SECOND), gives_up, t, t->round);
}

void
taker_comes(struct act *act)
{
	struct taker *t = act->who;
	struct machine *m = t->machine;

	if (m->dead) {
		over(t, DEAD);
		return;
	}
	if (m->store == NULL || m->stopped || m->suspended) {
		later(500 * MS, taker_comes, t, 0);
		return;
	}
	running = &m->clock;
	enter(t);
	running = NULL;
	machine_wake(m);
}

/* ---- without its keeper ---- */

void
taker_orphan(struct taker *t)
{
	t->kept = NULL;
	t->unclaimed = false;
	if (t->machine->dead && t->stage != COMING && !taker_is_over(t))
		over(t, DEAD);
}

/* With its wrapper goes its place, but not its permit, as long as its command runs. */
static void
carry_on_alone(struct taker *t)
{
	if (t->kept != NULL && (t->stage == ENTERING || t->stage == WAITING))
		wish(t, LEAVING);
	else if (t->kept != NULL && t->unclaimed && t->stage == RUNS && !t->row.held)
		fleet_leave(t->kept);
}

void
taker_bereave(struct taker *t)
{
	if (t->bereft || t->stage == COMING || taker_is_over(t))
		return;
	trace("t%u: its wrapper is killed", t->number);
	t->bereft = true;
	if (!t->row.used && t->stage != RUNS) {
		over(t, DEAD); /* it was about to ask anew */
		return;
	}
	running = &t->machine->clock;
	carry_on_alone(t);
	running = NULL;
}

void
taker_restore(struct taker *t)
{
	bool held = t->row.held && (error == NULL || !error->no_grants);

	if (t->kept != NULL || taker_is_over(t) || !t->row.used)
		return;
	if (error != NULL && error->no_ledger) {
		if (t->bereft)
			over(t, DEAD);
		return;
	}
	trace("t%u: is restored%s", t->number, held ? ", holding" : "");
	if (fleet_taker_new(&t->kept, t->machine->fleet, t->self, told, t) != 0)
		breaks(TOLD, "no taker %s", t->self);
	t->unclaimed = true;
	t->row.held = held;
	fleet_adopt(t->kept, &t->want, held);
	if (t->bereft)
		carry_on_alone(t);
	if (t->stage == LEAVING || t->stage == RELEASING)
		t->wished = true;
}

/* If it stands in for its wrapper, the wrapper's word counts. */
void
taker_adopt(struct taker *t)
{
	bool held = t->stage == RUNS || t->stage == RELEASING;

	if (t->bereft || t->stage == COMING || taker_is_over(t))
		return;
	if (t->unclaimed) {
		fleet_taker_free(t->kept);
		t->kept = NULL;
		t->unclaimed = false;
	}
	if (t->kept != NULL)
		return;
	t->row.used = true;
	t->row.held = held;
	trace("t%u: is adopted%s", t->number, held ? ", holding" : "");
	if (fleet_taker_new(&t->kept, t->machine->fleet, t->self, told, t) != 0)
		breaks(TOLD, "no taker %s", t->self);
	fleet_adopt(t->kept, &t->want, held);
	if (t->stage == LEAVING || t->stage == RELEASING)
		t->wished = true;
}
