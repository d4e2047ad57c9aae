/* SPDX-License-Identifier: ISC */
#include "item_wait.h"

#include "conduct.h"
#include "limiter.h"
#include "now.h"
#include "screen.h"
#include "kind.h"
#include "waiting.h"

/* Of the item of this thread, which waits in a line, or will. */
static _Thread_local struct waiting waiting;
static _Thread_local bool waits;
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
	if (waits)
		item_wait_reset();
	give_up_at = 0;
}

uint64_t
item_wait_limit(void)
{
	return give_up_at != 0 ? give_up_at : NEVER;
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
show(const struct options *o, const char *limiter, struct flk_taker *t)
{
	struct flk_place place;
	char text[PLACE_TEXT], keeps[KEEPS_TEXT] = "";
	bool known;

	if (conduct_running() > 0 || conduct_is_ending())
		return;
	known = flk_place(t, &place) == 0;
	if (known)
		limiter_keeps(&o->want, &place, keeps);
	waiting_text(&waiting, known ? &place : NULL, kind_line(t), keeps, screen_width(), text);
	if (waiting.terminal)
		screen_wait(text);
	else
		screen_say(limiter, "%s", text);
}

uint64_t
item_wait_show(const struct options *o, const char *limiter, struct flk_taker *t)
{
	uint64_t timeout = o->want.timeout_ns;

	if (!waits) {
		waiting_begin(&waiting, o->quiet, say_has_terminal());
		give_up_at = timeout != NEVER ? waiting.since + timeout : 0;
	}
	waits = true;
	if (waiting_is_due(&waiting, now_ns()))
		show(o, limiter, t);
	return waiting.next;
}
