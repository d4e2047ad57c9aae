/* SPDX-License-Identifier: ISC */
/*
 * mapping.c - the map calls of flocklimit.h: what is called when, in which order, and never too much
 * at once; stopped, refused, robbed of its limiter, killed.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#define MOST 4000

/* What a map is to do, and what it did. */
struct story {
	char path[100];
	struct flk_map *map;
	size_t items;
	uint32_t heavy; /* each third item weighs so much more */
	int fail_at, stop_at, end_code;
	unsigned slow_us;

	_Atomic size_t given, worked, dropped;
	_Atomic unsigned units, most;
	_Atomic bool in_next, in_done, twice;
	bool there;  /* the limiter's file, at the end */
	size_t told; /* by done(), which is never called twice at once */
	size_t order[MOST];
	int result[MOST];
	_Atomic unsigned times[MOST];
};

static size_t
index_of(const void *item)
{
	return (size_t)(uintptr_t)item - 1;
}

static int
next(void *context, void **item, struct flk_request *want)
{
	struct story *s = context;
	size_t i = s->given;

	if (atomic_exchange(&s->in_next, true))
		s->twice = true;
	if (s->stop_at > 0 && i == (size_t)s->stop_at)
		flk_map_stop(s->map);
	want->weight = 1 + (i % 3 == 2 ? s->heavy : 0);
	*item = (void *)(uintptr_t)(i + 1);
	s->in_next = false;
	if (i == s->items)
		return s->end_code;
	s->given = i + 1;
	return 1;
}

static int
work(void *context, void *item, struct flk_taker *taker)
{
	struct story *s = context;
	size_t i = index_of(item);
	struct flk_permit permit = { .weight = 0 };
	unsigned now, most = s->most;

	if (flk_permit(taker, &permit) != 0 || permit.weight != 1 + (i % 3 == 2 ? s->heavy : 0))
		s->twice = true;
	now = atomic_fetch_add(&s->units, permit.weight) + permit.weight;
	while (now > most && !atomic_compare_exchange_weak(&s->most, &most, now))
		;
	s->times[i]++;
	s->worked++;
	if (s->slow_us > 0)
		usleep(random_below(s->slow_us));
	atomic_fetch_sub(&s->units, permit.weight);
	return s->fail_at > 0 && i + 1 >= (size_t)s->fail_at ? -1000 - (int)i : 0;
}

static void
done(void *context, void *item, int result)
{
	struct story *s = context;

	if (atomic_exchange(&s->in_done, true))
		s->twice = true;
	if (s->slow_us > 0)
		usleep(50);
	s->order[s->told] = index_of(item);
	s->result[s->told++] = result;
	s->in_done = false;
}

static void
drop(void *context, void *item)
{
	struct story *s = context;

	(void)item;
	s->dropped++;
}

static struct flk_map_options
options(struct story *s, uint32_t limit)
{
	return (struct flk_map_options){ .want = { .weight = 1, .limit = limit },
					 .in_order = true,
					 .context = s,
					 .next = next,
					 .work = work,
					 .done = done,
					 .drop = drop };
}

static struct story *
story(size_t items)
{
	struct story *s = calloc(1, sizeof(*s));

	if (s == NULL)
		tap_bail("no memory");
	snprintf(s->path, sizeof(s->path), "%s", fresh_path());
	s->items = items;
	return s;
}

/* Runs it, and looks whether it left anything behind. */
static int
tell(struct story *s, const struct flk_map_options *o)
{
	struct flk *f;
	int error;

	if (flk_map_new(&s->map, s->path, o) != 0)
		tap_bail("no map");
	error = flk_map_run(s->map);
	flk_map_free(s->map);
	f = attach(s->path);
	whole(f, "afterwards");
	flk_detach(f);
	return error;
}

static bool
in_order(const struct story *s)
{
	size_t i;

	for (i = 0; i < s->told; i++)
		if (s->order[i] != i)
			return false;
	return true;
}

static bool
each_once(const struct story *s)
{
	size_t i;

	for (i = 0; i < s->items; i++)
		if (s->times[i] != 1)
			return false;
	return true;
}

/* ---- order, limits ---- */

static void
test_order(void)
{
	struct story *s = story(500);
	struct flk_map_options o = options(s, 4);

	s->slow_us = 500;
	is(tell(s, &o), 0, "a map over 500 items, limit 4");
	ok(each_once(s) && s->told == 500, "each was worked on once");
	ok(in_order(s), "and told in order");
	ok(s->most <= 4 && s->most > 1, "never above the limit, and not one by one");
	ok(!s->twice, "no two calls of next() or of done() at once; each under its permit");
	free(s);

	s = story(500);
	o = options(s, 4);
	o.in_order = false;
	s->slow_us = 500;
	is(tell(s, &o), 0, "the same, told as they end");
	ok(each_once(s) && s->told == 500, "each was worked on and told once");
	free(s);

	s = story(300);
	s->heavy = 3;
	s->slow_us = 300;
	o = options(s, 5);
	is(tell(s, &o), 0, "items of weight 1 and 4, limit 5");
	ok(each_once(s) && in_order(s) && !s->twice, "each once, in order, with its own weight");
	ok(s->most <= 5, "never above the limit");
	free(s);

	s = story(0);
	o = options(s, 1);
	is(tell(s, &o), 0, "a map over nothing");
	is(s->told, 0, "tells nothing");
	free(s);
}

/* ---- ends ---- */

static void
test_failures(void)
{
	struct story *s = story(100);
	struct flk_map_options o = options(s, 3);
	size_t i;

	s->fail_at = 10;
	s->slow_us = 500;
	is(tell(s, &o), -1009, "the first item that failed gives the code");
	ok(s->worked >= 10 && s->worked < 20, "nothing more was begun");
	ok(s->told == s->worked && in_order(s), "what was begun is told, in order");
	is(s->result[9], -1009, "with its result");
	ok(s->given - s->worked == s->dropped, "what was begun and got no permit was dropped");
	free(s);

	s = story(100);
	o = options(s, 3);
	o.go_on = true;
	s->fail_at = 10;
	is(tell(s, &o), -1009, "go_on: the first in order still gives the code");
	ok(each_once(s) && s->told == 100, "and all is done");
	for (i = 0; i < 100 && s->result[i] == (i < 9 ? 0 : -1000 - (int)i); i++)
		;
	is(i, 100, "each with its own result");
	free(s);

	s = story(20);
	o = options(s, 2);
	s->end_code = -EIO;
	is(tell(s, &o), -EIO, "an input that ends with a code");
	is(s->told, 20, "all that came before it is done");
	free(s);
}

static void
test_stop(void)
{
	struct story *s = story(MOST);
	struct flk_map_options o = options(s, 2);

	s->stop_at = 50;
	is(tell(s, &o), 0, "stopped out of next(): no failure");
	ok(s->worked <= 50 && s->worked >= 49 && s->told == s->worked, "what was begun has ended");
	ok(s->given - s->worked == s->dropped, "and the last was dropped");
	free(s);

	s = story(10);
	o = options(s, 1);
	if (flk_map_new(&s->map, s->path, &o) != 0)
		tap_bail("no map");
	flk_map_stop(s->map);
	is(flk_map_run(s->map), 0, "stopped before it runs");
	is(s->given, 0, "it does not even ask");
	flk_map_free(s->map);
	flk_map_free(NULL);
	free(s);
}

static void *
stop_when_it_waits(void *context)
{
	struct story *s = context;
	struct flk *f = attach(s->path);

	if (!stands(f, 1, 1))
		tap_bail("it never waited");
	flk_map_stop(s->map);
	flk_detach(f);
	return NULL;
}

static void
test_stop_from_outside(void)
{
	struct story *s = story(10);
	struct flk_map_options o = options(s, 1);
	struct flk *f = attach(s->path);
	struct flk_taker *t = taker(f);
	struct flk_request all = { .weight = 1, .limit = 1 };
	pthread_t thread;

	is(flk_acquire(t, &all, NULL), 0, "the limiter is full");
	if (flk_map_new(&s->map, s->path, &o) != 0 ||
	    pthread_create(&thread, NULL, stop_when_it_waits, s) != 0)
		tap_bail("no map");
	is(flk_map_run(s->map), 0, "stopped by another thread while it waits");
	pthread_join(thread, NULL);
	is(s->worked, 0, "nothing was begun");
	is(s->dropped, 1, "what waited was dropped");
	flk_map_free(s->map);
	flk_taker_free(t);
	flk_detach(f);
	free(s);
}

/* ---- waits ---- */

static struct flk_taker *holder;
static unsigned calls, ahead;

/* It is called in the thread that the holder belongs to. */
static uint64_t
waits(void *context, struct flk_taker *taker)
{
	struct flk_place place;
	struct timespec now;

	(void)context;
	if (flk_place(taker, &place) == 0 && place.used == 1)
		ahead += place.ahead;
	if (++calls == 3)
		flk_release(holder);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return calls >= 3 ? UINT64_MAX
			  : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + 1000000;
}

static void
test_waits(void)
{
	/* One item: a second one would wait for the first one's permit, and look, too. */
	struct story *s = story(1);
	struct flk_map_options o = options(s, 1);
	struct flk *f = attach(s->path);
	struct flk_request all = { .weight = 1, .limit = 1 };
	struct timespec soon = { .tv_nsec = 50000000 };

	o.waits = waits;
	holder = taker(f);
	is(flk_acquire(holder, &all, NULL), 0, "the limiter is full");
	is(tell(s, &o), 0, "an item looks at the line while it waits, and runs when it can");
	is(calls, 3, "as often as it asked for");
	ok(each_once(s) && ahead == 0, "each item was worked on once; none was ahead");

	calls = 3;
	s->given = s->told = 0;
	o.patience = &soon;
	is(flk_acquire(holder, &all, NULL), 0, "the limiter is full again");
	if (flk_map_new(&s->map, s->path, &o) != 0)
		tap_bail("no map");
	is(flk_map_run(s->map), -ETIMEDOUT, "patience ends while waits() has nothing more to do");
	flk_map_free(s->map);
	ok(calls == 4 && s->dropped == 1, "and the item is dropped");
	flk_taker_free(holder);
	flk_detach(f);
	free(s);
}

/* ---- no permit ---- */

static void
test_refusals(void)
{
	struct timespec soon = { .tv_nsec = 20000000 }, never = { 0, 0 };
	struct story *s = story(10);
	struct flk_map_options o = options(s, 1);
	struct flk *f = attach(s->path);
	struct flk_taker *t = taker(f);
	struct flk_request all = { .weight = 1, .limit = 1 };
	struct flk_map *m;

	o.patience = &soon;
	is(flk_acquire(t, &all, NULL), 0, "the limiter is full");
	if (flk_map_new(&m, s->path, &o) != 0)
		tap_bail("no map");
	is(flk_map_run(m), -ETIMEDOUT, "patience ends");
	is(s->dropped, 1, "and the item is dropped");
	flk_map_free(m);
	o.patience = &never;
	if (flk_map_new(&m, s->path, &o) != 0)
		tap_bail("no map");
	is(flk_map_run(m), -EAGAIN, "no patience at all");
	flk_map_free(m);
	o.patience = NULL;
	o.want.limit_queue = true;
	if (flk_map_new(&m, s->path, &o) != 0)
		tap_bail("no map");
	is(flk_map_run(m), -FLK_FULL, "too long a line");
	flk_map_free(m);
	o.want.limit_queue = false;
	steer_close(f);
	if (flk_map_new(&m, s->path, &o) != 0)
		tap_bail("no map");
	is(flk_map_run(m), -FLK_CLOSED, "closed");
	flk_map_free(m);
	steer_open(f);
	flk_release(t);
	s->heavy = 1;
	s->given = 0;
	if (flk_map_new(&m, s->path, &o) != 0)
		tap_bail("no map");
	is(flk_map_run(m), -FLK_HEAVY, "an item above the limit");
	is(s->worked, 2, "those before it are done");
	flk_map_free(m);
	is(flk_map_new(&m, "no/such/place", &o), -ENOENT, "no limiter, no map");
	flk_taker_free(t);
	whole(f, "after all that");
	flk_detach(f);
	free(s);
}

/* ---- before the line ---- */

/* A permit that the item takes of another limiter first, in its own thread; and what was seen. */
static struct {
	struct flk *other;
	struct flk_taker *of[MOST];
	uint64_t identity[4];
	_Atomic unsigned calls;
	_Atomic bool wrong, refuses;
} first;

static int
take_first(void *context, void *item, struct flk *limiter)
{
	struct flk_request one = { .weight = 1, .limit = 2 };
	struct flk_taker **t = &first.of[index_of(item)];
	unsigned call = first.calls++;

	(void)context;
	if (call < 4)
		first.identity[call] = flk_identity(limiter);
	if (first.refuses)
		return -ENXIO;
	if (*t != NULL)
		return 0;
	return flk_taker_new(t, first.other) == 0 ? flk_acquire(*t, &one, NULL) : -ENOMEM;
}

static int
work_with_both(void *context, void *item, struct flk_taker *taker)
{
	struct flk_taker **t = &first.of[index_of(item)];
	int result = work(context, item, taker);

	/* The same thread took both: else it would be a stranger. */
	first.wrong |= flk_release(*t) != 0;
	flk_taker_free(*t);
	*t = NULL;
	return result;
}

static void
wait_for_waiter(struct flk *f)
{
	struct flk_snapshot *s;
	uint32_t waiters = 0;

	while (waiters == 0) {
		if (flk_snapshot(f, &s) != 0)
			tap_bail("no snapshot");
		waiters = s->waiters;
		free(s);
		usleep(1000);
	}
}

static void *
run_map(void *map)
{
	return (void *)(intptr_t)flk_map_run(map);
}

static void
test_before(void)
{
	struct flk_request all = { .weight = 3, .limit = 3 };
	struct story *s = story(200);
	struct flk_map_options o = options(s, 3);
	struct flk_taker *full;
	struct flk_map *m;
	pthread_t thread;
	void *result;
	struct flk *f;

	first.other = attach(fresh_path());
	o.before = take_first;
	o.work = work_with_both;
	s->slow_us = 300;
	is(tell(s, &o), 0, "items that take a permit of another limiter before they join the line");
	ok(each_once(s) && !first.wrong, "each had both, in one thread");
	ok(s->most <= 2 && first.calls == 200, "never more at once than the other limiter allows");
	free(s);

	/* The file is removed while the item waits: it is asked again, for the new limiter. */
	s = story(1);
	o.context = s;
	first.calls = 0;
	f = attach(s->path);
	full = taker(f);
	is(flk_acquire(full, &all, NULL), 0, "the limiter is full");
	if (flk_map_new(&m, s->path, &o) != 0 || pthread_create(&thread, NULL, run_map, m) != 0)
		tap_bail("no map");
	wait_for_waiter(f);
	unlink(s->path);
	flk_release(full);
	pthread_join(thread, &result);
	is((intptr_t)result, 0, "an item whose limiter is removed");
	ok(first.calls == 2 && first.identity[0] == flk_identity(f) &&
	       first.identity[1] != first.identity[0],
	   "is prepared for both, and knows which is which");
	flk_map_free(m);
	flk_taker_free(full);
	flk_detach(f);

	first.refuses = true;
	s->given = s->worked = 0;
	if (flk_map_new(&m, s->path, &o) != 0)
		tap_bail("no map");
	is(flk_map_run(m), -ENXIO, "what before() refuses");
	ok(s->dropped == 1 && s->worked == 0, "is dropped");
	flk_map_free(m);
	free(s);
	whole(first.other, "after all that");
	flk_detach(first.other);
}

/* ---- the limiter goes away ---- */

static void
remove_it(struct story *s, size_t at)
{
	struct flk *f;

	if (at % 10 != 5)
		return;
	f = attach(s->path);
	if (at % 20 == 5)
		unlink(s->path);
	else
		flk_remove(f); /* it may well be busy */
	flk_detach(f);
}

static int
next_and_remove(void *context, void **item, struct flk_request *want)
{
	struct story *s = context;

	remove_it(s, s->given);
	s->there = access(s->path, F_OK) == 0;
	return next(context, item, want);
}

static void
test_removal(void)
{
	struct story *s = story(200);
	struct flk_map_options o = options(s, 2);

	o.next = next_and_remove;
	is(tell(s, &o), 0, "its limiter removed again and again");
	ok(each_once(s) && in_order(s), "each item is done once");
	ok(s->there, "in a limiter that others can find");
	free(s);
}

/* ---- an array ---- */

struct array {
	size_t n, at;
	bool fails;
};

static _Atomic unsigned squares[100];

static int
next_of_array(void *context, void **item, struct flk_request *want)
{
	struct array *a = context;

	(void)want;
	if (a->at == a->n)
		return 0;
	*item = (void *)(uintptr_t)a->at++;
	return 1;
}

static int
square(void *context, void *item, struct flk_taker *taker)
{
	const struct array *a = context;
	size_t i = (size_t)(uintptr_t)item;

	(void)taker;
	atomic_fetch_add(&squares[i], (unsigned)(i * i + 1));
	return a->fails && i >= 7 ? -(int)i : 0;
}

static int
map_array(const char *name, size_t n, bool fails)
{
	struct array a = { .n = n, .fails = fails };
	struct flk_map_options o = { .want = { .weight = 1, .limit = 3 },
				     .next = next_of_array,
				     .work = square,
				     .context = &a };
	struct flk_map *m;
	int error = flk_map_new(&m, name, &o);

	if (error == 0) {
		error = flk_map_run(m);
		flk_map_free(m);
	}
	return error;
}

static void
test_array(void)
{
	char path[100];
	size_t i;

	snprintf(path, sizeof(path), "%s", fresh_path());

	is(map_array(path, 100, false), 0, "a map over an array");
	for (i = 0; i < 100 && squares[i] == i * i + 1; i++)
		;
	is(i, 100, "each place once");
	is(map_array(path, 100, true), -7, "the first that fails");
	ok(squares[99] == 99 * 99 + 1, "ends it");
	is(map_array(path, 0, false), 0, "nothing to do");
	is(map_array("no/such/place", 1, false), -ENOENT, "no limiter");
}

/* ---- killed ---- */

/* The units of two processes in one word, so that it is of one moment. */
struct shared {
	_Atomic uint32_t units;
	_Atomic bool killed[2]; /* before it is: its units count no more */
	_Atomic unsigned over, begun;
};

static struct shared *shared;

static int
next_for_ever(void *context, void **item, struct flk_request *want)
{
	(void)context;
	want->weight = 1 + random_below(2);
	*item = NULL;
	return 1;
}

static int
work_a_little(void *context, void *item, struct flk_taker *taker)
{
	unsigned which = *(unsigned *)context;
	struct flk_permit permit = { .weight = 0 };
	uint32_t mine, now;

	(void)item;
	flk_permit(taker, &permit);
	mine = permit.weight << 16 * which;
	now = atomic_fetch_add(&shared->units, mine) + mine;
	if ((shared->killed[0] ? 0 : now & 0xffff) + (shared->killed[1] ? 0 : now >> 16) > 4)
		shared->over++;
	shared->begun++;
	usleep(random_below(300));
	atomic_fetch_sub(&shared->units, mine);
	return 0;
}

static _Noreturn void
map_for_ever(const char *path, unsigned which)
{
	struct flk_map_options o = { .want = { .weight = 1, .limit = 4 },
				     .context = &which,
				     .next = next_for_ever,
				     .work = work_a_little };
	struct flk_map *m;

	if (flk_map_new(&m, path, &o) == 0)
		flk_map_run(m);
	_exit(1);
}

static void
test_killed(void)
{
	char path[100];
	struct flk *f;
	struct flk_taker *t;
	struct flk_request all = { .weight = 4, .limit = 4 };
	struct timespec until;
	unsigned round, begun, served = 0;
	pid_t pid[2];
	int i;

	snprintf(path, sizeof(path), "%s", fresh_path());
	f = attach(path);
	t = taker(f);
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		tap_bail("no memory");
	for (round = 0; round < 40; round++) {
		begun = shared->begun;
		for (i = 0; i < 2; i++)
			if ((pid[i] = fork_child()) == 0)
				map_for_ever(path, (unsigned)i);
		for (i = 0; shared->begun == begun && i < PATIENCE_MS; i++)
			usleep(1000);
		usleep(random_below(10000));
		for (i = 0; i < 2; i++) {
			shared->killed[i] = true;
			kill(pid[i], SIGKILL);
			reap_child(pid[i]);
		}
		shared->units = 0; /* nobody is left */
		shared->killed[0] = shared->killed[1] = false;
		until = in_ms(PATIENCE_MS);
		served += flk_acquire(t, &all, &until) == 0;
		flk_release(t);
	}
	is(served, 40, "two maps killed 40 times: what they held can be had at once");
	is(shared->over, 0, "and they were never above the limit");
	ok(shared->begun >= 40, "they were at work");
	flk_taker_free(t);
	whole(f, "after the kills");
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_killed(); /* first: a thread sanitizer wants no fork after threads */
	test_order();
	test_failures();
	test_stop();
	test_stop_from_outside();
	test_waits();
	test_refusals();
	test_before();
	test_removal();
	test_array();
	return tap_done();
}
