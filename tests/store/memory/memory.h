/* SPDX-License-Identifier: ISC */
/*
 * memory.h - a store that is kept in memory, as its server alone: records, transactions, leases,
 * and what has changed.  It has no clients and no clock: its caller says what comes, and when.
 *
 * Want of memory ends the program: only tests use it.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "records/records.h"

#define MEMORY_OPERATIONS 128
#define MEMORY_VALUE      ((size_t)1 << 20)

/* A record, or that it was deleted.  It never changes; map, history and readers share it. */
struct memory_record {
	struct record_kv kv; /* of a deletion: the key and `changed' */
	bool deleted;
	unsigned users;
	LIST_ENTRY(memory_record) of_lease; /* while it is in the map, and on a lease */
};

struct memory_record *memory_use(struct memory_record *r);
void memory_drop(struct memory_record *r);

/* An answer and all that it points at. */
struct memory_answer {
	struct records_answer a;
	struct records_found found[];
};

struct memory_answer *memory_answer_of(enum records_result result, const char *text);
void memory_answer_free(struct memory_answer *a);

struct memory;

struct memory *memory_new(void);
void memory_free(struct memory *m);

/* ---- what a client may ask ---- */

struct memory_answer *memory_txn(struct memory *m, const struct txn *txn, uint64_t now_ns);
struct memory_answer *memory_lease(struct memory *m, int64_t id, uint32_t ttl_s, uint64_t now_ns);
struct memory_answer *memory_renew(struct memory *m, int64_t id, uint64_t now_ns);
struct memory_answer *memory_end(struct memory *m, int64_t id, uint64_t now_ns);

/* ---- time ---- */

uint64_t memory_due(const struct memory *m);         /* when the next lease is over */
void memory_step(struct memory *m, uint64_t now_ns); /* ends the leases that are over */
void memory_extend(struct memory *m,
		   uint64_t now_ns); /* all leases begin anew, as after a restart */

/* An error: counts revisions from an earlier one again. */
void memory_fall_back(struct memory *m, int64_t by);

/* ---- what is kept ---- */

int64_t memory_revision(const struct memory *m);
size_t memory_leases(const struct memory *m);

/* The records, in the order of their keys: of these n, from the first that is not below the key. */
size_t memory_from(const struct memory *m, const char *key);
struct memory_record *memory_at(const struct memory *m, size_t i); /* NULL: there are no more */

/* Changes by number: the first of that revision or later; NULL: there are no more. */
size_t memory_since(const struct memory *m, int64_t revision);
struct memory_record *memory_change(const struct memory *m, size_t i);

/* Forgets the changes before that revision.  memory_compacted(): the last such revision, or 0. */
void memory_compact(struct memory *m, int64_t revision);
int64_t memory_compacted(const struct memory *m);

#endif
