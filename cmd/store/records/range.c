/* SPDX-License-Identifier: ISC */
/*
 * range.c - see range.h.
 */
#include "range.h"

#include <stdlib.h>
#include <string.h>

/* The texts of a copy are its own, whatever their type says. */
void
ranges_free(struct records_range *range, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free((char *)(uintptr_t)range[i].key);
		free((char *)(uintptr_t)range[i].end);
	}
}

bool
ranges_copy(struct records_range *to, const struct records_range *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		to[i] = from[i];
		to[i].key = strdup(from[i].key);
		to[i].end = from[i].end == NULL ? NULL : strdup(from[i].end);
		if (to[i].key == NULL || (to[i].end == NULL) != (from[i].end == NULL)) {
			ranges_free(to, i + 1);
			return false;
		}
	}
	return true;
}

bool
range_has(const struct records_range *range, size_t n, const char *key, bool deleted)
{
	const struct records_range *at;

	for (at = range; at < range + n; at++)
		if (at->end == NULL ? strcmp(key, at->key) == 0
				    : strcmp(key, at->key) >= 0 && strcmp(key, at->end) < 0)
			return deleted || !at->no_put;
	return false;
}
