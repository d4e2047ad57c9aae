/* SPDX-License-Identifier: ISC */
/*
 * question.h - --when-run: a taker's own question, which it asks by a command.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct heritage;

struct question {
	const char *limiter; /* as people know it */
	const char *line;    /* for sh -c */
	const struct heritage *heritage;
	uint64_t deadline;    /* ns, monotonic; NEVER */
	const sigset_t *mask; /* let in while the command runs; or NULL */
};

/*
 * Runs the line, and waits for its end: true if it exits with 0.  At the deadline, after a minute, and
 * if a signal comes that is let in, it kills all that the line started, and the answer is no.
 */
bool question_ask(void *question);

#endif
