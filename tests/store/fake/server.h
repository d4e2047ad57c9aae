/* SPDX-License-Identifier: ISC */
/*
 * server.h - connections, and what is done with what comes on them.
 */
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include <stdio.h>

#include "body.h"
#include "http.h"
#include "watch.h"
#include "sockets.h"

/*
 * READING	the next request is awaited
 * STREAMING	a watch; the client has nothing more to say
 * ENDING	closed as soon as everything is written
 */
enum conn_state { READING, STREAMING, ENDING };

struct conn {
	int fd;
	bool operator; /* came by the control socket */
	enum conn_state state;
	struct buf in, out;
	struct request request;
	struct watches watches;
	bool headed;       /* the head of the stream was sent */
	struct grpc *grpc; /* NULL: it speaks HTTP/1.1 */
};

struct server {
	struct fake fake;
	FILE *log;             /* NULL: none */
	int listener, control; /* -1: none */
	struct conn **conns;
	size_t count, room;
};

/* ---- serve.c ---- */

/* A request is there. */
void serve(struct server *s, struct conn *c);

/* Tells all watches what is new. */
void serve_watches(struct server *s);

/* A line of the log, if there is one: what fake.c says, after the time. */
void serve_note(const struct server *s, const char *words, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- control.c ---- */

/* Does what the operator's line says; false: it is not understood. */
bool control_line(struct server *s, const char *line);

/* ---- loop.c ---- */

/* Until it is killed. */
void loop(struct server *s) __attribute__((noreturn));

#endif
