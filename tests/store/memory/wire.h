/* SPDX-License-Identifier: ISC */
/*
 * wire.h - a world as its parts see it: the server (world.c), clients with their calls (link.c) and
 * their watches (watch.c).
 */
#ifndef WIRE_H
#define WIRE_H

#include "clock.h"
#include "inside.h"
#include "world.h"

enum message_kind { ASKS_TXN, ASKS_LEASE, ASKS_RENEWAL, ASKS_END, ASKS_WATCH, ANSWERS, REPORTS };

struct message {
	struct heap_item due;          /* under way */
	TAILQ_ENTRY(message) queue;    /* arrived: at the client, or at a stopped server */
	LIST_ENTRY(message) of_client; /* unless its client is gone */
	enum message_kind kind;
	bool arrived;
	struct records *client;       /* NULL: closed meanwhile */
	struct records_call *call;    /* NULL: nobody waits for it */
	struct txn *txn;              /* ASKS_TXN */
	int64_t lease;                /* ASKS_LEASE, ... */
	uint32_t ttl_s;               /* ASKS_LEASE */
	struct memory_answer *answer; /* ANSWERS */
	struct watched *range;        /* ASKS_WATCH, REPORTS */
	enum records_news_kind news;  /* REPORTS */
	int64_t revision;             /* ASKS_WATCH: from there; REPORTS: begun there */
	struct memory_record *change; /* REPORTS */
};

TAILQ_HEAD(message_queue, message);

struct records {
	LIST_ENTRY(records) link;
	void *tag;
	bool cut, told;
	LIST_HEAD(, message) messages; /* from and to it, wherever they are */
	struct message_queue inbox;
	LIST_HEAD(, records_call) calls;
	LIST_HEAD(, records_watch) watches;
};

struct records_call {
	LIST_ENTRY(records_call) link;
	struct records *client;
	struct message *message; /* the request or the answer; NULL: it is lost */
	uint64_t sent_ns, due_ns;
	records_done *done;
	void *context;
};

/* A range of a watch, at the client and at the server. */
struct watched {
	struct records_watch *watch;
	struct records_range of;
	int64_t next;     /* the client has all before that revision; 0: none yet */
	int64_t sent;     /* the revision of what was sent to it last */
	uint64_t last_ns; /* when that arrives */
	bool begun;       /* since it was joined, */
	bool from_now;    /* ... from then on */
	bool registered;  /* the server has it */
	LIST_ENTRY(watched) link;
};

struct records_watch {
	LIST_ENTRY(records_watch) link;
	struct records *client;
	struct watched range[RECORDS_RANGES];
	size_t ranges;
	int64_t begun_at; /* the latest revision from which a range was begun from then on */
	bool over, in_callback, dead;
	records_hears *hears;
	void *context;
};

struct world {
	const struct world_rules *rules;
	void *context;
	struct memory *memory;
	struct heap messages;
	struct message_queue waiting; /* the server is stopped */
	LIST_HEAD(, records) clients;
	bool stopped, down;
	int64_t seen; /* the revision up to which changes were reported */
};

extern struct world world;

/* ---- world.c ---- */

struct message *message_new(enum message_kind kind, struct records *client);
void message_free(struct message *m); /* wherever it is */
uint64_t message_takes(const struct records *client, enum leg leg);
void message_send(struct message *m, uint64_t at_ns);
void message_arrives(struct message *m); /* at its client, now */

/* ---- link.c ---- */

void call_fails(struct records_call *c); /* later, in a step */

/* ---- watch.c ---- */

void watch_joins(struct records_watch *w); /* sends what the server must know of it */
void watch_is_cut(struct records_watch *w);
void watch_hears(struct message *m); /* a report, at the client; frees it */

void watches_serve(struct message *m);             /* ASKS_WATCH, at the server; frees it */
void watches_report(struct memory_record *change); /* at the server */

#endif
