/* SPDX-License-Identifier: ISC */
/*
 * layout.c - a small window leaves out what helps least: first the bar and the sentence, then the
 * line of keys, then the titles.
 */
#include "layout.h"

#include <ncurses.h>

struct layout
layout(void)
{
	struct layout l = { .bar = -1, .why = -1, .titles = -1, .first = 1, .keys = -1 };

	l.info = LINES - 1;
	if (LINES >= 9) {
		l.bar = 1;
		l.why = 2;
		l.titles = 3;
		l.first = 4;
		l.info = LINES - 2;
		l.keys = LINES - 1;
	} else if (LINES >= 5) {
		l.titles = 1;
		l.first = 2;
	}
	l.height = l.info > l.first ? l.info - l.first : 0;
	return l;
}

size_t
layout_height(void)
{
	int height = layout().height;

	return height > 0 ? (size_t)height : 1;
}
