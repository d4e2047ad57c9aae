/* SPDX-License-Identifier: ISC */
/*
 * life.h - a life among lies: a limiter file with bytes of the input's choice in it, and a few
 * takers that do with it what the input says.
 */
#ifndef LIFE_H
#define LIFE_H

#include "fuzz.h"

#define LIE_SLOTS 24u /* that lies are about: some are behind the end of a new file */

/* One aligned word of the header or of a slot, and what it is to become. */
struct lie {
	bool wide;   /* 64 bits */
	uint32_t at; /* in the file */
	uint64_t value;
};

struct lie life_lie(struct bytes *b);
void life_tell(void *map, size_t size, const struct lie *lie);

/*
 * The first bytes choose the file's size; then come the steps, until the input ends.  `before' is
 * called once the limiter is open, with the file's memory, and `step' before each step.
 */
struct life_watch {
	void (*before)(void *ctx, void *map, size_t size);
	void (*step)(void *ctx);
	void (*after)(void *ctx);
	void *ctx;
};

/* Whatever the file says, what comes out is success or an error that there is. */
void life_one_of_ours(int code);

struct flk;
struct flk_taker;

/* Mostly one that a taker waits or holds with. */
uint64_t life_some_ticket(struct flk *f, struct bytes *b);

void life_operate(struct flk *f, struct flk_taker *t, const char *path, struct bytes *b);

void life_live(struct bytes *b, const struct life_watch *watch);

#endif
