/* SPDX-License-Identifier: ISC */
/*
 * map.c - many at once: items, each worked on under a permit of its own.
 *
 * One thread at a time is the leader: it gets the next item, and waits in the line for its permit.
 * So a map has one ticket in the line, however many items it has.  When the leader has its permit,
 * another thread becomes the leader, and the first does the work itself, because a permit belongs
 * to the thread that took it.  There are as many threads as work at the same time, and the leader.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cancel.h"
#include "clock.h"
#include "flocklimit.h"
#include "share.h"
#include "thread.h"

#define FIRST   16
#define WINDOW  65536 /* items that are begun and not delivered, at most */
#define THREADS 16384

struct result {
	void *item;
	int code;
	bool there;
};

/*
 * `begun' counts the items that were begun, `delivered' those of which done() was called.  The
 * items in between are in the ring, each at its number: the number of its beginning if they are to
 * be delivered in order, else the number of its end.
 */
struct flk_map {
	struct flk_map_options o;
	flki_attach *attach;
	char *name;

	pthread_mutex_t lock; /* guards all that follows; not held in a callback or a wait */
	pthread_cond_t turn;  /* a thread may lead now, or all is over */
	struct flk *limiter;  /* where the next permit is taken; each taker has a part in its own */
	struct flk_taker *leader; /* the taker that waits for a permit, or NULL */
	bool led, over;
	unsigned idle, threads;
	uint64_t begun, ended, delivered;
	struct result *ring;
	size_t room;     /* of the ring; a power of two */
	uint64_t failed; /* the number of the first item that failed, with `error' */
	int error;
};

/* Nothing more begins. */
static void
end(struct flk_map *m)
{
	m->over = true;
	if (m->leader != NULL)
		flk_cancel(m->leader);
	pthread_cond_broadcast(&m->turn);
}

/* ---- what has ended ---- */

static void
fail(struct flk_map *m, uint64_t number, int error)
{
	if (m->error == 0 || number < m->failed) {
		m->failed = number;
		m->error = error;
	}
}

static bool
make_room(struct flk_map *m)
{
	struct result *ring;
	uint64_t i;

	if (m->begun - m->delivered < m->room)
		return true;
	ring = calloc(m->room * 2, sizeof(*ring));
	if (ring == NULL)
		return false;
	for (i = m->delivered; i < m->begun; i++)
		ring[i & (m->room * 2 - 1)] = m->ring[i & (m->room - 1)];
	free(m->ring);
	m->ring = ring;
	m->room *= 2;
	return true;
}

/*
 * A thread that has ended an item delivers what can be delivered.  While it is in done(), the place of
 * that item is empty and still the next: another thread finds nothing to deliver.
 */
static void
deliver(struct flk_map *m)
{
	struct result r, *next;

	while (next = &m->ring[m->delivered & (m->room - 1)], next->there) {
		r = *next;
		next->there = false;
		if (m->o.done != NULL) {
			pthread_mutex_unlock(&m->lock);
			m->o.done(m->o.context, r.item, r.code);
			pthread_mutex_lock(&m->lock);
		}
		if (m->begun - m->delivered++ == WINDOW)
			pthread_cond_broadcast(&m->turn);
	}
}

static void
finish(struct flk_map *m, uint64_t number, void *item, int code)
{
	uint64_t at = m->o.in_order ? number : m->ended;

	m->ended++;
	if (code != 0) {
		fail(m, number, code);
		if (!m->o.go_on)
			end(m);
	}
	m->ring[at & (m->room - 1)] = (struct result){ item, code, true };
	deliver(m);
}

/* ---- the line ---- */

static void
leave(struct flk_taker *t)
{
	struct flk *f;

	if (t == NULL)
		return;
	f = flk_limiter(t);
	flk_taker_free(t);
	flki_put(f);
}

static int
attach(const struct flk_map *m, struct flk **limiter)
{
	int error = m->attach(limiter, m->name, m->o.options);

	if (error != 0)
		return error;
	if (m->o.which != 0)
		error = flk_set(*limiter, m->o.which, m->o.to);
	if (error != 0) {
		flk_detach(*limiter);
		*limiter = NULL;
	}
	return error;
}

/* Sees to it that *t is a taker of the limiter in use; the lock is held. */
static int
arrive(struct flk_map *m, struct flk_taker **t)
{
	int error;

	if (*t != NULL && flk_limiter(*t) == m->limiter)
		return 0;
	leave(*t);
	*t = NULL;
	if ((error = flk_taker_new(t, m->limiter)) == 0)
		flki_share(m->limiter);
	return error;
}

/* What the caller does before an item joins the line. */
static int
prepare(struct flk_map *m, struct flk_taker *t, void *item)
{
	int error = 0;

	if (m->o.before != NULL && !m->over) {
		pthread_mutex_unlock(&m->lock);
		error = m->o.before(m->o.context, item, flk_limiter(t));
		pthread_mutex_lock(&m->lock);
	}
	return error == 0 && m->over ? -FLK_CANCELLED : error;
}

/*
 * The leader's part with the lock held: takes a permit.  If the limiter's file was removed, other
 * processes would find another limiter of its name; so it attaches to that.
 */
static int
take_permit(struct flk_map *m, struct flk_taker **t, void *item, const struct flk_request *want)
{
	uint64_t until = m->o.patience != NULL ? flki_deadline_ns(m->o.patience) : UINT64_MAX;
	bool at_once = until == 0;
	struct flk *fresh;
	int error;

	if (until < UINT64_MAX - flki_monotonic_ns())
		until += flki_monotonic_ns();
	for (;;) {
		if ((error = arrive(m, t)) != 0 || (error = prepare(m, *t, item)) != 0)
			return error;
		m->leader = *t;
		pthread_mutex_unlock(&m->lock);
		error = at_once ? flk_try(*t, want)
				: flki_acquire(*t, want, until, m->o.waits, m->o.context);
		if (error == 0 && (error = flk_verify(flk_limiter(*t))) != 0)
			flk_release(*t);
		fresh = NULL;
		if (error == -FLK_GONE)
			error = attach(m, &fresh);
		pthread_mutex_lock(&m->lock);
		m->leader = NULL;
		if (error == 0 && fresh == NULL && m->over) {
			flk_release(*t);
			error = -FLK_CANCELLED;
		}
		if (fresh == NULL)
			return error;
		flki_put(m->limiter);
		m->limiter = fresh;
	}
}

/* ---- the crew ---- */

static void *work_along(void *map);

/*
 * Another thread must lead: an idle one, or a new one.  If none can be made, the next thread that
 * ends its work leads.
 */
static void
pass_lead(struct flk_map *m)
{
	m->led = false;
	if (m->idle > 0 || m->over || m->threads >= THREADS) {
		pthread_cond_signal(&m->turn);
		return;
	}
	if (flki_thread_start(work_along, m, 0) == 0)
		m->threads++;
}

/* Waits for its turn to lead; false if all is over. */
static bool
may_lead(struct flk_map *m)
{
	m->idle++;
	while (!m->over && (m->led || m->begun - m->delivered >= WINDOW))
		pthread_cond_wait(&m->turn, &m->lock);
	m->idle--;
	return !m->over;
}

/* True with an item and a permit for it. */
static bool
lead(struct flk_map *m, struct flk_taker **t, void **item, uint64_t *number)
{
	struct flk_request want = m->o.want;
	int got, error;

	m->led = true;
	pthread_mutex_unlock(&m->lock);
	got = m->o.next(m->o.context, item, &want);
	pthread_mutex_lock(&m->lock);
	if (got == 1) {
		error = make_room(m) ? take_permit(m, t, *item, &want) : -ENOMEM;
		if (error == 0) {
			*number = m->begun++;
			pass_lead(m);
			return true;
		}
		if (m->o.drop != NULL)
			m->o.drop(m->o.context, *item);
		if (error != -FLK_CANCELLED || !m->over)
			fail(m, m->begun, error);
	} else if (got < 0) {
		fail(m, m->begun, got);
	}
	end(m);
	return false;
}

static void *
work_along(void *map)
{
	struct flk_map *m = map;
	struct flk_taker *t = NULL;
	uint64_t number;
	void *item;
	int code;

	pthread_mutex_lock(&m->lock);
	while (may_lead(m) && lead(m, &t, &item, &number)) {
		pthread_mutex_unlock(&m->lock);
		code = m->o.work(m->o.context, item, t);
		flk_release(t);
		pthread_mutex_lock(&m->lock);
		finish(m, number, item, code);
	}
	leave(t);
	m->threads--;
	/* flk_map_run() waits for the last thread; after the unlock the map may be freed. */
	pthread_cond_broadcast(&m->turn);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* ---- for callers ---- */

int
flki_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options,
	     flki_attach *attach_limiter)
{
	struct flk_map *m;
	int error = -ENOMEM;

	if (!FLKI_IS_KNOWN(options))
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return error;
	m->o = *options;
	m->attach = attach_limiter;
	m->room = FIRST;
	m->ring = calloc(FIRST, sizeof(*m->ring));
	m->name = strdup(name);
	if (m->ring == NULL || m->name == NULL || (error = attach(m, &m->limiter)) != 0) {
		free(m->ring);
		free(m->name);
		free(m);
		return error;
	}
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->turn, NULL);
	*map = m;
	return 0;
}

int
flk_map_new(struct flk_map **map, const char *name, const struct flk_map_options *options)
{
	return flki_map_new(map, name, options, flk_attach);
}

int
flk_map_run(struct flk_map *m)
{
	int cancel FLKI_RESTORED = flki_no_cancel();

	pthread_mutex_lock(&m->lock);
	m->threads++;
	pthread_mutex_unlock(&m->lock);
	work_along(m);
	pthread_mutex_lock(&m->lock);
	while (m->threads > 0)
		pthread_cond_wait(&m->turn, &m->lock);
	pthread_mutex_unlock(&m->lock);
	return m->error;
}

void
flk_map_stop(struct flk_map *m)
{
	pthread_mutex_lock(&m->lock);
	end(m);
	pthread_mutex_unlock(&m->lock);
}

void
flk_map_free(struct flk_map *m)
{
	if (m == NULL)
		return;
	flki_put(m->limiter);
	pthread_cond_destroy(&m->turn);
	pthread_mutex_destroy(&m->lock);
	free(m->ring);
	free(m->name);
	free(m);
}
