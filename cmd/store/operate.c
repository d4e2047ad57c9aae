/*
 * operate.c - what flocklimit.h has for operators, in a store.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "desk.h"
#include "internal.h"
#include "operate.h"

static int
ask(struct flk *f, const struct engine_question *q, desk_take *take, void *context)
{
	struct desk *d;
	int error = desk_of(f, &d);

	return error != 0 ? error : desk_ask(d, q, DESK_PATIENCE, take, context);
}

static int
steer(struct flk *f, enum engine_ask_kind kind, int64_t limit)
{
	struct engine_question q = { .kind = kind, .limit = limit };

	return ask(f, &q, NULL, NULL);
}

int
flk_set_limit(struct flk *f, uint32_t limit)
{
	return limit < 1 || limit > FLK_MAX_UNITS ? -EINVAL : steer(f, ASK_DECLARE, limit);
}

int
flk_override(struct flk *f, int64_t limit)
{
	if (limit != FLK_AUTO && (limit < 0 || limit > FLK_MAX_UNITS))
		return -EINVAL;
	return steer(f, ASK_OVERRIDE, limit);
}

int
flk_pause(struct flk *f)
{
	return steer(f, ASK_PAUSE, 0);
}

int
flk_resume(struct flk *f)
{
	return steer(f, ASK_RESUME, 0);
}

int
flk_refuse(struct flk *f)
{
	return steer(f, ASK_REFUSE, 0);
}

int
flk_admit(struct flk *f)
{
	return steer(f, ASK_ADMIT, 0);
}

int
flk_remove(struct flk *f)
{
	return steer(f, ASK_REMOVE, 0);
}

int
flk_remove_unused(struct flk *f)
{
	return steer(f, ASK_REMOVE_UNUSED, 0);
}

int
flk_evict(struct flk *f, uint64_t ticket)
{
	struct engine_question q = { .kind = ASK_CANCEL, .ticket = ticket };

	return ask(f, &q, NULL, NULL);
}

int
operate_break(struct flk *f, uint64_t ticket)
{
	struct engine_question q = { .kind = ASK_BREAK, .ticket = ticket };

	return ask(f, &q, NULL, NULL);
}

/* ---- is it whole? ---- */

struct report {
	char *why;
	size_t size;
};

static int
take_report(void *context, const struct engine_answer *a)
{
	const struct report *r = context;

	if (r->size > 0)
		snprintf(r->why, r->size, "%s", a->code != 0 ? a->text : "");
	return a->code;
}

int
/* NOLINTNEXTLINE(readability-non-const-parameter): take_report() writes there */
flk_check(struct flk *f, char *why, size_t size)
{
	struct engine_question q = { .kind = ASK_CHECK };
	struct report report = { .why = why, .size = size };

	return ask(f, &q, take_report, &report);
}

/* ---- what a store has not ---- */

static int
refuse(const char *why)
{
	trouble(why);
	return -FLK_STORE;
}

int
flk_repair(struct flk *f)
{
	(void)f;
	return refuse("a store's limiter is not repaired: flocklimitctl check tells what is wrong, "
		      "and break ends a permit");
}

int
flk_discard(const char *name)
{
	(void)name;
	return refuse("a store has no file that could be removed");
}

int
flk_restore(struct flk *f, uint32_t units)
{
	(void)f;
	return units == 0 ? 0 : -FLK_OVERRELEASE; /* nothing is ever withheld */
}

int
flk_order(enum flk_order order, int64_t value)
{
	/* There is none that could be taken back. */
	if (value == (order == FLK_ORDER_LIMIT ? FLK_AUTO : 0))
		return 0;
	return refuse("a store keeps no orders for new limiters: existing ones have this order, "
		      "new ones start as usual");
}

int
flk_orders(struct flk_orders *orders)
{
	*orders = (struct flk_orders){ .override = FLK_AUTO };
	return 0;
}

int
flk_set_pace(struct flk *f, const struct flk_pace *pace, unsigned which)
{
	(void)f;
	(void)pace;
	(void)which;
	return refuse("a store keeps no pace: rate, stagger and ramp are for limiters of one "
		      "machine");
}

void
flk_pace(const struct flk *f, struct flk_pace *pace)
{
	(void)f;
	*pace = (struct flk_pace){ .interval_ns = 0 };
}

/* Who keeps a permit is known to the keeper on its machine, and only as long as it asks. */
size_t
/* NOLINTNEXTLINE(readability-non-const-parameter): as in flocklimit.h */
flk_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room)
{
	(void)f;
	(void)slot;
	(void)pid;
	(void)room;
	return 0;
}

/* A store has no slots. */
int
/* NOLINTNEXTLINE(readability-non-const-parameter): as in flocklimit.h */
flk_is_taker(struct flk *f, uint32_t slot, pid_t pid)
{
	(void)f;
	(void)slot;
	(void)pid;
	return 0;
}
