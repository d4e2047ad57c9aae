/* SPDX-License-Identifier: ISC */
/*
 * branch.h - a limiter in the keeper, and how the events of its takers reach them.
 */
#ifndef BRANCH_H
#define BRANCH_H

#include <sys/queue.h>

#include "engine/engine.h"
#include "source.h"

/* A limiter that some taker of this keeper is of. */
struct branch {
	SLIST_ENTRY(branch) entry;
	struct source on_engine;
	struct engine *engine; /* NULL: it could not be opened, `why' */
	char why[ENGINE_TEXT];
	char limiter[FLK_NAME_MAX + 1];
};

/*
 * The context of an engine's taker.  It may outlive the struct kept: until the engine's taker is
 * freed, its events come, and concern nobody any more.
 */
struct ear {
	struct kept *kept; /* or NULL */
};

#endif
