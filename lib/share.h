/*
 * share.h - what a map needs of a limiter besides flocklimit.h, of both implementations of that.
 */
#ifndef FLKI_SHARE_H
#define FLKI_SHARE_H

#include <stdint.h>

struct flk;
struct flk_request;
struct flk_taker;

/* As flk_enqueue(), but a process that keeps everyone out makes it wait until then, not fail. */
int flki_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns);

/* Several users of one limiter in a process: the last to put it back closes it. */
void flki_share(struct flk *f);
void flki_put(struct flk *f);

#endif
