/* SPDX-License-Identifier: ISC */
/*
 * local.h - --local: the limiter file of this machine that has the store's limiter's name.
 *
 * A taker of the store first takes a permit of that file, and then asks the store for one.  No taker
 * takes the two in the other order, so no two takers can wait for each other.  Limiter and taker are
 * those of flocklimit.h.
 */
#ifndef LOCAL_LIMITER_H
#define LOCAL_LIMITER_H

#include "engine/engine.h"

int local_attach(struct flk **local, const char *name, const struct flk_options *options);

/* What a taker that wants this of the store asks of this machine. */
struct flk_request local_request(const struct engine_want *want);

/* A descriptor that the taker owns: the permit lasts while any process has it open; or an error. */
int local_guard(struct flk_taker *local);

#endif
