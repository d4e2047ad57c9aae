/* SPDX-License-Identifier: ISC */
/*
 * range.h - the ranges of a watch, as an engine keeps them.
 */
#ifndef RANGE_H
#define RANGE_H

#include "records.h"

/* With texts of their own; false for want of memory: then there is nothing to free. */
bool ranges_copy(struct records_range *to, const struct records_range *from, size_t n);
void ranges_free(struct records_range *range, size_t n);

/* Whether one of them is about that change of the key. */
bool range_has(const struct records_range *range, size_t n, const char *key, bool deleted);

#endif
