/* SPDX-License-Identifier: ISC */
/*
 * top.c - show, live: look, draw, wait for a key.
 */
#include "ctl.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "keys.h"
#include "limiters.h"
#include "look.h"
#include "now.h"
#include "paint.h"
#include "rows.h"
#include "say.h"
#include "screen.h"
#include "terminal.h"

/* For how long to wait for a key. */
static int
pause_ms(const struct screen *v)
{
	uint64_t now = now_ns(), until = v->next_ns;

	if (v->f != NULL && until > now + TICK)
		until = now + TICK > v->soonest_ns ? now + TICK : v->soonest_ns;
	return until > now ? (int)((until - now) / 1000000) + 1 : 0;
}

static int
watch(struct screen *v)
{
	int key = KEY_AGAIN;

	while (key != KEY_LOST) {
		uint64_t now = now_ns();
		bool due = now >= v->next_ns || (now >= v->soonest_ns && look_has_news(v));
		if (due)
			look(v);
		if (due || key != ERR) {
			rows_look_up(v);
			draw(v);
		}
		key = terminal_key(pause_ms(v));
		if (key != ERR && key != KEY_LOST && !keys_take(v, key))
			return DONE;
	}
	return FAILED;
}

int
top(const struct ctl *c)
{
	struct screen v = { .c = c, .per_s = -1 };
	char room[4096], **rest;
	struct flk *f;
	int rests, status = DONE;

	if (c->files > 0 && is_many(c)) {
		say(NULL, "--file: top shows several limiters by their names only");
		return FAILED;
	}
	if (c->words + c->files == 1) {
		if ((f = open_named(c, &rest, &rests, &status)) == NULL)
			return status;
		snprintf(room, sizeof(room), "%s", flk_path(f));
		v.attach = c->files == 0 && c->user == NULL ? c->word[0] : room;
		v.name = name_of(c);
		flk_detach(f);
		status = DONE;
	} else {
		/* Print lines about a bad directory or name before curses has the screen. */
		status = for_each(c, look_at_limiter, &v);
		screen_forget_rows(&v);
	}
	if (status == DONE && !terminal_begin())
		status = FAILED;
	if (status == DONE) {
		paint_begin();
		status = watch(&v);
		terminal_end();
	}
	flk_detach(v.f);
	screen_forget_rows(&v);
	free(v.row);
	return status;
}
