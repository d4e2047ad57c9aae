/* SPDX-License-Identifier: ISC */
/*
 * snapshots.c - what a taker is told by flk_snapshot(), flk_place() and flk_check() where memory, the
 * lock or the limiter fails.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static bool no_memory;
static int lost; /* the lock was, while its owner was inside */

#define malloc(size)           (no_memory ? NULL : malloc(size))
#define flki_leave_lock(t, st) (flki_leave_lock(t, st) != 0 ? -FLK_MISTAKEN : lost)
#include "snapshot.c"
#undef malloc

static const struct flk_request one = { .weight = 1, .limit = 1 };

/* A holder and a waiter, and no other. */
static bool
shows_both(struct flk *f)
{
	struct flk_snapshot *s;
	bool right;

	if (flk_snapshot(f, &s) != 0)
		return false;
	right = s->used == 1 && s->holders == 1 && s->waiters == 1 && s->entry[0].ticket == 1 &&
		s->entry[1].ticket == 2;
	free(s);
	return right;
}

static void
test_failures(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f), *u = taker(f);
	struct flk_snapshot *s;
	struct flk_place place = { .used = 77 };
	uint32_t prev;

	if (flk_acquire(t, &one, NULL) != 0 || flk_enqueue(u, &one) != -EINPROGRESS)
		tap_bail("no holder and no waiter");
	ok(shows_both(f), "a snapshot");
	no_memory = true;
	is(flk_snapshot(f, &s), -ENOMEM, "none without memory");
	no_memory = false;
	f->file.h->holders.count = FIRST_SLOTS + 1;
	ok(shows_both(f), "a false count is repaired first");
	prev = taker_slot(t)->prev;
	taker_slot(t)->prev = 3;
	is(flk_check(f, NULL, 0), -FLK_DAMAGED, "a link of a holder that leads elsewhere is found");
	taker_slot(t)->prev = prev;
	lost = -FLK_MISTAKEN;
	is(flk_check(f, NULL, 0), -FLK_MISTAKEN, "a check that lost the lock says so");
	lost = 0;
	is(flk_check(f, NULL, 0), 0, "all is right");
	f->file.h->dead = 1;
	is(flk_check(f, NULL, 0), -FLK_GONE, "of a limiter that was removed there is no check");
	is(flk_snapshot(f, &s), -FLK_GONE, "no snapshot");
	is(flk_place(u, &place), -FLK_GONE, "and no place");
	is(place.used, 77, "which is left as it was");
	f->file.h->dead = 0;
	flk_taker_free(u);
	flk_taker_free(t);
	whole(f, "in the end");
	flk_detach(f);
}

/* The waiter at the end lives, and does not look itself. */
static void
test_dead_holder(void)
{
	struct flk *f = fresh(1);
	struct agent a = agent_start(flk_path(f));
	struct flk_taker *t = taker(f);
	struct flk_snapshot *s;

	is(agent_do(&a, (struct order){ ACQUIRE, 1, 1, 0 }).code, 0, "one holds");
	is(flk_enqueue(t, &one), -EINPROGRESS, "and one waits");
	agent_kill(&a, SIGKILL);
	is(flk_snapshot(f, &s), 0, "a snapshot after the holder's death");
	ok(s->holders == 1 && s->waiters == 0 && s->entry[0].ticket == 2,
	   "does not show it, and the waiter has its permit");
	free(s);
	flk_taker_free(t);
	whole(f, "in the end");
	flk_detach(f);
}

static void
test_lines(void)
{
	char why[8] = "a\0xxxxx";

	append_line(why, 7, "b");
	is(strcmp(why, "a\nb"), 0, "a line is a line behind the last one");
	append_line(why, 7, "cdef");
	is(strcmp(why, "a\nb\ncd"), 0, "as far as there is room");
	append_line(why, 7, "g");
	is(strcmp(why, "a\nb\ncd"), 0, "and none behind that");
}

int
main(void)
{
	begin();
	test_failures();
	test_dead_holder();
	test_lines();
	return tap_done();
}
