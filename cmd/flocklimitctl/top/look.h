/* SPDX-License-Identifier: ISC */
/*
 * look.h - looking at limiters, for top.
 */
#ifndef LOOK_H
#define LOOK_H

#include <stdbool.h>

#include "limiters.h"
#include "screen.h"

#define LOOK (SECOND)     /* from one look to the next */
#define TICK (SECOND / 4) /* the same, for one limiter that has news */

/* Fills the rows anew, and sets when the next look is due. */
void look(struct screen *v);

/* Whether the one limiter on the screen has a new event since the last look, or was removed. */
bool look_has_news(struct screen *v);

/* For for_each(): adds a row for one limiter of all. */
int look_at_limiter(const struct ctl *c, const struct visit *visit, void *screen);

#endif
