/* SPDX-License-Identifier: ISC */
/*
 * input.h - items, one after the other, as they come.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>

#include "options.h"

#define LONGEST_WORD 131071 /* bytes of an argument: the kernel's limit */

struct input;

/*
 * NULL, after a line, if it can't be opened.  When wake_fd becomes readable, a waiting read ends.
 */
struct input *input_open(const struct options *o, int wake_fd);

/* The next item, malloced; NULL at the end, after wake_fd, or if *failed, after a line. */
char *input_next(struct input *in, bool *failed);

/* How many jobs the items make; 0: not known.  Reads through the input if it is a regular file. */
uint64_t input_total(const struct input *in);

void input_close(struct input *in);

#endif
