/* SPDX-License-Identifier: ISC */
/*
 * look.c - once a second a look copies the records of each limiter that top shows, under its mutex.
 *
 * Four times a second top also asks the history of the one limiter that it shows for news.  That
 * takes no lock, and costs the takers that write the history nothing; flk_follow() would cost them
 * a system call to wake us.  A look that took long, because some taker keeps all others out, puts
 * off the next look: keys go first.
 */
#include "look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "estimate.h"
#include "explain.h"
#include "limiters.h"
#include "now.h"
#include "stuck.h"

/* ---- rows ---- */

static void
rows_of_one(struct screen *v)
{
	const struct flk_snapshot *s = v->s;
	double *wait_s = calloc((size_t)s->waiters + 1, sizeof(*wait_s));
	uint32_t i;

	if (wait_s != NULL)
		estimate(s, wait_s);
	for (i = 0; i < s->holders + s->waiters; i++) {
		struct row *r = screen_add_row(v);
		if (r == NULL)
			break;
		r->entry = &s->entry[i];
		r->fair = s->set.fair;
		r->position = i < s->holders ? 0 : i - s->holders + 1;
		r->starts_in_s = i < s->holders || wait_s == NULL ? -1 : wait_s[i - s->holders];
	}
	free(wait_s);
}

int
look_at_limiter(const struct ctl *c, const struct visit *visit, void *screen)
{
	struct flk_snapshot *s = NULL;
	struct screen *v = screen;
	int error = visit->error;
	char *copy = NULL;
	struct row *r;

	if (error == 0)
		error = flk_snapshot(visit->f, &s);
	if (error == -FLK_GONE)
		error = -ENOENT;
	/* A limiter that the user named keeps its row, which says that it does not exist. */
	if ((error == -ENOENT && c->words == 0) || (copy = strdup(visit->name)) == NULL ||
	    (r = screen_add_row(v)) == NULL) {
		free(copy);
		free(s);
		return DONE;
	}
	r->name = copy;
	r->s = s;
	r->identity = visit->f != NULL ? flk_identity(visit->f) : 0;
	r->error = error;
	return DONE;
}

/* ---- looks ---- */

/* Grants per second, over the looks of the last few seconds. */
static void
measure(struct screen *v)
{
	uint64_t now = now_ns();

	if (v->granted_ns != 0 && now - v->granted_ns < 2 * SECOND)
		return;
	v->per_s = v->granted_ns == 0 || v->s->granted < v->granted
		       ? -1
		       : (double)(v->s->granted - v->granted) * 1e9 / (double)(now - v->granted_ns);
	v->granted = v->s->granted;
	v->granted_ns = now;
}

/* Notes the number of the newest event; if events come faster than we read, of an older one. */
static void
see_news(struct screen *v)
{
	struct flk_event e[64];
	size_t n, k;

	if (!here.is_file) /* which would be read whole at each look */
		return;
	for (k = 0; k < 2 * FLK_HISTORY / 64; k++) {
		n = flk_history(v->f, v->seen, e, 64);
		if (n == 0)
			return;
		v->seen = e[n - 1].number;
	}
}

bool
look_has_news(struct screen *v)
{
	struct flk_event e;

	if (v->f == NULL || !here.is_file)
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

/* Opens the limiter by its name each time: the name may be another limiter's by now. */
static void
look_at_one(struct screen *v)
{
	int error;

	flk_detach(v->f);
	v->f = NULL;
	error = attach_existing(v->c, &v->f, v->attach);
	if (error == 0 && flk_identity(v->f) != v->identity) {
		v->identity = flk_identity(v->f);
		v->seen = v->granted_ns = v->marked_ticket = 0;
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

void
look(struct screen *v)
{
	uint64_t begin = now_ns(), end, rest;

	screen_forget_rows(v);
	v->trouble[0] = '\0';
	if (v->name != NULL) {
		look_at_one(v);
	} else {
		struct ctl silent = *v->c;
		silent.quiet = true;
		if (for_each(&silent, look_at_limiter, v) != DONE)
			snprintf(v->trouble, sizeof(v->trouble), "%s%s",
				 !here.is_file ? "" : "the limiter directory can't be read: ",
				 !here.is_file ? here.operating->trouble() : strerror(errno));
	}
	screen_sort(v);
	end = now_ns();
	rest = 4 * (end - begin);
	v->next_ns = end + (rest > LOOK ? rest : LOOK);
	v->soonest_ns = end + (rest > TICK ? rest : TICK);
}
