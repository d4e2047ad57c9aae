/* SPDX-License-Identifier: ISC */
/*
 * link.c - records.h over a world: a client and its calls.
 */
#include <stdlib.h>

#include "clock.h"
#include "wire.h"

int
records_open(struct records **records, const struct url *url, unsigned pause_ms,
	     char why[RECORDS_TEXT])
{
	struct records *r = memory_got(calloc(1, sizeof(*r)));

	(void)url;
	(void)pause_ms;
	(void)why;
	LIST_INIT(&r->messages);
	LIST_INIT(&r->calls);
	LIST_INIT(&r->watches);
	TAILQ_INIT(&r->inbox);
	LIST_INSERT_HEAD(&world.clients, r, link);
	*records = r;
	return 0;
}

/* What it has sent may still be done. */
static void
forget(struct message *m)
{
	if (m->kind >= ASKS_WATCH) {
		message_free(m);
		return;
	}
	LIST_REMOVE(m, of_client);
	m->client = NULL;
	m->call = NULL;
}

void
records_close(struct records *r)
{
	struct message *m;

	while (!LIST_EMPTY(&r->watches))
		records_unwatch(LIST_FIRST(&r->watches));
	while (!LIST_EMPTY(&r->calls))
		records_cancel(LIST_FIRST(&r->calls));
	while ((m = LIST_FIRST(&r->messages)) != NULL)
		forget(m);
	LIST_REMOVE(r, link);
	free(r);
}

/* ---- calls ---- */

static struct records_call *
ask(struct records *r, struct message *m, unsigned timeout_ms, records_done *done, void *context)
{
	struct records_call *c = memory_got(calloc(1, sizeof(*c)));
	uint64_t takes;

	c->client = r;
	c->done = done;
	c->context = context;
	c->sent_ns = clock_now();
	c->due_ns = c->sent_ns + timeout_ms * UINT64_C(1000000);
	c->message = m;
	m->call = c;
	LIST_INSERT_HEAD(&r->calls, c, link);
	takes = r->cut ? NEVER : message_takes(r, TO_SERVER);
	if (takes != NEVER) {
		message_send(m, true_ns + takes);
		return c;
	}
	message_free(m);
	if (r->cut && r->told)
		call_fails(c);
	return c;
}

struct records_call *
records_txn(struct records *r, struct txn *txn, unsigned timeout_ms, records_done *done,
	    void *context)
{
	struct message *m;

	if (txn == NULL || txn->failed) {
		txn_free(txn);
		return NULL;
	}
	m = message_new(ASKS_TXN, r);
	m->txn = txn;
	return ask(r, m, timeout_ms, done, context);
}

static struct message *
about_lease(struct records *r, enum message_kind kind, int64_t id, uint32_t ttl_s)
{
	struct message *m = message_new(kind, r);

	m->lease = id;
	m->ttl_s = ttl_s;
	return m;
}

struct records_call *
records_lease(struct records *r, int64_t id, uint32_t ttl_s, unsigned timeout_ms,
	      records_done *done, void *context)
{
	return ask(r, about_lease(r, ASKS_LEASE, id, ttl_s), timeout_ms, done, context);
}

struct records_call *
records_renew(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return ask(r, about_lease(r, ASKS_RENEWAL, id, 0), timeout_ms, done, context);
}

struct records_call *
records_end(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return ask(r, about_lease(r, ASKS_END, id, 0), timeout_ms, done, context);
}

static void
call_free(struct records_call *c)
{
	LIST_REMOVE(c, link);
	free(c);
}

/* What was asked may still be done; nobody waits for the answer. */
static void
give_up(struct records_call *c)
{
	struct message *m = c->message;

	if (m != NULL && m->kind == ANSWERS)
		message_free(m);
	else if (m != NULL)
		m->call = NULL;
	c->message = NULL;
}

void
records_cancel(struct records_call *c)
{
	give_up(c);
	call_free(c);
}

void
call_fails(struct records_call *c)
{
	struct message *m;

	give_up(c);
	m = message_new(ANSWERS, c->client);
	m->answer = memory_answer_of(RECORDS_AWAY, "memory: connection lost");
	m->call = c;
	c->message = m;
	message_arrives(m);
}

struct records_limits
records_limits(const struct records *r)
{
	(void)r;
	return (struct records_limits){ .operations = MEMORY_OPERATIONS, .value = MEMORY_VALUE };
}

uint64_t
records_replaced(const struct records *r)
{
	(void)r;
	return 0;
}

/* ---- steps ---- */

int
records_fd(const struct records *r)
{
	(void)r;
	return -1;
}

uint64_t
records_due(const struct records *r)
{
	const struct records_call *c;
	uint64_t due = world.rules->arrived == NULL ? world_due() : NEVER;

	if (!TAILQ_EMPTY(&r->inbox))
		return 0;
	LIST_FOREACH(c, &r->calls, link)
		due = c->due_ns < due ? c->due_ns : due;
	return due;
}

/* Ends the call, and then calls its function. */
static void
call_done(struct records_call *c, struct records_answer *answer)
{
	records_done *done = c->done;
	void *context = c->context;

	answer->sent_ns = c->sent_ns;
	call_free(c);
	done(context, answer);
}

static void
deliver(struct message *m)
{
	struct memory_answer *a = m->answer;
	struct records_call *c = m->call;

	if (m->kind == REPORTS) {
		watch_hears(m);
		return;
	}
	m->answer = NULL;
	message_free(m);
	call_done(c, &a->a);
	memory_answer_free(a);
}

static struct records_call *
overdue(const struct records *r)
{
	struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		if (c->due_ns <= clock_now())
			return c;
	return NULL;
}

void
records_step(struct records *r)
{
	struct records_answer late = { .result = RECORDS_AWAY,
				       .text = "memory: no answer in time" };
	struct records_call *c;
	struct message *m;

	if (world.rules->arrived == NULL)
		world_step();
	while ((m = TAILQ_FIRST(&r->inbox)) != NULL)
		deliver(m);
	while ((c = overdue(r)) != NULL) {
		give_up(c);
		call_done(c, &late);
	}
}

/* ---- the connection ---- */

struct records *
world_newest(void)
{
	return LIST_FIRST(&world.clients);
}

void *
world_tag(const struct records *client)
{
	return client->tag;
}

void
world_set_tag(struct records *client, void *tag)
{
	client->tag = tag;
}

/* Of its messages, one that the cut ends. */
static struct message *
next_cut(const struct records *client, bool late)
{
	struct message *m;

	LIST_FOREACH(m, &client->messages, of_client)
		if (m->kind < ASKS_WATCH ? !late : m->kind == ASKS_WATCH || !m->arrived)
			return m;
	return NULL;
}

static bool
has_answer(const struct records_call *c)
{
	return c->message != NULL && c->message->kind == ANSWERS && c->message->arrived;
}

void
world_cut(struct records *client, bool late, bool told)
{
	struct records_watch *w;
	struct records_call *c;
	struct message *m;

	client->cut = true;
	client->told = told;
	while ((m = next_cut(client, late)) != NULL)
		message_free(m);
	LIST_FOREACH(w, &client->watches, link)
		watch_is_cut(w);
	LIST_FOREACH(c, &client->calls, link)
		if (told && !has_answer(c))
			call_fails(c);
}

void
world_join(struct records *client)
{
	struct records_watch *w;

	if (!client->cut)
		return;
	client->cut = false;
	LIST_FOREACH(w, &client->watches, link)
		watch_joins(w);
}
