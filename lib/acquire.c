/* SPDX-License-Identifier: ISC */
/*
 * acquire.c - a permit in one call: the taker joins the line, waits, and leaves the line if it does
 * not get the permit.  It calls only what both implementations of flocklimit.h have.
 */
#include <errno.h>

#include "clock.h"
#include "flocklimit.h"
#include "share.h"

int
flki_acquire(struct flk_taker *t, const struct flk_request *want, uint64_t until, flki_waits *waits,
	     void *context)
{
	int error = flki_queue(t, want, until);

	if (error == -EINPROGRESS)
		error = flki_await(t, want, until, NULL, waits, context);
	/* A busy taker keeps the place or permit of an earlier call, and a stranger has none. */
	if (error != 0 && error != -FLK_BUSY && error != -FLK_STRANGER)
		flk_leave(t);
	return error;
}

int
flk_acquire(struct flk_taker *t, const struct flk_request *want, const struct timespec *deadline)
{
	return flki_acquire(t, want, flki_deadline_ns(deadline), NULL, NULL);
}

int
flk_acquire_for(struct flk_taker *t, const struct flk_request *want, int64_t ms)
{
	uint64_t now;

	/* A span that the caller computed and that has run out must not become "for ever". */
	if (ms < -1)
		return -EINVAL;
	if (ms == -1)
		return flk_acquire(t, want, NULL);
	if (ms == 0)
		return flk_try(t, want);
	now = flki_monotonic_ns();
	return flki_acquire(
	    t, want, (uint64_t)ms < (UINT64_MAX - now) / MS ? now + (uint64_t)ms * MS : UINT64_MAX,
	    NULL, NULL);
}
