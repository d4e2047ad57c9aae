/* SPDX-License-Identifier: ISC */
#include "item_wait.h"

#include "conduct.h"
#include "now.h"
#include "screen.h"
#include "tend.h"
#include "waiting.h"

/* Of the item that waits in the line; only the thread that leads the map uses them. */
static struct waiting waiting;
static bool waits;

static _Thread_local uint64_t give_up_at; /* 0: never */

void
item_wait_reset(void)
{
	waits = false;
	screen_wait("");
}

void
item_wait_end(void)
{
	give_up_at = 0;
}

bool
item_wait_is_over(void)
{
	return give_up_at != 0 && now_ns() >= give_up_at;
}

/*
 * While commands of ours run, the screen shows their progress, and the item may wait for one of
 * them.  While none runs the item waits for other takers, and the screen shows its wait.
 */
static void
show(const struct options *o, struct flk_taker *t)
{
	struct flk_place place;
	char text[PLACE_TEXT];
	bool known;

	if (conduct_running() > 0 || conduct_is_ending())
		return;
	known = flk_place(t, &place) == 0;
	waiting_text(&waiting, known ? &place : NULL, tend_line(t), screen_width(), text);
	if (waiting.terminal)
		screen_wait(text);
	else
		screen_say(o->want.limiter, "%s", text);
}

uint64_t
item_wait_show(const struct options *o, struct flk_taker *t)
{
	uint64_t timeout = o->want.timeout_ns;

	if (!waits) {
		waiting_begin(&waiting, o->quiet, say_has_terminal());
		give_up_at = timeout != NEVER ? waiting.since + timeout : 0;
	}
	waits = true;
	if (waiting_is_due(&waiting, now_ns()))
		show(o, t);
	return waiting.next;
}
