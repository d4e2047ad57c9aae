/*
 * ask.c - see ask.h.
 */
#include "ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/retry.h"
#include "store_exec.h"

#define CALL_MS 2000 /* for one call: there may be another endpoint to turn to */

static void look(struct ask *a);

/* It is in no list any more. */
static void
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
	a->tells(a->context, answer);
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
	case ETCD_NOLEASE: /* it expired in between */
	case ETCD_EXISTS:
		break;
	}
	again(a);
	return false;
}

/* ---- one question ---- */

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

static void
tell_view(struct ask *a)
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
		if (a->look.older && operation_removes(a))
			older_remove(a);
		else
			ask_answer_code(a, -FLK_STORE, a->look.trouble);
	} else if (a->q.kind == ASK_LOOK) {
		tell_view(a);
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
	   engine_tells *answer, void *context)
{
	struct ask *a = calloc(1, sizeof(*a));
	uint64_t now = flki_boottime_ns();

	if (a == NULL)
		return; /* as if the store had not answered, for ever */
	*a = (struct ask){ .part = { .step = step, .end = end },
			   .e = e,
			   .q = *q,
			   .tells = answer,
			   .context = context,
			   .until_ns =
			       patience_ns < UINT64_MAX - now ? now + patience_ns : UINT64_MAX };
	look_init(&a->look, &e->limiter);
	a->from = e->base;
	engine_part_add(e, &a->part);
}
