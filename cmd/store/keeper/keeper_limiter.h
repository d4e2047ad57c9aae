/* SPDX-License-Identifier: ISC */
/*
 * keeper_limiter.h - a limiter in the keeper, and how the events of its takers reach them.
 */
#ifndef KEEPER_LIMITER_H
#define KEEPER_LIMITER_H

#include <sys/queue.h>

#include "protocol/fleet.h"

/* A limiter with a taker in this keeper. */
struct keeper_limiter {
	SLIST_ENTRY(keeper_limiter) entry;
	struct fleet *fleet; /* NULL: we could not open the store, or had no memory: */
	const char *why;     /* why */
	char name[FLK_NAME_MAX + 1];
};

/*
 * The context of a fleet's taker.  It may outlive the struct keeper_taker: until the fleet's
 * taker is freed, its events still come, and concern no taker any more.
 */
struct event_target {
	struct keeper_taker *taker; /* NULL: none any more */
};

#endif
