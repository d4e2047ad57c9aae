/*
 * steer.c - the verbs that are about a limiter as a whole, and change it or wait for it.
 */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "now.h"
#include "parse.h"
#include "say.h"

/* What to do to a limiter, and the same as an order to those that will be made. */
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
 * Gives the order before it lists the limiters: a limiter that is made meanwhile either obeys the
 * order or is in the list.  If the order can't be given, the existing limiters are steered anyway.
 */
static int
apply_to_all(const struct ctl *c, struct change *change)
{
	int error, status;

	error = flk_order(change->order, change->value);
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

bool
parse_limit(const char *word, int64_t *limit)
{
	size_t n = strlen(word);
	char number[16];
	uint64_t v;

	if (strcmp(word, "auto") == 0 || strcmp(word, "off") == 0) {
		*limit = FLK_AUTO;
		return true;
	}
	if (parse_number(word, 0, FLK_MAX_UNITS, &v)) {
		*limit = (int64_t)v;
		return true;
	}
	if (n < 2 || n > sizeof(number) || word[n - 1] != '%')
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(n - 1), word);
	if (!parse_number(number, 1, 100000, &v))
		return false;
	*limit = flk_cpus((uint32_t)v);
	return true;
}

int
limit(const struct ctl *c)
{
	struct change change = { flk_override, FLK_ORDER_LIMIT, FLK_AUTO };
	struct ctl mine = *c;
	const char *word;
	int64_t number;

	/* limit 4 */
	if (c->words == 1 && c->files == 0 && !c->all && parse_limit(c->word[0], &number))
		mine.words = 0;
	if (!c->all && !is_named(&mine))
		return FAILED;
	word = last_word(&mine);
	if (word != NULL && parse_limit(word, &change.value))
		return apply(&mine, change);
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
	/* Where the file was cut short, there is nothing left to leave. */
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
		uint64_t at = now_ns() + c->timeout_ns;
		until = (struct timespec){ .tv_sec = (time_t)(at / SECOND),
					   .tv_nsec = (long)(at % SECOND) };
		deadline = &until;
	}
	return is_named(c) ? for_each_at_once(c, wait_for_one, deadline) : FAILED;
}
