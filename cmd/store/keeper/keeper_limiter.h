/* SPDX-License-Identifier: ISC */
/*
 * keeper_limiter.h - a limiter in the keeper.
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

#endif
