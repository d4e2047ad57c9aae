/* SPDX-License-Identifier: ISC */
/*
 * roster.h - the takers of a limiter, as a follower knows them: turns changed keys into events.
 */
#ifndef ROSTER_H
#define ROSTER_H

#include "protocol/inside.h"

/*
 * What one revision did to a taker.  Several keys change at once, and only all of them show what
 * happened.
 */
struct change {
	struct look_taker
	    taker; /* `changed' is the revision, the record is of h_put, or else w_put */
	bool w_put, w_deleted, h_put, h_deleted, p_put, e_put;
	int32_t status;   /* of x/; FLK_UNKNOWN if it was not put */
	struct person by; /* of e_put */
};

struct roster {
	fleet_happens *happens;
	void *context;
	struct look look;     /* its settings, takers and lives, as of the last change */
	struct change change; /* the change that is being put together; self "": none */
	bool failed;          /* no memory: the rest can't be known */
};

/* Takes one change that a watch reports.  The event follows when the next change comes, or by: */
void roster_change(struct roster *p, const struct records_change *c);
void roster_flush(struct roster *p);

/*
 * Takes that look, and gives the caller the one before in its place; reports what is different, unless
 * this is the first.
 */
void roster_read(struct roster *p, struct look *l);

#endif
