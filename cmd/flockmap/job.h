/* SPDX-License-Identifier: ISC */
/*
 * job.h - a command for one item or several, and how it ended.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "also.h"
#include "capture.h"
#include "flocklimit.h"
#include "limiter.h"
#include "options.h"
#include "spawn.h"
#include "usage.h"

struct job {
	uint64_t number; /* 1, 2, 3, ... */
	char **items;
	size_t n;
	char **argv;
	uint32_t weight;
	int status;         /* as wait(2) has it */
	struct usage usage; /* of all its tries */
	int exec_error;     /* why it could not be executed, or 0 */
	bool timed_out;
	bool lost;                 /* its permit was lost, and it was ended because of that */
	uint64_t began_ns, ran_ns; /* when, by CLOCK_REALTIME; and for how long */
	struct capture out, err;
	struct extra_permits *also; /* its permits of --and; NULL: none */
	char text[FLK_COMMAND];     /* the command, as flocklimitctl shows it */
};

/* What all jobs have in common. */
struct job_context {
	const struct options *o;
	struct heritage heritage;
	char name[LIMITER_NAME]; /* by limiter_name() */
	int null_fd;
	/* Output of a job has come; NULL: it waits for the job's end. */
	void (*came)(void *jobs, struct job *j);
	void *jobs;
	struct flk_permit permit; /* under which we run already, where the jobs join that one */
};

/* Runs it, and again if it fails and --retries says so: 0, or a negative code: it did not start. */
int job_run(struct job *j, const struct job_context *ctx, struct flk_taker *taker);

/* Its exit status, 0 to 255: as a shell has it, and those of timeouts and lost permits. */
int job_exit(const struct job *j);

/* How it ended: "exit 3", "signal 9", "its permit was lost", ... */
const char *job_fate(const struct job *j, char room[64]);

/*
 * It has ended and been reported: its words are freed, but for its first item where a tag is made of
 * that.  Only its output waits for its turn: behind a slow command there may be thousands.
 */
void job_forget_words(struct job *j, bool keeps_tag);

void job_free(struct job *j);

#endif
