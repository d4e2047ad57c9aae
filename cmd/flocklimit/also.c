/* SPDX-License-Identifier: ISC */
#include "also.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "and_option.h"
#include "explain.h"
#include "line.h"
#include "option.h"
#include "say.h"

/* ---- opening ---- */

int
also_read(struct alsos *a, const struct options *o)
{
	struct also *one;

	for (a->n = 0; a->n < o->ands; a->n++) {
		one = calloc(1, sizeof(*one));
		if (one == NULL)
			return -ENOMEM;
		a->of[a->n] = one;
		one->o = *o;
		/* It was parsed before, without an error. */
		and_option_parse(&one->o.want, o->and_words[a->n]);
		one->o.want.timeout_ns = o->want.timeout_ns;
		one->o.want.limit_queue = o->want.limit_queue;
		one->o.want.max_queue = o->want.max_queue;
		limiter_name(&one->o.want, one->path);
	}
	return 0;
}

static int
by_identity(const void *x, const void *y)
{
	const struct also *const *a = x, *const *b = y;

	return ((*a)->identity > (*b)->identity) - ((*a)->identity < (*b)->identity);
}

/* Two names may lead to one file. */
static int
refuse_twins(struct alsos *a, const struct flk *main)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (a->of[i]->identity == flk_identity(main) ||
		    (i > 0 && a->of[i]->identity == a->of[i - 1]->identity)) {
			say(a->of[i]->o.want.limiter, "--and names a limiter twice: give each "
						      "limiter once, with the whole weight");
			a->failed = a->of[i];
			a->refused = true;
			return -EINVAL;
		}
	return 0;
}

static void
join(struct also *one)
{
	const struct taker_options *w = &one->o.want;
	bool differs = limiter_weight_differs(w, &one->permit) ||
		       (w->limit_given && w->limit != one->permit.limit);

	one->joined = true;
	if (differs && !one->o.quiet)
		say(w->limiter,
		    "--and: weight and limit have no effect: this command joins the permit that "
		    "it runs under");
}

int
also_open(struct alsos *a, struct flk *main, const sigset_t *mask, const char *program,
	  int *cannot_run)
{
	struct flk_options options = { .stuck = patience_stuck };
	struct also *one;
	unsigned i;
	int error;

	for (i = 0; i < a->n; i++) {
		one = a->of[i];
		a->failed = one;
		options.context = &one->patience;
		one->patience = (struct patience){ .o = &one->o, .mask = mask, .said = -1 };
		limiter_count_units(&one->o.want);
		if ((error = limiter_attach(&one->limiter, one->path, &options, program,
					    cannot_run)) != 0 ||
		    (error = flk_taker_new(&one->taker, one->limiter)) != 0)
			return error;
		one->identity = flk_identity(one->limiter);
		if (!one->o.queue_nested && one->o.hold_for == 0 &&
		    environment_find(one->limiter, &one->permit))
			join(one);
	}
	a->failed = NULL;
	qsort(a->of, a->n, sizeof(a->of[0]), by_identity); /* NOLINT(bugprone-sizeof-expression) */
	return a->n > 0 ? refuse_twins(a, main) : 0;
}

/* ---- taking ---- */

/* A taker without a permit has nothing to mark. */
void
also_waits_for(const struct alsos *a, struct flk_taker *main, const char *limiter)
{
	unsigned i;

	flk_waits_for(main, limiter);
	for (i = 0; i < a->n; i++)
		flk_waits_for(a->of[i]->taker, limiter);
}

int
also_take(struct alsos *a, struct flk_taker *main, uint64_t from, uint64_t to,
	  const struct flk_request *want, uint64_t *deadline, const sigset_t *mask)
{
	struct flk_request request = *want;
	struct also *one;
	unsigned i;
	int error;

	for (i = 0; i < a->n; i++) {
		one = a->of[i];
		if (one->joined || one->identity < from || one->identity > to)
			continue;
		request.weight = request.most = one->o.want.weight;
		request.yield = 0;
		request.not_seats = 0;
		request.limit = one->o.want.limit;
		a->failed = one;
		also_waits_for(a, main, one->o.want.limiter);
		error = line_take(one->taker, &one->o, &request, deadline, mask);
		if (error == 0)
			error = flk_verify(one->limiter);
		if (error == 0)
			error = flk_permit(one->taker, &one->permit);
		if (error != 0)
			return error;
	}
	a->failed = NULL;
	return 0;
}

int
also_guard(struct alsos *a, struct heritage *h)
{
	struct also *one;
	unsigned i;
	int error;

	h->more = a->heir;
	h->n_more = 0;
	for (i = 0; i < a->n; i++) {
		one = a->of[i];
		one->patience.is_over = true;
		if (one->joined)
			continue;
		a->heir[h->n_more] = (struct heir){ .taker = one->taker, .guard = -1 };
		if (!one->o.close_fd &&
		    (error = flk_guard(one->taker, &a->heir[h->n_more].guard)) != 0) {
			a->failed = one;
			return error;
		}
		h->n_more++;
	}
	return 0;
}

/* ---- giving back ---- */

void
also_release(struct alsos *a, uint64_t from, uint64_t to)
{
	unsigned i;

	for (i = a->n; i-- > 0;)
		if (a->of[i]->taker != NULL && !a->of[i]->joined && a->of[i]->identity >= from &&
		    a->of[i]->identity <= to)
			flk_leave(a->of[i]->taker);
}

void
also_ended(struct alsos *a, const struct ending *end)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (!a->of[i]->joined && a->of[i]->taker != NULL)
			usage_record(a->of[i]->taker, end->status, &end->usage);
}

void
also_entrust(struct alsos *a)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (!a->of[i]->joined)
			flk_entrust(a->of[i]->taker);
}

void
also_close(struct alsos *a)
{
	struct also *one;
	unsigned i;

	for (i = a->n; i-- > 0;) {
		one = a->of[i];
		flk_taker_free(one->taker);
		flk_detach(one->limiter);
		one->taker = NULL;
		one->limiter = NULL;
		one->joined = false;
	}
	a->failed = NULL;
}

/* ---- words ---- */

void
also_links(const struct alsos *a, char links[HELD_LINK * (AND_MOST + 1)])
{
	size_t n = strlen(links);
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (!a->of[i]->joined) {
			if (n > 0)
				links[n++] = ' ';
			environment_link(a->of[i]->limiter, flk_slot(a->of[i]->taker),
					 a->of[i]->permit.ticket, links + n);
			n += strlen(links + n);
		}
}

int
also_refuse(const struct alsos *a, int code)
{
	const struct also *one = a->failed;
	const struct taker_options *w = &one->o.want;

	if (a->refused)
		return 125;
	if (code == -FLK_BADNAME) {
		say(NULL, "--and '%s': %s", w->limiter, explain(code));
		return 125;
	}
	if (code == -FLK_HEAVY) {
		say(w->limiter,
		    "--and: weight %" PRIu32 " is above the limit of %" PRIu32
		    ": it could never run; raise the limit with NAME=W/N",
		    w->weight, w->limit != 0 ? w->limit : flk_declared(one->limiter));
		return 125;
	}
	return limiter_refuse(w, one->path, one->limiter, code);
}
