/*
 * capture.h - what a command prints, until it can be printed.
 *
 * A capture has the last part of it in memory; what came before is in chunks of one file without
 * a name, that all captures share.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture {
	char *tail; /* room for a chunk, until it is finished; NULL: nothing there yet */
	size_t n;
	uint32_t *chunks;
	size_t count;
	uint64_t total;
	bool finished;
};

/*
 * Reads what is there, once.  1; 0 at the end; or -EAGAIN.  Anything else is negative, too: there
 * is no room for it.
 */
int capture_read(struct capture *c, int fd);

/* No more will come: memory is given back, and if all captures have much of it, all of it. */
void capture_finish(struct capture *c);

/* Prints it, each line after the tag unless that is NULL; 0 or a negative errno value. */
int capture_print(const struct capture *c, int fd, const char *tag);

/* Forgets all of it. */
void capture_empty(struct capture *c);

#endif
