/* SPDX-License-Identifier: ISC */
/*
 * draw.h - the screen of top.
 */
#ifndef DRAW_H
#define DRAW_H

#include "screen.h"

void draw(struct screen *v);

#endif
