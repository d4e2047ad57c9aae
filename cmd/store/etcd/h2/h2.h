/* SPDX-License-Identifier: ISC */
/*
 * h2.h - gRPC's streams over HTTP/2 connections, by libnghttp2, behind one descriptor and without
 * threads.
 *
 * A connection goes to one server.  Its streams belong to their starters.  h2_step() alone calls the
 * starters' functions, never libnghttp2 from inside: so they may start and drop streams.  Nothing is
 * ever sent twice.
 *
 *   connect.c  how a connection begins
 *   conn.c     a connection: its socket, its times
 *   stream.c   its streams
 *   tls.c      TLS, if there is
 */
#ifndef H2_H
#define H2_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "etcd/proto/wire.h"

struct h2;
struct h2_conn;

/* ---- why there is no answer, in words that say what to do ---- */

enum trouble_kind {
	FINE,   /* there is one */
	AWAY,   /* refused, timed out, ... */
	BROKEN, /* the connection broke, or TLS could not be begun */
	WRONG   /* it can't work as it is: wrong CA, name, certificate, no HTTP/2 spoken there */
};

/* words: never NULL if there is trouble, and never freed. */
struct trouble {
	enum trouble_kind kind;
	const char *words;
};

/* The URL's scheme is wrong for that port. */
#define NO_TLS   "it speaks no TLS: use etcd:// or another port"
#define TLS_ONLY "it speaks TLS only: use etcd+https://"

#define SILENT    "no answer in time"
#define CUT       "the connection broke before the answer was there"
#define NO_MEMORY "no memory is left"
#define TOO_LONG  "the answer is too long"
#define NONSENSE  "its answer makes no sense"
#define NO_H2     "it speaks no HTTP/2: it is not etcd, or wants TLS (etcd+https://)"

/* ---- all connections ---- */

/* cacert, cert, key: files, or NULL.  h2_new() keeps what it points to. */
struct h2_tls {
	const char *cacert, *cert, *key;
};

struct h2 *h2_new(const struct h2_tls *tls); /* NULL for want of memory or descriptors */
void h2_free(struct h2 *h);                  /* only when no stream is under way any more */

int h2_fd(const struct h2 *h);
uint64_t h2_due(const struct h2 *h);
void h2_step(struct h2 *h);

/* For tests: after so long a silence we send a PING, and so long we wait for the answer. */
extern uint64_t h2_quiet_ns, h2_ping_ns;

/* ---- connections ---- */

struct h2_where {
	const char *authority; /* "etcd.example:2379" */
	const char *host;      /* whose certificate it must have; an address is without brackets */
	unsigned port;
	const char *addresses; /* "192.0.2.1,2001:db8::1": they are tried in this order */
	bool tls;
};

/* NULL for want of memory.  Of where it copies the addresses; the rest must live as long as it does. */
struct h2_conn *h2_connect(struct h2 *h, const struct h2_where *where);

/* Whether a stream can begin on it, as far as we know. */
bool h2_usable(const struct h2_conn *c);

/* Whether the server has said anything in the protocol that we expect. */
bool h2_answered(const struct h2_conn *c);

/* No stream will begin on it any more: it is closed and freed when the last one has ended. */
void h2_leave(struct h2_conn *c);

/* ---- streams ---- */

struct h2_stream {
	/* Its starter sets these. */
	const char *path;    /* "/etcdserverpb.KV/Txn"; must live as long as the stream */
	const char *token;   /* to authorise it, or NULL; copied */
	struct wire_out out; /* messages to be sent; freed by h2_drop() */
	bool open;           /* more may be sent later: see h2_send() */
	size_t most;         /* bytes of an answer, or of its part that nobody has taken yet */
	void (*heard)(struct h2_stream *s); /* it is over; or it is open, and more has come */
	void *owner;

	struct wire_out in;     /* what came */
	int http;               /* HTTP's status; 0: none came */
	int status;             /* gRPC's; -1: none came */
	char message[120];      /* gRPC's, or its beginning */
	bool over;              /* nothing more will come */
	struct trouble trouble; /* why it was cut, if it was */

	/* Only stream.c uses these. */
	struct h2 *h2;
	struct h2_conn *conn; /* NULL: it has ended, or never began */
	int32_t id;
	size_t sent;  /* of `out' */
	size_t taken; /* of `in' */
	bool ready;   /* it is in the queue of streams whose starters we must call */
	LIST_ENTRY(h2_stream) link;
	TAILQ_ENTRY(h2_stream) queue;
};

/*
 * For want of memory the stream ends at once, like any other; c is NULL if there was none for the
 * connection.  Call h2_drop() once in any case.
 */
void h2_start(struct h2 *h, struct h2_conn *c, struct h2_stream *s);
void h2_send(struct h2_stream *s); /* there is more in `out' */

/* Whether the connection of that stream is alive: if not, the stream ends some seconds later. */
void h2_probe(struct h2_stream *stream);
void h2_cancel(struct h2_stream *s); /* if it is under way; only `out' stays */
void h2_drop(struct h2_stream *s);   /* cancels it, and wipes out all that was in it */

/*
 * The next whole message of what came; NULL: there is none yet, or the stream ends as no sense can be
 * made of it.  The caller may write into it.  It lives until the next h2_step(), or the stream is
 * dropped.
 */
uint8_t *h2_take(struct h2_stream *s, size_t *size);

#endif
