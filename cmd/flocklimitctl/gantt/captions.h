/* SPDX-License-Identifier: ISC */
/*
 * captions.h - what the pictures say.
 */
#ifndef CAPTIONS_H
#define CAPTIONS_H

#include "lanes.h"

const char *outcome_name(enum outcome o);

/* "2026-11-21 14:03:07.120 to 14:05:12.700 (2 min)" */
const char *from_to(const struct lanes *l, char room[120]);

/* What an operator or the library changed, "limit 4"; "" for events of takers. */
const char *mark_text(const struct flk_event *e, char room[40]);

#define TITLE_TEXT 400

/* All about one turn, in lines.  The command is not escaped. */
const char *title_of(const struct turn *t, char room[TITLE_TEXT]);

#endif
