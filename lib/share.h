/* SPDX-License-Identifier: ISC */
/*
 * share.h - what acquire.c, await.c and map.c need of both implementations, and offer to both, besides
 * flocklimit.h.
 */
#ifndef FLKI_SHARE_H
#define FLKI_SHARE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flk;
struct flk_map;
struct flk_map_options;
struct flk_options;
struct flk_request;
struct flk_taker;

/*
 * What a caller has filled in is good if it asks for nothing that only a later version of this library
 * has.
 */
#define FLKI_IS_KNOWN(filled) \
	flki_is_zero((filled)->reserved, sizeof((filled)->reserved) / sizeof((filled)->reserved[0]))
static inline bool
flki_is_zero(const uint64_t *word, size_t n)
{
	uint64_t any = 0;

	while (n > 0)
		any |= word[--n];
	return any == 0;
}

/*
 * As flk_enqueue(), but if a process keeps the lock, it waits for that until until_ns before it
 * fails.
 */
int flki_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns);

/*
 * The wait of a taker that has joined the line as `want' says: flk_wait() until a deadline in ns, and
 * flk_answer() when its question is due.  Before each sleep of the taker it calls waits(), unless that
 * is NULL; waits() returns when it wants to be called again.
 */
typedef uint64_t flki_waits(void *context, struct flk_taker *t);
int flki_await(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns,
	       const sigset_t *mask, flki_waits *waits, void *context);

/* flk_acquire() with a deadline in ns, and that wait. */
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
