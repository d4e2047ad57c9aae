/* SPDX-License-Identifier: ISC */
/*
 * proxy.h - a TCP proxy that fails as it is told.
 *
 * A link is a client's connection and ours to the server behind; it has a flow for each direction.
 * What was read is cut into pieces, and each may leave when it is due.
 */
#ifndef PROXY_H
#define PROXY_H

#include "http.h"

struct piece {
	int64_t due; /* ms */
	size_t len;
};

struct flow {
	struct buf bytes;
	struct piece *pieces; /* in the order of bytes, which are all in one of them */
	size_t count, room;
	int64_t drip_at;  /* the next drop may leave */
	bool ended, told; /* nothing more is coming; and the other side knows */
};

/*
 * After the request: it was sent on whole, and then all is reset.
 * Before the reply: the server's answer has begun to come; none of it is sent on.
 * In a chunk: of what the server says, half of the nth piece that comes is the last that is sent on.
 */
enum cut { NO_CUT, CUT_AFTER_REQUEST, CUT_BEFORE_REPLY, CUT_IN_CHUNK };

/* Where in a frame of HTTP/2 one direction is. */
struct frames {
	unsigned char head[9];
	size_t have; /* bytes of the head */
	size_t left; /* bytes of what follows it */
};

struct link {
	int client, server;
	bool connecting, dead;
	struct flow up, down;
	struct frames asks, answers;
	unsigned stream; /* of the last request */
	enum cut cut;    /* of that request */
};

/* What the operator wants. */
struct orders {
	bool stop, oneway, refuse;
	int64_t delay; /* ms */
	long drip;     /* bytes a second; 0: as fast as can be */
	enum cut cut;  /* the nth request from now on */
	unsigned long nth;
};

struct proxy {
	struct orders orders;
	int64_t now;
	int port, target;
	int listener; /* -1: new ones are refused */
	int reserved; /* bound to the port, so that nobody else gets it */
	struct link **links;
	size_t count, room;
	unsigned long requests, accepted;
};

/* ---- proxy_link.c ---- */

void link_new(struct proxy *p, int client);

/* What poll() is to look for: the client's events in fds[0], the server's in fds[1]. */
struct pollfd;
void link_watch(const struct proxy *p, const struct link *l, struct pollfd *fds);
void link_serve(struct proxy *p, struct link *l, const struct pollfd *fds);

/* When it can go on though nothing happens; INT64_MAX: never. */
int64_t link_due(const struct proxy *p, const struct link *l);

/* Resets both of its connections. */
void link_kill(struct link *l);
void link_free(struct link *l);

#endif
