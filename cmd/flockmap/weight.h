/*
 * weight.h - what an item weighs.
 */
#ifndef WEIGHT_H
#define WEIGHT_H

#include <stdint.h>

#include "job.h"

/*
 * FROM is the number of a field, or a line for the shell, which gets the item as $1 and prints a
 * number.  The items' sum; OPTION_OK, or OPTION_BAD, which was said.
 */
int weight_of(const struct job *j, const char *from, const struct place *p, uint32_t *weight);

#endif
