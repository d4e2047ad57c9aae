/*
 * elsewhere.h - limiters that are kept in a store, for many machines.
 *
 * A store is a program of its own, store-SCHEME, which has the same commands in it and another
 * keeper of limiters below them: here it is found, and becomes this process.
 */
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

#include <stddef.h>
#include <stdint.h>

struct want;

/* Of the command line, as it was typed; NULL: not given.  The store's program looks into them. */
struct elsewhere {
	const char *url;   /* --store */
	const char *local; /* --local */
	const char *ttl, *grace, *on_lost, *reclaim;
};

/* Beyond flocklimit.h, what only a store can have to say. */
enum {
	FLK_STORE = 4352, /* what is wrong with the store: flk_strerror() has just the sentence */
	FLK_LOST          /* the permit was lost while it was held */
};

#define LOST_STATUS 76 /* what a command ends with that lost its permit */

/*
 * Becomes the program of the store that is meant, with the same arguments.  Returns -1 if the
 * limiter is of this machine, or the status to exit with, and why was said.
 */
int elsewhere(const struct want *w, char **argv);

#endif
