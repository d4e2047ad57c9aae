/* SPDX-License-Identifier: ISC */
/*
 * declared.h - limiters that a limits file declares, whether they exist yet or not.
 */
#ifndef DECLARED_H
#define DECLARED_H

#include <stddef.h>

#include "flocklimit.h"
#include "taker_options.h"

struct declared {
	const char *file; /* of limits, which says it; NULL: none */
	unsigned line;
	struct taker_options want;
};

/* What a taker of that name gets: OPTION_OK; or OPTION_BAD, after a line. */
int declared_find(struct declared *d, const char *name);

/* How such a limiter is made. */
struct flk_options declared_options(const struct declared *d);

/* Their names: one after another; NULL after the last. */
const char *declared_name(size_t i);

#endif
