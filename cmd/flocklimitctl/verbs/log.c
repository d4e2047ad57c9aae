/* SPDX-License-Identifier: ISC */
/*
 * log.c - the verb log: the events that the limiter remembers and, with -f, those that come.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "appear.h"
#include "event.h"
#include "explain.h"
#include "limiters.h"
#include "now.h"
#include "say.h"

/* gcc 12 loses sight of what the array keeps. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* ---- the past ---- */

struct record {
	struct flk_event event;
	uint64_t key; /* to sort by: the latest time of this and earlier events of its limiter */
	size_t index;
	size_t limiter;
	const char *abroad; /* as of kind_happened() */
};

struct past {
	struct limiter {
		char *name, *path;
		uint64_t identity, number; /* of its newest event */
	} * limiter;
	size_t limiters;
	struct record *record;
	size_t records;
	int width;
	struct flk_event *room; /* for FLK_HISTORY events */
};

/* Makes room for one more limiter, and so many of its events. */
static bool
grow(struct past *p, size_t events)
{
	struct limiter *limiter = reallocarray(p->limiter, p->limiters + 1, sizeof(*limiter));
	struct record *record;

	if (limiter == NULL)
		return false;
	p->limiter = limiter;
	record = reallocarray(p->record, p->records + events + 1, sizeof(*record));
	if (record == NULL)
		return false;
	p->record = record;
	return true;
}

static void
widen(const struct ctl *c, struct past *p, const char *name)
{
	int width = (int)strlen(name);

	if (is_many(c) && width > p->width)
		p->width = width;
}

/* To open a limiter of a store does not contact the store. */
static int
look_at(const struct visit *v)
{
	struct flk_snapshot *s;
	int error = here.is_file ? 0 : flk_snapshot(v->f, &s);

	if (!here.is_file && error == 0)
		free(s);
	return error;
}

/* Whether it is a limiter that does not exist yet, but may be made while we follow. */
static bool
is_awaited(const struct ctl *c, int error)
{
	return c->follow && !c->all && error == -ENOENT;
}

static int
gather(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct limiter l = { .name = NULL };
	struct past *p = ctx;
	size_t n, i;
	uint64_t key = 0;
	int error = v->error;

	if (is_awaited(c, v->error)) {
		say_absent(v->name, v->path, true);
		return DONE;
	}
	if (error != 0 || (error = look_at(v)) != 0)
		return error;
	n = flk_history(v->f, 0, p->room, FLK_HISTORY);
	i = c->last < n ? n - (size_t)c->last : 0;
	if (!grow(p, n - i) || (l.name = strdup(v->name)) == NULL ||
	    (l.path = strdup(v->path)) == NULL) {
		free(l.name);
		return -ENOMEM;
	}
	l.identity = flk_identity(v->f);
	l.number = n > 0 ? p->room[n - 1].number : 0;
	p->limiter[p->limiters] = l;
	widen(c, p, v->name);
	for (; i < n; i++) {
		key = p->room[i].when_ns > key ? p->room[i].when_ns : key;
		p->record[p->records] = (struct record){ p->room[i], key, p->records, p->limiters,
							 kind_happened(v->f, &p->room[i]) };
		p->records++;
	}
	p->limiters++;
	return DONE;
}

/* By time; the events of one limiter keep their order. */
static int
compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void
print_past(const struct ctl *c, const struct past *p)
{
	size_t i = c->last < p->records ? p->records - (size_t)c->last : 0;

	if (p->records > 0)
		qsort(p->record, p->records, sizeof(*p->record), compare_records);
	for (; i < p->records; i++) {
		const struct limiter *l = &p->limiter[p->record[i].limiter];
		struct event_of s = { c, NULL, l->name, l->path, p->width };
		event_print(&s, &p->record[i].event, p->record[i].abroad);
	}
}

static const struct limiter *
find(const struct past *p, const char *path)
{
	size_t i;

	for (i = 0; i < p->limiters; i++)
		if (strcmp(p->limiter[i].path, path) == 0)
			return &p->limiter[i];
	return NULL;
}

/* ---- what comes ---- */

/* rm(1) removes a limiter without waking its followers, so we look once a minute. */
static int
sleep_until_event(struct flk *f, uint64_t number)
{
	struct timespec relook = flki_timespec(now_ns() + 60 * SECOND);
	int error = flk_follow(f, number, &relook);

	return error == -ETIMEDOUT ? flk_verify(f) : error == -EINTR ? 0 : error;
}

static int
follow(const struct event_of *s, struct flk_event *e, uint64_t number)
{
	size_t n, i;
	int error;

	while (fflush(stdout) == 0) {
		error = sleep_until_event(s->f, number);
		if (error != 0)
			return error;
		n = flk_history(s->f, number, e, FLK_HISTORY);
		if (n > 0 && e[0].number > number + 1 && here.is_file)
			say(s->name, "too much happened at once: %" PRIu64 " events are missing",
			    e[0].number - number - 1);
		for (i = 0; i < n; i++)
			event_print(s, &e[i], kind_happened(s->f, &e[i]));
		if (n > 0)
			number = e[n - 1].number;
	}
	return DONE; /* our output has no reader: flocklimitctl_main() prints a line */
}

/*
 * A user with a mistyped name would not learn why nothing comes: look first.  If the store is away, say so, and
 * wait for it.
 */
static int
look_first(const struct ctl *c, const struct visit *v)
{
	int error = look_at(v);

	if (error == 0)
		return 0;
	if (is_awaited(c, error))
		say_absent(v->name, v->path, true);
	else if (error == -ENOENT)
		return error;
	else if (here.operating->is_away())
		say(v->name, "%s; retrying", explain(error));
	return 0;
}

/* In a store each follower tells the past itself: after the last event before those that are wanted. */
static uint64_t
number_before(const struct ctl *c, const struct past *p, struct flk *f)
{
	size_t n = flk_history(f, 0, p->room, FLK_HISTORY);

	return c->last < n ? p->room[n - (size_t)c->last - 1].number : 0;
}

static int
follow_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	const struct past *p = ctx;
	const struct limiter *l = find(p, v->path);
	struct event_of s = { c, v->f, v->name, v->path, p->width };
	bool is_same = v->error == 0 && l != NULL && l->identity == flk_identity(v->f);
	int error = v->error;

	if (error != 0 && l == NULL && is_awaited(c, error))
		error = appear(c, &s.f, v->path);
	else if (error != 0 && l == NULL && here.is_file)
		return DONE; /* a line was printed for gather() */
	if (error != 0 || (error = look_first(c, v)) != 0)
		return error;
	if (c->apart) /* several processes print: each line must be one write */
		(void)setvbuf(stdout, NULL, _IOLBF, 0);
	error = follow(&s, p->room,
		       !here.is_file ? number_before(c, p, s.f)
		       : is_same     ? l->number
				     : 0);
	if (s.f != v->f)
		flk_detach(s.f);
	return error;
}

/* ---- the verb ---- */

static void
forget(struct past *p)
{
	for (; p->limiters > 0; p->limiters--) {
		free(p->limiter[p->limiters - 1].name);
		free(p->limiter[p->limiters - 1].path);
	}
	free(p->limiter);
	free(p->record);
	free(p->room);
}

int
log_of(const struct ctl *c)
{
	struct past p = { .limiters = 0 };
	int status = DONE, later = DONE, i;

	if (!is_named(c))
		return FAILED;
	p.room = calloc(FLK_HISTORY, sizeof(*p.room));
	if (p.room == NULL) {
		say(NULL, "no memory");
		return FAILED;
	}
	for (i = 0; i < c->words; i++)
		widen(c, &p, c->word[i]);
	widen(c, &p, "-"); /* with --all in a store, the names are not known yet */
	if (here.is_file || !c->follow) {
		status = for_each(c, gather, &p);
		print_past(c, &p);
	}
	if (c->follow)
		later = for_each_at_once(c, follow_one, &p);
	forget(&p);
	return later > status ? later : status;
}
