/* SPDX-License-Identifier: ISC */
/*
 * strip.h - the panel above the lanes.
 */
#ifndef STRIP_H
#define STRIP_H

#include "canvas.h"

/* The units in use under the limit, and the changes by operators. */
void strip_draw(const struct canvas *v);

#endif
