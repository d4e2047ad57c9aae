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

static int
refuse(const char *why)
{
	store_trouble(why);
	return -FLK_STORE;
}

int
store_set(struct flk *f, unsigned which, const struct flk_settings *to)
{
	struct engine_question q = { .kind = ASK_SET, .which = which, .to = *to };

	if ((which & FLK_SET_PACE) != 0)
		return refuse("a store keeps no pace: rate, stagger and ramp are for limiters of "
			      "one machine");
	if ((which & (FLK_SET_GATE | FLK_SET_SEATS_OFF | FLK_SET_SEATS_ON)) != 0)
		return -ENOTSUP;
	if ((which & FLK_SET_RESTORED) != 0 && to->withheld > 0)
		return -FLK_OVERRELEASE; /* a store withholds no units */
	return ask(f, &q, NULL, NULL);
}

static int
take_settings(void *context, const struct engine_answer *a)
{
	struct flk_settings *settings = context;

	*settings = a->view->set;
	if (settings->declared == 0)
		settings->declared = flk_cpus(100);
	return 0;
}

int
/* NOLINTNEXTLINE(readability-non-const-parameter): take_settings() writes there */
store_get(struct flk *f, struct flk_settings *settings)
{
	struct engine_question q = { .kind = ASK_LOOK };

	return ask(f, &q, take_settings, settings);
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

int
store_repair(struct flk *f)
{
	(void)f;
	return refuse(
	    "a store's limiter is not repaired: flocklimitctl check reports what is wrong, "
	    "and break ends a permit");
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
