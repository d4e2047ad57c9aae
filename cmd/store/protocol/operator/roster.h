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
	int32_t code;            /* of m/: how it ended; FLK_UNKNOWN if that was not put */
	uint64_t memory, cpu_ns; /* of m/ */
	struct person by;        /* of e_put */
};

struct roster {
	fleet_happens *happens;
	void *context;
	uint64_t number;  /* of the last event: the revision, and the next after the one before */
	struct look look; /* its settings, takers and lives, as of the last change */
	struct change change; /* the change that is being put together; self "": none */
	bool failed;          /* no memory: the rest can't be known */
};

/*
 * Reports an event of that revision: what `e' does not say is that of the taker (NULL: it is about the limiter),
 * or of the operator that did it (NULL: the taker did, or the store does not say).
 */
void roster_report(struct roster *p, struct flk_event e, int64_t revision,
		   const struct look_taker *t, const struct person *by);
void roster_report_settings(struct roster *p, struct flk_event e, int64_t revision,
			    const struct flk_settings *was, const struct flk_settings *is,
			    const struct person *by);

/* past.c: reports what happened before, by m/ of the answer, and by the look that it has. */
void roster_report_past(struct roster *p, const struct look *l, const struct records_answer *a);

/* Takes one change that a watch reports.  The event follows when the next change comes, or by: */
void roster_change(struct roster *p, const struct records_change *c);
void roster_flush(struct roster *p);

/*
 * Takes that look, and gives the caller the one before in its place; reports what is different, unless
 * this is the first.
 */
void roster_read(struct roster *p, struct look *l);

#endif
