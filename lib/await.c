/* SPDX-License-Identifier: ISC */
/*
 * await.c - the wait in the line, with what a caller does meanwhile: it shows the wait, and answers
 * the taker's own question.  It calls only what both implementations of flocklimit.h have.
 */
#include <errno.h>

#include "clock.h"
#include "flocklimit.h"
#include "share.h"

int
flki_await(struct flk_taker *t, const struct flk_request *want, uint64_t until,
	   const sigset_t *mask, flki_waits *waits, void *context)
{
	struct timespec deadline;
	uint64_t next;
	int error;

	do {
		next = waits != NULL ? waits(context, t) : UINT64_MAX;
		next = next < until ? next : until;
		deadline = flki_timespec(next);
		error = flk_wait(t, next == UINT64_MAX ? NULL : &deadline, mask);
		if (error == -FLK_ASK)
			flk_answer(t, want->ask(want->ask_context));
	} while (error == -FLK_ASK || (error == -ETIMEDOUT && flki_monotonic_ns() < until));
	return error;
}
