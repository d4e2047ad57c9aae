/* SPDX-License-Identifier: ISC */
/*
 * wait.c - the verb wait.
 */
#include "ctl.h"

#include <errno.h>

#include "limiters.h"
#include "now.h"

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
