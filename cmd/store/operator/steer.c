/* SPDX-License-Identifier: ISC */
/*
 * steer.c - the operators' functions of flocklimit.h, for a store.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "wrapper/internal.h"

static int
ask(struct flk *f, const struct engine_question *q, session_take *take, void *context)
{
	struct session *d;
	int error = session_of(f, &d);

	return error != 0 ? error : session_ask(d, q, SESSION_PATIENCE, take, context);
}

int
store_steer(struct flk *f, enum flki_steering what, int64_t number)
{
	struct engine_question q = { .limit = number };

	switch (what) {
	case FLKI_STEER_LIMIT:
		q.kind = ASK_DECLARE;
		break;
	case FLKI_STEER_OVERRIDE:
		q.kind = ASK_OVERRIDE;
		break;
	case FLKI_STEER_PAUSED:
		q.kind = number != 0 ? ASK_PAUSE : ASK_RESUME;
		break;
	case FLKI_STEER_CLOSED:
		q.kind = number != 0 ? ASK_REFUSE : ASK_ADMIT;
		break;
	case FLKI_STEER_RESTORED:
		return number == 0 ? 0 : -FLK_OVERRELEASE; /* a store withholds no units */
	default:
		return -EINVAL;
	}
	return ask(f, &q, NULL, NULL);
}

int
store_remove(struct flk *f, bool steered_too)
{
	struct engine_question q = { .kind = steered_too ? ASK_REMOVE : ASK_REMOVE_UNUSED };

	return ask(f, &q, NULL, NULL);
}

int
store_evict(struct flk *f, uint64_t ticket)
{
	struct engine_question q = { .kind = ASK_CANCEL, .ticket = ticket };

	return ask(f, &q, NULL, NULL);
}

int
store_break(struct flk *f, uint64_t ticket)
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
store_check(struct flk *f, char *why, size_t size)
{
	struct engine_question q = { .kind = ASK_CHECK };
	struct report report = { .why = why, .size = size };

	return ask(f, &q, take_report, &report);
}

/* ---- what a store does not have ---- */

static int
refuse(const char *why)
{
	store_trouble(why);
	return -FLK_STORE;
}

int
store_repair(struct flk *f)
{
	(void)f;
	return refuse(
	    "a store's limiter is not repaired: flocklimitctl check reports what is wrong, "
	    "and break ends a permit");
}

int
store_set_pace(struct flk *f, const struct flk_pace *pace, unsigned which)
{
	(void)f;
	(void)pace;
	(void)which;
	return refuse("a store keeps no pace: rate, stagger and ramp are for limiters of one "
		      "machine");
}

void
store_pace(const struct flk *f, struct flk_pace *pace)
{
	(void)f;
	*pace = (struct flk_pace){ .interval_ns = 0 };
}

/* Only the keeper on the holder's machine can find the processes that keep a permit. */
size_t
/* NOLINTNEXTLINE(readability-non-const-parameter): as in flocklimit.h */
store_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room)
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
store_is_taker(struct flk *f, uint32_t slot, pid_t pid)
{
	(void)f;
	(void)slot;
	(void)pid;
	return 0;
}
