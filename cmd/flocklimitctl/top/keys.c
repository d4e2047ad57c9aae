/* SPDX-License-Identifier: ISC */
/*
 * keys.c - which key does what.
 */
#include "keys.h"

#include <ncurses.h>
#include <stdio.h>

#include "explain.h"
#include "layout.h"
#include "prompt.h"
#include "terminal.h"

static void
enter_marked(struct screen *v)
{
	char name[ROW_NAME];
	const struct row *r = v->mark < v->rows ? &v->row[v->mark] : NULL;

	if (v->name != NULL || r == NULL)
		return;
	if (r->s == NULL) {
		prompt_say(v, "%s: %s", r->name, explain(r->error));
		return;
	}
	snprintf(name, sizeof(name), "%s", r->name);
	screen_enter(v, name);
}

/* Moves the mark.  False: the key does something else. */
static bool
moves(struct screen *v, int key)
{
	long row = (long)v->mark, page = (long)layout_height();

	switch (key) {
	case KEY_UP:
	case 'k':
		row--;
		break;
	case KEY_DOWN:
	case 'j':
		row++;
		break;
	case KEY_PPAGE:
	case KEY_CTRL('b'):
		row -= page;
		break;
	case KEY_NPAGE:
	case KEY_CTRL('f'):
	case ' ':
		row += page;
		break;
	case KEY_HOME:
	case 'g':
		row = 0;
		break;
	case KEY_END:
	case 'G':
		row = (long)v->rows;
		break;
	default:
		return false;
	}
	screen_move(v, row);
	return true;
}

static void
act(struct screen *v, int key)
{
	const struct flk_snapshot *s = prompt_subject(v);

	switch (key) {
	case '\r':
	case '\n':
	case KEY_ENTER:
	case KEY_RIGHT:
		enter_marked(v);
		break;
	case 27:
	case KEY_LEFT:
	case KEY_BACKSPACE:
	case 127:
		if (v->entered[0] != '\0')
			screen_leave(v);
		break;
	case 's':
	case KEY_F(6):
		screen_sort_next(v);
		break;
	case 'r':
		v->reverse = !v->reverse;
		screen_sort(v);
		break;
	case '/':
	case KEY_F(3):
		prompt_open(v, FIND);
		break;
	case 'n':
		prompt_find(v);
		break;
	case 'p':
		prompt_toggle(v, key);
		break;
	case 'o':
		if (s != NULL && s->set.closed)
			prompt_toggle(v, key);
		else
			prompt_open(v, CLOSE);
		break;
	case 'l':
		prompt_open(v, LIMIT);
		break;
	case 'c':
	case KEY_F(9):
		prompt_open(v, CANCEL);
		break;
	case 'S':
		prompt_open(v, SIGNAL);
		break;
	case 'h':
	case '?':
	case KEY_F(1):
		v->help = true;
		break;
	default:
		prompt_say(v, "h for help");
		break;
	}
}

bool
keys_take(struct screen *v, int key)
{
	if (key == KEY_AGAIN || key == KEY_CTRL('l')) {
		clearok(curscr, TRUE);
		return true;
	}
	if (key == KEY_RESIZE) {
		/* curses may have drawn for the old size since the resize: send everything anew. */
		clearok(curscr, TRUE);
		screen_move(v, (long)v->mark);
		return true;
	}
	if (v->ask.about != NOTHING) {
		prompt_take(v, key);
		return true;
	}
	v->message[0] = '\0';
	if (v->help) {
		v->help = false;
		return true;
	}
	if (key == 'q' || key == KEY_F(10))
		return false;
	if (!moves(v, key))
		act(v, key);
	return true;
}
