/* SPDX-License-Identifier: ISC */
/*
 * replay.h - what operators have set, at the moment that a walk through the events of a history has
 * reached.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

struct replay {
	struct flk_settings set;
	/*
	 * Of enum flk_setting: nothing says what they were before the first event that changed them.
	 * They are taken for none.
	 */
	unsigned unknown;
	bool perhaps_paused; /* before the first such event, which ended a pause */
};

/*
 * As it was before the first event: what the snapshot says, without what the events changed.  The
 * snapshot has the units that were withheld by UNTIL_NS.
 */
void replay_begin(struct replay *r, const struct flk_event *event, size_t events,
		  const struct flk_snapshot *s, uint64_t until_ns);

void replay_happen(struct replay *r, const struct flk_event *e);

#endif
