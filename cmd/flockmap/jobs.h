/* SPDX-License-Identifier: ISC */
/*
 * jobs.h - all jobs of one flockmap, and what happens to each.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"
#include "job.h"
#include "options.h"
#include "several.h"
#include "source.h"

#define FAILED      125
#define ITEM_FAILED 123

struct jobs {
	struct options o;
	struct job_context context;
	struct source source;
	_Atomic pid_t stuck; /* 1 + the process that was said to keep everyone out */
	_Atomic int status;  /* to exit with, the first that is not 0 */

	/* How many failed jobs had a line of their own. */
	_Atomic uint64_t said;

	struct several several; /* for --and */

	/* The last job that got no permit, for a line about it; and to run, with --or-run. */
	uint64_t dropped;
	uint32_t dropped_weight;
	struct job *again;
};

/* Sets the status to exit with, unless it is set already. */
void jobs_settle(struct jobs *a, int status);

void jobs_cannot_run(const struct jobs *a, const char *program, int error);

/*
 * For struct flk_map_options: what --and takes before its permit; the next item; when to call again
 * while it waits; its run, in a thread of its own; its end, in order; its end without a permit.
 */
int jobs_before(void *jobs, void *item, struct flk *limiter);
int jobs_next(void *jobs, void **item, struct flk_request *want);
uint64_t jobs_wait(void *jobs, struct flk_taker *taker);
int jobs_work(void *jobs, void *item, struct flk_taker *taker);
void jobs_came(void *jobs, struct job *job); /* for struct job_context */
void jobs_done(void *jobs, void *item, int result);
void jobs_drop(void *jobs, void *item);

/*
 * For struct flk_options: says once of each process that it keeps everyone out.  The second is the
 * same for any limiter.
 */
bool jobs_say_stuck(void *jobs, pid_t pid);
bool jobs_are_stuck(void *jobs, const char *limiter, pid_t pid);

#endif
