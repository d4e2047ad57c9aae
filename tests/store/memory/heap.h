/* SPDX-License-Identifier: ISC */
/*
 * heap.h - things that are due, the earliest first; of those due at one time, the one that was
 * added first.
 */
#ifndef MEMORY_HEAP_H
#define MEMORY_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item { /* the first member of the thing */
	uint64_t due_ns, order;
	size_t place; /* 0: in no heap */
};

struct heap {
	struct heap_item **item; /* [1] is the first */
	size_t n, room;
	uint64_t order;
};

void heap_free(struct heap *h); /* what is in it is its owner's */

/* Adds it, or changes when it is due.  Ends the program for want of memory. */
void heap_put(struct heap *h, struct heap_item *item, uint64_t due_ns);
void heap_remove(struct heap *h, struct heap_item *item); /* if it is there */
struct heap_item *heap_first(const struct heap *h);       /* NULL: empty */
uint64_t heap_due(const struct heap *h);                  /* NEVER: empty */

#endif
