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

/* What a waiter and a holder have in common, and what a holder has no longer. */
static void
test_entries(void)
{
	struct flk_snapshot *s;
	const struct flk_entry *e;
	uint32_t i;

	begin_disk(FIRST_SLOTS);
	put(3, HELD, 1);
	put(8, WAITING, 2);
	for (i = 3; i <= 8; i += 5) {
		struct slot *of = &disk.slots[i];
		of->most = 4;
		of->yield = 3;
		of->passed_by = 2;
		of->not_seats = 64;
		of->pid = 77;
		of->uid = 78;
		of->worker_pid = 79;
		of->since_ns = clock_ns - 5;
		of->role = FLK_WRAPPER;
		memset(of->command, 'c', sizeof(of->command));
		memset(of->key, 'k', sizeof(of->key));
	}
	is(look(&s), 0, "a holder and a waiter");
	for (i = 0; i < 2; i++) {
		e = &s->entry[i];
		ok(e->ticket == i + 1 && e->weight == 1 && e->limit == N && e->not_seats == 64 &&
		       e->slot == (i == 0 ? 3 : 8) && e->holds == (i == 0),
		   "%u: what it asked for", i);
		ok(e->pid == 77 && e->uid == 78 && e->role == FLK_WRAPPER, "who it is");
		is(e->since_ns, clock_ns - 5, "since when");
		is(strnlen(e->command, FLK_COMMAND), FLK_COMMAND - 1, "its command ends");
		is(strnlen(e->key, FLK_KEY), FLK_KEY - 1, "and its key");
	}
	e = s->entry;
	ok(e[0].most == 1 && e[0].yield == 0 && e[0].passed_by == 0 && e[0].worker == 79,
	   "the holder waits no more, and has a worker");
	ok(e[1].most == 4 && e[1].yield == 3 && e[1].passed_by == 2 && e[1].worker == 0 &&
	       e[1].seats == 0,
	   "the waiter has none");
	fake_free(s);
	disk.slots[8].most = 0;
	disk.slots[8].share = 6;
	memcpy(disk.slots[8].key, "k", 2);
	disk.slots[8].since_ns = clock_ns + 1;
	disk.slots[8].role = FLK_CARRIED + 1;
	disk.slots[3].key[0] = '\0';
	disk.slots[3].share = 6;
	is(look(&s), 0, "they have other numbers");
	e = s->entry;
	is(e[1].most, 1, "none is the most that a waiter asked for");
	is(e[1].since_ns, clock_ns, "what is to come is now");
	is(e[1].role, FLK_WORKER, "a role that is none");
	is(e[1].share, 6, "a share");
	is(e[0].share, 0, "means nothing without a key");
	fake_free(s);
	disk.slots[8].share = 0;
	is(look(&s), 0, "and others");
	is(s->entry[1].share, 1, "a share that is not said is one");
	fake_free(s);
	disk.slots[8].share = 1;
	disk.slots[8].role = FLK_CARRIED;
	is(look(&s), 0, "and others");
	is(s->entry[1].share, 1, "as one that is said");
	is(s->entry[1].role, FLK_CARRIED, "and the last of the roles");
	fake_free(s);
}

/* A reader has no slot of its own there. */
static void
test_full(void)
{
	struct flk_snapshot *s;
	uint32_t i;

	begin_disk(FIRST_SLOTS);
	for (i = 0; i < FIRST_SLOTS; i++)
		put(i, i < 10 ? HELD : WAITING, i + 1);
	is(look(&s), 0, "a limiter all of whose slots are in use");
	ok(s->holders == 10 && s->waiters == FIRST_SLOTS - 10, "is shown in full");
	fake_free(s);
	for (i = 10; i < FIRST_SLOTS; i++)
		disk.slots[i].state = HELD;
	SHOWS("12345678910111213141516|", "or all of whose takers hold");
	ok(allocated == 0 && !overrun, "and there is memory for that");
}

static void
limit_is(uint32_t want, const char *words)
{
	struct flk_snapshot *s;

	if (look(&s) != 0)
		tap_bail("no snapshot");
	ok(s->limit == want && s->next_start_ns == 0, "%s: %u", words, s->limit);
	fake_free(s);
}

static void
test_limit(void)
{
	uint32_t i;

	begin_disk(FIRST_SLOTS);
	disk.h.declared = 5;
	limit_is(5, "the limit of a newcomer");
	put(3, HELD, 1);
	disk.slots[3].limit = 7;
	limit_is(7, "that of the only holder");
	put(8, WAITING, 2);
	disk.slots[8].limit = 6;
	limit_is(6, "that of the first that waits");
	put(9, WAITING, 3);
	disk.slots[9].limit = 4;
	limit_is(6, "not of the second");
	disk.slots[8].kind = BARRIER;
	limit_is(4, "unless the first takes nothing");
	SHOWS("1|3", "and is not shown");
	begin_disk(FIRST_SLOTS);
	for (i = 0; i < FIRST_SLOTS; i++) {
		put(i, WAITING, i + 1);
		disk.slots[i].kind = i < FIRST_SLOTS - 1 ? BARRIER : TAKER;
	}
	disk.slots[FIRST_SLOTS - 1].limit = 3;
	limit_is(3, "also if all others take nothing");
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
	two[0].kind = BARRIER;
	two[0].next = 0;
	page.waiting = (struct list){ 0, 0, 1 };
	is(flki_snapshot_of(&st, &s, 5), 0, "one of a line in a circle ends");
	is(s->waiters, 0, "and has nobody where nobody takes anything");
	fake_free(s);
	page.waiting = (struct list){ NIL, NIL, 0 };
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
	test_entries();
	test_full();
	test_limit();
	test_no_snapshot();
	return tap_done();
}
