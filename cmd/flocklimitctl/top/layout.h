/* SPDX-License-Identifier: ISC */
/*
 * layout.h - what each line of the window is for.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stddef.h>

/* Lines of the window; negative: there is no room for that part. */
struct layout {
	int bar, why, titles, first, info, keys, height;
};

struct layout layout(void);

/* How many rows of the table fit; at least 1, so that scrolling works. */
size_t layout_height(void);

#endif
