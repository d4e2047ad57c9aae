/*
 * terminal.h - the terminal of top: taken, lent while it is suspended, and given back as it was,
 * also by a crash.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

/* What terminal_key() returns beside curses' keys and ERR. */
enum { KEY_AGAIN = -2, /* the whole screen is to be sent anew */ KEY_LOST = -3 /* no terminal */ };

/* False: it can't be had, which was said. */
bool terminal_begin(void);
void terminal_end(void);

/* The next key; ERR when there was none for so long. */
int terminal_key(int ms);

#endif
