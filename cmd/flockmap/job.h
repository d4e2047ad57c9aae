/*
 * job.h - an item, or some, and what became of it.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "flocklimit.h"
#include "limiter.h"
#include "options.h"
#include "spawn.h"

struct job {
	uint64_t number; /* 1, 2, 3, ... */
	char **items;
	size_t n;
	char **argv;
	uint32_t weight;
	int status;     /* as wait(2) has it */
	int exec_error; /* why it could not be executed, or 0 */
	bool timed_out;
	bool lost;                 /* its permit was, and it was ended for that */
	uint64_t began_ns, ran_ns; /* CLOCK_REALTIME, and how long */
	struct capture out, err;
	char text[FLK_COMMAND]; /* of the command, for others to see */
};

/* What all jobs have in common. */
struct place {
	const struct options *o;
	struct heritage heritage;
	char name[LIMITER_NAME]; /* as flk_attach() takes it, for commands further down */
	int null_fd;
	bool joined; /* under a permit that we run under already: this one */
	struct flk_permit permit;
};

/* Runs it, if need be several times: 0, or a negative code if it could not be started. */
int job_run(struct job *j, const struct place *p, struct flk_taker *taker);

/* 0 to 255, as a shell has it. */
int job_exit(const struct job *j);

/* "exit 3", "signal 9", ... */
const char *job_fate(const struct job *j, char room[64]);

void job_free(struct job *j);

#endif
