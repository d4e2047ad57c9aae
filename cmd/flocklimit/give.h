/* SPDX-License-Identifier: ISC */
/*
 * give.h - how many units an elastic command is to give back.
 */
#ifndef GIVE_H
#define GIVE_H

#include <stdint.h>

#include "flocklimit.h"

/*
 * Of all holders: what is owed to an operator's lower limit, and what those who wait want and is not
 * free; nothing for a line that would not move.  LEAST is what the command keeps in any case.
 */
uint64_t give_wanted(const struct flk_snapshot *s, uint32_t least, uint64_t now);

#endif
