/* SPDX-License-Identifier: ISC */
/*
 * source.h - from items to jobs.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "input.h"
#include "job.h"
#include "options.h"

struct source {
	const struct options *o;
	const struct job_context *context;
	struct input *input;
	uint64_t read; /* jobs */
	char *kept;    /* an item for which the last command had no room */
};

/* The next job, whether it is to run or not; NULL at the end, or if *failed, after a line. */
struct job *source_read(struct source *s, bool *failed);

/*
 * The next job that is to run, and its weight: 1; 0 at the end; or a negative code, after a line.
 */
int source_next(struct source *s, struct job **job, uint32_t *weight);

#endif
