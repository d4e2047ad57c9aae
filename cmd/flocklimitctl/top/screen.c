/* SPDX-License-Identifier: ISC */
/*
 * screen.c - the rows of top: their order, the mark, and the view.
 */
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "limiter_state.h"

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

/* For qsort(). */
static enum taker_order taker_order;
static enum limiter_order limiter_order;
static int direction;

static int
by_number(double x, double y)
{
	return (x > y) - (x < y);
}

static int
compare_takers(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	const struct flk_entry *x = ra->entry, *y = rb->entry;
	int by = 0;

	if (x->holds != y->holds)
		return x->holds ? -1 : 1;
	if (taker_order == BY_TIME)
		by = by_number((double)(int64_t)x->since_ns, (double)(int64_t)y->since_ns);
	else if (taker_order == BY_WEIGHT)
		by = by_number(y->weight, x->weight);
	else if (taker_order == BY_PID)
		by = by_number(x->pid, y->pid);
	return direction * (by != 0 ? by : (x->ticket > y->ticket) - (x->ticket < y->ticket));
}

/* The later, the larger. */
static double
oldest_wait(const struct flk_snapshot *s)
{
	return (double)(s->waiters > 0 ? (int64_t)entry_waiting_longest(s)->since_ns : INT64_MAX);
}

static int
compare_limiters(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int by = 0;

	if (limiter_order != BY_NAME && (x->s == NULL || y->s == NULL))
		by = (x->s == NULL) - (y->s == NULL);
	else if (limiter_order == BY_USED)
		by = by_number((double)y->s->used, (double)x->s->used);
	else if (limiter_order == BY_WAITERS)
		by = by_number(y->s->waiters, x->s->waiters);
	else if (limiter_order == BY_OLDEST)
		by = by_number(oldest_wait(x->s), oldest_wait(y->s));
	if (by == 0)
		by = strcmp(x->name, y->name);
	return direction * by;
}

void
screen_sort(struct screen *v)
{
	bool one = v->name != NULL;
	size_t i;

	taker_order = v->taker_order;
	limiter_order = v->limiter_order;
	direction = v->reverse ? -1 : 1;
	if (v->rows > 0)
		qsort(v->row, v->rows, sizeof(*v->row), one ? compare_takers : compare_limiters);
	for (i = 0; i < v->rows; i++)
		if (one ? v->row[i].entry->ticket == v->marked_ticket
			: strcmp(v->row[i].name, v->marked_name) == 0)
			break;
	screen_move(v, (long)(i < v->rows ? i : v->mark));
}

void
screen_sort_next(struct screen *v)
{
	if (v->name != NULL)
		v->taker_order = (v->taker_order + 1) % TAKER_ORDERS;
	else
		v->limiter_order = (v->limiter_order + 1) % LIMITER_ORDERS;
	screen_sort(v);
}

/* ---- the mark ---- */

void
screen_move(struct screen *v, long row)
{
	size_t height = layout_height();

	if (row >= (long)v->rows)
		row = (long)v->rows - 1;
	v->mark = row < 0 ? 0 : (size_t)row;
	/*
	 * Scroll back if rows are hidden above while lines are empty below: the window may have
	 * grown.
	 */
	if (v->top + height > v->rows)
		v->top = v->rows > height ? v->rows - height : 0;
	if (v->mark < v->top)
		v->top = v->mark;
	if (v->mark >= v->top + height)
		v->top = v->mark - height + 1;
	if (v->mark < v->rows && v->name != NULL)
		v->marked_ticket = v->row[v->mark].entry->ticket;
	else if (v->mark < v->rows)
		snprintf(v->marked_name, sizeof(v->marked_name), "%s", v->row[v->mark].name);
}

/* ---- one limiter, and all ---- */

static void
show_other(struct screen *v)
{
	flk_detach(v->f);
	v->f = NULL;
	screen_forget_rows(v);
	memset(v->width, 0, sizeof(v->width));
	v->identity = v->marked_ticket = 0;
	v->mark = v->top = 0;
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
