/* SPDX-License-Identifier: ISC */
/*
 * views.c - what a reader shows of a copy: the living and the orphans, as the limiter has them, whatever
 * it is told and whoever died; and a snapshot without memory.
 */
#include "disk.h"

#include <stdio.h>

#include "copy.c"
#include "snapshot.c"

static void
put(uint32_t i, enum slot_state state, uint64_t ticket)
{
	struct slot *s = &disk.slots[i];

	s->state = state;
	s->kind = TAKER;
	s->ticket = ticket;
	s->order = ticket * PLACE_GAP;
	s->weight = s->least = s->most = 1;
	s->limit = N;
	s->seat = i;
	disk.h.last_ticket = ticket;
}

/* The header as a look leaves it, but for the index. */
static struct header seen;

static int
look(struct flk_snapshot **s)
{
	struct flk one;
	struct state st;
	bool torn;
	int error = flki_copy(&limiter, &one, &torn);

	if (error != 0)
		return error;
	error = flki_copy_enter(&one, &st);
	seen = *one.file.h;
	if (error == 0)
		error = flki_snapshot_of(&st, s, 5);
	flki_copy_free(&one);
	return error;
}

/* Tickets of the holders, a bar, those of the waiters; orphans have a star. */
static const char *
shown(void)
{
	static char text[400];
	struct flk_snapshot *s;
	uint32_t i, n = 0;
	int error = look(&s);

	if (error != 0)
		return flk_strerror(error);
	text[0] = '\0';
	for (i = 0; i < s->holders + s->waiters && n < sizeof(text) - 20; i++)
		n += (uint32_t)snprintf(
		    text + n, sizeof(text) - n, "%s%llu%s", i == s->holders ? "|" : "",
		    (unsigned long long)s->entry[i].ticket, s->entry[i].orphan ? "*" : "");
	if (s->waiters == 0)
		strcpy(text + n, "|");
	fake_free(s);
	return text;
}

#define SHOWS(want, words)                                                                  \
	do {                                                                                \
		const char *text_ = shown();                                                \
		ok(strcmp(text_, want) == 0 && allocated == 0 && !overrun, "%s: %s", words, \
		   text_);                                                                  \
	} while (0)

static void
test_takers(void)
{
	begin_disk(FIRST_SLOTS);
	SHOWS("|", "nobody");
	put(5, HELD, 1);
	put(2, HELD, 2);
	put(9, WAITING, 3);
	put(1, WAITING, 4);
	put(4, IDLE, 0);
	put(3, OUT, 5);
	SHOWS("12|34", "holders and waiters, in their order");
	disk.h.paused = 1;
	disk.h.closed = 2;
	disk.h.repaired = 3;
	disk.h.gate.waiter = 4;
	SHOWS("12|34", "whatever the limiter is told");
	ok(seen.paused == 1 && seen.closed == 2 && seen.repaired == 3 && seen.gate.waiter == 4,
	   "which stays as it is");
	is(seen.used, 2, "the units in use are those of the holders");
	disk.slots[2].orphan = 1;
	SHOWS("12|34", "a living holder is no orphan, whatever the file says");
	is(searches, 0, "no command of the living is looked for");
	put(6, HELD, 6);
	disk.slots[6].seat = 5;
	SHOWS(flk_strerror(-FLK_DAMAGED), "two holders of one seat");
	put(6, WAITING, 4);
	SHOWS(flk_strerror(-FLK_DAMAGED), "two waiters with one ticket");
}

static void
test_the_dead(void)
{
	uint32_t i;
	struct flk_snapshot *s;

	begin_disk(FIRST_SLOTS);
	put(5, HELD, 1);
	put(2, HELD, 2);
	put(9, WAITING, 3);
	put(1, WAITING, 4);
	dead[5] = dead[9] = true;
	SHOWS("2|4", "the dead are not shown");
	is(seen.used, 1, "nor counted");
	is(searches, 1, "of a dead holder the command is looked for");
	guarded = true;
	SHOWS("1*2|4", "an orphan is shown");
	is(seen.used, 2, "and counted");
	begin_disk(N);
	for (i = 0; i < N; i++) {
		put(i, HELD, i + 1);
		dead[i] = true;
	}
	guarded = true;
	is(look(&s), 0, "of a thousand dead and more");
	ok(s->holders == 1000 && searches == 1000, "a thousand commands are looked for");
	ok(s->entry[999].ticket == 1000 && s->entry[999].orphan, "those of the first");
	fake_free(s);
	ok(allocated == 0 && !overrun, "for which there is memory");
}

static void
test_no_snapshot(void)
{
	static struct slot two[2];
	static struct header page;
	struct state st = { .h = &page, .slots = two, .n = 2, .me = NIL };
	struct flk_snapshot *s;

	begin_disk(FIRST_SLOTS);
	page.override = FLK_AUTO;
	page.waiting = page.holders = (struct list){ NIL, NIL, 0 };
	is(flki_snapshot_of(&st, &s, 5), 0, "a snapshot");
	is(s->limit, 5, "with the usual limit, where none is declared");
	fake_free(s);
	no_memory = true;
	is(flki_snapshot_of(&st, &s, 5), -ENOMEM, "none without memory");
	no_memory = false;
	page.holders.count = 3;
	is(flki_snapshot_of(&st, &s, 5), -FLK_DAMAGED, "or of more takers than slots");
	page.holders = (struct list){ 2, 2, 1 };
	st.bad = false;
	is(flki_snapshot_of(&st, &s, 5), -FLK_DAMAGED, "or of a slot that is not there");
	is(allocated, 0, "and nothing is left of it");
}

int
main(void)
{
	begin();
	test_takers();
	test_the_dead();
	test_no_snapshot();
	return tap_done();
}
