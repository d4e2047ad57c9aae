/* SPDX-License-Identifier: ISC */
/*
 * operators.c - operators, who steer the limiter and end takers.
 *
 * What an operator was answered is so.  A question without an answer leaves its effect open for the
 * rest of the history: the store may still do it later.
 */
#include <errno.h>

#include "setting.h"
#include "sim.h"

#define PATIENCE (10 * SECOND)

static struct machine *
office(void)
{
	return &sim.machine[sim.plan.machines];
}

static void
ask(const struct fleet_question *q, fleet_answers *answers)
{
	sim.asking++;
	running = &office()->clock;
	fleet_ask(office()->fleet, q, PATIENCE, answers, NULL);
	running = NULL;
	machine_wake(office());
}

/* ---- to steer ---- */

static struct flk_settings wanted; /* by the question under way */
static unsigned wanted_which;

static void
steered(void *context, const struct fleet_answer *a)
{
	(void)context;
	sim.asking--;
	trace("operator: is answered %d", a->code);
	if (a->code == -ENOENT) /* there is nothing to steer */
		return;
	if (a->code != 0) {
		sim.unsure = true;
		return;
	}
	if ((wanted_which & FLK_SET_OVERRIDE) != 0)
		sim.override = wanted.override;
	if (wanted_which != FLK_SET_OVERRIDE)
		sim.shut = wanted.paused || wanted.closed;
}

static void
steer(unsigned which, const struct flk_settings *to)
{
	struct fleet_question q = { .kind = ASK_SET, .which = which, .to = *to };

	wanted = *to;
	wanted_which = which;
	sim.steered = true;
	if ((which & FLK_SET_OVERRIDE) != 0) {
		sim.overridden = true;
		sim.override = FLK_AUTO;
	}
	if (which != FLK_SET_OVERRIDE) {
		sim.shut = false;
		sim.closed |= to->closed;
	}
	ask(&q, steered);
}

/* ---- to end takers, and to look ---- */

static void
answered(void *context, const struct fleet_answer *a)
{
	(void)context;
	(void)a;
	sim.asking--;
}

static struct taker *
some_taker(void)
{
	return &sim.taker[chance_below(sim.plan.takers)];
}

static void
cancel(struct taker *t)
{
	struct fleet_question q = { .kind = ASK_CANCEL, .ticket = (uint64_t)t->place };

	if (t->place == 0)
		return;
	trace("operator: cancels t%u", t->number);
	t->cancelled = true;
	ask(&q, answered);
}

void
operator_break(struct taker *t)
{
	struct fleet_question q = { .kind = ASK_BREAK, .ticket = (uint64_t)t->permit };

	if (t->permit == 0)
		return;
	trace("operator: breaks t%u", t->number);
	t->broken = true;
	ask(&q, answered);
}

/* ---- to follow ---- */

/* Once it has begun, it must report each grant, and none that the store did not make. */
static void
happens(void *context, const struct flk_event *e, const char *host)
{
	(void)context;
	(void)host;
	if (e->kind == 0 || e->kind == FLK_EV_GRANTED)
		trace("follower: %s %llu", e->kind == 0 ? "begins or ends" : "ticket",
		      (unsigned long long)e->ticket);
	if (e->kind == 0 && e->code == 0)
		sim.followed = true;
	else if (e->kind == 0)
		breaks(FOLLOWED, "the follower ends with %d", e->code);
	else if (e->kind == FLK_EV_GRANTED && (int64_t)e->ticket > sim.granted)
		breaks(FOLLOWED, "a grant of ticket %llu is reported that nobody has",
		       (unsigned long long)e->ticket);
	else if (e->kind == FLK_EV_GRANTED)
		sim.reported++;
}

/* ---- all day ---- */

static void
something(struct act *act)
{
	static const enum fleet_ask_kind looks[] = { ASK_LOOK, ASK_CHECK, ASK_LIST,
						     ASK_REMOVE_UNUSED };
	struct fleet_question q = { .kind = looks[chance_below(4)] };
	struct flk_settings to = flki_no_settings;

	(void)act;
	if (sim.calm)
		return;
	later(chance_below(6 * SECOND), something, NULL, 0);
	if (sim.asking > 0)
		return;
	switch (chance_below(8)) {
	case 0:
		to.override = chance_of(300) ? FLK_AUTO : (int64_t)chance_below(5);
		trace("operator: sets the override %lld", (long long)to.override);
		steer(FLK_SET_OVERRIDE, &to);
		break;
	case 1:
	case 2:
		to.paused = chance_of(500);
		trace("operator: %s", to.paused ? "pauses" : "resumes");
		steer(FLK_SET_PAUSED, &to);
		break;
	case 3:
		to.closed = chance_of(300);
		trace("operator: %s", to.closed ? "closes" : "opens");
		steer(FLK_SET_CLOSED, &to);
		break;
	case 4:
		cancel(some_taker());
		break;
	case 5:
		operator_break(some_taker());
		break;
	default:
		ask(&q, answered);
	}
}

void
operators_begin(void)
{
	if (!sim.plan.operators)
		return;
	later(chance_below(3 * SECOND), something, NULL, 0);
	running = &office()->clock;
	fleet_follow(office()->fleet, happens, NULL);
	running = NULL;
	machine_wake(office());
}

/* ---- the end ---- */

/*
 * Takes back what operators have set, and breaks what only they may: the permits of the dead, where
 * takers said so.  Again and again, as what was asked for before may come late.
 */
static void
tidy(struct act *act)
{
	const struct flk_settings none = flki_no_settings;
	unsigned i;

	if (act->which == 0 || office()->store == NULL)
		return;
	later(10 * SECOND, tidy, NULL, act->which - 1);
	if (sim.plan.operators && act->which % 4 == 0)
		steer(FLK_SET_OVERRIDE | FLK_SET_PAUSED | FLK_SET_CLOSED, &none);
	for (i = 0; sim.plan.manual && i < sim.takers; i++)
		if (taker_is_over(&sim.taker[i]))
			operator_break(&sim.taker[i]);
}

void
operators_settle(void)
{
	later(0, tidy, NULL, sim.plan.operators || sim.plan.manual ? 40 : 0);
}

static void
checked(void *context, const struct fleet_answer *a)
{
	(void)context;
	sim.asking--;
	sim.checked = true;
	if (a->code != 0 && a->code != -ENOENT)
		breaks(WHOLE, "%d: %s", a->code, a->text != NULL ? a->text : "");
}

void
operators_check(void)
{
	struct fleet_question q = { .kind = ASK_CHECK };

	ask(&q, checked);
}

void
operators_leave(void)
{
	if (!sim.checked)
		breaks(WHOLE, "the check is not answered");
	if (sim.reported < sim.followable && !sim.plan.faults[FORGETS])
		breaks(FOLLOWED, "of %lu grants, %lu are reported", sim.followable, sim.reported);
}
