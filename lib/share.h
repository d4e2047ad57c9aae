/*
 * share.h - what acquire.c and map.c need besides flocklimit.h of both of its implementations.
 */
#ifndef FLKI_SHARE_H
#define FLKI_SHARE_H

#include <stdint.h>

struct flk;
struct flk_request;
struct flk_taker;

/* As flk_enqueue(), but a process that keeps everyone out makes it wait until then, not fail. */
int flki_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns);

/*
 * flk_acquire() with a deadline in ns.  Before each sleep of the taker it calls waits(), unless that
 * is NULL; waits() returns when it wants to be called again.
 */
typedef uint64_t flki_waits(void *context, struct flk_taker *t);
int flki_acquire(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns,
		 flki_waits *waits, void *context);

/* Several users of one limiter in a process: the last to put it back closes it. */
void flki_share(struct flk *f);
void flki_put(struct flk *f);

#endif
