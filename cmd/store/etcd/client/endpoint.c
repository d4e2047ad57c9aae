/* SPDX-License-Identifier: ISC */
/*
 * endpoint.c - the endpoints of a client: which of them it uses, and by which address.
 *
 * The client hands the addresses of names to libcurl, which would resolve a name in a thread of its
 * own, or block.  It looks them up at the beginning, and again whenever a round over all endpoints
 * has failed: a name may have moved.
 *
 * libcurl keeps connections by the name that they were made to.  So we have it connect to an alias
 * of ours, which is new for each set of addresses: it does not use a connection to the name's old
 * place again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define DEFAULT_PORT 2379
#define CONNECT_MS   2000
#define FIRST_NS     (2000 * MS) /* how long the beginning waits for an address */
#define PAUSE_NS     (500 * MS)  /* between two look-ups, at first, */
#define PAUSE_MOST   (5000 * MS) /* and when many in a row were of no use, unless less is asked */

static bool
reaches(const struct endpoint *at)
{
	return !at->named || at->address != NULL;
}

/* Moves to the next endpoint with a known address, if there is one. */
static void
go_on(struct etcd *e)
{
	size_t i;

	for (i = 0; i < e->endpoints; i++) {
		e->at = (e->at + 1) % e->endpoints;
		if (reaches(&e->endpoint[e->at]))
			break;
	}
}

/* ---- addresses ----------------------------------------------------------------------------- */

static void
drop_address(struct endpoint *at)
{
	free(at->address);
	free(at->through);
	free(at->dropped);
	at->address = at->through = at->dropped = NULL;
}

/* As asprintf(), but NULL for want of memory. */
__attribute__((format(printf, 1, 2))) static char *
text_of(const char *format, ...)
{
	char *text;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	return n == -1 ? NULL : text;
}

/* Sets the name's addresses; for want of memory it has none. */
static void
set_address(struct endpoint *at, size_t i, const char *addresses)
{
	unsigned old = at->serial++, serial = at->serial;

	drop_address(at);
	at->dropped = text_of("-e%zu-%u:%u", i, old, at->port);
	at->through = text_of("::e%zu-%u:%u", i, serial, at->port);
	at->address = text_of("e%zu-%u:%u:%s", i, serial, at->port, addresses);
	if (at->dropped == NULL || at->through == NULL || at->address == NULL)
		drop_address(at);
}

static bool
has_address(const struct endpoint *at, const char *addresses)
{
	size_t all = at->address != NULL ? strlen(at->address) : 0, n = strlen(addresses);

	return all > n && at->address[all - n - 1] == ':' &&
	       strcmp(at->address + all - n, addresses) == 0;
}

static void
found(void *context, size_t i, const char *addresses)
{
	struct etcd *e = context;

	if (i >= e->endpoints || !e->endpoint[i].named || has_address(&e->endpoint[i], addresses))
		return;
	set_address(&e->endpoint[i], i, addresses);
	if (!reaches(&e->endpoint[e->at]))
		go_on(e);
	/* Watches at the old address begin again; its calls' results mean nothing now. */
	if (i == e->at) {
		e->turn++;
		e->failed = 0;
	}
}

static void
look_up(struct etcd *e)
{
	const char *name[URL_HOSTS];
	size_t i, names = 0;

	for (i = 0; i < e->endpoints; i++) {
		name[i] = e->endpoint[i].named ? e->endpoint[i].host : NULL;
		names += name[i] != NULL;
	}
	if (names > 0 && flki_boottime_ns() >= e->look_up_at &&
	    resolver_start(&e->resolver, name, e->endpoints))
		endpoints_hear(e);
}

void
endpoints_hear(struct etcd *e)
{
	if (e->http != NULL && e->resolver.under_way)
		http_also(e->http, e->resolver.fd);
}

static void
end_look_up(struct etcd *e)
{
	if (e->http != NULL && e->resolver.under_way)
		http_no_more(e->http, e->resolver.fd);
	resolver_end(&e->resolver);
}

void
endpoints_step(struct etcd *e)
{
	if (!e->resolver.under_way || resolver_step(&e->resolver, found, e))
		return;
	end_look_up(e);
	e->look_up_at = flki_boottime_ns() + e->pause;
	e->pause = e->pause * 2 < e->pause_most ? e->pause * 2 : e->pause_most;
}

uint64_t
endpoints_due(const struct etcd *e)
{
	return resolver_due(&e->resolver);
}

/* Begins with the first endpoint, if its address comes in time. */
static void
look_up_first(struct etcd *e)
{
	uint64_t end = flki_boottime_ns() + FIRST_NS, now;

	look_up(e);
	while (e->resolver.under_way && !reaches(&e->endpoint[0]) &&
	       (now = flki_boottime_ns()) < end) {
		struct pollfd p = { .fd = e->resolver.fd, .events = POLLIN };

		poll(&p, 1, (int)((end - now) / MS) + 1);
		endpoints_step(e);
	}
	e->at = 0;
	if (!reaches(&e->endpoint[0]))
		go_on(e);
}

/* ---- turns --------------------------------------------------------------------------------- */

void
client_failed(struct etcd *e)
{
	if (++e->failed >= e->endpoints)
		look_up(e);
}

void
client_turn(struct etcd *e, uint64_t turn)
{
	if (turn != e->turn)
		return;
	e->turn++;
	go_on(e);
	client_failed(e);
}

void
client_well(struct etcd *e)
{
	e->failed = 0;
	e->pause = PAUSE_NS;
}

struct endpoint *
client_endpoint(struct etcd *e)
{
	return &e->endpoint[e->at];
}

bool
client_reaches(struct etcd *e)
{
	if (!reaches(&e->endpoint[e->at]))
		look_up(e);
	return reaches(&e->endpoint[e->at]);
}

bool
client_aim(struct etcd *e, struct post *p, const char *path)
{
	const struct endpoint *at = client_endpoint(e);

	if (asprintf(&p->url, "%s%s", at->base, path) == -1) {
		p->url = NULL;
		return false;
	}
	p->address = at->address;
	p->through = at->through;
	p->dropped = at->dropped;
	p->connect_ms = CONNECT_MS;
	return true;
}

void
client_text(char text[CLIENT_TEXT], const struct endpoint *at, const char *words)
{
	snprintf(text, CLIENT_TEXT, "%s: %s", at->name, words);
}

/* ---- beginning and end --------------------------------------------------------------------- */

static int
set_endpoint(struct endpoint *at, const struct url *u, size_t i)
{
	const char *host = u->at[i].host;
	struct in6_addr numeric;
	bool six = inet_pton(AF_INET6, host, &numeric) == 1;

	at->named = !six && inet_pton(AF_INET, host, &numeric) != 1;
	at->port = u->at[i].port != 0 ? u->at[i].port : DEFAULT_PORT;
	if (asprintf(&at->name, "%s%s%s:%u", six ? "[" : "", host, six ? "]" : "", at->port) ==
	    -1) {
		at->name = NULL;
		return -ENOMEM;
	}
	if (asprintf(&at->base, "http%s://%s", *u->variant != '\0' ? "s" : "", at->name) == -1) {
		at->base = NULL;
		return -ENOMEM;
	}
	snprintf(at->host, sizeof(at->host), "%s", host);
	return 0;
}

int
endpoints_set(struct etcd *e, const struct url *u, uint64_t pause_most)
{
	size_t i;

	e->pause = PAUSE_NS;
	e->pause_most = pause_most < PAUSE_MOST ? pause_most : PAUSE_MOST;
	e->endpoint = calloc(u->hosts, sizeof(*e->endpoint));
	if (e->endpoint == NULL)
		return -ENOMEM;
	for (i = 0; i < u->hosts; i++) {
		e->endpoints++;
		if (set_endpoint(&e->endpoint[i], u, i) != 0)
			return -ENOMEM;
	}
	look_up_first(e);
	return 0;
}

void
endpoints_free(struct etcd *e)
{
	size_t i;

	end_look_up(e);
	for (i = 0; i < e->endpoints; i++) {
		free(e->endpoint[i].base);
		free(e->endpoint[i].name);
		drop_address(&e->endpoint[i]);
	}
	free(e->endpoint);
}
