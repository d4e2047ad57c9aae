/* SPDX-License-Identifier: ISC */
/*
 * question.c - an operator's question from its beginning: how it is asked, and when again.
 */
#include "ask.h"

#include <errno.h>
#include <stdlib.h>

#include "kind.h"

static void
answer_view(struct ask *a)
{
	struct view *v = look_view(&a->look);
	struct fleet_answer answer = { .code = v != NULL ? 0 : -ENOMEM, .view = v };

	ask_answer(a, &answer);
	free(v);
}

static void
looked(void *context, const struct records_answer *reply)
{
	struct ask *a = context;
	struct txn *x;
	int code;

	if (!ask_went_well(a, reply))
		return;
	if (!look_read(&a->look, LOOK_ALL, reply)) {
		ask_answer_code(a, -FLK_STORE, a->look.trouble);
	} else if (a->q.kind == ASK_LOOK) {
		answer_view(a);
	} else if ((x = operation_txn(a, &code)) == NULL) {
		ask_answer_code(a, code, NULL);
	} else {
		ask_do(a, x);
	}
}

static void
look(struct ask *a)
{
	ask_txn(a, look_txn(&a->fleet->limiter, LOOK_ALL), looked);
}

static void
step(struct fleet_part *part)
{
	struct ask *a = (struct ask *)(void *)part;

	if (flki_boottime_ns() >= a->until_ns)
		ask_answer_code(a, -ETIMEDOUT,
				a->text[0] != '\0' ? a->text : "can't be reached: no answer");
	else if (a->q.kind == ASK_LIST)
		names_ask(a);
	else if (a->q.kind == ASK_CHECK)
		check_ask(a);
	else
		look(a);
}

static void
end(struct fleet_part *part)
{
	ask_free((struct ask *)(void *)part);
}

void
fleet_ask(struct fleet *fleet, const struct fleet_question *q, uint64_t patience_ns,
	  fleet_answers *answer, void *context)
{
	struct ask *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return; /* as if the store never answered */
	*a = (struct ask){ .part = { .step = step, .end = end },
			   .fleet = fleet,
			   .q = *q,
			   .answers = answer,
			   .context = context,
			   .until_ns = flki_plus(flki_boottime_ns(), patience_ns) };
	look_init(&a->look, &fleet->limiter);
	a->from = fleet->store->base;
	fleet_part_add(fleet, &a->part);
}
