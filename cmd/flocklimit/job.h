/* SPDX-License-Identifier: ISC */
/*
 * job.h - one run of flocklimit: its options, its permits, its command.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>

#include "also.h"
#include "flocklimit.h"
#include "limiter.h"
#include "options.h"
#include "patience.h"
#include "run.h"
#include "spawn.h"

struct job {
	struct options o;
	struct heritage heritage;
	char path[LIMITER_NAME], fd_path[LIMITER_NAME];
	struct patience patience;
	struct flk *limiter;
	struct flk_taker *taker;
	struct flk_permit permit;
	struct extra_permits also;
	struct extra_ops extra_ops;
	struct patience also_patience[AND_MOST]; /* by the words of --and */
	uint64_t deadline; /* of the wait, for all of them; 0: it has not begun */
	bool is_kept; /* --keep-place: the descriptor `kept' has the permit, and no taker of ours */
	int kept;
	uint32_t slot;  /* of the permit, or of the keeper that waits for it */
	char **words;   /* of the call */
	bool joined;    /* under a permit that we run under already */
	bool bare;      /* without a permit: FLOCKLIMIT=off or --or-run; joined as well */
	bool said;      /* why there is no permit: a line was printed */
	int cannot_run; /* why the program can't be executed, if attach() found that out; else 0 */
	struct ending end;
};

/* Whether the permit is that of our own taker: of another process, or of a descriptor, it is not. */
static inline bool
job_is_taker(const struct job *j)
{
	return !j->joined && !j->is_kept;
}

/* 0 with all permits, or the library's code. */
int job_take(struct job *j);

/* The same above the limit: see flocklimit_overflow. */
int job_take_overflow(struct job *j);

/* Releases all permits that are held, the last first: 0, or the code of the limiter of -N. */
int job_release(struct job *j);

/* Whether any permit is held that is not joined. */
bool job_holds(const struct job *j);

/* Frees the takers, which releases what they hold, and closes the limiters. */
void job_close(struct job *j);

/* Prints why there is no permit.  Returns the status to exit with. */
int job_refuse(struct job *j, int error);

#endif
