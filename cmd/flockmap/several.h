/* SPDX-License-Identifier: ISC */
/*
 * several.h - the permits of --and, which a job has beside the one that the map takes for it.
 *
 * One thread takes all permits of a job, in the order that also.h gives: those of the limiters before
 * the map's before the map joins its line, and those behind it when the job has the map's permit.
 * Another thread leads the map by then.
 */
#ifndef SEVERAL_H
#define SEVERAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "job.h"
#include "options.h"

struct several {
	const struct options *o;
	struct extra_ops ops[2];     /* of the first job, and of the others */
	uint64_t identity;           /* of the limiter of which we join a permit */
	atomic_flag refused;         /* a job got no permit of one of them, the first that */
	char name[FLK_NAME_MAX + 1]; /* has this name, or "": a line was printed */

	/* Says once of each process that it keeps everyone out of a limiter; true: wait on. */
	bool (*is_stuck)(void *context, const char *limiter, pid_t pid);
	void *context;
};

/* Before the map; the caller has set is_stuck() and its context. */
void several_prepare(struct several *s, const struct options *o);

/* Before the map joins the line of LIMITER: the permits before its: 0, or a code. */
int several_before(struct several *s, struct job *j, struct flk *limiter);

/*
 * Those behind it, and the guards of all: 0, or a code.  TAKER has the map's permit; NULL: the job
 * joins one that we run under, and all others are still to be taken.
 */
int several_take_rest(struct several *s, struct job *j, struct flk_taker *taker);

/* Releases them all; the job needs them no more. */
void several_free(struct job *j);

#endif
