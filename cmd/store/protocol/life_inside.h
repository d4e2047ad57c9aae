/* SPDX-License-Identifier: ISC */
/*
 * life_inside.h - what the files of the life use of each other: see life.h.
 *
 *	life.c        its lease, its key, its times
 *	life_beat.c   renewals
 *	life_fence.c  the leases that it has left, its own and those of the keeper before
 */
#ifndef LIFE_INSIDE_H
#define LIFE_INSIDE_H

#include "clock.h"
#include "inside.h"
#include "kind.h"
#include "life.h"
#include "records/retry.h"

/* ---- life.c ---- */

void life_lease(struct life *l); /* gets another lease */
int64_t life_first(const struct life *l);

bool life_is_known(const struct life *l);
struct key life_key(const struct life *l); /* l/ of the lease that it has */

/* Goes on after a pause. */
void life_again(struct life *l);

void life_lives(struct life *l, uint64_t sent_ns);
void life_cancel(struct records_call **call);
void life_hush(struct life *l); /* sends nothing any more, and hears nothing */

/* ---- life_beat.c ---- */

void life_watch(struct life *l, int64_t from); /* nothing, if it does */
void life_unwatch(struct life *l);

/* ---- life_fence.c ---- */

void life_leave(struct life *l, int64_t lease);
void life_end_old(struct life *l); /* if its l/ is shown */
void life_inherit(struct life *l);

#endif
