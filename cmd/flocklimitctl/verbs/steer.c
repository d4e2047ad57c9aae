/* SPDX-License-Identifier: ISC */
/*
 * steer.c - the verbs pause, resume, close, open and limit, and wait.
 */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "limit_word.h"
#include "limiters.h"
#include "now.h"
#include "say.h"
#include "where.h"

/* A change to a limiter; and the same as an order to limiters that are created later. */
struct change {
	int (*make)(struct flk *, int64_t value);
	enum flk_order order;
	int64_t value;
};

static int
apply_to_one(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	     void *ctx)
{
	const struct change *change = ctx;

	if (error == 0)
		error = change->make(f, change->value);
	if (c->all && is_nothing(error))
		return DONE;
	return error == 0 ? DONE : refuse(name, path, f, error);
}

/*
 * Gives the order before it lists the limiters: a limiter that is created meanwhile either obeys
 * the order or is in the list.  If the order can't be given, the existing limiters are changed
 * anyway.
 */
static int
apply_to_all(const struct ctl *c, struct change *change)
{
	int error, status;

	error = where_order(change->order, change->value);
	if (error != 0)
		say(NULL, "new limiters: %s", explain(error));
	status = for_each(c, apply_to_one, change);
	return error != 0 ? FAILED : status;
}

static int
apply(const struct ctl *c, struct change change)
{
	if (!is_named(c))
		return FAILED;
	return c->all ? apply_to_all(c, &change) : for_each(c, apply_to_one, &change);
}

static int
set_paused(struct flk *f, int64_t value)
{
	return value != 0 ? flk_pause(f) : flk_resume(f);
}

static int
set_closed(struct flk *f, int64_t value)
{
	return value != 0 ? flk_refuse(f) : flk_admit(f);
}

int
pause_it(const struct ctl *c)
{
	return apply(c, (struct change){ set_paused, FLK_ORDER_PAUSED, 1 });
}

int
resume_it(const struct ctl *c)
{
	return apply(c, (struct change){ set_paused, FLK_ORDER_PAUSED, 0 });
}

int
close_it(const struct ctl *c)
{
	return apply(c, (struct change){ set_closed, FLK_ORDER_CLOSED, 1 });
}

int
open_it(const struct ctl *c)
{
	return apply(c, (struct change){ set_closed, FLK_ORDER_CLOSED, 0 });
}

/* ---- limit ---- */

int
limit(const struct ctl *c)
{
	struct change change = { flk_override, FLK_ORDER_LIMIT, FLK_AUTO };
	struct ctl mine = *c;
	const char *word;
	int64_t number;

	/* `limit 4' lacks the name: 4 is not the name of a limiter. */
	if (c->words == 1 && c->files == 0 && !c->all && parse_limit(c->word[0], &number))
		mine.words = 0;
	if (!c->all && !is_named(&mine))
		return FAILED;
	word = last_word(&mine);
	if (word != NULL && parse_limit(word, &change.value))
		return apply(&mine, change);
	if (word != NULL && mine.words == 1 && parse_limit(mine.word[0], &number)) {
		say(NULL, "limit: the limiter comes first: limit %s %s", word, mine.word[0]);
		return FAILED;
	}
	say(c->all ? NULL : name_of(c),
	    "limit%s%s%s: %s number from 0 to %u, N%% of the CPUs, or auto",
	    word != NULL ? " '" : "", word != NULL ? word : "", word != NULL ? "'" : "",
	    word != NULL ? "not a" : "to what? A", FLK_MAX_UNITS);
	return FAILED;
}

/* ---- wait ---- */

static int
wait_for_one(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	     void *ctx)
{
	struct flk_taker *t = NULL;

	if (error == 0 && (error = flk_taker_new(&t, f)) == 0)
		error = flk_wait_idle(t, ctx);
	/* If the file was cut short, the taker's slot is gone, and must not be touched. */
	if (error != -FLK_DAMAGED)
		flk_taker_free(t);
	if (error == 0 || (c->all && is_nothing(error)))
		return DONE;
	return error == -ETIMEDOUT ? NO : refuse(name, path, f, error);
}

int
wait_for(const struct ctl *c)
{
	struct timespec until, *deadline = NULL;

	if (c->timeout_ns != NEVER) {
		until = flki_timespec(now_ns() + c->timeout_ns);
		deadline = &until;
	}
	return is_named(c) ? for_each_at_once(c, wait_for_one, deadline) : FAILED;
}
