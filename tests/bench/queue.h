/* SPDX-License-Identifier: ISC */
/*
 * queue.h - one command that holds, and others parked behind it.
 */
#ifndef BENCH_QUEUE_H
#define BENCH_QUEUE_H

#include <stdbool.h>
#include <sys/types.h>

#include "mark.h"
#include "process.h"

struct queue {
	struct marks *m;
	char file[512];
	const struct command *limiter; /* without the command */
	const char *mark;
	/* Returns when the last one started stands in the line; NULL: when it is parked. */
	void (*stands)(const struct queue *q);
	const void *of; /* for that */
	int count;      /* of the started, the holder among them */
	pid_t pid[MARKS];
};

/* Several may be open at once. */
void queue_open(struct queue *q);
void queue_close(struct queue *q);

/* Starts the holder, and returns when its command runs. */
void queue_begin(struct queue *q, const struct command *limiter, const char *mark);

/*
 * Starts n waiters, and returns when all are parked.  In order: each is parked before the next
 * is started, so that the order of arrival is that of their numbers.
 */
void queue_join(struct queue *q, int n, bool in_order);

/* Lets the holder end. */
void queue_release(struct queue *q);

/* Until so many of the commands have ended. */
void queue_await(struct queue *q, uint32_t ended);

/* Lets the holder end; returns when all have run and were reaped. */
void queue_drain(struct queue *q);

#endif
