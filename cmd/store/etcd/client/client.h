/* SPDX-License-Identifier: ISC */
/*
 * client.h - what the parts of the client know of each other.
 *
 *   open.c     the client as a whole
 *   call.c     calls
 *   watch.c    watches; stream.c: what they receive; ending.c: how they end
 *   token.c    the token that authorises both
 *   verdict.c  what an answer means, or that there is none; probe.c: a doubt about that
 *   endpoint.c its endpoints
 * and, in etcd/http/:
 *   resolve.c  their addresses
 *   http.c     how an answer came
 *
 * Each calls only what stands below it.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "clock.h"
#include "records/secret.h"
#include "etcd.h"
#include "etcd/http/http.h"
#include "etcd/http/resolve.h"

#define CLIENT_TEXT 400 /* bytes of a sentence */

struct endpoint {
	char host[256]; /* without brackets; no name that can be resolved is longer */
	unsigned port;
	char *base;      /* "http://host:2379" */
	char *name;      /* "host:2379" */
	bool named;      /* host is a name, not an address; then: */
	unsigned serial; /* of the alias by which it is connected */
	char *address; /* "alias:2379:address,..."; NULL, like the next two: no address is known */
	char *through; /* "::alias:2379" */
	char *dropped; /* "-alias:2379": the alias before */
	bool other;    /* it has answered in the other protocol: see probe.c */
};

struct verdict;

LIST_HEAD(call_list, etcd_call);
LIST_HEAD(watch_list, etcd_watch);

/*
 * Turn is how often the client gave up an endpoint for the next.  A call or watch remembers the
 * turn that it began in, so that many failures at one endpoint are one reason to move, not many;
 * and the client begins a watch of an earlier turn again.
 */
struct etcd {
	struct http *http;
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
	struct token *token;
	struct post probe;
	struct endpoint *probed; /* the probe under way asks this endpoint; NULL: none */
};

/* Ends that turn, if it has not ended: no answer came, or none that helps. */
void client_turn(struct etcd *e, uint64_t turn);

/* The same, but the turn continues: there is nowhere else to go. */
void client_failed(struct etcd *e);

/* There was an answer. */
void client_well(struct etcd *e);

struct endpoint *client_endpoint(struct etcd *e);

/* Has any endpoint a known address?  If not, the client looks their names up, now and then. */
bool client_reaches(struct etcd *e);

/* Sets the post's address and connection; path: what follows the endpoint.  False: no memory. */
bool client_aim(struct etcd *e, struct post *p, const char *path);

/* "endpoint: words" */
void client_text(char text[CLIENT_TEXT], const struct endpoint *at, const char *words);

/* ---- probe.c ---- */

bool endpoint_has_tls(const struct endpoint *at);

/* Asks the endpoint in the other protocol, unless a probe is under way. */
void probe_begin(struct etcd *e, struct endpoint *at);
void probe_end(struct etcd *e);

int endpoints_set(struct etcd *e, const struct url *u, uint64_t pause_most); /* 0, or -errno */
void endpoints_hear(struct etcd *e); /* e->http exists from now on */
void endpoints_free(struct etcd *e);
uint64_t endpoints_due(const struct etcd *e);
void endpoints_step(struct etcd *e);

/* ---- token.c ---- */

/* Resumes all that waits for a token: there is one (ETCD_OK, NULL), or why not. */
typedef void token_settled(struct etcd *e, enum etcd_result result, const char *text);

struct token *token_new(token_settled *settled);
void token_free(struct token *t);

/*
 * Whether the caller may send now, with token_now() (NULL: without a token).  If not, token.c calls
 * settled() when it may, or if it never may.
 */
bool token_ready(struct etcd *e);

/*
 * Whether the client asks for no token now, since user and password were refused and are still the
 * same; then the caller must not wait for one.  *why says that.
 */
bool token_barred(struct etcd *e, const char **why);

const char *token_now(const struct etcd *e);

/* How many tokens there were: a refused call may have been sent with an earlier one. */
uint64_t token_number(const struct etcd *e);

/* That token was refused: whether there is, or will be, another one. */
bool token_refused(struct etcd *e, uint64_t number);

/*
 * Makes a final refusal one to retry, if the store has served us before and the secret is in a
 * file: somebody is about to write another one there.
 */
void token_hope(const struct etcd *e, struct verdict *v);

/* ---- call.c and watch.c, for open.c ---- */

token_settled calls_resume, watches_resume;
uint64_t calls_due(const struct etcd *e);
void calls_step(struct etcd *e);
uint64_t watches_due(const struct etcd *e);
void watches_step(struct etcd *e);

#endif
