/* SPDX-License-Identifier: ISC */
/*
 * environment.h - the variables by which a command knows its permit, and by which we find the
 * permit that we run under ourselves.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"

/*
 * Our environment with the permit's variables set; NULL: no memory.  `name' is the limiter's name,
 * path or URL.  `held' are the links that are added to the chain in FLOCKLIMIT_HELD, with a space
 * between two; NULL: the command joins a permit, which is in the chain already.  `key' is the
 * permit's key in its store; NULL: none.  FLOCKLIMIT_NAME is the user's and passes through.
 */
char **environment_make(const char *name, const struct flk_permit *permit, const char *held,
			const char *key);

#define HELD_LINK 96

/* A permit's link in the chain FLOCKLIMIT_HELD: the limiter's identity, the slot and the ticket. */
void environment_link(struct flk *limiter, uint32_t slot, uint64_t ticket, char link[HELD_LINK]);

/*
 * Finds the permit of this limiter that we run under: by the chain, which only says where to look, as
 * the limiter itself must say that the permit is still held; or, where the chain was taken away, by a
 * guard that we have inherited.
 */
bool environment_inherits(struct flk *limiter, struct flk_permit *permit);

/* The same, or by any descriptor to which a permit was entrusted: a script's, say. */
bool environment_find(struct flk *limiter, struct flk_permit *permit);

#endif
