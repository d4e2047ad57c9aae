/* SPDX-License-Identifier: ISC */
/*
 * stream.h - messages over a socket, each with its length before it; no call waits.
 */
#ifndef STREAM_H
#define STREAM_H

#include "pack.h"

struct stream {
	int fd;
	bool broken; /* it has ended, or what came is no message */
	struct pack in, out;
	size_t begun;
};

void stream_open(struct stream *s, int fd);
void stream_close(struct stream *s);

/* What is written to s->out in between is a message, unless it is nothing. */
void stream_begin(struct stream *s);
void stream_end(struct stream *s);

/* Sends what can be sent.  stream_read() also takes what has come. */
void stream_write(struct stream *s);
void stream_read(struct stream *s);

/* The next message that has come, until stream_read() is called again. */
bool stream_next(struct stream *s, struct pack *message);

#endif
