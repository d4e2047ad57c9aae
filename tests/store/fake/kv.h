/* SPDX-License-Identifier: ISC */
/*
 * kv.h - the keys of the fake etcd, with all their history.
 *
 * Every change has a revision; all changes of one transaction have the same.  Changes are made at
 * revision + 1 and are the store's when kv_commit() has said so.  Nothing is ever forgotten but by
 * kv_wipe(): a compaction only forbids to look.
 */
#ifndef FAKE_KV_H
#define FAKE_KV_H

#include "buf.h"

/* What a key was from its mod revision on.  Gone: it was deleted then; the rest is of no meaning. */
struct version {
	int64_t create, mod, version, lease;
	struct bytes value;
	bool gone;
};

/* Versions in the order of mod. */
struct key {
	struct bytes name;
	struct version *versions;
	size_t count, room;
};

/* One event: this version of this key came. */
struct change {
	struct key *key;
	size_t version;
};

struct kv {
	int64_t revision;
	int64_t compacted; /* -1: never, so that one at 0 is new once, as in etcd */
	struct key **keys; /* in the order of their names */
	size_t count, room;
	struct change *log; /* in the order of revisions */
	size_t logged, log_room;
};

/* Without an end: one key.  An end of one null byte: all from `from' on. */
struct range {
	struct bytes from, to;
};

bool range_has(const struct range *r, struct bytes name);
bool range_is_empty(const struct range *r);

/* The first key of a range, as an index into keys; those that follow are in it as long as
 * range_has() says so. */
size_t kv_first(const struct kv *kv, const struct range *r);

/* What a key was at a revision; NULL: it did not exist. */
const struct version *key_at(const struct key *key, int64_t revision);

/* What it is now, the changes not yet committed included. */
const struct version *key_now(const struct key *key);
const struct version *kv_now(const struct kv *kv, struct bytes name);

/* The first change with this revision or a later one. */
size_t kv_since(const struct kv *kv, int64_t revision);

void kv_put(struct kv *kv, struct bytes name, struct bytes value, int64_t lease);

/* The key must exist. */
void kv_delete(struct kv *kv, struct key *key);

/* Whether there are changes that were not committed. */
bool kv_changed(const struct kv *kv);
void kv_commit(struct kv *kv);

/* Also how it begins, from all zero. */
void kv_wipe(struct kv *kv);

#endif
