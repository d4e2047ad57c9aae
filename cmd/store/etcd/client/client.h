/* SPDX-License-Identifier: ISC */
/*
 * client.h - what the parts of the client know of each other.
 *
 *   records.c  the client as a whole, one folder above
 *   call.c     calls
 *   watch.c    watches; feed.c: the one stream that all of them share
 *   token.c    the token that authorises both
 *   verdict.c  what an answer means, or that there is none
 *   endpoint.c its endpoints, their addresses, and the connection to one of them
 * and, in etcd/h2/:
 *   h2.h       connections and streams
 *
 * Each calls only what stands below it; but feed.c and watch.c call each other, and
 * endpoint.c has the token from token.c.
 *
 * An answer changes the state, and the caller's function is called; what is to be sent next, each part
 * looks for in its own step.  A call or watch that has ended is freed in that step, too: so a caller's
 * function may end any of them, whatever loop over them it is called from.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "clock.h"
#include "records/secret.h"
#include "etcd/h2/h2.h"
#include "etcd/proto/messages.h"
#include "records/records.h"
#include "records/resolve.h"

struct endpoint {
	char host[256]; /* without brackets; no name that can be resolved is longer */
	unsigned port;
	char *name;            /* "host:2379" */
	bool named;            /* host is a name, not an address */
	char *addresses;       /* "192.0.2.1,2001:db8::1"; NULL: none is known */
	struct h2_conn *probe; /* by the other protocol: see verdict.c; NULL: none yet */
};

/* A stream to an endpoint, and the client's turn and token when it began. */
struct exchange {
	struct h2_stream stream;
	struct endpoint *at;
	uint64_t turn, token;
};

/* What an answer means, or that there is none. */
enum unlicensed {
	LICENSED,
	BAD_TOKEN,    /* the token is no longer good, or one is needed where there was none */
	BAD_PASSWORD, /* we asked for a token, and there is none for that user and password */
	NO_AUTH       /* we asked for a token, and the server wants none */
};

struct verdict {
	enum records_result result;
	enum unlicensed license;
	char words[RECORDS_TEXT]; /* a sentence, if not RECORDS_OK; without the endpoint */
};

LIST_HEAD(call_list, records_call);
LIST_HEAD(watch_list, records_watch);

/* The stream of all watches: see feed.c. */
struct feed {
	struct exchange x;
	bool on;           /* it is under way */
	uint64_t due;      /* not to begin, or to have more watches, before */
	uint64_t opened;   /* when its first watch had begun; 0: none has */
	unsigned failures; /* of those in a row */
	int64_t asked;     /* so many ranges; the id of a range is the number of its request */
	int64_t answered;  /* so many of these requests */
	uint64_t heard_ns; /* when it last said anything */
};

/* See token.c. */
struct token {
	enum { NEEDLESS, WANTED, ASKED, HELD } state;
	char *text;        /* if HELD, and not a ready one */
	uint64_t number;   /* of the token in use */
	struct exchange x; /* if ASKED; until: */
	uint64_t due;
	struct verdict verdict; /* of the last try, if it failed; */
	bool failed;            /* in this step: then what waits ends by that verdict */
	uint64_t bar;           /* not 0: the password was refused; pause about this long, until: */
	uint64_t barred_until;
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
	size_t failed;               /* so many turns in a row ended without any answer */
	const char *name[URL_HOSTS]; /* the endpoints' names, as the resolver wants them */
	struct resolver *resolver;
	bool sound;           /* we once had an answer of etcd: a foreign answer is temporary */
	uint64_t answered_ns; /* when a call was last answered */
	struct call_list calls;
	struct watch_list watches;
	struct feed feed;
	struct token token;
};

/* ---- endpoint.c ---- */

/* Ends that turn, if it has not ended: no answer came, or none that helps. */
void client_turn(struct records *r, uint64_t turn);

/* The same, but the turn continues: there is nowhere else to go. */
void client_failed(struct records *r);

/* There was an answer. */
void client_well(struct records *r);

struct endpoint *client_endpoint(struct records *r);

/* Has any endpoint a known address?  If not, the client looks their names up, now and then. */
bool client_reaches(struct records *r);

/* Begins a stream to the endpoint of this turn, with the token. */
void client_start(struct records *r, struct exchange *x);

/* "endpoint: words" */
void client_text(char text[RECORDS_TEXT], const struct endpoint *at, const char *words);

int endpoints_set(struct records *r, const struct url *u, uint64_t pause_most); /* 0, or -errno */
void endpoints_free(struct records *r);

/* ---- verdict.c ---- */

/*
 * Of a stream that has ended.  RECORDS_OK: the server says so, and the answer is to be read.  key: what
 * was asked for; NULL: not known.
 */
void verdict_of_end(struct verdict *v, struct records *r, struct exchange *x, const char *key);

/* The same, and reads the answer: it lives as long as the stream, and until answer_free(). */
void verdict_of_answer(struct verdict *v, struct records *r, struct exchange *x, const char *key,
		       enum answer_kind kind, struct answer *a);

/* Of etcd's message about the reason; passing: of one that we do not know, whether to try again. */
void verdict_of_message(struct verdict *v, const struct records *r, bool passing,
			const char *message, const char *key);

/* Of no answer.  A client that had an answer once keeps retrying, whatever is wrong now. */
void verdict_of_trouble(struct verdict *v, struct records *r, struct endpoint *at,
			struct trouble trouble);

/* Of a server that is no etcd 3.4: what it did. */
void verdict_of_stranger(struct verdict *v, const struct records *r, const char *did);

/* ---- token.c ---- */

void token_begin(struct records *r);
void token_end(struct records *r);

/*
 * Whether the caller may send now.  If not, it has to wait for a token (*v is RECORDS_OK), or *v says
 * why that is no use, and at which endpoint.
 */
bool client_ready(struct records *r, struct verdict *v);

const char *token_now(const struct records *r); /* NULL: without a token */

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

uint64_t calls_due(const struct records *r);
void calls_step(struct records *r);
void calls_end(struct records *r);
uint64_t watches_due(const struct records *r);
void watches_step(struct records *r);
void watches_end(struct records *r);

#endif
