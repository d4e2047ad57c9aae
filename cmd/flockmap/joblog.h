/*
 * joblog.h - a line about each command, in GNU parallel's columns; and what such a file has already.
 */
#ifndef JOBLOG_H
#define JOBLOG_H

#include "job.h"

/* Opens it, and with --resume reads what it has.  OPTION_OK or OPTION_BAD, which was said. */
int joblog_open(const struct options *o);

/* Adds a line, with one write(2): 0, or -1 after it was said what went wrong. */
int joblog_add(const struct job *j);

/*
 * 1 if this job's line is there and it need not be run, 0 if it is to run, -1 if another command
 * has its number, which was said.
 */
int joblog_has(const struct job *j);

/* How many commands joblog_has() let skip that had failed when the log was written. */
uint64_t joblog_skipped_failures(void);

void joblog_close(void);

#endif
