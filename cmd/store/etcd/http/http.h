/* SPDX-License-Identifier: ISC */
/*
 * http.h - POSTs over libcurl, without threads and signals, behind one descriptor.
 *
 * A struct post is one request and its answer.  It belongs to its starter.  http_step() alone calls
 * the starter's functions, never libcurl from inside: so they may start and drop posts.
 * Connections are kept and used again.  A post is sent once: libcurl would repeat it by itself if a
 * kept connection turns out to be dead, though it can't know whether the server did what it was
 * asked; see give() in http.c.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "latecurl.h"
#include "trouble.h"

struct http;

struct post {
	char *url;         /* "http://host:2379/v3/kv/txn" */
	char *body;        /* freed by http_drop() */
	size_t size, sent; /* of the body */
	const char *token; /* to authorise it, or NULL; copied */
	/* Where the URL's host is, if it is a name that we resolved; else NULL.  Copied. */
	const char *address;             /* "alias:port:address,...": an alias and its addresses */
	const char *through;             /* "::alias:port": what libcurl connects to */
	const char *dropped;             /* "-alias:port": an alias that libcurl should forget */
	unsigned connect_ms, timeout_ms; /* timeout_ms: 0 for an answer that has no end */
	size_t most;                   /* of an answer, or of its part that nobody has taken yet */
	void (*comes)(struct post *p); /* more has come in answer; NULL: call only ended() */
	void (*ended)(struct post *p, enum http_trouble trouble, const char *why);
	void *owner;

	char *answer; /* so far, with a NUL beyond it; stream.c takes whole lines out */
	size_t length, room;
	long status; /* of HTTP; 0 before there is any */

	/* Only http.c uses these. */
	CURL *easy;
	struct curl_slist *headers, *resolve, *connect;
	struct http *http;
	char error[CURL_ERROR_SIZE];
	bool fresh, over; /* more has come; curl has finished */
	bool ready;       /* it is in the queue of posts whose starters we must call */
	CURLcode code;
	TAILQ_ENTRY(post) link;
};

/* cacert, cert, key: files, or NULL. */
struct http_tls {
	bool on;
	const char *cacert, *cert, *key;
};

/* NULL and why.  http_new() keeps what tls points to. */
struct http *http_new(const struct http_tls *tls, char *why, size_t size);
void http_free(struct http *h); /* only when no post is under way any more */

int http_fd(const struct http *h);

/* http_fd() is readable, too, when that descriptor is. */
void http_also(struct http *h, int fd);

/*
 * Call it before you close that descriptor: if a forked process keeps it open, epoll would report
 * it for ever.
 */
void http_no_more(struct http *h, int fd);

uint64_t http_due(const struct http *h);
void http_step(struct http *h);

/* False for want of memory; call http_drop() once in any case. */
bool http_post(struct http *h, struct post *p);
void http_drop(struct post *p);

#endif
