/*
 * top.c - show, live.
 *
 * A look is a copy of the records under the mutex, once a second.  Between looks at one limiter,
 * four times a second, its history is asked for news, which takes no lock and costs those who
 * write it nothing: to be woken, flk_follow(), would cost them a system call.  A look that took
 * long, because somebody keeps everyone out, puts off the next one: keys go first.
 */
#include "top.h"

#include <errno.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "now.h"
#include "say.h"
#include "stuck.h"
#include "terminal.h"
#include "where.h"

#define LOOK (SECOND)
#define TICK (SECOND / 4)

/* ---- rows ---- */

static void
forget_rows(struct screen *v)
{
	size_t i;

	for (i = 0; i < v->rows; i++) {
		free(v->row[i].name);
		free(v->row[i].s);
	}
	v->rows = 0;
	free(v->s);
	v->s = NULL;
}

static struct row *
new_row(struct screen *v)
{
	if (v->rows == v->room) {
		size_t room = v->room * 2 + 64;
		struct row *more = reallocarray(v->row, room, sizeof(*more));
		if (more == NULL)
			return NULL;
		v->row = more;
		v->room = room;
	}
	memset(&v->row[v->rows], 0, sizeof(v->row[0]));
	return &v->row[v->rows++];
}

static enum sort sorted_by; /* for qsort() */
static int direction;

static int
by_number(double x, double y)
{
	return (x > y) - (x < y);
}

static int
compare_entries(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	const struct flk_entry *x = ra->entry, *y = rb->entry;
	int by = 0;

	if (x->holds != y->holds)
		return x->holds ? -1 : 1;
	if (sorted_by == BY_TIME)
		by = by_number(y->since_s, x->since_s);
	else if (sorted_by == BY_WEIGHT)
		by = by_number(y->weight, x->weight);
	else if (sorted_by == BY_PID)
		by = by_number(x->pid, y->pid);
	return direction * (by != 0 ? by : (x->ticket > y->ticket) - (x->ticket < y->ticket));
}

static double
oldest_wait(const struct flk_snapshot *s)
{
	return s->waiters > 0 ? s->entry[s->holders].since_s : -1;
}

static int
compare_limiters(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int by = 0;

	if (sorted_by != BY_NAME && (x->s == NULL || y->s == NULL))
		by = (x->s == NULL) - (y->s == NULL);
	else if (sorted_by == BY_USED)
		by = by_number((double)y->s->used, (double)x->s->used);
	else if (sorted_by == BY_WAITERS)
		by = by_number(y->s->waiters, x->s->waiters);
	else if (sorted_by == BY_OLDEST)
		by = by_number(oldest_wait(y->s), oldest_wait(x->s));
	if (by == 0)
		by = strcmp(x->name, y->name);
	return direction * by;
}

/* The mark stays with what it marks, for as long as that is there. */
void
top_sort(struct screen *v)
{
	bool one = v->name != NULL;
	size_t i;

	sorted_by = v->sort[one];
	direction = v->reverse ? -1 : 1;
	if (v->rows > 0)
		qsort(v->row, v->rows, sizeof(*v->row), one ? compare_entries : compare_limiters);
	for (i = 0; i < v->rows; i++)
		if (one ? v->row[i].entry->ticket == v->marked
			: strcmp(v->row[i].name, v->marked_name) == 0)
			break;
	top_move(v, (long)(i < v->rows ? i : v->chosen));
}

void
top_move(struct screen *v, long row)
{
	size_t height = draw_height();

	if (row >= (long)v->rows)
		row = (long)v->rows - 1;
	v->chosen = row < 0 ? 0 : (size_t)row;
	/* No more is above than there must be: a window that grew is filled. */
	if (v->top + height > v->rows)
		v->top = v->rows > height ? v->rows - height : 0;
	if (v->chosen < v->top)
		v->top = v->chosen;
	if (v->chosen >= v->top + height)
		v->top = v->chosen - height + 1;
	if (v->chosen < v->rows && v->name != NULL)
		v->marked = v->row[v->chosen].entry->ticket;
	else if (v->chosen < v->rows)
		snprintf(v->marked_name, sizeof(v->marked_name), "%s", v->row[v->chosen].name);
}

static void
rows_of_one(struct screen *v)
{
	const struct flk_snapshot *s = v->s;
	double *wait_s = calloc((size_t)s->waiters + 1, sizeof(*wait_s));
	uint32_t i;

	if (wait_s != NULL)
		estimate(s, wait_s);
	for (i = 0; i < s->holders + s->waiters; i++) {
		struct row *r = new_row(v);
		if (r == NULL)
			break;
		r->entry = &s->entry[i];
		r->position = i < s->holders ? 0 : i - s->holders + 1;
		r->starts_in_s = i < s->holders || wait_s == NULL ? -1 : wait_s[i - s->holders];
	}
	free(wait_s);
}

static int
add_limiter(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	    void *ctx)
{
	struct screen *v = ctx;
	struct flk_snapshot *s = NULL;
	char *copy = NULL;
	struct row *r;

	(void)path;
	if (error == 0)
		error = flk_snapshot(f, &s);
	if (error == -FLK_GONE)
		error = -ENOENT;
	/* A limiter that is named keeps its line, which says that it is not there. */
	if ((error == -ENOENT && c->words == 0) || (copy = strdup(name)) == NULL ||
	    (r = new_row(v)) == NULL) {
		free(copy);
		free(s);
		return DONE;
	}
	r->name = copy;
	r->s = s;
	r->identity = f != NULL ? flk_identity(f) : 0;
	r->error = error;
	return DONE;
}

/* ---- looks ---- */

/* Grants per second, over the looks of the last few seconds. */
static void
measure(struct screen *v)
{
	uint64_t now = now_ns();

	if (where_is_store())
		return;
	if (v->granted_ns != 0 && now - v->granted_ns < 2 * SECOND)
		return;
	v->per_s = v->granted_ns == 0 || v->s->granted < v->granted
		       ? -1
		       : (double)(v->s->granted - v->granted) * 1e9 / (double)(now - v->granted_ns);
	v->granted = v->s->granted;
	v->granted_ns = now;
}

/* The number of the newest event; in a storm, of one that was. */
static void
see_news(struct screen *v)
{
	struct flk_event e[64];
	size_t n, k;

	for (k = 0; k < 2 * FLK_HISTORY / 64; k++) {
		n = flk_history(v->f, v->seen, e, 64);
		if (n == 0)
			return;
		v->seen = e[n - 1].number;
	}
}

static bool
has_news(struct screen *v)
{
	struct flk_event e;

	if (v->f == NULL)
		return false;
	return flk_verify(v->f) != 0 || flk_history(v->f, v->seen, &e, 1) > 0;
}

static void
why_not(struct screen *v, int error)
{
	char why[STUCK_TEXT];

	if (error == -ENOENT || error == -FLK_GONE)
		snprintf(v->trouble, sizeof(v->trouble),
			 "there is no such limiter now; it will be shown when it is there again");
	else if (error == -FLK_STUCK && v->f != NULL)
		snprintf(v->trouble, sizeof(v->trouble), "%s",
			 stuck_text(flk_stuck_pid(v->f), why));
	else
		snprintf(v->trouble, sizeof(v->trouble), "%s", explain(error));
}

/* By its name each time: it may be another by now. */
static void
look_at_one(struct screen *v)
{
	int error;

	flk_detach(v->f);
	v->f = NULL;
	error = flk_attach(&v->f, v->attach, &existing);
	if (error == 0 && flk_identity(v->f) != v->identity) {
		v->identity = flk_identity(v->f);
		v->seen = v->granted_ns = v->marked = 0;
		v->per_s = -1;
	}
	if (error == 0) {
		see_news(v);
		error = flk_snapshot(v->f, &v->s);
	}
	if (error != 0) {
		why_not(v, error);
		return;
	}
	measure(v);
	rows_of_one(v);
}

static void
look(struct screen *v)
{
	uint64_t begin = now_ns(), end, rest;

	forget_rows(v);
	v->trouble[0] = '\0';
	if (v->name != NULL) {
		look_at_one(v);
	} else {
		struct ctl silent = *v->c;
		silent.quiet = true;
		if (for_each(&silent, add_limiter, v) != DONE)
			snprintf(v->trouble, sizeof(v->trouble), "%s%s",
				 where_is_store() ? "" : "the limiter directory can't be read: ",
				 where_is_store() ? where_trouble() : strerror(errno));
	}
	top_sort(v);
	end = now_ns();
	rest = 4 * (end - begin);
	v->next_ns = end + (rest > LOOK ? rest : LOOK);
	v->soonest_ns = end + (rest > TICK ? rest : TICK);
}

/* ---- one, and all ---- */

static void
show_other(struct screen *v)
{
	flk_detach(v->f);
	v->f = NULL;
	forget_rows(v);
	memset(v->width, 0, sizeof(v->width));
	v->identity = v->marked = 0;
	v->chosen = v->top = 0;
	v->next_ns = 0;
}

void
top_enter(struct screen *v, const char *name)
{
	snprintf(v->entered, sizeof(v->entered), "%s", name);
	v->name = v->attach = v->entered;
	show_other(v);
}

void
top_leave(struct screen *v)
{
	v->name = v->attach = NULL;
	v->entered[0] = '\0';
	show_other(v);
}

/* Nothing but a key is of interest for so long. */
static int
pause_ms(const struct screen *v)
{
	uint64_t now = now_ns(), until = v->next_ns;

	if (v->f != NULL && until > now + TICK)
		until = now + TICK > v->soonest_ns ? now + TICK : v->soonest_ns;
	return until > now ? (int)((until - now) / 1000000) + 1 : 0;
}

static int
watch(struct screen *v)
{
	int key = KEY_AGAIN;

	while (key != KEY_LOST) {
		uint64_t now = now_ns();
		bool due = now >= v->next_ns || (now >= v->soonest_ns && has_news(v));
		if (due)
			look(v);
		if (due || key != ERR)
			draw(v);
		key = terminal_key(pause_ms(v));
		if (key != ERR && key != KEY_LOST && !keys_take(v, key))
			return DONE;
	}
	return FAILED;
}

int
top(const struct ctl *c)
{
	struct screen v = { .c = c, .per_s = -1 };
	char room[4096], **rest;
	struct flk *f;
	int rests, status = DONE;

	if (c->files > 0 && is_many(c)) {
		say(NULL, "--file: top shows several limiters by their names only");
		return FAILED;
	}
	if (c->words + c->files == 1) {
		if ((f = open_named(c, &rest, &rests, &status)) == NULL)
			return status;
		snprintf(room, sizeof(room), "%s", flk_path(f));
		v.attach = c->files == 0 ? c->word[0] : room;
		v.name = name_of(c);
		flk_detach(f);
		status = DONE;
	} else {
		/* What is wrong with the directory or a name is said before there is a screen. */
		status = for_each(c, add_limiter, &v);
		forget_rows(&v);
	}
	if (status == DONE && !terminal_begin())
		status = FAILED;
	if (status == DONE) {
		draw_begin();
		status = watch(&v);
		terminal_end();
	}
	flk_detach(v.f);
	forget_rows(&v);
	free(v.row);
	return status;
}
