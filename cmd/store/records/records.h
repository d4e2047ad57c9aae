/* SPDX-License-Identifier: ISC */
/*
 * records.h - the seam between what flocklimit keeps in a store and the engine that keeps it.
 *
 * An engine implements these functions for one service, in a folder of its own, and knows nothing of
 * limiters; what is above knows no engine.  An open store is asynchronous and in one thread: its user
 * sleeps until records_fd() is readable or records_due() has come, and then calls records_step(), which
 * delivers every answer and all news.  No other call delivers any.
 *
 * What an engine keeps, and must do:
 *  - Records: a key, a value of any bytes, the revision at which the key was created, the one at which
 *    it was changed last, and at most one lease.  Keys are C strings, in the order of their bytes.
 *  - Revisions: each transaction that writes gets the next one.  They only rise, also after a restart
 *    or another leader; a store whose revision has fallen was put back from an older copy.
 *  - A transaction is done as a whole or not at all, and as if no other were done at the same time.
 *    What it reads is as of its own revision, and no older than the moment at which it was sent.
 *  - A lease ends its records when its user has not renewed it for its time: never sooner, and, as long
 *    as the engine serves anybody, not much later.
 *
 * A call that was sent and got no answer may have been done, or may still be done later.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/url.h"
#include "txn.h"

#define RECORDS_TEXT   400 /* bytes of a sentence */
#define RECORDS_RANGES 8   /* of a watch, at most */

struct records;
struct records_call;
struct records_watch;

/* ---- an open store --------------------------------------------------------------------------- */

/*
 * 0, or a negative code and why: of the URL, or of a file that it names.  A store that can't be reached
 * is no error: it is tried again, also at other addresses, with pauses of at most pause_ms.
 */
int records_open(struct records **records, const struct url *url, unsigned pause_ms,
		 char why[RECORDS_TEXT]);

/* Ends its calls and watches, too, and calls none of their functions; not from within a step. */
void records_close(struct records *r);

int records_fd(const struct records *r);
uint64_t records_due(const struct records *r); /* CLOCK_BOOTTIME, ns; UINT64_MAX: never */
void records_step(struct records *r);

/* What a transaction and its records may be. */
struct records_limits {
	size_t operations; /* of each of its three parts */
	size_t value;      /* bytes */
};

struct records_limits records_limits(const struct records *r);

/*
 * When, at the latest, a copy took the place of the service, which may lack what the service had last done
 * (CLOCK_BOOTTIME, ns); 0: none did, as far as is known.  What was sent before that was known is not done.
 */
uint64_t records_replaced(const struct records *r);

/* ---- calls ----------------------------------------------------------------------------------- */

enum records_result {
	RECORDS_OK,
	RECORDS_AWAY,    /* no answer, or none that helps: refused, timed out, no leader, ... */
	RECORDS_NOLEASE, /* there is no such lease */
	RECORDS_EXISTS,  /* that lease id is in use */
	RECORDS_DENIED,  /* no rights: text says on which key, if known */
	RECORDS_WRONG    /* waiting does not help: certificate, user, password, version, ... */
};

struct record_kv {
	char *key, *value; /* both end with a NUL beyond their sizes */
	size_t key_size, value_size;
	int64_t created, changed, lease;
};

/* What one operation gave: of a get its records; of others, nothing. */
struct records_found {
	const struct record_kv *kv;
	size_t n;
	uint64_t
	    count; /* of all in the range, whatever the get's limit was, but not of a newest_before; of a
		      delete: so many */
};

struct records_answer {
	enum records_result result;
	int64_t revision; /* the store's when it was done; 0: not known */
	uint64_t sent_ns; /* CLOCK_BOOTTIME before it was sent, for the last time */
	bool held;        /* of a transaction: what it compares held, and its `then' was done */
	const struct records_found *found; /* one for each operation that was done */
	size_t n;
	bool alive; /* of a renewal: the lease was renewed, not over */
	const char
	    *text; /* a sentence, if not RECORDS_OK: "etcd.example:2379: connection refused" */
};

typedef void records_done(void *context, const struct records_answer *answer);

/*
 * Each is sent once.  records_step() calls done() once, unless the call is cancelled; after timeout_ms
 * with RECORDS_AWAY.  NULL only for want of memory, also of the transaction's, which records_txn() frees
 * in any case.
 */
struct records_call *records_txn(struct records *r, struct txn *txn, unsigned timeout_ms,
				 records_done *done, void *context);
struct records_call *records_lease(struct records *r, int64_t id, uint32_t ttl_s,
				   unsigned timeout_ms, records_done *done, void *context);
struct records_call *records_renew(struct records *r, int64_t id, unsigned timeout_ms,
				   records_done *done, void *context);
struct records_call *records_end(struct records *r, int64_t id, unsigned timeout_ms,
				 records_done *done, void *context); /* and all its records */

void records_cancel(struct records_call *call); /* not after done() began: then it ends by itself */

/* What the n-th operation gave; nothing, if it was not done. */
static inline struct records_found
records_found(const struct records_answer *answer, size_t n)
{
	return n < answer->n ? answer->found[n] : (struct records_found){ .n = 0 };
}

/* ---- watches --------------------------------------------------------------------------------- */

struct records_range {
	const char *key, *end; /* end: NULL for one key */
	bool no_put;           /* only deletions */
};

struct records_change {
	bool deleted;        /* then the key and `changed' are all there is */
	struct record_kv kv; /* as it is now */
};

enum records_news_kind {
	WATCH_BEGUN, /* nothing is missed from its revision on; after an interruption, too */
	WATCH_CHANGE,
	WATCH_COMPACTED, /* the store has forgotten what happened since: look, and watch again */
	WATCH_FAILED     /* text says why: no rights, ... */
};

struct records_news {
	enum records_news_kind kind;
	const struct records_change *change;
	const char *text;
	int64_t revision; /* WATCH_BEGUN of a watch from 0: where all its ranges begin; else 0 */
};

typedef void records_hears(void *context, const struct records_news *news);

/*
 * Reports all changes of up to RECORDS_RANGES ranges from that revision on (0: from now on), each once.
 * They come in the order of their revisions within a range, and all those of one revision within one
 * records_step(); of two ranges, one may be behind the other while it catches up.  Ranges do not
 * overlap.  The watch moves to another server by itself, and goes on where each of its ranges was.
 * WATCH_COMPACTED and WATCH_FAILED end it, but the caller must still call records_unwatch(), from
 * within hears() or at any other time.  NULL only for want of memory.
 */
struct records_watch *records_watch(struct records *r, const struct records_range *range,
				    size_t ranges, int64_t from, records_hears *hears,
				    void *context);
void records_unwatch(struct records_watch *w);

#endif
