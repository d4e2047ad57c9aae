/* SPDX-License-Identifier: ISC */
/*
 * ask.c - an operator's question from its beginning: how it is asked, when again, and how it is answered.
 */
#include "ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/tally.h"
#include "records/retry.h"
#include "kind.h"
#include "now.h"

#define CALL_MS 2000 /* for one call: then there may be another endpoint to turn to */

/* Unanswered; it must be in no list any more. */
static void
end(struct fleet_part *part)
{
	struct ask *a = (struct ask *)(void *)part;
	size_t i;

	if (a->call != NULL)
		records_cancel(a->call);
	for (i = 0; i < a->names; i++)
		free(a->name[i]);
	free(a->name);
	look_free(&a->look);
	free(a);
}

void
ask_answer(struct ask *a, const struct fleet_answer *answer)
{
	fleet_part_remove(&a->part);
	a->answers(a->context, answer);
	end(&a->part);
}

void
ask_answer_code(struct ask *a, int code, const char *text)
{
	struct fleet_answer answer = { .code = code, .text = text };

	ask_answer(a, &answer);
}

/* ---- calls ---- */

void
ask_txn(struct ask *a, struct txn *x, records_done *done)
{
	a->part.due_ns = a->until_ns;
	a->call = records_txn(a->fleet->store->records, x, CALL_MS, done, a);
	if (a->call == NULL)
		ask_answer_code(a, -ENOMEM, NULL);
}

static void
again(struct ask *a)
{
	a->part.due_ns = earlier(flki_boottime_ns() + retry_pause(a->failures++), a->until_ns);
}

bool
ask_went_well(struct ask *a, const struct records_answer *reply)
{
	a->call = NULL;
	if (reply->result == RECORDS_OK)
		return true;
	if (reply->result == RECORDS_DENIED || reply->result == RECORDS_WRONG) {
		ask_answer_code(a, -FLK_STORE, reply->text);
		return false;
	}
	if (reply->result == RECORDS_AWAY)
		snprintf(a->text, sizeof(a->text), "can't be reached: %s",
			 reply->text != NULL ? reply->text : "no answer");
	again(a);
	return false;
}

static void
done(void *context, const struct records_answer *reply)
{
	struct ask *a = context;

	a->unsure |= reply->result == RECORDS_AWAY;
	if (!ask_went_well(a, reply))
		return;
	if (reply->held)
		ask_answer_code(a, 0, NULL);
	else
		again(a);
}

/* ---- what is asked ---- */

static void
answer_view(struct ask *a, const struct records_answer *reply)
{
	struct view *v = look_view(&a->look);
	struct fleet_answer answer = { .code = v != NULL ? 0 : -ENOMEM, .view = v };

	if (v != NULL)
		v->tally = tally_found(a->look.limiter, reply);
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
		answer_view(a, reply);
	} else if ((x = operation_txn(a, &code)) == NULL) {
		ask_answer_code(a, code, NULL);
	} else {
		ask_txn(a, x, done);
	}
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
		ask_txn(a, look_txn(&a->fleet->limiter, LOOK_ALL), looked);
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
