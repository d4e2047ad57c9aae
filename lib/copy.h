/* SPDX-License-Identifier: ISC */
/*
 * copy.h - a copy in memory of a limiter that its readers do not map.
 */
#ifndef FLKI_COPY_H
#define FLKI_COPY_H

#include <stdbool.h>

#include "layout.h"

struct flk;
struct state;

union flki_page {
	struct header h;
	char bytes[HEADER];
};

/* The header as it is now, of which no number is to be believed: 0, or a code. */
int flki_copy_header(const struct flk *f, union flki_page *page);

/*
 * One look at f: all of it, in `look', which has memory of its own, as threads that share f do not share
 * their looks.  torn: takers may have changed the file meanwhile.  0, or a code.
 */
int flki_copy(const struct flk *f, struct flk *look, bool *torn);
void flki_copy_free(struct flk *look);

/* The state of a look, as a taker would find it, but that nothing starts, and nothing is counted. */
int flki_copy_enter(struct flk *look, struct state *st);

#endif
