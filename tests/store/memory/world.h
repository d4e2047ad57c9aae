/* SPDX-License-Identifier: ISC */
/*
 * world.h - one store in memory, all of its clients, and the messages between them, under virtual
 * time.
 *
 * A message takes as long as the world's rules say, or is lost.  What is reported of a watch's range
 * arrives in order; other messages overtake each other.  There is one world at a time, and
 * records_open() of any URL makes a client of it.
 */
#ifndef WORLD_H
#define WORLD_H

#include "memory.h"

enum leg { TO_SERVER, TO_CLIENT };

/* What a world's user decides, and is told.  Each function may be NULL. */
struct world_rules {
	/*
	 * How long a message of that client takes; NEVER: it is lost.  Those of watches are not
	 * lost, but take WATCH_LATE_NS then.  NULL: no message takes any time.
	 */
	uint64_t (*takes)(void *context, const struct records *client, enum leg leg);

	/* records_step() would deliver something.  NULL: that call runs the world first. */
	void (*arrived)(void *context, struct records *client);

	/* The server has changed something: the changes from that number on. */
	void (*changed)(void *context, size_t first);

	/* ---- errors that a server could have ---- */

	/* Before a transaction: may change it.  Before a lease: its time. */
	void (*weaken)(void *context, struct txn *txn);
	uint32_t (*ttl)(void *context, uint32_t ttl_s);
	bool keeps_leases; /* those that a client ends */
	/* May change an answer. */
	void (*answers)(void *context, struct memory_answer *answer);
	/* So often a change is reported to one range: 1. */
	unsigned (*reports)(void *context, const struct memory_record *change);
};

#define WATCH_LATE_NS UINT64_C(1000000000)

void world_open(const struct world_rules *rules, void *context);
void world_close(void); /* closes its clients, too */

struct memory *world_memory(void);

uint64_t world_due(void); /* true time */
void world_step(void);    /* all that is due by now */

/* ---- the server ---- */

/* Stopped, it gets what arrives, and does it later.  Its leases get old. */
void world_stop(void);
void world_go_on(void);

/*
 * Down, it does not get what arrives.  All records are kept, and all leases begin anew when it is up
 * again.  It cuts nobody: its user does.
 */
void world_down(void);
void world_up(void);

void world_end_lease(int64_t id); /* too early, by an error of the server */

/* ---- a client's connection ---- */

struct records *world_newest(void); /* the client that was opened last */
void *world_tag(const struct records *client);
void world_set_tag(struct records *client, void *tag);

/*
 * Cut off, a client sends and gets nothing.  What is under way to it is lost, and what it has sent,
 * too, unless that is late.  If it is told, its calls fail at once; else they are not answered.
 * Joined again, its watches go on.
 */
void world_cut(struct records *client, bool late, bool told);
void world_join(struct records *client);

#endif
