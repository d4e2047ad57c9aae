/* SPDX-License-Identifier: ISC */
/*
 * capture.h - the output of a command, until it is its turn to be printed.
 *
 * A capture has the last part of the output in memory.  The parts before it are chunks of one file
 * without a name, which all captures share.
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
	uint64_t total;
	bool finished;
};

/*
 * Reads once from fd.  1; 0 at the end; -EAGAIN; or another negative errno value: the output can't
 * be kept.
 */
int capture_read(struct capture *c, int fd);

/* No more output will come: frees memory; all of it if all captures together use too much. */
void capture_finish(struct capture *c);

/* Prints it, each line after the tag unless that is NULL; 0 or a negative errno value. */
int capture_print(const struct capture *c, int fd, const char *tag);

/* Drops the output, and frees its room. */
void capture_empty(struct capture *c);

#endif
