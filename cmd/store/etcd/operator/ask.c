/* SPDX-License-Identifier: ISC */
/*
 * ask.c - how a question is put to the store and answered, whatever it is: see ask.h.
 */
#include "ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/retry.h"
#include "kind.h"

#define CALL_MS 2000 /* for one call: then there may be another endpoint to turn to */

/* It must be in no list any more. */
void
ask_free(struct ask *a)
{
	size_t i;

	if (a->call != NULL)
		etcd_cancel(a->call);
	for (i = 0; i < a->names; i++)
		free(a->name[i]);
	free(a->name);
	look_free(&a->look);
	free(a);
}

void
ask_answer(struct ask *a, const struct engine_answer *answer)
{
	engine_part_remove(&a->part);
	a->answers(a->context, answer);
	ask_free(a);
}

void
ask_answer_code(struct ask *a, int code, const char *text)
{
	struct engine_answer answer = { .code = code, .text = text };

	ask_answer(a, &answer);
}

/* ---- calls ---- */

void
ask_call(struct ask *a, const char *path, json_t *body, etcd_done *done)
{
	a->part.due_ns = a->until_ns;
	a->call = etcd_call(a->e->etcd, path, body, CALL_MS, done, a);
	if (a->call == NULL)
		ask_answer_code(a, -ENOMEM, NULL);
}

static void
again(struct ask *a)
{
	uint64_t at = flki_boottime_ns() + retry_pause(a->failures++);

	a->part.due_ns = at < a->until_ns ? at : a->until_ns;
}

bool
ask_went_well(struct ask *a, const struct etcd_reply *reply)
{
	a->call = NULL;
	switch (reply->result) {
	case ETCD_OK:
		return true;
	case ETCD_DENIED:
	case ETCD_WRONG:
		ask_answer_code(a, -FLK_STORE, reply->text);
		return false;
	case ETCD_AWAY:
		snprintf(a->text, sizeof(a->text), "can't be reached: %s",
			 reply->text != NULL ? reply->text : "no answer");
		break;
	case ETCD_NOLEASE: /* the lease expired meanwhile */
	case ETCD_EXISTS:
		break;
	}
	again(a);
	return false;
}

static void
done(void *context, const struct etcd_reply *reply)
{
	struct ask *a = context;

	a->unsure |= reply->result == ETCD_AWAY;
	if (!ask_went_well(a, reply))
		return;
	if (etcd_succeeded(reply->body))
		ask_answer_code(a, 0, NULL);
	else
		again(a);
}

void
ask_do(struct ask *a, json_t *body)
{
	ask_call(a, "/v3/kv/txn", body, done);
}
