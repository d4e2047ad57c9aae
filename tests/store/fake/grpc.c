/* SPDX-License-Identifier: ISC */
/*
 * grpc.c - the fake's connections: HTTP/2, whose streams are calls of etcd.  Each connection is a client
 * of the store in memory.
 */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "../memory/inside.h"
#include "stream.h"

struct peer {
	int fd;
	nghttp2_session *session;
	struct records *records;
	LIST_HEAD(, stream) streams;
	struct wire_out out; /* what was not sent yet */
};

/* ---- what comes ---- */

static void
take_messages(struct stream *st)
{
	struct wire_out *in = &st->in;
	size_t n;

	while (in->n >= WIRE_FRAME && !st->reply.ended) {
		n = WIRE_FRAME + ((size_t)in->at[1] << 24 | (size_t)in->at[2] << 16 |
				  (size_t)in->at[3] << 8 | in->at[4]);
		if (in->n < n)
			return;
		stream_hears(st, (struct wire_in){ .at = in->at + WIRE_FRAME, .end = in->at + n });
		in->n -= n;
		memmove(in->at, in->at + n, in->n);
	}
}

static int
got_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t n,
	 void *context)
{
	struct stream *st = nghttp2_session_get_stream_user_data(session, id);

	(void)flags;
	(void)context;
	if (st != NULL) {
		wire_raw(&st->in, bytes, n);
		take_messages(st);
	}
	return 0;
}

static int
begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct peer *p = context;
	struct stream *st = memory_got(calloc(1, sizeof(*st)));

	st->records = p->records;
	st->id = frame->hd.stream_id;
	LIST_INIT(&st->watches);
	LIST_INSERT_HEAD(&p->streams, st, link);
	nghttp2_session_set_stream_user_data(session, st->id, st);
	return 0;
}

static int
got_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t n,
	   const uint8_t *value, size_t size, uint8_t flags, void *context)
{
	struct stream *st = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	const char *text = (const char *)value, *slash = strrchr(text, '/');

	(void)n;
	(void)flags;
	(void)context;
	if (st != NULL && strcmp((const char *)name, "token") == 0)
		snprintf(st->token, sizeof(st->token), "%.*s", (int)size, text);
	if (st != NULL && strcmp((const char *)name, ":path") == 0 && slash != NULL)
		snprintf(st->call, sizeof(st->call), "%s", slash + 1);
	return 0;
}

static void
stream_free(struct stream *st)
{
	LIST_REMOVE(st, link);
	watches_free(st);
	wire_free(&st->in);
	wire_free(&st->reply.out);
	free(st);
}

static int
stream_closed(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
	struct stream *st = nghttp2_session_get_stream_user_data(session, id);

	(void)error;
	(void)context;
	if (st != NULL)
		stream_free(st);
	return 0;
}

/* ---- the connection ---- */

struct peer *
peer_new(int fd)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000 },
	};
	static const struct url nowhere;
	struct peer *p = memory_got(calloc(1, sizeof(*p)));
	nghttp2_session_callbacks *calls;

	p->fd = fd;
	LIST_INIT(&p->streams);
	records_open(&p->records, &nowhere, 0, NULL);
	nghttp2_session_callbacks_new(&calls);
	nghttp2_session_callbacks_set_on_begin_headers_callback(calls, begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(calls, got_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, got_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, stream_closed);
	nghttp2_session_server_new(&p->session, calls, p);
	nghttp2_session_callbacks_del(calls);
	nghttp2_submit_settings(p->session, NGHTTP2_FLAG_NONE, settings, 1);
	return p;
}

void
peer_free(struct peer *p)
{
	nghttp2_session_del(p->session);
	while (!LIST_EMPTY(&p->streams))
		stream_free(LIST_FIRST(&p->streams));
	records_close(p->records);
	wire_free(&p->out);
	close(p->fd);
	free(p);
}

int
peer_fd(const struct peer *p)
{
	return p->fd;
}

bool
peer_wants_to_write(const struct peer *p)
{
	return p->out.n > 0;
}

bool
peer_watches(const struct peer *p)
{
	const struct stream *st;

	LIST_FOREACH(st, &p->streams, link)
		if (!LIST_EMPTY(&st->watches))
			return true;
	return false;
}

bool
peer_hears(struct peer *p)
{
	uint8_t piece[16384];
	ssize_t n;

	while ((n = read(p->fd, piece, sizeof(piece))) > 0)
		if (nghttp2_session_mem_recv(p->session, piece, (size_t)n) < 0)
			return false;
	return n == -1 && (errno == EAGAIN || errno == EINTR);
}

static void
gather(struct peer *p)
{
	struct stream *st;
	const uint8_t *bytes;
	ssize_t n;

	LIST_FOREACH(st, &p->streams, link) {
		watches_say(st);
		if (st->reply.out.n > 0 || st->reply.ended)
			reply_speak(&st->reply, p->session, st->id, "200");
	}
	while ((n = nghttp2_session_mem_send(p->session, &bytes)) > 0)
		wire_raw(&p->out, bytes, (size_t)n);
}

bool
peer_speaks(struct peer *p)
{
	ssize_t n;

	records_step(p->records);
	gather(p);
	if (p->out.n > 0) {
		n = send(p->fd, p->out.at, p->out.n, MSG_NOSIGNAL);
		if (n == -1 && errno != EAGAIN && errno != EINTR)
			return false;
		n = n == -1 ? 0 : n;
		p->out.n -= (size_t)n;
		memmove(p->out.at, p->out.at + n, p->out.n);
	}
	return p->out.n > 0 || nghttp2_session_want_read(p->session) != 0 ||
	       nghttp2_session_want_write(p->session) != 0;
}
