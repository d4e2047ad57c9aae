/* SPDX-License-Identifier: ISC */
/*
 * session.h - what an operator does with a store: one question at a time, in this process, which
 * waits for each answer.  No keeper takes part.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdint.h>
#include <time.h>

#include "protocol/fleet.h"
#include "records/url.h"
#include "flocklimit.h"
#include "kind.h"

#define SESSION_PATIENCE UINT64_C(5000000000) /* ns for an answer */
#define SESSION_NEVER    UINT64_MAX

struct store_taker;
struct news; /* follow.c */

/* One limiter, or all of them.  Only session.c and follow.c look inside. */
struct session {
	struct fleet_store *store;
	struct fleet *fleet;
	struct news *news; /* NULL: nobody follows; one block of malloc(3) */
};

/*
 * Opens a session of the limiter of that name, or of all limiters (NULL): 0, or -FLK_STORE or -ENOMEM.
 * All sessions of the process share the store's connection.  One thread only.
 */
int session_open(struct session **session, const char *name);
void session_close(struct session *d); /* or NULL */

/* The session of a limiter, which ends with the limiter. */
int session_of(struct flk *f, struct session **session);

/* Reads an answer of code 0 or -FLK_DAMAGED, which is valid only now; session_ask() returns its result. */
typedef int session_take(void *context, const struct fleet_answer *answer);

/*
 * Asks, and waits for the answer: returns its code, or what take() made of it.  If the store can't
 * be reached, -FLK_STORE, and flk_strerror() says why.
 */
int session_ask(struct session *d, const struct fleet_question *q, uint64_t patience_ns,
		session_take *take, void *context);

/* follow.c: the machine of an event that store_history() gave; NULL: this one, or it is not known. */
const char *session_happened(struct flk *f, const struct flk_event *e);

/*
 * Drives the store once: sleeps until it has something to do, at most until then, or until the
 * descriptor BELL is readable; -1: none.  0, -EINTR.
 */
int session_drive(struct session *d, uint64_t until_ns, int bell);

/* The last question had no answer, as the store could not be reached. */
bool session_was_away(void);

/* setup.c: prints what makes the store ready for its first use, or runs it: the status to exit with. */
int store_setup(bool apply);

#endif
