/*
 * environment.h - what the command is told of its permit, and what we are told of one above us.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"

/*
 * Our environment with the permit's variables set; NULL without memory.  `name' is the
 * limiter's name, path or URL; `held' our link of the chain, NULL for none of our own; `key' the permit's in
 * its store, NULL for none.  FLOCKLIMIT_NAME is the user's and passes through.
 */
char **environment_make(const char *name, const struct flk_permit *permit, const char *held,
			const char *key);

#define HELD_LINK 96

/* The link of a permit: which limiter, which slot, which ticket. */
void environment_link(struct flk *limiter, uint32_t slot, uint64_t ticket, char link[HELD_LINK]);

/* A permit of this limiter that we run under and that is still held, by the file's own word. */
bool environment_find(struct flk *limiter, struct flk_permit *permit);

#endif
