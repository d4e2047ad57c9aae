/* SPDX-License-Identifier: ISC */
/*
 * roster.h - the takers of a limiter, as a follower knows them: changed keys become events.
 */
#ifndef ROSTER_H
#define ROSTER_H

#include "etcd/inside.h"

struct person {
	char self[STORE_SELF];
	bool holds;   /* else it waits */
	bool alive;   /* its l/ is there */
	bool present; /* for roster_read(): it is still there */
	uint64_t ticket;
	struct record record;
};

/* What one revision did to one of them; several keys change at once, and only all tell what. */
struct change {
	char self[STORE_SELF];
	bool w_put, w_deleted, h_put, h_deleted, l_put, l_deleted, e_put;
	int64_t created, revision;
	struct record record;   /* of h_put, or else w_put */
	struct culprit culprit; /* of e_put */
};

struct roster {
	engine_happens *happens;
	void *context;
	struct key limiter;
	struct config config;
	struct person *person;
	size_t n, room;
	struct change change; /* the one that is being put together; self "": none */
	bool failed;          /* no memory: the rest can't be known */
};

void roster_free(struct roster *p); /* what it holds */

/* One change that a watch tells; what it means is told when the next one comes, or by: */
void roster_change(struct roster *p, const struct etcd_change *c);
void roster_flush(struct roster *p);

/* All of it, as it stands; with `quiet' nobody is told what is different now. */
void roster_read(struct roster *p, const struct look *l, bool quiet);

#endif
