/* SPDX-License-Identifier: ISC */
/*
 * yes.c - a store for tests of what is above it: it is a directory, and a file each is a permit (h.) or
 * a place in the line (w.), named TICKET.WEIGHT.LIMIT.SEAT.SELF.PID.  It looks there every few milliseconds,
 * under a lock.  All takers are in one line, whatever their limiters.
 *
 * The directory is the URL's parameter dir=.  A file in it named
 *	away	means that the store can't be reached,
 *	mute	that it does not answer,
 *	wrong	that it can't be used: its first line says why;
 * a file h. that somebody removes is a lost permit, a file w. an evicted waiter.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/queue.h>

#include "protocol/fleet.h"
#include "kind.h"

#define SECOND UINT64_C(1000000000)
#define TICK   (SECOND / 200)

enum state { NEW, ENTERS, ADOPTS, WAITS, HAS, LEAVES, RELEASES, DONE };

struct fleet_taker {
	LIST_ENTRY(fleet_taker) entry;
	struct fleet_store *store;
	char self[STORE_SELF];
	fleet_report *report;
	void *context;
	enum state state;
	struct fleet_want want;
	bool held;
	uint64_t renewed_ns;
	char file[200];
};

struct question {
	SLIST_ENTRY(question) entry;
	fleet_answers *answer;
	void *context;
	uint64_t until_ns;
};

struct fleet_store {
	LIST_HEAD(takers, fleet_taker) takers;
	SLIST_HEAD(questions, question) questions;
	uint32_t ttl_s;
	uint64_t looked_ns;
	int fd, dir;
	bool away;
};

struct fleet {
	struct fleet_store *store;
};

static uint64_t
boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

int
fleet_store_open(struct fleet_store **store, const struct fleet_options *o, char why[FLEET_TEXT])
{
	const char *dir = url_param(o->url, "dir");
	struct fleet_store *e = calloc(1, sizeof(*e));
	FILE *wrong;

	if (e == NULL || dir == NULL || (e->dir = open(dir, O_RDONLY | O_CLOEXEC)) == -1) {
		snprintf(why, FLEET_TEXT, "yes://: dir= is not a directory");
		free(e);
		return -FLK_STORE;
	}
	wrong = fdopen(openat(e->dir, "wrong", O_RDONLY | O_CLOEXEC), "r");
	if (wrong != NULL && fgets(why, FLEET_TEXT, wrong) != NULL) {
		why[strcspn(why, "\n")] = '\0';
		fclose(wrong);
		close(e->dir);
		free(e);
		return -FLK_STORE;
	}
	e->fd = eventfd(0, EFD_CLOEXEC);
	e->ttl_s = o->ttl_s;
	*store = e;
	return 0;
}

struct fleet *
fleet_open(struct fleet_store *store, const char *limiter)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));

	(void)limiter;
	if (fleet != NULL)
		fleet->store = store;
	return fleet;
}

/* An operator closes it, when its questions are answered. */
void
fleet_close(struct fleet *fleet)
{
	free(fleet);
}

int
fleet_store_fd(const struct fleet_store *e)
{
	return e->fd;
}

uint64_t
fleet_store_due(const struct fleet_store *e)
{
	const struct fleet_taker *t;

	if (!SLIST_EMPTY(&e->questions))
		return e->looked_ns + TICK;
	LIST_FOREACH(t, &e->takers, entry)
		if (t->state != NEW && t->state != DONE)
			return e->looked_ns + TICK;
	return UINT64_MAX;
}

/* ---- the directory ---- */

static int
by_place(const void *a, const void *b)
{
	const struct view_entry *x = a, *y = b;

	if (x->holds != y->holds)
		return x->holds ? -1 : 1;
	return x->ticket < y->ticket ? -1 : x->ticket > y->ticket;
}

static struct view *
read_view(const struct fleet_store *e)
{
	struct view *v = calloc(1, sizeof(*v) + 1000 * sizeof(v->entry[0]));
	struct dirent *d;
	size_t n = 0;
	char kind;
	DIR *dir;

	if (v == NULL)
		abort();
	v->set.override = FLK_AUTO;
	dir = fdopendir(openat(e->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	while (dir != NULL && n < 1000 && (d = readdir(dir)) != NULL) {
		struct view_entry *x = &v->entry[n];
		if (sscanf(
			d->d_name,
			"%c.%" SCNx64 ".%" SCNu32 ".%" SCNu32 ".%" SCNu32 ".%16[0-9a-f].%" SCNu32,
			&kind, &x->ticket, &x->weight, &x->limit, &x->seat, x->self, &x->pid) != 7)
			continue;
		x->holds = kind == 'h';
		v->holders += x->holds;
		v->waiters += !x->holds;
		n++;
	}
	if (dir != NULL)
		closedir(dir);
	qsort(v->entry, n, sizeof(v->entry[0]), by_place);
	v->there = n > 0;
	return v;
}

static uint64_t
next_ticket(const struct fleet_store *e)
{
	int fd = openat(e->dir, "next", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	uint64_t n = 0;
	char text[24] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		n = strtoull(text, NULL, 10);
	snprintf(text, sizeof(text), "%" PRIu64, ++n);
	if (pwrite(fd, text, strlen(text), 0) == -1)
		abort();
	close(fd);
	return n;
}

static void
put(struct fleet_taker *t, char kind, uint64_t ticket, uint32_t limit, uint32_t seat)
{
	int fd;

	snprintf(t->file, sizeof(t->file), "%c.%016" PRIx64 ".%u.%u.%u.%s.%d", kind, ticket,
		 t->want.weight, limit, seat, t->self, (int)t->want.pid);
	fd = openat(t->store->dir, t->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
}

static const struct view_entry *
find(const struct view *v, const struct fleet_taker *t)
{
	size_t i;

	for (i = 0; i < v->holders + v->waiters; i++)
		if (strcmp(v->entry[i].self, t->self) == 0)
			return &v->entry[i];
	return NULL;
}

/* ---- a taker ---- */

static void
report(struct fleet_taker *t, enum fleet_kind kind, int code, const char *text)
{
	struct fleet_event e = { .kind = kind, .code = code, .text = text, .alive_ns = boot_ns() };

	t->renewed_ns = e.alive_ns;
	t->report(t->context, &e);
}

static void
report_entry(struct fleet_taker *t, const struct view_entry *x)
{
	struct fleet_event e = { .kind = x->holds ? FLEET_GRANTED : FLEET_QUEUED,
				 .ticket = x->ticket,
				 .weight = x->weight,
				 .limit = x->limit,
				 .seat = x->seat,
				 .alive_ns = boot_ns(),
				 .key = t->file };

	snprintf(t->file, sizeof(t->file), "%c.%016" PRIx64 ".%u.%u.%u.%s.%d", x->holds ? 'h' : 'w',
		 x->ticket, x->weight, x->limit, x->seat, t->self, (int)x->pid);
	t->renewed_ns = e.alive_ns;
	t->state = x->holds ? HAS : WAITS;
	t->report(t->context, &e);
}

static bool
fits(const struct view *v, const struct fleet_taker *t, uint32_t limit)
{
	uint64_t used = t->want.weight;
	uint32_t least = limit;
	size_t i;

	for (i = 0; i < v->holders; i++) {
		used += v->entry[i].weight;
		least = v->entry[i].limit < least ? v->entry[i].limit : least;
	}
	return used <= least;
}

static void
enter(struct fleet_taker *t, const struct view *v, const struct view_entry *own)
{
	uint32_t limit = t->want.limit != 0 ? t->want.limit : t->want.fallback, seat = 0;
	bool first = own != NULL ? own == &v->entry[v->holders] : v->waiters == 0;
	struct view_entry x = { .weight = t->want.weight,
				.limit = limit,
				.pid = (uint32_t)t->want.pid };
	size_t i;

	if (t->want.weight > limit) {
		t->state = DONE;
		report(t, FLEET_REFUSED, -FLK_HEAVY, NULL);
		return;
	}
	x.ticket = own != NULL ? own->ticket : 0;
	x.holds = first && fits(v, t, limit);
	if (own != NULL && !x.holds)
		return;
	if (!x.holds &&
	    (t->want.no_wait || (t->want.limit_queue && v->waiters >= t->want.max_queue))) {
		t->state = DONE;
		report(t, FLEET_REFUSED, t->want.no_wait ? -EAGAIN : -FLK_FULL, NULL);
		return;
	}
	for (i = 0; i < v->holders; i++)
		if (v->entry[i].seat == seat) {
			seat++;
			i = (size_t)-1;
		}
	if (own != NULL)
		unlinkat(t->store->dir, t->file, 0);
	x.seat = x.holds ? seat : 0;
	x.ticket = x.ticket != 0 ? x.ticket : next_ticket(t->store);
	put(t, x.holds ? 'h' : 'w', x.ticket, limit, x.seat);
	report_entry(t, &x);
}

/* A test sees by the length of the entry's file how often another keeper has taken it over. */
static void
mark_adopted(const struct fleet_taker *t)
{
	int fd = openat(t->store->dir, t->file, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd == -1)
		return;
	if (write(fd, "a", 1) == -1)
		perror("mark_adopted");
	close(fd);
}

static void
adopt(struct fleet_taker *t, const struct view_entry *own)
{
	if (own != NULL) {
		report_entry(t, own);
		mark_adopted(t);
		return;
	}
	t->state = DONE;
	report(t, t->held ? FLEET_LOST : FLEET_REFUSED, -FLK_NOPERMIT, "its permit is gone");
}

static void
step_taker(struct fleet_taker *t, const struct view *v)
{
	const struct view_entry *own = find(v, t);

	switch (t->state) {
	case ENTERS:
		enter(t, v, NULL);
		break;
	case ADOPTS:
		adopt(t, own);
		break;
	case WAITS:
		if (own != NULL) {
			enter(t, v, own);
			break;
		}
		t->state = DONE;
		report(t, FLEET_REFUSED, -FLK_EVICTED, NULL);
		break;
	case HAS:
		if (own == NULL) {
			t->state = DONE;
			report(t, FLEET_LOST, 0, "somebody broke it");
		} else if (boot_ns() - t->renewed_ns >= t->store->ttl_s * SECOND / 3) {
			report(t, FLEET_RENEWED, 0, NULL);
		}
		break;
	case LEAVES:
	case RELEASES:
		if (own != NULL) {
			snprintf(t->file, sizeof(t->file), "%c.%016" PRIx64 ".%u.%u.%u.%s.%d",
				 own->holds ? 'h' : 'w', own->ticket, own->weight, own->limit,
				 own->seat, t->self, (int)own->pid);
			unlinkat(t->store->dir, t->file, 0);
		}
		own = NULL;
		report(t, t->state == LEAVES ? FLEET_LEFT : FLEET_RELEASED, 0, NULL);
		t->state = DONE;
		break;
	default:
		break;
	}
}

static void
step_questions(struct fleet_store *e, const struct view *v, bool reached)
{
	struct fleet_answer a = { .code = reached ? 0 : -ETIMEDOUT,
				  .text = "yes:// can't be reached",
				  .view = v };
	struct question *q, *after;

	for (q = SLIST_FIRST(&e->questions); q != NULL; q = after) {
		after = SLIST_NEXT(q, entry);
		if (!reached && boot_ns() < q->until_ns)
			continue;
		SLIST_REMOVE(&e->questions, q, question, entry);
		q->answer(q->context, &a);
		free(q);
	}
}

void
fleet_store_step(struct fleet_store *e)
{
	bool mute = faccessat(e->dir, "mute", F_OK, 0) == 0;
	bool away = faccessat(e->dir, "away", F_OK, 0) == 0;
	struct fleet_taker *t;
	struct view *v;

	e->looked_ns = boot_ns();
	LIST_FOREACH(t, &e->takers, entry)
		if (away != e->away && t->state != NEW && t->state != DONE) {
			struct fleet_event event = { .kind = away ? FLEET_AWAY : FLEET_BACK,
						     .text = "yes:// can't be reached" };
			t->report(t->context, &event);
		}
	e->away = away;
	if (away || mute) {
		step_questions(e, NULL, false);
		return;
	}
	flock(e->dir, LOCK_EX);
	LIST_FOREACH(t, &e->takers, entry) {
		v = read_view(e);
		step_taker(t, v);
		free(v);
	}
	v = read_view(e);
	flock(e->dir, LOCK_UN);
	step_questions(e, v, true);
	free(v);
}

/* ---- for the keeper ---- */

int
fleet_taker_new(struct fleet_taker **taker, struct fleet *fleet, const char *self, fleet_report *to,
		void *context)
{
	struct fleet_taker *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return -ENOMEM;
	t->store = fleet->store;
	t->report = to;
	t->context = context;
	snprintf(t->self, sizeof(t->self), "%s", self);
	LIST_INSERT_HEAD(&t->store->takers, t, entry);
	*taker = t;
	return 0;
}

void
fleet_taker_free(struct fleet_taker *t)
{
	LIST_REMOVE(t, entry);
	free(t);
}

void
fleet_enter(struct fleet_taker *t, const struct fleet_want *want)
{
	t->want = *want;
	t->state = ENTERS;
	t->store->looked_ns = 0;
}

void
fleet_adopt(struct fleet_taker *t, const struct fleet_want *want, bool held)
{
	t->want = *want;
	t->held = held;
	t->state = ADOPTS;
	t->store->looked_ns = 0;
}

void
fleet_leave(struct fleet_taker *t)
{
	t->state = LEAVES;
	t->store->looked_ns = 0;
}

void
fleet_release(struct fleet_taker *t)
{
	t->state = RELEASES;
	t->store->looked_ns = 0;
}

void
fleet_ended(struct fleet_taker *t, int32_t status, uint64_t memory, uint64_t cpu_ns)
{
	(void)t;
	(void)status;
	(void)memory;
	(void)cpu_ns;
}

void
fleet_ask(struct fleet *fleet, const struct fleet_question *q, uint64_t patience_ns,
	  fleet_answers *answer, void *context)
{
	struct question *new = calloc(1, sizeof(*new));

	(void)q;
	if (new == NULL)
		abort();
	*new = (struct question){ .answer = answer, .context = context };
	new->until_ns = boot_ns() + patience_ns;
	SLIST_INSERT_HEAD(&fleet->store->questions, new, entry);
	fleet->store->looked_ns = 0;
}

void
fleet_follow(struct fleet *fleet, fleet_happens *happens, void *context)
{
	(void)fleet;
	(void)happens;
	(void)context;
}
