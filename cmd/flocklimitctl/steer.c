/*
 * steer.c - the verbs that are about a limiter as a whole, and change it or wait for it.
 */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cpus.h"
#include "now.h"
#include "parse.h"
#include "say.h"

struct change {
	int (*make)(struct flk *);
};

static int
apply_to_one(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	     void *ctx)
{
	const struct change *change = ctx;

	(void)c;
	if (error == 0)
		error = change->make(f);
	return error == 0 ? DONE : refuse(name, path, f, error);
}

/* One call on each that is named. */
static int
apply(const struct ctl *c, int (*make)(struct flk *))
{
	struct change change = { .make = make };

	return is_named(c) ? for_each(c, apply_to_one, &change) : FAILED;
}

int
pause_it(const struct ctl *c)
{
	return apply(c, flk_pause);
}

int
resume_it(const struct ctl *c)
{
	return apply(c, flk_resume);
}

int
close_it(const struct ctl *c)
{
	return apply(c, flk_refuse);
}

int
open_it(const struct ctl *c)
{
	return apply(c, flk_admit);
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
	*limit = cpus((uint32_t)v);
	return true;
}

int
limit(const struct ctl *c)
{
	int rests, status, error;
	char **rest;
	int64_t to;
	struct flk *f = open_named(c, &rest, &rests, &status);

	if (f == NULL)
		return status;
	if (rests != 1 || !parse_limit(rest[0], &to)) {
		say(name_of(c), "limit%s%s%s: %s number from 0 to %u, N%% of the CPUs, or auto",
		    rests > 0 ? " '" : "", rests > 0 ? rest[rests - 1] : "", rests > 0 ? "'" : "",
		    rests > 1    ? "one only, a"
		    : rests == 1 ? "not a"
				 : "to what? A",
		    FLK_MAX_UNITS);
		status = FAILED;
	} else {
		error = flk_override(f, to);
		status = error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
	}
	flk_detach(f);
	return status;
}

/* ---- wait ---- */

int
wait_for(const struct ctl *c)
{
	struct flk_taker *t = NULL;
	struct timespec until, *deadline = NULL;
	struct flk *f;
	int status, error;

	if ((f = open_only(c, &status)) == NULL)
		return status;
	if (c->timeout_ns != NEVER) {
		uint64_t at = now_ns() + c->timeout_ns;
		until = (struct timespec){ .tv_sec = (time_t)(at / SECOND),
					   .tv_nsec = (long)(at % SECOND) };
		deadline = &until;
	}
	if ((error = flk_taker_new(&t, f)) == 0)
		error = flk_wait_idle(t, deadline);
	if (error == -ETIMEDOUT)
		status = NO;
	else
		status = error == 0 ? DONE : refuse(name_of(c), flk_path(f), f, error);
	/* Where the file was cut short, there is nothing left to leave. */
	if (error != -FLK_DAMAGED)
		flk_taker_free(t);
	flk_detach(f);
	return status;
}
