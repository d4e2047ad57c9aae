/* SPDX-License-Identifier: ISC */
/*
 * inside.h - what the parts of h2.h know of each other.
 */
#ifndef INSIDE_H
#define INSIDE_H

#include <nghttp2/nghttp2.h>

#include "h2.h"

LIST_HEAD(conn_list, h2_conn);
LIST_HEAD(stream_list, h2_stream);
TAILQ_HEAD(stream_queue, h2_stream);

struct ssl_st; /* OpenSSL's session */

struct h2 {
	int epoll;
	const struct h2_tls *tls;
	struct conn_list conns;
	struct stream_queue ready; /* whose starters we must call */
};

/*
 *   CONNECTING -> CONNECTING  the next address; or TLS has begun, and there is no next one
 *   CONNECTING -> OPEN
 *   any        -> DEAD        [conn_die]
 */
enum conn_state { CONNECTING, OPEN, DEAD };

struct h2_conn {
	LIST_ENTRY(h2_conn) link;
	struct h2 *h2;
	enum conn_state state;
	struct h2_where where;
	char *addresses, *next; /* next: those that were not tried yet */
	int fd;                 /* -1: none */
	uint32_t events;        /* that epoll looks for */
	struct ssl_st *tls;     /* NULL: none, or not begun yet */
	nghttp2_session *session;
	struct stream_list streams;
	struct wire_out out;    /* frames on their way */
	size_t written;         /* of them */
	bool eager;             /* there may be something to be written */
	bool shaken;            /* TLS has begun */
	bool spoke;             /* a frame came */
	bool left;              /* nobody will begin a stream on it */
	uint64_t until;         /* while it is CONNECTING: when to give this address up, */
	uint64_t give_up;       /* and when to give all up */
	uint64_t heard;         /* when we last heard anything; */
	uint64_t asked;         /* since then, when we sent a PING, or 0 */
	struct trouble trouble; /* why it is DEAD */
};

/* ---- conn.c ---- */

void conn_die(struct h2_conn *c, struct trouble why);

/* Has epoll look for what the connection needs: reading, writing, or both. */
void conn_look_for(struct h2_conn *c, uint32_t events);

void conn_hang_up(struct h2_conn *c);
void conn_free(struct h2_conn *c);

/* ---- connect.c ---- */

void connect_next(struct h2_conn *c, struct trouble why); /* why: of the address before */
void connect_go_on(struct h2_conn *c);                    /* its descriptor is ready */

/* ---- tls.c: OpenSSL, loaded when first needed, as nothing that store-etcd loads costs more ---- */

/*
 * Begins TLS, or goes on with the handshake, until it is over (0), needs these events of epoll, or
 * fails (-1).  The files are read each time, as they may be renewed.
 */
int tls_shake(struct h2_conn *c, struct trouble *why);

/* As read(2) and write(2), but they may raise SIGPIPE. */
ssize_t tls_read(struct ssl_st *session, void *bytes, size_t room);
ssize_t tls_write(struct ssl_st *session, const void *bytes, size_t size);

/* Right after one of these has failed: why, if the library knows; else *why stays as it is. */
void tls_explain(struct ssl_st *session, struct trouble *why);

void tls_end(struct ssl_st *session);

/* ---- stream.c ---- */

bool streams_begin(struct h2_conn *c); /* makes the session; false: no memory */

/* All that are under way end. */
void streams_die(struct h2_conn *c);

/* Calls the starters of the streams that are ready. */
void streams_call(struct h2 *h);

#endif
