/* SPDX-License-Identifier: ISC */
/*
 * endpoint.c - the endpoints of a client: which of them it uses, and by which address.
 *
 * The client looks names up in a child process at the beginning, and again whenever a round over all
 * endpoints has failed: a name may have moved.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "watch.h"

#define DEFAULT_PORT 2379
#define FIRST_NS     (2000 * MS) /* how long the beginning waits for an address */

static bool
reaches(const struct endpoint *at)
{
	return at->addresses != NULL;
}

/* Moves to the next endpoint with a known address, if there is one. */
static void
go_on(struct records *r)
{
	size_t i;

	for (i = 0; i < r->endpoints; i++) {
		r->at = (r->at + 1) % r->endpoints;
		if (reaches(&r->endpoint[r->at]))
			break;
	}
}

/* ---- addresses ----------------------------------------------------------------------------- */

/* For want of memory the old addresses stay. */
static void
found(void *context, size_t i, const char *addresses)
{
	struct records *r = context;
	struct endpoint *at = &r->endpoint[i];
	char *copy;

	if ((at->addresses != NULL && strcmp(at->addresses, addresses) == 0) ||
	    (copy = strdup(addresses)) == NULL)
		return;
	free(at->addresses);
	at->addresses = copy;
	if (!reaches(&r->endpoint[r->at]))
		go_on(r);
	/* Watches at the old address begin again; its calls' results mean nothing now. */
	if (i == r->at) {
		feed_drop(r);
		r->turn++;
		r->failed = 0;
	}
}

/* Begins with the first endpoint, if its address comes in time. */
static void
look_up_first(struct records *r)
{
	uint64_t end = flki_boottime_ns() + FIRST_NS, now;

	resolver_start(r->resolver);
	while (resolver_looks(r->resolver) && !reaches(&r->endpoint[0]) &&
	       (now = flki_boottime_ns()) < end) {
		struct pollfd p = { .fd = h2_fd(r->h2), .events = POLLIN };

		poll(&p, 1, (int)((end - now) / MS) + 1);
		resolver_step(r->resolver);
	}
	r->at = 0;
	if (!reaches(&r->endpoint[0]))
		go_on(r);
}

/* ---- turns --------------------------------------------------------------------------------- */

void
client_failed(struct records *r)
{
	if (++r->failed >= r->endpoints)
		resolver_start(r->resolver);
}

void
client_turn(struct records *r, uint64_t turn)
{
	if (turn != r->turn)
		return;
	r->turn++;
	go_on(r);
	client_failed(r);
}

void
client_well(struct records *r)
{
	r->failed = 0;
	resolver_was_useful(r->resolver);
}

struct endpoint *
client_endpoint(struct records *r)
{
	return &r->endpoint[r->at];
}

bool
client_reaches(struct records *r)
{
	if (!reaches(&r->endpoint[r->at]))
		resolver_start(r->resolver);
	return reaches(&r->endpoint[r->at]);
}

void
client_start(struct records *r, struct exchange *x)
{
	struct endpoint *at = client_endpoint(r);
	struct h2_where where = { at->name, at->host, at->port, at->addresses, r->tls };

	x->at = at;
	x->turn = r->turn;
	x->token = r->token.number;
	x->stream.token = token_now(r);
	if (r->conn == NULL || r->conn_turn != r->turn || !h2_usable(r->conn)) {
		if (r->conn != NULL)
			h2_leave(r->conn);
		r->conn = h2_connect(r->h2, &where);
		r->conn_turn = r->turn;
	}
	h2_start(r->h2, r->conn, &x->stream);
}

void
client_text(char text[RECORDS_TEXT], const struct endpoint *at, const char *words)
{
	snprintf(text, RECORDS_TEXT, "%s: %s", at->name, words);
}

/* ---- beginning and end --------------------------------------------------------------------- */

static int
set_endpoint(struct endpoint *at, const struct url *u, size_t i)
{
	const char *host = u->at[i].host;
	bool six = strchr(host, ':') != NULL;

	at->named = resolver_is_name(host);
	at->port = u->at[i].port != 0 ? u->at[i].port : DEFAULT_PORT;
	snprintf(at->host, sizeof(at->host), "%s", host);
	if (asprintf(&at->name, six ? "[%s]:%u" : "%s:%u", at->host, at->port) == -1)
		at->name = NULL;
	at->addresses = at->named ? NULL : strdup(host);
	return at->name != NULL && reaches(at) == !at->named ? 0 : -ENOMEM;
}

int
endpoints_set(struct records *r, const struct url *u, uint64_t pause_most)
{
	size_t i;

	r->endpoint = calloc(u->hosts, sizeof(*r->endpoint));
	if (r->endpoint == NULL)
		return -ENOMEM;
	for (i = 0; i < u->hosts; i++) {
		r->endpoints++;
		if (set_endpoint(&r->endpoint[i], u, i) != 0)
			return -ENOMEM;
		r->name[i] = r->endpoint[i].named ? r->endpoint[i].host : NULL;
	}
	r->resolver = resolver_new(h2_fd(r->h2), r->name, u->hosts, pause_most, found, r);
	if (r->resolver == NULL)
		return -ENOMEM;
	look_up_first(r);
	return 0;
}

void
endpoints_free(struct records *r)
{
	size_t i;

	resolver_free(r->resolver);
	for (i = 0; i < r->endpoints; i++) {
		free(r->endpoint[i].name);
		free(r->endpoint[i].addresses);
	}
	free(r->endpoint);
}
