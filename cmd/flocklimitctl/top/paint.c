/* SPDX-License-Identifier: ISC */
#include "paint.h"

#include <ncurses.h>
#include <string.h>
#include <wchar.h>

#include "text.h"

static bool coloured;

void
paint_begin(void)
{
	coloured = colours() && has_colors();
	if (!coloured)
		return;
	start_color();
	use_default_colors();
	init_pair(GREEN, COLOR_GREEN, -1);
	init_pair(YELLOW, COLOR_YELLOW, -1);
	init_pair(RED, COLOR_RED, -1);
}

void
paint_colour(enum colour colour, bool on)
{
	if (colour == PLAIN || !coloured)
		return;
	if (on)
		attron(COLOR_PAIR(colour));
	else
		attroff(COLOR_PAIR(colour));
}

void
paint_at(int y, int x, int width, const char *text)
{
	mbstate_t state = { 0 };
	wchar_t wide[600], c;
	size_t n = 0, bytes;
	int columns = 0, w;

	if (width > COLS - x)
		width = COLS - x;
	if (width <= 0 || y < 0 || y >= LINES)
		return;
	for (; *text != '\0' && n < sizeof(wide) / sizeof(wide[0]) - 1; text += bytes) {
		bytes = mbrtowc(&c, text, strlen(text), &state);
		w = bytes <= strlen(text) ? wcwidth(c) : -1;
		if (w < 0) {
			memset(&state, 0, sizeof(state));
			bytes = bytes <= strlen(text) ? bytes : 1;
			c = L'?';
			w = 1;
		}
		if (columns + w > width)
			break;
		columns += w;
		if (columns > 0) /* not an accent, which would change the character before x */
			wide[n++] = c;
	}
	wide[n] = L'\0';
	mvaddnwstr(y, x, wide, (int)n);
}
