/* SPDX-License-Identifier: ISC */
/*
 * chart.h - from a history to lanes that can be drawn.
 */
#ifndef CHART_H
#define CHART_H

#include "lanes.h"

/*
 * The events are the history as it was after the snapshot was taken.  Both must outlive the
 * lanes.  0, or -ENOMEM.
 */
int chart_make(struct lanes *l, const struct flk_event *event, size_t events,
	       const struct flk_snapshot *s, uint64_t now_ns);
void chart_free(struct lanes *l);

#endif
