/* SPDX-License-Identifier: ISC */
/*
 * inside.h - the store in memory, as memory.c and txn.c see it.
 */
#ifndef MEMORY_INSIDE_H
#define MEMORY_INSIDE_H

#include "heap.h"
#include "memory.h"

#define LEASE_BUCKETS 512

struct lease {
	struct heap_item due;
	LIST_ENTRY(lease) link;
	LIST_HEAD(, memory_record) records;
	int64_t id;
	uint64_t ttl_ns;
};

struct record_list {
	struct memory_record **record;
	size_t n, room;
};

struct memory {
	int64_t revision, compacted;
	struct record_list map; /* by key */
	struct record_list history;
	struct record_list scratch; /* of a get: what it found; users are not counted */
	struct heap leases;
	LIST_HEAD(, lease) bucket[LEASE_BUCKETS];
};

void *memory_got(void *p); /* ends the program if it is NULL */

struct memory_record *memory_find(const struct memory *m, const char *key);
struct lease *lease_find(const struct memory *m, int64_t id);

/* Each is one change of that revision.  A put's lease is there, or it has none. */
void memory_put(struct memory *m, const struct txn_item *item, int64_t revision);
void memory_delete(struct memory *m, size_t at, int64_t revision);

#endif
