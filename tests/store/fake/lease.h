/* SPDX-License-Identifier: ISC */
/*
 * lease.h - the leases.  Which keys are on a lease, the keys themselves say.
 */
#ifndef FAKE_LEASE_H
#define FAKE_LEASE_H

#include "kv.h"

struct lease {
	int64_t id, ttl; /* seconds */
	int64_t until;   /* ms on the machine's clock */
};

struct leases {
	struct lease *list; /* in no order */
	size_t count, room;
	int64_t last_id; /* of those that the server chose itself */
};

/* NULL: there is none. */
struct lease *lease_find(const struct leases *l, int64_t id);

/* The id must be free; 0: choose one. */
struct lease *lease_grant(struct leases *l, int64_t id, int64_t ttl, int64_t now);

/* Takes it away, and its keys with it in one revision, which it commits. */
void lease_revoke(struct leases *l, struct lease *lease, struct kv *kv);

/* One whose time is over; NULL: none. */
struct lease *lease_over(struct leases *l, int64_t now);

/* When the next one is over; INT64_MAX: never. */
int64_t lease_next(const struct leases *l);

/* By the time that is left, as lists show them. */
void lease_sort(struct leases *l);

#endif
