/* SPDX-License-Identifier: ISC */
/*
 * connect.c - how a connection begins: its addresses, one after the other, and TLS.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "clock.h"
#include "inside.h"

#define CONNECT_NS (2000 * MS)

/* ---- to begin ------------------------------------------------------------------------------ */

/* 0: it is no address, which socket() says then. */
static socklen_t
address_of(const char *text, unsigned port, struct sockaddr_storage *a)
{
	struct sockaddr_in *four = (struct sockaddr_in *)a;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)port);
		return sizeof(*four);
	}
	if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)port);
		return sizeof(*six);
	}
	return 0;
}

/* So that an address that does not react leaves time for the others. */
static uint64_t
share_of_time(const struct h2_conn *c)
{
	uint64_t now = flki_boottime_ns(), left = c->give_up > now ? c->give_up - now : 0;
	uint64_t addresses = 1;
	const char *comma;

	for (comma = c->next; comma != NULL; comma = strchr(comma + 1, ','))
		addresses++;
	return now + left / addresses;
}

/* The next address that does not fail at once; *why: what became of the one before. */
void
connect_next(struct h2_conn *c, struct trouble why)
{
	struct sockaddr_storage a;
	const char *text;
	socklen_t size;
	int on = 1;

	conn_hang_up(c);
	while ((text = strsep(&c->next, ",")) != NULL) {
		size = address_of(text, c->where.port, &a);
		c->fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		c->state = CONNECTING;
		c->until = share_of_time(c);
		if (c->fd != -1 &&
		    (connect(c->fd, (struct sockaddr *)&a, size) == 0 || errno == EINPROGRESS)) {
			setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			conn_look_for(c, EPOLLOUT);
			return;
		}
		why = (struct trouble){ AWAY, strerror(errno) };
		conn_hang_up(c);
	}
	conn_die(c, why);
}

void
connect_go_on(struct h2_conn *c)
{
	struct trouble why;
	int error = 0, needs = 0;
	socklen_t size = sizeof(error);

	if (c->tls == NULL) {
		if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size) == -1)
			error = errno;
		if (error != 0) {
			connect_next(c, (struct trouble){ AWAY, strerror(error) });
			return;
		}
		c->until = c->give_up;
	}
	if (c->where.tls)
		needs = tls_shake(c, &why);
	if (needs > 0) {
		conn_look_for(c, (uint32_t)needs);
	} else if (needs == 0) {
		c->shaken = c->tls != NULL;
		c->state = OPEN;
	} else {
		/* To refuse a certificate, ours or theirs, they and we speak TLS. */
		c->shaken = c->tls != NULL && why.kind == WRONG && strcmp(why.words, NO_TLS) != 0;
		conn_die(c, why);
	}
}

struct h2_conn *
h2_connect(struct h2 *h, const struct h2_where *where)
{
	struct h2_conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->h2 = h;
	c->fd = -1;
	c->where = *where;
	c->next = c->addresses = strdup(where->addresses);
	LIST_INSERT_HEAD(&h->conns, c, link);
	if (c->addresses == NULL || !streams_begin(c)) {
		conn_free(c);
		return NULL;
	}
	c->heard = flki_boottime_ns();
	c->give_up = c->heard + CONNECT_NS;
	connect_next(c, (struct trouble){ AWAY, SILENT });
	return c;
}
