/* SPDX-License-Identifier: ISC */
#include "several.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "conduct.h"
#include "item_wait.h"
#include "screen.h"
#include "share.h"

/* ---- the wait in one of the lines ---- */

static uint64_t
show(void *also, struct flk_taker *t)
{
	const struct also *one = also;
	const struct several *s = one->ops->context;

	return item_wait_show(s->o, one->want.limiter, t);
}

static int
take(void *several, struct also *one, const struct flk_request *want)
{
	const struct several *s = several;
	struct queued queued;
	int code;

	if (!conduct_queue(&queued, one->taker))
		return -FLK_CANCELLED;
	code =
	    s->o->want.timeout_ns == 0 ? flk_try(one->taker, want) : flk_enqueue(one->taker, want);
	if (code == -EINPROGRESS) {
		show(one, one->taker); /* the wait begins, and so its limit is known */
		code = flki_await(one->taker, want, item_wait_limit(), NULL, show, one);
	}
	conduct_unqueue(&queued);
	if (code != 0)
		flk_leave(one->taker);
	return code;
}

/* ---- a job's limiters ---- */

static bool
say_stuck(void *also, pid_t pid)
{
	struct also *one = also;
	const struct several *s = one->ops->context;

	return s->is_stuck(s->context, one->want.limiter, pid);
}

static void
open_as(void *several, struct also *one, struct flk_options *options)
{
	(void)several;
	options->stuck = say_stuck;
	options->inside = conduct_inside;
	options->context = one;
}

void
several_prepare(struct several *s, const struct options *o)
{
	s->o = o;
	s->ops[0] = s->ops[1] = (struct extra_ops){ .context = s,
						    .quiet = true,
						    .joins = o->want.nested == NESTED_JOIN,
						    .guarded = true,
						    .options = open_as,
						    .take = take };
	/* What has to be said to each job alike, the first one says. */
	s->ops[0].quiet = o->quiet;
}

static int
begin(struct several *s, struct job *j)
{
	if (j->also != NULL)
		return 0;
	j->also = calloc(1, sizeof(*j->also));
	if (j->also == NULL)
		return -ENOMEM;
	return also_read(j->also, &s->ops[j->number > 1], &s->o->want.ands, &s->o->want);
}

/* If one of the limiters was removed meanwhile, the order may be another now: we begin anew. */
static int
open_and_take(struct job *j, uint64_t main, uint64_t to)
{
	int error;

	do {
		also_close(j->also);
		error = also_open(j->also, main, NULL, NULL);
		if (error == 0)
			error = also_take(j->also, NULL, 0, to, j->text, FLK_CREW);
	} while (error == -FLK_GONE || error == -FLK_MISTAKEN);
	return error;
}

/*
 * A job without a permit ends the map.  The first one says why, here or in the map's last line, which
 * then begins with the limiter's name.
 */
static int
refused(struct several *s, struct job *j, int code)
{
	const struct also *one = j->also != NULL ? j->also->failed : NULL;

	if (code == 0 || code == -FLK_CANCELLED || one == NULL)
		return code;
	if (atomic_flag_test_and_set(&s->refused))
		return -ECANCELED;
	switch (-code) {
	case ETIMEDOUT:
	case EAGAIN:
	case FLK_FULL:
	case FLK_CLOSED:
	case FLK_EVICTED:
	case FLK_STUCK:
		snprintf(s->name, sizeof(s->name), "%s", one->want.limiter);
		return code;
	default:
		screen_take();
		also_refuse(j->also, code);
		screen_give();
		return -ECANCELED;
	}
}

int
several_before(struct several *s, struct job *j, struct flk *limiter)
{
	uint64_t identity = flk_identity(limiter);
	int error = begin(s, j);

	if (error == 0)
		error = open_and_take(j, identity, identity);
	if (error == 0)
		also_waits_for(j->also, NULL, s->o->want.limiter);
	return refused(s, j, error);
}

int
several_take_rest(struct several *s, struct job *j, struct flk_taker *taker)
{
	int error = 0;

	if (taker != NULL)
		error = also_take(j->also, taker, flk_identity(flk_limiter(taker)), UINT64_MAX,
				  j->text, FLK_CREW);
	else if ((error = begin(s, j)) == 0)
		error = open_and_take(j, s->identity, UINT64_MAX);
	if (error == 0) {
		also_waits_for(j->also, taker, NULL);
		error = also_guard(j->also);
	}
	return refused(s, j, error);
}

void
several_free(struct job *j)
{
	if (j->also != NULL)
		also_free(j->also);
	free(j->also);
	j->also = NULL;
}
