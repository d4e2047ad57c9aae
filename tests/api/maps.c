/* SPDX-License-Identifier: ISC */
/*
 * maps.c - the parts of lib/map.c that mapping.t meets by chance alone: a ring that grows when it has been
 * round, a window that is full, and a limiter that is removed at the wrong moment.  The limiter and the
 * threads are our own.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "flocklimit.h"
#include "share.h"
#include "thread.h"
#include "clock.h"

/* ---- limiters and threads that are not there ---- */

struct flk {
	int users;
	bool gone;
};

struct flk_taker {
	struct flk *of;
};

static struct flk limiters[4];
static unsigned attached, takers, tries, acquires, releases, detaches, starts, turns;
static int attach_error, new_error, set_error, acquire_error, start_error;
static bool no_memory, no_name, ends_meanwhile;
static uint64_t acquired_until, the_time;
static struct flk_map *running;

static void meanwhile(void);
static int
fake_taker_new(struct flk_taker **t, struct flk *f)
{
	if (new_error != 0)
		return new_error;
	*t = malloc(sizeof(**t));
	if (*t == NULL)
		tap_bail("malloc");
	(*t)->of = f;
	takers++;
	return 0;
}

static void
fake_taker_free(struct flk_taker *t)
{
	takers--;
	free(t);
}

static int
fake_acquire(struct flk_taker *t, const struct flk_request *want, uint64_t until)
{
	acquires += want->weight == 1;
	acquired_until = until;
	meanwhile();
	return t->of->gone ? -FLK_GONE : acquire_error;
}

static int
fake_try(struct flk_taker *t, const struct flk_request *want)
{
	tries += want->weight == 1;
	return t->of->gone ? -FLK_GONE : acquire_error;
}

static bool gone_after; /* the file loses its name after the permit was taken */

static int
fake_verify(struct flk *f)
{
	bool gone = gone_after;

	gone_after = false;
	f->gone |= gone;
	return gone ? -FLK_GONE : 0;
}

static int
fake_start(size_t stack)
{
	starts += stack == 0; /* as large as the program's threads have them */
	return start_error;
}

static void *
fake_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : calloc(n, size);
}

static char *
fake_strdup(const char *s)
{
	return no_name ? NULL : strdup(s);
}

/* Whoever waits for a turn gets it at the end of all. */
static void
fake_wait(void)
{
	turns++;
	meanwhile();
}

#define flk_taker_new(t, f)                  fake_taker_new(t, f)
#define flk_taker_free(t)                    fake_taker_free(t)
#define flk_limiter(t)                       ((t)->of)
#define flki_share(f)                        ((f)->users++)
#define flki_put(f)                          ((f)->users--)
#define flki_acquire(t, want, until, w, ctx) fake_acquire(t, want, until)
#define flk_try(t, want)                     fake_try(t, want)
#define flk_verify(f)                        fake_verify(f)
#define flk_release(t)                       (releases++)
#define flk_cancel(t)                        ((void)(t))
#define flk_set(f, which, to)                (set_error)
#define flk_detach(f)                        (detaches++, (f)->users--)
#define flki_monotonic_ns()                  (the_time)
#define flki_thread_start(run, arg, stack)   fake_start(stack)
#define pthread_cond_wait(cond, lock)        fake_wait()
#define calloc(n, size)                      fake_calloc(n, size)
#define strdup(s)                            fake_strdup(s)
#define attach                               attach_for_map
#define fresh                                fresh_limiter /* common.h has a function of that name */
#include "map.c"
#undef calloc

static int
attach_fake(struct flk **limiter, const char *name, const struct flk_options *options)
{
	(void)name;
	(void)options;
	if (attach_error != 0)
		return attach_error;
	*limiter = &limiters[attached++];
	(*limiter)->users = 1;
	return 0;
}

static void
meanwhile(void)
{
	if (ends_meanwhile)
		end(running);
}

static struct flk_map *
begin_map(const struct flk_map_options *o)
{
	struct flk_map *m;

	memset(limiters, 0, sizeof(limiters));
	attached = takers = tries = acquires = releases = detaches = starts = turns = 0;
	attach_error = new_error = acquire_error = start_error = 0;
	no_memory = no_name = ends_meanwhile = gone_after = false;
	the_time = 1000 * SECOND;
	if (flki_map_new(&m, "x", o, attach_fake) != 0)
		tap_bail("no map");
	return running = m;
}

/* ---- the ring ---- */

static void *
item_of(uint64_t n)
{
	return (void *)(uintptr_t)(n + 1);
}

static uint64_t delivered[300];
static unsigned deliveries;

static void
note_delivery(void *context, void *what, int result)
{
	(void)context;
	(void)result;
	delivered[deliveries++] = (uintptr_t)what - 1;
}

/* Items begin while the first of them is not done, so the ring has to grow twice, from any place. */
static void
test_ring(void)
{
	const struct flk_map_options o = { .in_order = true, .done = note_delivery };
	uint64_t round, n;
	unsigned wrong = 0;

	for (round = 0; round < 2 * FIRST; round++) {
		struct flk_map *m = begin_map(&o);
		deliveries = 0;
		for (n = 0; n < round; n++) {
			wrong += !make_room(m);
			finish(m, m->begun++, item_of(n), 0);
		}
		for (n = round; n < round + 5 * FIRST; n++) {
			wrong += !make_room(m);
			m->begun++;
			if (n != round)
				finish(m, n, item_of(n), 0);
		}
		wrong += deliveries != round;
		finish(m, round, item_of(round), 0);
		wrong += deliveries != round + 5 * FIRST;
		for (n = 0; n < deliveries; n++)
			wrong += delivered[n] != n;
		wrong += m->room != 8 * FIRST;
		flk_map_free(m);
	}
	is(wrong, 0, "a ring that grows keeps each item in its place");
}

static void
test_ring_without_memory(void)
{
	const struct flk_map_options o = { .in_order = true, .done = note_delivery };
	struct flk_map *m = begin_map(&o);
	uint64_t n;

	deliveries = 0;
	for (n = 0; n < FIRST; n++) {
		make_room(m);
		m->begun++;
	}
	no_memory = true;
	ok(!make_room(m) && m->room == FIRST, "without memory it stays as it is");
	for (n = FIRST; n-- > 0;)
		finish(m, n, item_of(n), 0);
	is(deliveries, FIRST, "and loses none");
	no_memory = false;
	flk_map_free(m);
}

static void
test_failures(void)
{
	struct flk_map *m = begin_map(&(struct flk_map_options){ .go_on = true });

	fail(m, 7, -7);
	fail(m, 9, -9);
	is(m->error, -7, "the first item that failed counts");
	fail(m, 3, -3);
	fail(m, 3, -4);
	is(m->error, -3, "by the order of their beginning");
	flk_map_free(m);
}

/* ---- who leads ---- */

static void
test_turns(void)
{
	const struct flk_map_options o = { .go_on = true };
	struct flk_map *m = begin_map(&o);

	ends_meanwhile = true;
	m->begun = m->delivered + WINDOW - 1;
	ok(may_lead(m) && turns == 0, "one item more fits into the window");
	m->begun++;
	ok(!may_lead(m) && turns == 1, "and not another, until the end");
	ok(!may_lead(m) && turns == 1, "after which nobody leads");
	m->over = false;
	m->begun = m->delivered;
	m->led = true;
	ok(!may_lead(m) && turns == 2, "nor does a second beside the first");
	m->over = false;

	pass_lead(m);
	ok(!m->led && starts == 1 && m->threads == 1, "a new thread leads");
	m->idle = 1;
	pass_lead(m);
	is(starts, 1, "or one that is idle");
	m->idle = 0;
	m->threads = THREADS;
	pass_lead(m);
	is(starts, 1, "or the next that ends its work, where there are too many");
	m->threads = 1;
	m->over = true;
	pass_lead(m);
	is(starts, 1, "and none at the end");
	m->over = false;
	start_error = -EAGAIN;
	pass_lead(m);
	is(m->threads, 1, "one that can't be started does not count");
	flk_map_free(m);
}

/* ---- a permit ---- */

static int
take(struct flk_map *m, struct flk_taker **t)
{
	const struct flk_request want = { .weight = 1 };

	return take_permit(m, t, item_of(0), &want);
}

static void
test_permit(void)
{
	const struct timespec soon = { .tv_sec = 5 }, at_once = { .tv_sec = 0 };
	struct flk_map_options o = { .patience = NULL };
	struct flk_taker *t = NULL;
	struct flk_map *m = begin_map(&o);

	ok(take(m, &t) == 0 && acquired_until == UINT64_MAX, "an item waits for ever");
	is(limiters[0].users, 2, "its taker has a part in the limiter");
	ok(take(m, &t) == 0 && takers == 1, "which is used again");
	gone_after = true;
	is(take(m, &t), 0, "a limiter that has lost its name when the permit was taken");
	ok(releases == 1 && acquires == 4 && t->of == &limiters[1] && limiters[0].users == 0 &&
	       takers == 1,
	   "is left for the one that has it now");
	limiters[1].gone = true;
	ok(take(m, &t) == 0 && t->of == &limiters[2],
	   "and so is one that is removed while it waits");
	limiters[2].gone = true;
	attach_error = -EMFILE;
	is(take(m, &t), -EMFILE, "if there is no other, there is no permit");
	limiters[2].gone = false;
	attach_error = 0;
	ends_meanwhile = true;
	releases = 0;
	is(take(m, &t), -FLK_CANCELLED, "a permit that comes after the end");
	is(releases, 1, "is given back");
	is(take(m, &t), -FLK_CANCELLED, "and none is taken then");
	is(releases, 1, "at all");
	leave(t);
	ok(takers == 0 && limiters[2].users == 1, "the taker gives its part back");
	flk_map_free(m);
	is(limiters[2].users, 0, "and so does the map");

	o.patience = &soon;
	m = begin_map(&o);
	t = NULL;
	ok(take(m, &t) == 0 && acquired_until == the_time + 5 * SECOND, "or for as long as it may");
	new_error = -ENOMEM;
	leave(t);
	t = NULL;
	is(take(m, &t), -ENOMEM, "without a taker there is no permit");
	flk_map_free(m);
	o.patience = &at_once;
	m = begin_map(&o);
	ok(take(m, &t) == 0 && tries == 1 && acquires == 0, "or not at all");
	leave(t);
	flk_map_free(m);
}

static void
test_new(void)
{
	const struct flk_map_options plain = { .go_on = true };
	const struct flk_settings to = { .pace = { .stagger_ns = 1 } };
	const struct flk_map_options paced = { .to = &to, .which = FLK_SET_STAGGER };
	struct flk_map *m = begin_map(&plain);

	flk_map_free(m);
	attach_error = -EMFILE;
	is(flki_map_new(&m, "x", &plain, attach_fake), -EMFILE, "no limiter, no map");
	attach_error = 0;
	no_memory = true;
	is(flki_map_new(&m, "x", &plain, attach_fake), -ENOMEM, "nor without memory");
	no_memory = false;
	no_name = true;
	is(flki_map_new(&m, "x", &plain, attach_fake), -ENOMEM, "for whatever");
	no_name = false;
	is(detaches, 0, "without a limiter there is none to close");
	set_error = -EINVAL;
	is(flki_map_new(&m, "x", &paced, attach_fake), -EINVAL, "nor with a wrong pace");
	is(detaches, 1, "the limiter is closed");
	is(flki_map_new(&m, "x", &plain, attach_fake), 0, "which nobody sets who does not say so");
	flk_map_free(m);
}

int
main(void)
{
	begin();
	test_ring();
	test_ring_without_memory();
	test_failures();
	test_turns();
	test_permit();
	test_new();
	return tap_done();
}
