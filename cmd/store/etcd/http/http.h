/* SPDX-License-Identifier: ISC */
/*
 * http.h - POSTs over libcurl, without threads and signals, behind one descriptor.
 *
 * A struct post is one request and its answer.  It belongs to its starter, whose function is called
 * from http_step() only, never from inside libcurl: so that function may start and drop posts.
 * Connections are kept and used again.  A post is sent once: libcurl would repeat one by itself if
 * a kept connection turns out to be dead, though it can't know whether the server did what it was
 * asked; see give() in http.c.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "latecurl.h"

#define HTTP_WHY 300

struct http;

/* Why there is no answer. */
enum http_trouble {
	HTTP_FINE,   /* there is one */
	HTTP_AWAY,   /* refused, timed out, ... */
	HTTP_BROKEN, /* the connection broke, or TLS could not be begun */
	HTTP_WRONG /* it will not work as it is: wrong CA, name, certificate, no HTTP spoken there */
};

struct post {
	char *url;         /* "http://host:2379/v3/kv/txn" */
	char *body;        /* freed by http_drop() */
	size_t size, sent; /* of the body */
	const char *token; /* to be authorised by, or NULL; copied */
	/* Where the URL's host is, if it is a name that was resolved; else NULL.  Copied. */
	const char *address;             /* "alias:port:address,...": an alias and its addresses */
	const char *through;             /* "::alias:port": it is what is connected to */
	const char *dropped;             /* "-alias:port": an alias that is to be forgotten */
	unsigned connect_ms, timeout_ms; /* timeout_ms: 0 for an answer that has no end */
	size_t most;                     /* no answer is longer, or none that is not yet taken */
	void (*comes)(struct post *p);   /* there is more in answer; NULL: tell only the end */
	void (*ended)(struct post *p, enum http_trouble trouble, const char *why);
	void *owner;

	char *answer; /* so far, with a NUL beyond it; stream.c takes whole lines out */
	size_t length, room;
	long status; /* of HTTP; 0 before there is any */

	/* http.c's own. */
	CURL *easy;
	struct curl_slist *headers, *resolve, *connect;
	struct http *http;
	char error[CURL_ERROR_SIZE];
	bool fresh, over; /* more has come; curl is done with it */
	bool ready;       /* it is in the queue of those that something is to be told of */
	CURLcode code;
	TAILQ_ENTRY(post) link;
};

/* cacert, cert, key: files, or NULL. */
struct http_tls {
	bool on;
	const char *cacert, *cert, *key;
};

/* NULL and why.  What tls points to is kept. */
struct http *http_new(const struct http_tls *tls, char *why, size_t size);
void http_free(struct http *h); /* no post is under way any more */

int http_fd(const struct http *h);

/* http_fd() is readable, too, when that one is. */
void http_also(struct http *h, int fd);

/* Before that one is closed: a forked process may keep it open, and it would be heard of for ever. */
void http_no_more(struct http *h, int fd);

uint64_t http_due(const struct http *h);
void http_step(struct http *h);

/* False for want of memory; http_drop() is to be called in any case, once. */
bool http_post(struct http *h, struct post *p);
void http_drop(struct post *p);

#endif
