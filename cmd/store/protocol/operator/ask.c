/* SPDX-License-Identifier: ISC */
/*
 * ask.c - how a question is put to the store and answered, whatever it is: see ask.h.
 */
#include "ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "records/retry.h"
#include "kind.h"

#define CALL_MS 2000 /* for one call: then there may be another endpoint to turn to */

/* It must be in no list any more. */
void
ask_free(struct ask *a)
{
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
	ask_free(a);
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
	a->part.due_ns = flki_earlier(flki_boottime_ns() + retry_pause(a->failures++), a->until_ns);
}

bool
ask_went_well(struct ask *a, const struct records_answer *reply)
{
	a->call = NULL;
	switch (reply->result) {
	case RECORDS_OK:
		return true;
	case RECORDS_DENIED:
	case RECORDS_WRONG:
		ask_answer_code(a, -FLK_STORE, reply->text);
		return false;
	case RECORDS_AWAY:
		snprintf(a->text, sizeof(a->text), "can't be reached: %s",
			 reply->text != NULL ? reply->text : "no answer");
		break;
	case RECORDS_NOLEASE: /* the lease expired meanwhile */
	case RECORDS_EXISTS:
		break;
	}
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

void
ask_do(struct ask *a, struct txn *x)
{
	ask_txn(a, x, done);
}
