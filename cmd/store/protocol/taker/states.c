/* SPDX-License-Identifier: ISC */
/*
 * states.c - a taker's life, driven by its owner and by the loop: what it does in which state, and
 * when.  See taker.h.
 */
#include "taker.h"
#include "now.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
nothing_to_do(struct fleet_taker *t)
{
	(void)t;
}

#define BIT(state) STATE_BIT(state)
#define SOUGHT     (STATE_BIT(PERMIT_ENTERING) | STATE_BIT(PERMIT_WAITING))

/* A row of taker_deeds: its state, in which states of the permit, what it does, and what follows. */
#define ROW(state, permit, act, ...) [state] = { { #state, BIT(state), __VA_ARGS__ }, permit, act }

/* MARKING: one call leads to the next. */
/* clang-format off */
const struct taker_deeds taker_deeds = { .row = {
	ROW(IDLE, STATE_BIT(PERMIT_IDLE), nothing_to_do,
	    BIT(IDLE) | BIT(ASKING) | BIT(RECONCILE)),
	ROW(ASKING, STATE_BIT(PERMIT_ENTERING), asking_act,
	    BIT(IDLE) | BIT(MARKING) | BIT(CLAIMING)),
	ROW(MARKING, STATE_BIT(PERMIT_ENTERING), marking_act,
	    BIT(IDLE) | BIT(ASKING)),
	ROW(CLAIMING, STATE_BIT(PERMIT_ENTERING), claiming_act,
	    BIT(IDLE) | BIT(ASKING) | BIT(RECONCILE) | BIT(LOOKING) | BIT(BEHIND) | BIT(FIRST) |
	    BIT(HOLDING) | BIT(LEAVING)),
	ROW(RECONCILE, SOUGHT | STATE_BIT(PERMIT_HELD), reconcile_act,
	    BIT(IDLE) | BIT(ASKING) | BIT(RECONCILE) | BIT(FENCING) | BIT(LOOKING) | BIT(HOLDING) |
	    BIT(LEAVING) | BIT(RELEASING)),
	ROW(FENCING, SOUGHT, fencing_act,
	    BIT(IDLE) | BIT(RECONCILE) | BIT(LEAVING)),
	ROW(LOOKING, STATE_BIT(PERMIT_WAITING), looking_act,
	    BIT(IDLE) | BIT(RECONCILE) | BIT(LOOKING) | BIT(BEHIND) | BIT(FIRST) | BIT(HOLDING) |
	    BIT(LEAVING)),
	ROW(BEHIND, STATE_BIT(PERMIT_WAITING), behind_act,
	    BIT(IDLE) | BIT(RECONCILE) | BIT(LOOKING) | BIT(HOLDING) | BIT(LEAVING)),
	ROW(FIRST, STATE_BIT(PERMIT_WAITING), first_act,
	    BIT(IDLE) | BIT(RECONCILE) | BIT(LOOKING) | BIT(BEHIND) | BIT(GRANTING) | BIT(HOLDING) |
	    BIT(LEAVING)),
	ROW(GRANTING, STATE_BIT(PERMIT_WAITING), granting_act,
	    BIT(IDLE) | BIT(RECONCILE) | BIT(LOOKING) | BIT(HOLDING) | BIT(LEAVING)),
	ROW(HOLDING, STATE_BIT(PERMIT_HELD), holding_act,
	    BIT(IDLE) | BIT(LOSING) | BIT(LEAVING) | BIT(RELEASING)),
	/* A permit that was lost before its owner knew of it is sought again. */
	ROW(LOSING, SOUGHT | STATE_BIT(PERMIT_HELD), losing_act,
	    BIT(IDLE) | BIT(ASKING) | BIT(HOLDING) | BIT(LEAVING) | BIT(RELEASING)),
	ROW(LEAVING, STATE_BIT(PERMIT_LEAVING), leaving_act, BIT(IDLE)),
	ROW(RELEASING, STATE_BIT(PERMIT_RELEASING), leaving_act, BIT(IDLE)),
}, .hears = changes_hear };
/* clang-format on */

/* ---- its times ---- */

uint64_t
taker_due(const struct fleet_taker *t)
{
	if (t->unreported)
		return 0;
	return earlier(t->retry_ns, earlier(t->look_ns, t->suspects.due_ns));
}

static void
report_end(struct fleet_taker *t)
{
	t->unreported = false;
	taker_report(t, &(struct fleet_event){ .kind = t->ending, .code = t->ending_code });
}

void
taker_step(struct fleet_taker *t, uint64_t now)
{
	if (t->unreported) {
		report_end(t);
		return;
	}
	if (t->look_ns <= now) {
		t->look_ns = UINT64_MAX;
		taker_go(t, LOOKING);
	} else if (t->retry_ns <= now || t->suspects.due_ns <= now) {
		t->retry_ns = t->suspects.due_ns = UINT64_MAX;
		taker_act(t);
	}
}

/* ---- fleet.h ---- */

int
fleet_taker_new(struct fleet_taker **taker, struct fleet *fleet, const char *self,
		fleet_report *report, void *context)
{
	struct fleet_taker *t;

	*taker = NULL;
	if (fleet->limiter.s[0] == '\0' || !key_is_self(self))
		return -EINVAL;
	if ((t = calloc(1, sizeof(*t))) == NULL)
		return -ENOMEM;
	t->fleet = fleet;
	t->report = report;
	t->context = context;
	t->status = FLK_UNKNOWN;
	memcpy(t->self, self, sizeof(t->self));
	look_init(&t->look, &fleet->limiter);
	t->retry_ns = t->look_ns = t->suspects.due_ns = UINT64_MAX;
	LIST_INSERT_HEAD(&fleet->takers, t, link);
	*taker = t;
	return 0;
}

void
fleet_taker_free(struct fleet_taker *t)
{
	if (t == NULL || t->freed)
		return;
	taker_hush(t, MAIN);
	taker_hush(t, DEAD);
	watching_end_all(t);
	look_free(&t->look);
	repair_free(&t->suspects);
	taker_tally(t, NULL);
	taker_unqueue(t);
	LIST_REMOVE(t, link);
	t->freed = true;
	/* The functions that lead up to fleet_store_step() still use it. */
	if (t->fleet->store->stepping)
		LIST_INSERT_HEAD(&t->fleet->store->freed, t, link);
	else
		free(t);
}

void
fleet_enter(struct fleet_taker *t, const struct fleet_want *want)
{
	t->want = *want;
	if (t->want.weight == 0)
		t->want.weight = 1;
	taker_go(t, ASKING);
}

void
fleet_adopt(struct fleet_taker *t, const struct fleet_want *want, bool held)
{
	t->want = *want;
	if (t->want.weight == 0)
		t->want.weight = 1;
	t->adopted = true;
	t->held = held;
	taker_go(t, RECONCILE);
}

void
fleet_leave(struct fleet_taker *t)
{
	leave_begin(t, FLEET_LEFT, 0);
}

void
fleet_ended(struct fleet_taker *t, int32_t status, uint64_t memory, uint64_t cpu_ns)
{
	t->status = status;
	t->memory = memory;
	t->cpu_ns = cpu_ns;
}

void
fleet_release(struct fleet_taker *t)
{
	leave_begin(t, FLEET_RELEASED, 0);
}
