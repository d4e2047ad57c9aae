/* SPDX-License-Identifier: ISC */
/*
 * world.c - the messages of a world, and its server: see world.h.
 */
#include <stdlib.h>

#include "wire.h"

struct world world;

/* ---- messages ---- */

struct message *
message_new(enum message_kind kind, struct records *client)
{
	struct message *m = memory_got(calloc(1, sizeof(*m)));

	m->kind = kind;
	m->client = client;
	if (client != NULL)
		LIST_INSERT_HEAD(&client->messages, m, of_client);
	return m;
}

void
message_free(struct message *m)
{
	heap_remove(&world.messages, &m->due);
	if (m->arrived)
		TAILQ_REMOVE(m->kind >= ANSWERS ? &m->client->inbox : &world.waiting, m, queue);
	if (m->client != NULL)
		LIST_REMOVE(m, of_client);
	if (m->call != NULL)
		m->call->message = NULL;
	txn_free(m->txn);
	memory_answer_free(m->answer);
	memory_drop(m->change);
	free(m);
}

uint64_t
message_takes(const struct records *client, enum leg leg)
{
	return world.rules->takes == NULL ? 0 : world.rules->takes(world.context, client, leg);
}

void
message_send(struct message *m, uint64_t at_ns)
{
	heap_put(&world.messages, &m->due, at_ns);
}

void
message_arrives(struct message *m)
{
	struct records *client = m->client;

	m->arrived = true;
	TAILQ_INSERT_TAIL(&client->inbox, m, queue);
	if (m->kind == REPORTS)
		m->range->next = m->news == WATCH_CHANGE ? m->change->kv.changed + 1 : m->revision;
	if (world.rules->arrived != NULL)
		world.rules->arrived(world.context, client);
}

/* ---- the server ---- */

/* Reports what has changed since it did so last. */
static void
report(void)
{
	size_t first = memory_since(world.memory, world.seen + 1), i;
	struct memory_record *change;

	world.seen = memory_revision(world.memory);
	for (i = first; (change = memory_change(world.memory, i)) != NULL; i++)
		watches_report(change);
	if (i > first && world.rules->changed != NULL)
		world.rules->changed(world.context, first);
}

static struct memory_answer *
answer_of(const struct message *m)
{
	const struct world_rules *rules = world.rules;

	switch (m->kind) {
	case ASKS_TXN:
		if (rules->weaken != NULL)
			rules->weaken(world.context, m->txn);
		return memory_txn(world.memory, m->txn, true_ns);
	case ASKS_LEASE:
		return memory_lease(
		    world.memory, m->lease,
		    rules->ttl == NULL ? m->ttl_s : rules->ttl(world.context, m->ttl_s), true_ns);
	case ASKS_RENEWAL:
		return memory_renew(world.memory, m->lease, true_ns);
	default:
		return rules->keeps_leases ? memory_answer_of(RECORDS_OK, NULL)
					   : memory_end(world.memory, m->lease, true_ns);
	}
}

static void
answer(struct message *asked, struct memory_answer *a)
{
	struct records *client = asked->client;
	uint64_t takes = client == NULL ? NEVER : message_takes(client, TO_CLIENT);
	struct message *m;

	if (asked->call == NULL || client->cut || takes == NEVER) {
		memory_answer_free(a);
		return;
	}
	m = message_new(ANSWERS, client);
	m->answer = a;
	m->call = asked->call;
	asked->call = NULL;
	m->call->message = m;
	message_send(m, true_ns + takes);
}

static void
serve(struct message *m)
{
	struct memory_answer *a;

	if (m->kind == ASKS_WATCH) {
		watches_serve(m);
		return;
	}
	a = answer_of(m);
	report();
	if (world.rules->answers != NULL)
		world.rules->answers(world.context, a);
	answer(m, a);
	message_free(m);
}

static void
arrive(struct message *m)
{
	heap_remove(&world.messages, &m->due);
	if (m->kind >= ANSWERS) {
		message_arrives(m);
	} else if (world.down) {
		message_free(m);
	} else if (world.stopped) {
		m->arrived = true;
		TAILQ_INSERT_TAIL(&world.waiting, m, queue);
	} else {
		serve(m);
	}
}

static uint64_t
lease_due(void)
{
	return world.stopped || world.down ? NEVER : memory_due(world.memory);
}

uint64_t
world_due(void)
{
	uint64_t leases = lease_due(), messages = heap_due(&world.messages);

	return leases < messages ? leases : messages;
}

void
world_step(void)
{
	while (world_due() <= true_ns)
		if (lease_due() <= true_ns) {
			memory_step(world.memory, true_ns);
			report();
		} else {
			arrive((struct message *)heap_first(&world.messages));
		}
}

void
world_stop(void)
{
	world.stopped = true;
}

void
world_go_on(void)
{
	struct message *m;

	world.stopped = false;
	world_step();
	while ((m = TAILQ_FIRST(&world.waiting)) != NULL) {
		TAILQ_REMOVE(&world.waiting, m, queue);
		m->arrived = false;
		serve(m);
	}
}

void
world_down(void)
{
	struct message *m;

	world.down = true;
	world.stopped = false;
	while ((m = TAILQ_FIRST(&world.waiting)) != NULL)
		message_free(m);
}

void
world_up(void)
{
	world.down = false;
	memory_extend(world.memory, true_ns);
}

void
world_end_lease(int64_t id)
{
	memory_answer_free(memory_end(world.memory, id, true_ns));
	report();
}

/* ---- all of it ---- */

struct memory *
world_memory(void)
{
	return world.memory;
}

void
world_open(const struct world_rules *rules, void *context)
{
	world.rules = rules;
	world.context = context;
	world.memory = memory_new();
	world.stopped = world.down = false;
	world.seen = memory_revision(world.memory);
	TAILQ_INIT(&world.waiting);
	LIST_INIT(&world.clients);
}

void
world_close(void)
{
	while (!LIST_EMPTY(&world.clients))
		records_close(LIST_FIRST(&world.clients));
	while (world.messages.n > 0)
		message_free((struct message *)heap_first(&world.messages));
	while (!TAILQ_EMPTY(&world.waiting))
		message_free(TAILQ_FIRST(&world.waiting));
	heap_free(&world.messages);
	memory_free(world.memory);
	world.memory = NULL;
}
