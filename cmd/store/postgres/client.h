/* SPDX-License-Identifier: ISC */
/*
 * client.h - what the parts of the client know of each other.
 *
 *   setup.c    the schema, run by an administrator
 *   records.c  the client as a whole, and its URL
 *   watch.c    watches, and what wakes them
 *   txn.c      transactions and leases
 *   hello.c    the first call of a connection
 *   call.c     calls, and whatever else is asked
 *   link.c     the connection to one of the hosts
 *   hosts.c    the hosts, and their addresses
 *   verdict.c  what an error means
 *   args.c     the arguments of a function of functions.sql, as bytes
 *
 * Each calls only what stands below it; but link.c calls call.c, hello.c and watch.c when there is, or no longer is,
 * a connection.
 *
 * One connection carries all: calls, which libpq sends without waiting for the answers to those before
 * (its pipeline mode), and the notifications of the server.  Each call is a transaction of its own.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <libpq-fe.h>

#include "clock.h"
#include "records/records.h"
#include "records/resolve.h"
#include "records/secret.h"

#define CALL_OPERATIONS 128

/* ---- args.c ---- */

enum args_type {
	ARGS_INT4 = 23,
	ARGS_INT8 = 20,
	ARGS_BYTEA = 17
}; /* PostgreSQL's numbers of them */

#define ARGS_MOST 6

struct args {
	char *at;
	size_t n, room;
	int count;
	Oid type[ARGS_MOST];
	size_t start[ARGS_MOST];
	bool failed; /* no memory */
};

struct args args_of(int64_t number); /* one number, and no more yet */
void args_number(struct args *a, int64_t number);
/* Then come that many elements. */
void args_array(struct args *a, enum args_type type, size_t elements);
void args_element_number(struct args *a, enum args_type type, int64_t number);
void args_element(struct args *a, const void *bytes, size_t size);
/* The end of a range that is one key: the next key that there can be. */
void args_element_end(struct args *a, const char *key, const char *end);
int args_send(const struct args *a, PGconn *conn,
	      const char *function); /* as libpq: 0 is a failure */
void args_free(struct args *a);

/* A number of an answer; 0 if there is none. */
int64_t answer_number(const PGresult *result, int row, int column);
void answer_kv(struct record_kv *kv, const PGresult *result,
	       int row); /* lives as long as the result */

/*
 * The changes of a notification, at most CHANGES: lines "REVISION DELETED CREATED LEASE KEY VALUE", the last two
 * in hexadecimal digits.  They become the changes' keys and values.  0: it has none, or too many.
 */
#define CHANGES 64
size_t changes_read(struct records_change change[CHANGES], char *lines);

/* The columns of an answer, flocklimit.found, and of its last row. */
enum { OP, N, KEY, VALUE, CREATED, CHANGED, LEASE };
enum { FLAG = N, REVISION = CREATED, SAYS = CHANGED, BACKEND = LEASE };

/* ---- verdict.c ---- */

struct verdict {
	enum records_result result;
	bool leave; /* it is no use to stay connected to this server */
	char words[RECORDS_TEXT];
};

void verdict_of_result(struct verdict *v, const PGresult *result);
void verdict_of_connection(struct verdict *v, const char *message);

/* ---- the client ---- */

TAILQ_HEAD(call_queue, records_call);
LIST_HEAD(watch_list, records_watch);

struct host {
	const char *host; /* or the directory of a socket */
	char port[12];
	char *text;      /* "db.example:5432" */
	bool named;      /* host is a name, not an address or a directory */
	char *addresses; /* of a name: "192.0.2.1,2001:db8::1"; NULL: none is known */
};

struct records {
	struct url url;
	struct secret secret;
	int epoll; /* has the connection's socket, too */
	uint64_t pause_ns;

	/* link.c */
	struct host host[URL_HOSTS];
	size_t hosts, at, address;   /* whose turn it is */
	size_t turns;                /* so many had theirs since all had one */
	const char *name[URL_HOSTS]; /* of hosts, as the resolver wants them */
	struct resolver *resolver;
	uint64_t name_due; /* how long a look-up is waited for */
	PGconn *conn;
	enum { DOWN, CONNECTING, UP } state;
	PostgresPollingStatusType polling; /* CONNECTING: what libpq waits for */
	bool broken;                       /* a call could not be sent */
	bool unsent;                       /* some of a call is still to be sent */
	bool sound;         /* it once had an answer: a failure to connect is temporary */
	uint64_t due;       /* DOWN: not before; CONNECTING: not after */
	uint64_t heard_ns;  /* when there was an answer last */
	unsigned failures;  /* so often all hosts failed in a row */
	struct verdict why; /* the last failure, with the host */
	int64_t backend;    /* the server's process; 0: not known yet */

	/* call.c */
	struct call_queue calls; /* that are not under way */
	struct call_queue sent;  /* in the order of their answers */
	uint64_t numbers;        /* of calls, so far */

	/* watch.c */
	struct watch_list watches;
	int64_t client;       /* a number that no other client has */
	int64_t epoch;        /* of the copy that we know; 0: none yet */
	uint64_t replaced_ns; /* when that was new at the latest; 0: it is no copy */
	int64_t seen;         /* the revision up to which the watches have all */
	bool woken;           /* there may be news since */
	bool asking;          /* for news */
	uint64_t tick_ns;     /* when to ask without being woken */
};

/* ---- hosts.c ---- */

#define ADDRESS 64 /* bytes of an address */

int hosts_set(struct records *r); /* by its URL; 0, or -errno */
void hosts_free(struct records *r);

/* The turn of the next address, of the same host or the next; false: all have had theirs. */
bool hosts_next(struct records *r);

/* The one whose turn it is serves us. */
void hosts_well(struct records *r);

/* Of the host whose turn it is; "": it needs none; false: none is known.  It may be looked up until host_due(). */
bool host_address(const struct records *r, char address[ADDRESS]);
uint64_t host_due(const struct records *r);
void hosts_look_up(struct records *r); /* unless that was just now */

/* ---- link.c ---- */

void link_end(struct records *r);
uint64_t link_due(const struct records *r);
void link_step(struct records *r);

/* Leaves this host: what was sent fails. */
void link_lost(struct records *r, const struct verdict *v);

/* Of a connection to the host whose turn it is, as libpq wants them; the client outlives them. */
struct parameters {
	const char *name[16], *value[16];
	char address[ADDRESS];
};

void link_parameters(struct parameters *p, const struct records *r);

/* Drops a notice, which libpq would print. */
void link_drop_notice(void *context, const PGresult *notice);

/* "db.example:5432: words" */
void link_text(char text[RECORDS_TEXT], const struct records *r, const char *words);

/* ---- call.c ---- */

/* Of an answer, or of a failure: then result is NULL, and v says why, with the host. */
typedef void call_answered(struct records_call *c, const PGresult *result, const struct verdict *v);

/*
 *   called  -> WAITING  [call_begin]     for a connection
 *   called  -> FAILED   [call_begin]     there is none, and it is too early to try again
 *   called  -> SENT     [call_begin]
 *   WAITING -> SENT     [calls_send]
 *   WAITING, SENT -> FAILED  [calls_fail]  the caller is told in the next step
 *   any     -> OVER     [answer]         the caller has its answer
 *   any     -> OVER     [records_cancel] or wants none
 */
struct records_call {
	TAILQ_ENTRY(records_call) link;
	struct records *records;
	const char *function; /* of functions.sql */
	struct args args;
	enum { WAITING, SENT, FAILED, OVER } state;
	bool under_way; /* its answer is still to come, even if it is OVER */
	uint64_t number, due, sent_ns;
	struct verdict verdict; /* FAILED */
	call_answered *answered;
	size_t then, otherwise; /* of a transaction: so many operations */
	records_done *done;
	void *context;
};

/* Takes args over.  NULL for want of memory. */
struct records_call *call_begin(struct records *r, const char *function, struct args args,
				unsigned timeout_ms, call_answered *answered, void *context);

void calls_send(struct records *r); /* what waits: there is a connection */

/* What was sent, or also what waits, fails, for the reason that r->why has. */
void calls_fail(struct records *r, bool waiting);

/* An answer of the first that was sent; and its end. */
void calls_got(struct records *r, const PGresult *result);
void calls_got_all(struct records *r);

bool calls_wait(const struct records *r);
uint64_t calls_due(const struct records *r);
void calls_step(struct records *r);
void calls_end(struct records *r);

/* ---- schema.c, which make writes from schema.sql and functions.sql ---- */

extern const char *const schema[]; /* its lines; NULL after the last */

/* ---- hello.c ---- */

bool hello_begin(struct records *r); /* false for want of memory */

/* ---- watch.c ---- */

void watches_up(struct records *r);   /* the connection is new */
void watches_down(struct records *r); /* there is none */
void watches_woken(struct records *r);
void watches_notified(struct records *r,
		      char *lines); /* of wake(), which become changes in place */
bool watches_wait(const struct records *r);
uint64_t watches_due(const struct records *r);
void watches_step(struct records *r);
void watches_end(struct records *r);

#endif
