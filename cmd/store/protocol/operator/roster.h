/* SPDX-License-Identifier: ISC */
/*
 * roster.h - the takers of a limiter, as a follower knows them: turns changed keys into events.
 */
#ifndef ROSTER_H
#define ROSTER_H

#include "protocol/inside.h"

struct known {
	char self[STORE_SELF];
	bool holds;   /* else it waits */
	bool present; /* for roster_read(): the taker is still there */
	uint64_t ticket;
	struct record record;
	struct person person;
};

/*
 * What one revision did to a taker.  Several keys change at once, and only all of them show what
 * happened.
 */
struct change {
	char self[STORE_SELF];
	bool w_put, w_deleted, h_put, h_deleted, p_put, e_put;
	int64_t created, revision;
	int32_t status;         /* of x/; FLK_UNKNOWN if it was not put */
	struct record record;   /* of h_put, or else w_put */
	struct person person;   /* of p_put */
	struct culprit culprit; /* of e_put */
};

struct roster {
	fleet_happens *happens;
	void *context;
	struct key limiter;
	struct flk_settings config;
	struct known *known;
	size_t n, room;
	char (*life)[STORE_SELF]; /* those that are alive, once for each of their leases */
	size_t lives, life_room;
	struct change change; /* the change that is being put together; self "": none */
	bool failed;          /* no memory: the rest can't be known */
};

void roster_free(struct roster *p); /* frees its members */

/* Takes one change that a watch reports.  The event follows when the next change comes, or by: */
void roster_change(struct roster *p, const struct records_change *c);
void roster_flush(struct roster *p);

/* Reads all of it, as it stands; reports what is different now, unless `quiet'. */
void roster_read(struct roster *p, const struct look *l, bool quiet);

#endif
