/* SPDX-License-Identifier: ISC */
/*
 * also_open.c - the limiters of --and: from words to open limiters.
 */
#include "also.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "explain.h"
#include "limits_apply.h"
#include "option.h"
#include "say.h"

int
also_read(struct extra_permits *a, const struct extra_ops *ops, const struct ands *words,
	  const struct taker_options *main)
{
	struct also *one;

	a->ops = ops;
	for (a->n = 0; a->n < words->n; a->n++) {
		one = calloc(1, sizeof(*one));
		if (one == NULL)
			return -ENOMEM;
		a->of[a->n] = one;
		one->ops = ops;
		one->word = a->n;
		/* It was parsed before, without an error; and so were the lines about it. */
		and_option_parse(&one->want, words->word[a->n]);
		limits_take_also(&one->want);
		one->want.timeout_ns = main->timeout_ns;
		one->want.request.limit_queue = main->request.limit_queue;
		one->want.request.max_queue = main->request.max_queue;
		/* To whom it is counted, in each of them that is fair. */
		one->want.request.session = main->request.session;
		if (one->want.request.key == NULL)
			one->want.request.key = main->request.key;
		if (one->want.request.share == 0)
			one->want.request.share = main->request.share;
		limiter_name(&one->want, one->path);
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
refuse_twins(struct extra_permits *a, uint64_t main)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (a->of[i]->identity == main ||
		    (i > 0 && a->of[i]->identity == a->of[i - 1]->identity)) {
			say(a->of[i]->want.limiter, "--and names a limiter twice: give each "
						    "limiter once, with the whole weight");
			a->failed = a->of[i];
			a->refused = true;
			return -EINVAL;
		}
	return 0;
}

static void
join(struct also *one, bool quiet)
{
	const struct taker_options *w = &one->want;
	bool differs = limiter_weight_differs(w, &one->permit) ||
		       (w->limit_given && w->request.limit != one->permit.limit);

	one->joined = true;
	if (differs && !quiet)
		say(w->limiter,
		    "--and: weight and limit have no effect: this command joins the permit that "
		    "it runs under");
}

int
also_open(struct extra_permits *a, uint64_t main, const char *program, int *cannot_run)
{
	const struct extra_ops *m = a->ops;
	struct flk_options options;
	struct also *one;
	unsigned i;
	int error;

	for (i = 0; i < a->n; i++) {
		one = a->of[i];
		a->failed = one;
		options = (struct flk_options){ 0 };
		m->options(m->context, one, &options);
		limiter_count_units(&one->want);
		if ((error = limiter_attach(&one->limiter, one->path, &options, program,
					    cannot_run)) != 0 ||
		    (error = flk_taker_new(&one->taker, one->limiter)) != 0)
			return error;
		one->identity = flk_identity(one->limiter);
		if (m->joins && environment_find(one->limiter, &one->permit))
			join(one, m->quiet);
	}
	a->failed = NULL;
	qsort(a->of, a->n, sizeof(a->of[0]), by_identity); /* NOLINT(bugprone-sizeof-expression) */
	return a->n > 0 ? refuse_twins(a, main) : 0;
}

void
also_close(struct extra_permits *a)
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

void
also_free(struct extra_permits *a)
{
	also_close(a);
	while (a->n > 0)
		free(a->of[--a->n]);
}

int
also_refuse(const struct extra_permits *a, int code)
{
	const struct also *one = a->failed;
	const struct taker_options *w = &one->want;

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
		    w->request.weight, limiter_declared(w, one->limiter));
		return 125;
	}
	return limiter_refuse(w, one->path, one->limiter, code);
}
