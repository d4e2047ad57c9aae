/* SPDX-License-Identifier: ISC */
/*
 * circles.c - whoever is led round in a circle by the links in the file comes to an end; and what the check
 * says of a broken limiter, in as many bytes as there are for it.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "clock.h"

static struct flk *f;
static struct flk_taker *t[4];

/* 0 and 1 hold, 2 and 3 wait. */
static void
begin_limiter(void)
{
	const struct flk_request one = { .weight = 1, .limit = 2 };
	unsigned i;

	f = fresh(2);
	for (i = 0; i < 4; i++) {
		t[i] = taker(f);
		flk_enqueue(t[i], &one);
	}
}

static void
end_limiter(const char *words)
{
	unsigned i;

	is(flk_repair(f), 0, "%s: a repair", words);
	for (i = 0; i < 4; i++)
		flk_taker_free(t[i]);
	whole(f, words);
	flk_detach(f);
}

/* Each of the two lists leads from its last member to its first. */
static void
draw_circles(void)
{
	taker_slot(t[1])->next = flk_slot(t[0]);
	taker_slot(t[0])->prev = flk_slot(t[1]);
	taker_slot(t[3])->next = flk_slot(t[2]);
	taker_slot(t[2])->prev = flk_slot(t[3]);
}

static void
find_waiter(void)
{
	is(flk_evict(f, 12345), -FLK_NOPERMIT, "a waiter that is not in the line");
}

static void
find_holder(void)
{
	is(flk_shrink(f, 12345, 1), -FLK_NOPERMIT, "a permit that is not");
}

static void
count_line(void)
{
	struct flk_place place;

	flk_place(t[3], &place);
	ok(place.ahead >= 1, "how many are ahead");
}

static void
count_from_outside(void)
{
	struct flk_place place;
	struct flk_taker *newcomer = taker(f);

	flk_place(newcomer, &place);
	ok(place.ahead >= 2, "or would be");
	flk_taker_free(newcomer);
}

static void
copy_all(void)
{
	struct flk_snapshot *s = NULL;

	if (flk_snapshot(f, &s) == 0)
		ok(s->holders + s->waiters <= 16, "a copy of all");
	free(s);
}

static void
copy_barriers(void)
{
	struct flk_snapshot *s = NULL;

	taker_slot(t[2])->kind = taker_slot(t[3])->kind = BARRIER;
	if (flk_snapshot(f, &s) == 0)
		ok(s->waiters == 0, "a line of barriers alone");
	free(s);
	taker_slot(t[2])->kind = taker_slot(t[3])->kind = TAKER;
}

static void
join(void)
{
	const struct flk_request one = { .weight = 1, .limit = 2 };
	struct flk_taker *newcomer = taker(f);

	ok(flk_try(newcomer, &one) != 0, "a newcomer does not get what is not there");
	flk_taker_free(newcomer);
}

static void
wait_for_idle(void)
{
	struct timespec now = in_ms(0);
	struct flk_taker *newcomer = taker(f);

	ok(flk_wait_idle(newcomer, &now) != 0, "and nobody is idle");
	flk_taker_free(newcomer);
}

/* The head has no waiter before it, and watches all holders. */
static void
wait_as_head(void)
{
	struct timespec now = in_ms(0);

	taker_slot(t[2])->prev = NIL;
	is(flk_wait(t[2], &now, NULL), -ETIMEDOUT, "the head waits");
}

static void
release(void)
{
	flk_release(t[0]);
	ok(true, "a permit is released");
}

static void
check(void)
{
	char why[400];

	is(flk_check(f, why, sizeof(why)), -FLK_DAMAGED, "the check sees it");
}

/* As many rounds as there are slots take microseconds, and as many as 32 bits can count some seconds. */
static void
test_circles(void)
{
	static void (*const acts[])(void) = { find_waiter,   find_holder,   count_line,
					      copy_all,      copy_barriers, count_from_outside,
					      wait_for_idle, wait_as_head,  join,
					      release,       check };
	uint64_t before;
	unsigned i;

	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		begin_limiter();
		draw_circles();
		before = flki_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		acts[i]();
		ok(flki_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before < 2 * SECOND,
		   "and it soon comes to an end");
		end_limiter("after a circle");
	}
}

/* Slots behind the last that look as if they had owners: a taker that grows the file looks further. */
static void
test_claimed(void)
{
	const struct flk_request one = { .weight = 1, .limit = 99 };
	struct flk_taker *many[FIRST_SLOTS + 1];
	struct slot owned = { .alive = { .word = 1 } };
	unsigned i;
	int fd;

	f = fresh(99);
	fd = open(flk_path(f), O_RDWR | O_CLOEXEC);
	for (i = FIRST_SLOTS; i < 2 * FIRST_SLOTS; i++)
		if (pwrite(fd, &owned, sizeof(owned), (off_t)(SLOTS_AT + i * sizeof(owned))) !=
		    (ssize_t)sizeof(owned))
			tap_bail("pwrite");
	close(fd);
	for (i = 0; i <= FIRST_SLOTS; i++) {
		many[i] = taker(f);
		if (flk_try(many[i], &one) != 0)
			break;
	}
	is(i, FIRST_SLOTS + 1, "there is room for one more than the file had");
	is(flk_slot(many[FIRST_SLOTS]), 2 * FIRST_SLOTS, "behind those that look taken");
	for (i = 0; i <= FIRST_SLOTS; i++)
		flk_taker_free(many[i]);
	whole(f, "after that");
	flk_detach(f);
}

/* ---- what the check says ---- */

static void
test_sentences(void)
{
	char why[400] = "x", few[8] = "xxxxxxx", one = 'x';
	struct flk_snapshot *s;

	begin_limiter();
	is(flk_check(f, why, sizeof(why)), 0, "a sound limiter");
	is(why[0], 'x', "has nothing to be said of it");
	f->file.h->used++;
	f->file.h->min_count++;
	is(flk_check(f, why, sizeof(why)), -FLK_DAMAGED, "one that is broken in two ways");
	ok(strcmp(why, "the units in use are not the sum of the weights held\n"
		       "the smallest limit is not the smallest") == 0,
	   "has a line about each");
	is(flk_check(f, few, sizeof(few)), -FLK_DAMAGED, "in few bytes");
	ok(strcmp(few, "the uni") == 0, "there is as much as fits: %s", few);
	is(flk_check(f, &one, 1), -FLK_DAMAGED, "in one byte");
	is(one, '\0', "there is the end");
	one = 'x';
	is(flk_check(f, &one, 0), -FLK_DAMAGED, "and in none");
	is(one, 'x', "nothing");
	f->file.h->used--;
	f->file.h->min_count--;
	f->file.h->damaged = 1;
	is(flk_check(f, why, sizeof(why)), -FLK_DAMAGED, "one that was found damaged");
	ok(strcmp(why, "it was found damaged, and everyone is turned away") == 0, "is, still: %s",
	   why);
	is(flk_snapshot(f, &s), -FLK_DAMAGED, "of which there is no copy");
	f->file.h->used++;
	flk_check(f, why, sizeof(why));
	ok(strstr(why, "turned away\nthe units in use") != NULL, "with what is wrong with it");
	end_limiter("after a check");
}

int
main(void)
{
	begin();
	test_circles();
	test_claimed();
	test_sentences();
	return tap_done();
}
