#include "standing.h"

#include "conduct.h"
#include "now.h"
#include "screen.h"
#include "tend.h"
#include "waiting.h"

/* Of the item that stands in the line; the thread that leads the map has them. */
static struct waiting waiting;
static bool waits;

static _Thread_local uint64_t give_up_at; /* 0: never */

void
standing_begin(void)
{
	waits = false;
	screen_wait("");
}

void
standing_end(void)
{
	give_up_at = 0;
}

bool
standing_is_over(void)
{
	return give_up_at != 0 && now_ns() >= give_up_at;
}

/*
 * While commands of ours run, people see these, and the item waits for them.  So its wait is shown
 * while none runs: then it is others that it waits for.
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
standing_wait(const struct options *o, struct flk_taker *t)
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
