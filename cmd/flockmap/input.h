/*
 * input.h - items, one after the other, as they come.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>

#include "options.h"

struct input;

/* Returns NULL when that was said.  wake_fd: a read that waits ends when it can be read. */
struct input *input_open(const struct options *o, int wake_fd);

/* The next item, malloced; NULL at the end, or if *failed, which was said, or when woken. */
char *input_next(struct input *in, bool *failed);

/* How many there will be; 0 if that can't be known.  Reads on, where that is possible at all. */
uint64_t input_total(const struct input *in);

void input_close(struct input *in);

#endif
