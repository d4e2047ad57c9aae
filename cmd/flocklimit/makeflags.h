/*
 * makeflags.h - what the command reads of its jobserver.
 */
#ifndef MAKEFLAGS_H
#define MAKEFLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Puts a jobserver of so many jobs into MAKEFLAGS, in the place of any other: the pipe with these
 * two ends, as a FIFO to be opened or as descriptors to be inherited.  0 or an errno value.
 */
int makeflags_set(uint32_t jobs, bool fifo, int in, int out);

/*
 * True if this word of a command line or of MAKEFLAGS sets a number of jobs.  *keep: so many bytes
 * of it, from its beginning, are about other things; *next: the number is the next word.
 */
bool makeflags_sets_jobs(const char *word, const char *with_value, size_t *keep, bool *next);

#define MAKE_WITH_VALUE "CEIWfloO" /* the letters of make's options that take a value */

#endif
