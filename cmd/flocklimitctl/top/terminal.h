/* SPDX-License-Identifier: ISC */
/*
 * terminal.h - the terminal of top: set up for curses, and given back as it was when top is
 * suspended, ends or crashes.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

#define KEY_CTRL(letter) ((letter)&0x1f)

/* What terminal_key() returns beside curses' keys and ERR. */
enum { KEY_AGAIN = -2, /* the whole screen is to be sent anew */ KEY_LOST = -3 /* no terminal */ };

/* False, after a line: this is no terminal for top. */
bool terminal_begin(void);
void terminal_end(void);

/* The next key; ERR: none came for so many ms. */
int terminal_key(int ms);

#endif
