/* SPDX-License-Identifier: ISC */
/*
 * call.c - calls: each calls a function of functions.sql, and is sent once.  Its states are in client.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "now.h"

/* ---- their life ---- */

static void
transmit(struct records_call *c)
{
	struct records *r = c->records;

	TAILQ_REMOVE(&r->calls, c, link);
	TAILQ_INSERT_TAIL(&r->sent, c, link);
	c->state = SENT;
	c->under_way = true;
	c->sent_ns = flki_boottime_ns();
	if (r->broken || !args_send(&c->args, r->conn, c->function) || !PQpipelineSync(r->conn))
		r->broken = true;
	else
		r->unsent |= PQflush(r->conn) != 0;
	args_free(&c->args);
}

struct records_call *
call_begin(struct records *r, const char *function, struct args args, unsigned timeout_ms,
	   call_answered *answered, void *context)
{
	struct records_call *c = args.failed ? NULL : calloc(1, sizeof(*c));

	if (c == NULL) {
		args_free(&args);
		return NULL;
	}
	c->records = r;
	c->function = function;
	c->args = args;
	c->answered = answered;
	c->context = context;
	c->number = ++r->numbers;
	c->sent_ns = flki_boottime_ns();
	c->due = c->sent_ns + timeout_ms * MS;
	TAILQ_INSERT_TAIL(&r->calls, c, link);
	if (r->state == UP) {
		transmit(c);
	} else if (r->state == DOWN && c->sent_ns < r->due) {
		c->state = FAILED;
		c->verdict = r->why;
	}
	return c;
}

void
records_cancel(struct records_call *c)
{
	c->state = OVER;
}

static void
answer(struct records_call *c, const PGresult *result, const struct verdict *v)
{
	c->state = OVER;
	c->answered(c, result, v);
}

void
calls_send(struct records *r)
{
	struct records_call *c, *next;

	for (c = TAILQ_FIRST(&r->calls); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state == WAITING)
			transmit(c);
	}
}

void
calls_fail(struct records *r, bool waiting)
{
	struct records_call *c;

	while ((c = TAILQ_FIRST(&r->sent)) != NULL) {
		TAILQ_REMOVE(&r->sent, c, link);
		TAILQ_INSERT_TAIL(&r->calls, c, link);
		c->under_way = false;
	}
	TAILQ_FOREACH(c, &r->calls, link)
		if (c->state == SENT || (waiting && c->state == WAITING)) {
			c->state = FAILED;
			c->verdict = r->why;
		}
}

/* ---- answers ---- */

static bool
is_another_backend(struct records *r, const PGresult *result)
{
	int64_t backend = answer_number(result, PQntuples(result) - 1, BACKEND);
	bool another = r->backend != 0 && r->backend != backend;

	r->backend = backend;
	return another;
}

void
calls_got(struct records *r, const PGresult *result)
{
	struct verdict v = { .result = RECORDS_WRONG,
			     .words = "a pooler is between, such as PgBouncer, as another process "
				      "of the server answers each transaction: use its session "
				      "mode, or none" };
	struct records_call *c = TAILQ_FIRST(&r->sent);
	char words[RECORDS_TEXT];

	r->heard_ns = flki_boottime_ns();
	if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) == 0) {
		verdict_of_result(&v, result);
		/* Without the first answer, that of hello(), the others are of no use. */
		if (v.leave || r->backend == 0) {
			/* A store that served us once, and is restored now, is expected to do so again. */
			if (r->sound)
				v.result = RECORDS_AWAY;
			link_lost(r, &v);
		} else if (c->state == SENT) {
			link_text(words, r, v.words);
			snprintf(v.words, sizeof(v.words), "%s", words);
			answer(c, NULL, &v);
		}
	} else if (is_another_backend(r, result)) {
		link_lost(r, &v);
	} else if (c->state == SENT) {
		answer(c, result, NULL);
	} else { /* nobody reads whether it has changed what we watch */
		watches_woken(r);
	}
}

void
calls_got_all(struct records *r)
{
	struct records_call *c = TAILQ_FIRST(&r->sent);

	TAILQ_REMOVE(&r->sent, c, link);
	TAILQ_INSERT_TAIL(&r->calls, c, link);
	c->under_way = false;
}

/* ---- time ---- */

bool
calls_wait(const struct records *r)
{
	const struct records_call *c;

	TAILQ_FOREACH(c, &r->calls, link)
		if (c->state == WAITING)
			return true;
	return false;
}

static uint64_t
first_due(const struct call_queue *queue, uint64_t first)
{
	const struct records_call *c;
	uint64_t due;

	TAILQ_FOREACH(c, queue, link) {
		due = c->state == FAILED ? 0 : c->state == OVER ? UINT64_MAX : c->due;
		if (c->state == OVER && !c->under_way)
			due = 0;
		first = earlier(first, due);
	}
	return first;
}

uint64_t
calls_due(const struct records *r)
{
	return first_due(&r->sent, first_due(&r->calls, UINT64_MAX));
}

/* A server that was silent since the call was sent is left; it may still do the call. */
static void
give_up(struct records_call *c)
{
	struct records *r = c->records;
	struct verdict v = { .result = RECORDS_AWAY };
	bool silent = c->state == SENT && r->heard_ns < c->sent_ns;

	if (silent) {
		snprintf(v.words, sizeof(v.words), "no answer in time");
		link_lost(r, &v);
		return;
	}
	link_text(v.words, r, "no answer in time");
	c->verdict = v;
	c->state = FAILED;
}

static struct records_call *
next_late(struct records *r, uint64_t now)
{
	struct call_queue *const queue[] = { &r->sent, &r->calls };
	struct records_call *c;
	int i;

	for (i = 0; i < 2; i++)
		TAILQ_FOREACH(c, queue[i], link)
			if ((c->state == SENT || c->state == WAITING) && c->due <= now)
				return c;
	return NULL;
}

static struct records_call *
next_failed(struct records *r, uint64_t last)
{
	struct call_queue *const queue[] = { &r->sent, &r->calls };
	struct records_call *c;
	int i;

	for (i = 0; i < 2; i++)
		TAILQ_FOREACH(c, queue[i], link)
			if (c->state == FAILED && c->number <= last)
				return c;
	return NULL;
}

static void
destroy(struct records_call *c)
{
	TAILQ_REMOVE(c->under_way ? &c->records->sent : &c->records->calls, c, link);
	args_free(&c->args);
	free(c);
}

/* What a caller's function begins now, and fails at once, is for the next step. */
void
calls_step(struct records *r)
{
	uint64_t now = flki_boottime_ns(), last = r->numbers;
	struct records_call *c, *next;

	while ((c = next_late(r, now)) != NULL)
		give_up(c);
	while ((c = next_failed(r, last)) != NULL)
		answer(c, NULL, &c->verdict);
	for (c = TAILQ_FIRST(&r->calls); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state == OVER)
			destroy(c);
	}
}

void
calls_end(struct records *r)
{
	struct records_call *c;

	while ((c = TAILQ_FIRST(&r->sent)) != NULL)
		destroy(c);
	while ((c = TAILQ_FIRST(&r->calls)) != NULL)
		destroy(c);
}
