/* SPDX-License-Identifier: ISC */
/*
 * also.h - the limiters of --and, of which the command holds permits as well.
 *
 * Every taker takes its permits in one order, that of the limiters' identities, and the limiter of
 * -N is one of them.  So of the takers that hold one permit and wait for another, the one that waits
 * for the limiter that is last in that order waits for no other of them: they cannot wait in a circle.
 */
#ifndef ALSO_H
#define ALSO_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "environment.h"
#include "flocklimit.h"
#include "limiter.h"
#include "options.h"
#include "patience.h"
#include "run.h"
#include "spawn.h"

/* One of them. */
struct also {
	struct options o; /* flocklimit's, with what the taker wants of this limiter */
	char path[LIMITER_NAME];
	struct patience patience;
	struct flk *limiter;
	struct flk_taker *taker;
	struct flk_permit permit;
	uint64_t identity;
	bool joined; /* under a permit that we run under already */
};

struct alsos {
	struct also *of[AND_MOST]; /* in the order in which they are taken */
	struct heir heir[AND_MOST];
	unsigned n;
	const struct also *failed; /* the one because of which there is no permit */
	bool refused;              /* and a line was printed */
};

/* Before all other calls, and before there is a limiter: 0 or a code. */
int also_read(struct alsos *a, const struct options *o);

/*
 * Opens them, and finds out which the command runs under already.  `main' is the limiter of -N.
 * PROGRAM: NULL, or what must be executable before a limiter is created; *cannot_run: why it is not.
 */
int also_open(struct alsos *a, struct flk *main, const sigset_t *mask, const char *program,
	      int *cannot_run);

/*
 * Takes those whose identities are from FROM to TO.  `main' is the taker of -N.  `deadline' is line_take()'s, and one for all.
 */
int also_take(struct alsos *a, struct flk_taker *main, uint64_t from, uint64_t to,
	      const struct flk_request *want, uint64_t *deadline, const sigset_t *mask);

/* In each limiter of which a permit is held, also main's: its owner waits for LIMITER; NULL: no more. */
void also_waits_for(const struct alsos *a, struct flk_taker *main, const char *limiter);

/* All are taken: ties them to guards, which the heritage then has. */
int also_guard(struct alsos *a, struct heritage *h);

/* Releases those from FROM to TO, the last first. */
void also_release(struct alsos *a, uint64_t from, uint64_t to);

void also_ended(struct alsos *a, const struct ending *end);
void also_entrust(struct alsos *a);

/* Releases what is held, and closes the limiters. */
void also_close(struct alsos *a);

/* Appends their links to FLOCKLIMIT_HELD's. */
void also_links(const struct alsos *a, char links[HELD_LINK * (AND_MOST + 1)]);

/* Prints why there is no permit; the status to exit with. */
int also_refuse(const struct alsos *a, int code);

#endif
