/* SPDX-License-Identifier: ISC */
/*
 * lender.h - the thread that lends tokens while the command runs, and calls them back.
 */
#ifndef LENDER_H
#define LENDER_H

#include <pthread.h>
#include <stdbool.h>

#include "tokens.h"

struct lender {
	struct tokens tokens; /* the caller fills in what tokens.h says */
	int notify;           /* of inotify(7), without blocking: the pipe was used */

	/* Of lender.c. */
	pthread_t thread;
	bool lends; /* there is a thread */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t change;
	struct flk_taker *asleep; /* the lender sleeps in the line */
	bool woken, ending, looked;
	bool news;  /* it must look at pipe and limiter, and not only tend its takers */
	bool lost;  /* the lender sleeps in a file that was cut short: nothing can wake it */
	int failed; /* why the lender could not begin; else 0 */
};

/*
 * Returns when the lender has lent what is free, so that the command finds it: 0; or it failed to
 * begin: a negative code.
 */
int lender_start(struct lender *l);

/* NEWS: of the pipe or the limiter. */
void lender_wake(struct lender *l, bool news);

/* False: there was no lender, or it is lost, and ends with the process. */
bool lender_end(struct lender *l);

#endif
