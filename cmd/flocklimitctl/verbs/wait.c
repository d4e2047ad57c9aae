/* SPDX-License-Identifier: ISC */
/*
 * wait.c - the verb wait.
 */
#include "ctl.h"

#include <errno.h>

#include "limiters.h"
#include "now.h"

static int
wait_for_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct flk_taker *t = NULL;
	int error = v->error;

	(void)c;
	if (error == 0 && (error = flk_taker_new(&t, v->f)) == 0)
		error = flk_wait_idle(t, ctx);
	/* If the file was cut short, the taker's slot is gone, and must not be touched. */
	if (error != -FLK_DAMAGED)
		flk_taker_free(t);
	return error == -ETIMEDOUT ? NO : error;
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
