/* SPDX-License-Identifier: ISC */
/*
 * makeflags.h - MAKEFLAGS, in which the command finds its jobserver.
 */
#ifndef MAKEFLAGS_H
#define MAKEFLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Replaces the jobserver in MAKEFLAGS by one of so many jobs: the pipe with these two ends, as a
 * FIFO to open or as descriptors to inherit.  0 or an errno value.
 */
int makeflags_set(uint32_t jobs, bool fifo, int in, int out);

/*
 * True if this word of a command line or of MAKEFLAGS sets a number of jobs.  *keep: the first so
 * many bytes of the word are other options; *next: the number is the next word.
 */
bool makeflags_sets_jobs(const char *word, const char *with_value, size_t *keep, bool *next);

/* The word after one that sets *next may be left out, as in `make -j all'. */
bool makeflags_is_number(const char *word);

#define MAKE_WITH_VALUE "CEIWfloO" /* the letters of make's options that take a value */

#endif
