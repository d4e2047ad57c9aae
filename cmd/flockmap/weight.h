/* SPDX-License-Identifier: ISC */
/*
 * weight.h - --weight-from: the weight of an item.
 */
#ifndef WEIGHT_H
#define WEIGHT_H

#include <stdint.h>

#include "job.h"

/*
 * FROM is the number of a field, or a line for the shell, which gets the item as $1 and prints a
 * number.  *weight is the sum over the job's items; OPTION_OK, or OPTION_BAD after a line.
 */
int weight_of(const struct job *j, const char *from, const struct job_context *ctx,
	      uint32_t *weight);

#endif
