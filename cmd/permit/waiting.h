/* SPDX-License-Identifier: ISC */
/*
 * waiting.h - what people see of a wait for a permit: on a terminal, a status line after two
 * seconds; elsewhere, a line after 30 seconds, and one more each time that the wait has doubled.
 */
#ifndef WAITING_H
#define WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"
#include "say.h"

struct waiting {
	uint64_t since; /* ns, monotonic */
	uint64_t next;  /* when there is something to show next; NEVER */
	bool terminal;  /* a status line is shown, and not lines of a log */
	bool nested;    /* this process runs under the permit of the holder that is shown */
};

void waiting_begin(struct waiting *w, bool quiet, bool terminal);

/*
 * If a holder is this process or an ancestor of it, that holder is the one to show: it may wait for us,
 * and then for ever.
 */
void waiting_look_above(struct waiting *w, struct flk *limiter, struct flk_place *place);

/* Whether the wait is to be shown now; if so, sets when it is due again. */
bool waiting_is_due(struct waiting *w, uint64_t now);

/*
 * `waiting 2 s for pid 812 "ld -o app"; 3 ahead; 4 of 4 in use': in at most WIDTH columns; the
 * command is cut to what the other parts leave.  WHERE follows the time, and KEEPS, of
 * limiter_keeps(), what time or gate it waits for.  A NULL place: not known.
 */
const char *waiting_text(const struct waiting *w, const struct flk_place *place, const char *where,
			 const char *keeps, size_t width, char room[PLACE_TEXT]);

#endif
