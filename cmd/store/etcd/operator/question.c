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
	struct engine_answer answer = { .code = v != NULL ? 0 : -ENOMEM, .view = v };

	ask_answer(a, &answer);
	free(v);
}

static void
looked(void *context, const struct etcd_reply *reply)
{
	struct ask *a = context;
	json_t *body;
	int code;

	if (!ask_went_well(a, reply))
		return;
	if (!look_read(&a->look, LOOK_ALL, reply)) {
		ask_answer_code(a, -FLK_STORE, a->look.trouble);
	} else if (a->q.kind == ASK_LOOK) {
		answer_view(a);
	} else if ((body = operation_txn(a, &code)) == NULL) {
		ask_answer_code(a, code, NULL);
	} else {
		ask_do(a, body);
	}
}

static void
look(struct ask *a)
{
	ask_call(a, "/v3/kv/txn", look_body(&a->e->limiter, LOOK_ALL, NULL, 0), looked);
}

static void
step(struct engine_part *part)
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
end(struct engine_part *part)
{
	ask_free((struct ask *)(void *)part);
}

void
engine_ask(struct engine *e, const struct engine_question *q, uint64_t patience_ns,
	   engine_answers *answer, void *context)
{
	struct ask *a = calloc(1, sizeof(*a));
	uint64_t now = flki_boottime_ns();

	if (a == NULL)
		return; /* as if the store never answered */
	*a = (struct ask){ .part = { .step = step, .end = end },
			   .e = e,
			   .q = *q,
			   .answers = answer,
			   .context = context,
			   .until_ns =
			       patience_ns < UINT64_MAX - now ? now + patience_ns : UINT64_MAX };
	look_init(&a->look, &e->limiter);
	a->from = e->base;
	engine_part_add(e, &a->part);
}
