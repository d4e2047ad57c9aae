/* SPDX-License-Identifier: ISC */
/*
 * client.h - what the parts of the client know of each other.
 *
 *   records.c  the client as a whole, one folder above
 *   call.c     calls
 *   watch.c    watches; feed.c: the one stream that all of them share
 *   token.c    the token that authorises both
 *   verdict.c  what an answer means, or that there is none; probe.c: a doubt about that
 *   endpoint.c its endpoints, and the connection to one of them
 * and, in etcd/h2/:
 *   resolve.c  their addresses
 *   h2.h       connections and streams
 *
 * Each calls only what stands below it; but feed.c and watch.c call each other.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "clock.h"
#include "records/secret.h"
#include "etcd/h2/h2.h"
#include "etcd/h2/resolve.h"
#include "records/records.h"

struct endpoint {
	char host[256]; /* without brackets; no name that can be resolved is longer */
	unsigned port;
	char *name;      /* "host:2379" */
	bool named;      /* host is a name, not an address */
	char *addresses; /* "192.0.2.1,2001:db8::1"; NULL: none is known */
	bool other;      /* it has answered in the other protocol: see probe.c */
};

struct verdict;

LIST_HEAD(call_list, records_call);
LIST_HEAD(watch_list, records_watch);

#define FEED_GONE 32

/* The stream of all watches: see feed.c. */
struct feed {
	struct h2_stream stream;
	bool on; /* it is under way, since the client's turn and token: */
	uint64_t turn, token;
	uint64_t times; /* how often one began */
	int64_t asked,
	    answered; /* so many ranges; the id of a range is the number of its request */
	struct endpoint *at;
	int64_t gone[FEED_GONE]; /* ranges that nobody watches any more */
	size_t n_gone;
	uint64_t gone_due; /* if there are any: when the server is told of them */
};

struct probe {
	struct h2_stream stream;
	struct h2_conn *conn;
	struct endpoint *at; /* which is asked; NULL: none */
};

/*
 * Turn is how often the client gave up an endpoint for the next.  A call or watch remembers the
 * turn that it began in, so that many failures at one endpoint are one reason to move, not many;
 * and the client begins a watch of an earlier turn again.  With each turn it makes another
 * connection, as the one before may hang.
 */
struct records {
	struct h2 *h2;
	struct h2_conn *conn; /* of that turn; NULL: none yet */
	uint64_t conn_turn;
	struct h2_tls files;
	bool tls;
	struct secret secret;
	char *prefix; /* of all keys, for people */
	struct endpoint *endpoint;
	size_t endpoints, at;
	uint64_t turn;
	size_t failed; /* so many turns in a row ended without any answer */
	struct resolver resolver;
	uint64_t look_up_at, pause; /* no look-up before; from the next one's end to that */
	uint64_t pause_most;
	bool sound; /* we once had an answer of etcd: a foreign answer is temporary */
	struct call_list calls;
	struct watch_list watches;
	struct feed feed;
	struct token *token;
	struct probe probe;
};

/* Ends that turn, if it has not ended: no answer came, or none that helps. */
void client_turn(struct records *r, uint64_t turn);

/* The same, but the turn continues: there is nowhere else to go. */
void client_failed(struct records *r);

/* There was an answer. */
void client_well(struct records *r);

struct endpoint *client_endpoint(struct records *r);

/* Has any endpoint a known address?  If not, the client looks their names up, now and then. */
bool client_reaches(struct records *r);

/* Begins a stream to the endpoint of this turn; false: no memory. */
bool client_start(struct records *r, struct h2_stream *s);

/* "endpoint: words" */
void client_text(char text[RECORDS_TEXT], const struct endpoint *at, const char *words);

int endpoints_set(struct records *r, const struct url *u, uint64_t pause_most); /* 0, or -errno */
void endpoints_free(struct records *r);
uint64_t endpoints_due(const struct records *r);
void endpoints_step(struct records *r);

/* ---- probe.c ---- */

/* Asks the endpoint in the other protocol, unless a probe is under way. */
void probe_begin(struct records *r, struct endpoint *at);
void probe_end(struct records *r);

/* ---- token.c ---- */

/* Resumes all that waits for a token: there is one (RECORDS_OK, NULL), or why not. */
typedef void token_settled(struct records *r, enum records_result result, const char *text);

struct token *token_new(const struct secret *secret, token_settled *settled);
void token_free(struct token *t);

/*
 * Whether the caller may send now, with token_now() (NULL: without a token).  If not, token.c calls
 * settled() when it may, or if it never may.
 */
bool token_ready(struct records *r);

/*
 * Whether the client asks for no token now, since user and password were refused and are still the
 * same; then the caller must not wait for one.  *why says that.
 */
bool token_barred(struct records *r, const char **why);

const char *token_now(const struct records *r);

/* How many tokens there were: a refused call may have been sent with an earlier one. */
uint64_t token_number(const struct records *r);

/* That token was refused: whether there is, or will be, another one. */
bool token_refused(struct records *r, uint64_t number);

/*
 * Makes a final refusal one to retry, if the store has served us before and the secret is in a
 * file: somebody is about to write another one there.
 */
void token_hope(const struct records *r, struct verdict *v);

uint64_t token_due(const struct records *r);
void token_step(struct records *r);

/* ---- call.c, watch.c and feed.c, for records.c ---- */

token_settled calls_resume, watches_resume;
uint64_t calls_due(const struct records *r);
void calls_step(struct records *r);
uint64_t watches_due(const struct records *r);
void watches_step(struct records *r);
void feed_drop(struct records *r);

#endif
