/* SPDX-License-Identifier: ISC */
/*
 * joblog.h - a file with a line about each command, in the columns of GNU parallel; and for
 * --resume, the lines that it has already.
 */
#ifndef JOBLOG_H
#define JOBLOG_H

#include "job.h"

/* Opens it, and with --resume reads it.  OPTION_OK, or OPTION_BAD after a line. */
int joblog_open(const struct options *o);

/* Adds a line, with one write(2): 0, or -1 after a line about what went wrong. */
int joblog_add(const struct job *j);

/*
 * 1: the log has this job, which need not run; 0: the job is to run; -1, after a line: the log has
 * another command of that number.
 */
int joblog_has(const struct job *j);

/* How many of the jobs for which joblog_has() returned 1 had failed according to the log. */
uint64_t joblog_skipped_failures(void);

void joblog_close(void);

#endif
