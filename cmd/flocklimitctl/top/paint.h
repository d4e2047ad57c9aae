/* SPDX-License-Identifier: ISC */
/*
 * paint.h - text and colours on the screen of top.
 */
#ifndef PAINT_H
#define PAINT_H

#include <stdbool.h>

enum colour { PLAIN, GREEN, YELLOW, RED };

void paint_begin(void);

/*
 * Writes as much of the text as fits into WIDTH columns; bytes that are no characters become '?'.
 */
void paint_at(int y, int x, int width, const char *text);
void paint_colour(enum colour colour, bool on);

#endif
