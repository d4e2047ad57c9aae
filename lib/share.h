/* SPDX-License-Identifier: ISC */
/*
 * share.h - what acquire.c and map.c need of both implementations, and offer to both, besides
 * flocklimit.h.
 */
#ifndef FLKI_SHARE_H
#define FLKI_SHARE_H

#include <stdint.h>

struct flk;
struct flk_map;
struct flk_map_options;
struct flk_options;
struct flk_request;
struct flk_taker;

/*
 * As flk_enqueue(), but if a process keeps the lock, it waits for that until until_ns before it
 * fails.
 */
int flki_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns);

/*
 * flk_acquire() with a deadline in ns.  Before each sleep of the taker it calls waits(), unless
 * that is NULL; waits() returns when it wants to be called again.
 */
typedef uint64_t flki_waits(void *context, struct flk_taker *t);
int flki_acquire(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns,
		 flki_waits *waits, void *context);

/* flk_map_new() for limiters that `attach' opens. */
typedef int flki_attach(struct flk **limiter, const char *name, const struct flk_options *options);
int flki_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options,
		 flki_attach *attach);

/* Several users of one limiter in a process: the last to put it back closes it. */
void flki_share(struct flk *f);
void flki_put(struct flk *f);

#endif
