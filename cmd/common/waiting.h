/*
 * waiting.h - what people see of a wait for a permit: on a terminal, a status line after two seconds;
 * elsewhere, a line after 30 seconds, and another one each time that the wait has become twice as long.
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
	uint64_t next;  /* when there is something to show next; UINT64_MAX: never */
	bool terminal;  /* what is shown is a status line */
};

void waiting_begin(struct waiting *w, bool quiet, bool terminal);

/* Whether something is to be shown now; if so, it is due again later. */
bool waiting_is_due(struct waiting *w, uint64_t now);

/*
 * `waiting 2 s for pid 812 "ld -o app"; 3 ahead; 4 of 4 in use': in at most WIDTH columns, of which
 * the command gets what the rest leaves.  WHERE follows the time; the place may be NULL: not known.
 */
const char *waiting_text(const struct waiting *w, const struct flk_place *place, const char *where,
			 size_t width, char room[PLACE_TEXT]);

#endif
