/*
 * screen.c - the rows of top: their order, the mark, and the part of them that the window shows.
 */
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

void
screen_forget_rows(struct screen *v)
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

struct row *
screen_add_row(struct screen *v)
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

/* ---- the order ---- */

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

void
screen_sort(struct screen *v)
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
	screen_move(v, (long)(i < v->rows ? i : v->chosen));
}

/* ---- the mark ---- */

void
screen_move(struct screen *v, long row)
{
	size_t height = layout_height();

	if (row >= (long)v->rows)
		row = (long)v->rows - 1;
	v->chosen = row < 0 ? 0 : (size_t)row;
	/*
	 * Scroll back if rows are hidden above while lines are empty below: the window may have
	 * grown.
	 */
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

/* ---- one limiter, and all ---- */

static void
show_other(struct screen *v)
{
	flk_detach(v->f);
	v->f = NULL;
	screen_forget_rows(v);
	memset(v->width, 0, sizeof(v->width));
	v->identity = v->marked = 0;
	v->chosen = v->top = 0;
	v->next_ns = 0;
}

void
screen_enter(struct screen *v, const char *name)
{
	snprintf(v->entered, sizeof(v->entered), "%s", name);
	v->name = v->attach = v->entered;
	show_other(v);
}

void
screen_leave(struct screen *v)
{
	v->name = v->attach = NULL;
	v->entered[0] = '\0';
	show_other(v);
}
