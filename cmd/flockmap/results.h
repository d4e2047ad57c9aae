/* SPDX-License-Identifier: ISC */
/*
 * results.h - --results: what each command printed, in files.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include "job.h"

/* OPTION_OK, or OPTION_BAD after a line. */
int results_open(const struct options *o);

/* DIR/NUMBER/command, stdout, stderr, and at last status: 0, or -1 after a line. */
int results_add(const struct job *j);

#endif
