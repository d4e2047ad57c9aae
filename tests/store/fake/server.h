/* SPDX-License-Identifier: ISC */
/*
 * server.h - connections, and what is done with what comes on them.
 */
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include <stdio.h>

#include "body.h"
#include "faults.h"
#include "http.h"
#include "watch.h"
#include "sockets.h"

/*
 * READING	the next request is awaited
 * ASKED	it is there, and is served at serve_at
 * STREAMING	a watch; the client has nothing more to say
 * HUNG		never answered
 * ENDING	closed as soon as everything is written
 */
enum conn_state { READING, ASKED, STREAMING, HUNG, ENDING };

struct conn {
	int fd;
	bool operator; /* came by the control socket */
	bool gone;     /* the client is; what is to be done later is done all the same */
	enum conn_state state;
	struct buf in, out;
	struct request request;
	struct deed deed; /* what is to go wrong with it */
	int64_t serve_at; /* ms */
	int64_t write_at; /* nothing is written before */
	struct watches watches;
	bool headed;       /* the head of the stream was sent */
	struct grpc *grpc; /* NULL: it speaks HTTP/1.1 */
};

struct server {
	struct fake fake;
	struct faults faults;
	FILE *log; /* NULL: none */
	uint64_t calls;
	int listener, control; /* -1: none */
	struct conn **conns;
	size_t count, room;
	bool paused, over;
};

/* ---- serve.c ---- */

/* A request is there: it is counted, noted, and given the deed of its fault. */
void serve_begin(struct server *s, struct conn *c);

/* Its time has come. */
void serve(struct server *s, struct conn *c);

/* Tells all watches what is new. */
void serve_watches(struct server *s);

/* Notes a call in the log: MS N METHOD PATH WORDS... [!FAULT] */
void serve_note(struct server *s, const char *method, const char *path, const char *words,
		enum action action);

/* ---- describe.c ---- */

/* What a request is about, in words: "put:KEY range:KEY..END lease:ID".  What is not printable is
 * \x and two digits. */
void describe(struct buf *out, const struct body *body);

/* ---- control.c ---- */

/* One line of the operator's; what there is to say is added to `out'.  False: not understood. */
bool control_line(struct server *s, const char *line, struct buf *out);

/* The lines of a text; false: one was not understood, and the rest was not done. */
bool control_text(struct server *s, const char *text, struct buf *out);

/* ---- loop.c ---- */

/* Until it is over. */
void loop(struct server *s);

#endif
