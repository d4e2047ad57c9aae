/* SPDX-License-Identifier: ISC */
/*
 * capture.h - the output of a command, until it is its turn to be printed.
 *
 * A capture has the last part of the output in memory.  The parts before it are chunks of one file
 * without a name, which all captures share.  What was printed line by line may be gone from its start.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture {
	char *tail; /* the last chunk, cut to N bytes when finished; NULL: nothing yet */
	size_t n;
	uint32_t *chunks;
	size_t count;
	uint64_t total;   /* all that came */
	uint64_t printed; /* of it */
	uint64_t gone;    /* from its start: what is left begins with the chunks */
	bool lines;       /* it is printed in lines, so the last one is to end */
	bool finished;
};

/*
 * Reads once from fd.  1; 0 at the end; -EAGAIN; or another negative errno value: the output can't
 * be kept.
 */
int capture_read(struct capture *c, int fd);

/* No more output will come: frees memory; all of it if all captures together use too much. */
void capture_finish(struct capture *c);

/* Prints what was not printed yet, each line after the tag unless that is NULL; 0 or a negative errno. */
int capture_print(struct capture *c, int fd, const char *tag);

/*
 * The same for the lines that have come as a whole; what is printed is gone then, unless it is to be
 * kept.  The last line will end, even if the command did not end it.
 */
int capture_print_lines(struct capture *c, int fd, const char *tag, bool keep);

/* Writes all that is left to fd; from any thread. */
int capture_copy(const struct capture *c, int fd);

/* Drops the output, and frees its room. */
void capture_empty(struct capture *c);

#endif
