/* SPDX-License-Identifier: ISC */
/*
 * store_exec.h - from --store to the program of that store.
 *
 * Limiters for many machines are kept in a store.  For each kind of store there is a program,
 * store-SCHEME, which contains the same commands, but for limiters of that store.  store_exec()
 * finds it, and executes it in this process.
 */
#ifndef STORE_EXEC_H
#define STORE_EXEC_H

struct taker_options;

/* The options for stores, as they were typed; NULL: not given.  The store's program parses them. */
struct store_options {
	const char *url;   /* --store */
	const char *local; /* --local */
	const char *ttl, *grace, *on_lost, *reclaim;
};

/* Codes beyond those of flocklimit.h, which only a store returns. */
enum {
	FLK_STORE = 4352, /* what is wrong with the store: flk_strerror() has just the sentence */
	FLK_LOST          /* the permit was lost while it was held */
};

#define LOST_STATUS 76 /* the exit status when a command lost its permit */

/*
 * Executes the program of the store that the options or the environment name, with the same
 * arguments.  Returns -1 if the limiter is kept on this machine; else, after a line, the status to
 * exit with.
 */
int store_exec(const struct taker_options *w, char **argv);

#endif
