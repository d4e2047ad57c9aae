/* SPDX-License-Identifier: ISC */
/*
 * line.h - waiting in the line: until the permit is granted, time is up, or a signal comes.
 */
#ifndef LINE_H
#define LINE_H

#include <signal.h>
#include <stdint.h>

#include "flocklimit.h"

struct options;

/*
 * What line_take() calls when a signal ends this process, so that the permits which it holds already
 * are released; NULL: nothing.
 */
void line_at_signal(void (*release)(void));

/*
 * Takes the permit; 0, or the library's code, after a line that says why.  *deadline is when to
 * give up (ns, monotonic; 0 before the first call).  A signal that ends the wait ends this process,
 * as it would end the command without us.
 */
int line_take(struct flk_taker *t, const struct options *o, const struct flk_request *want,
	      uint64_t *deadline, const sigset_t *mask);

/*
 * The same wait of a process that a keeper waits for, in that slot: until it can be read from ANSWERS, or
 * -ETIMEDOUT.  The taker is ours, and does not wait.  Says nothing about the end: see line_say().
 */
int line_wait_kept(struct flk_taker *t, const struct options *o, int answers, uint32_t slot,
		   uint64_t *deadline, const sigset_t *mask);

/* Says why there is no permit, or with -v how long the wait took. */
void line_say(struct flk_taker *t, const struct options *o, int code, const uint32_t *slot,
	      double waited);

#endif
