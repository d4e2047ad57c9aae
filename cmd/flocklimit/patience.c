/* SPDX-License-Identifier: ISC */
#include "patience.h"

#include "now.h"
#include "say.h"
#include "signals.h"
#include "stuck.h"
#include "taker_options.h"

#define BEFORE (2 * SECOND) /* the library waits for so long before it calls us */

bool
patience_stuck(void *patience, pid_t pid)
{
	struct patience *p = patience;
	uint64_t now = now_ns(), timeout = p->want->timeout_ns;
	char why[STUCK_TEXT];

	if (p->is_over)
		return false;
	if (p->since == 0)
		p->since = now > BEFORE ? now - BEFORE : 1;
	if (timeout != NEVER && now - p->since >= timeout)
		return false;
	if (!p->quiet && p->said != pid)
		say(p->want->limiter, "waiting: %s", stuck_text(pid, why));
	p->said = pid;
	/*
	 * We are not inside the region: a signal that could end or stop us in the line may do so
	 * here.
	 */
	signals_mask(SIG_SETMASK, p->mask, NULL);
	signals_block();
	return true;
}
