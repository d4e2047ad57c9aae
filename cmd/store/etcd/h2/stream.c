/* SPDX-License-Identifier: ISC */
/*
 * stream.c - the streams of a connection, each a call of gRPC: see h2.h.
 *
 * A function that libnghttp2 calls only notes what came, and makes the stream ready.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "inside.h"

#define WINDOW (1 << 20) /* what a server may send before it must wait for us */

static void
make_ready(struct h2_stream *s)
{
	if (!s->ready)
		TAILQ_INSERT_TAIL(&s->h2->ready, s, queue);
	s->ready = true;
}

/* It has ended, and leaves the connection. */
static void
end(struct h2_stream *s, enum trouble_kind kind, const char *words)
{
	if (s->conn != NULL)
		LIST_REMOVE(s, link);
	s->over = true;
	s->trouble = (struct trouble){ kind, words };
	s->conn = NULL;
	make_ready(s);
}

void
streams_die(struct h2_conn *c)
{
	struct h2_stream *s;

	while ((s = LIST_FIRST(&c->streams)) != NULL)
		end(s, c->trouble.kind, c->trouble.words);
}

/* Ends it from our side. */
static void
reset(struct h2_stream *s, uint32_t code)
{
	nghttp2_session_set_stream_user_data(s->conn->session, s->id, NULL);
	nghttp2_submit_rst_stream(s->conn->session, NGHTTP2_FLAG_NONE, s->id, code);
	s->conn->eager = true;
}

/* Makes no more of what comes. */
static void
refuse(struct h2_stream *s, const char *words)
{
	reset(s, NGHTTP2_CANCEL);
	end(s, AWAY, words);
}

/* ---- what libnghttp2 calls ----------------------------------------------------------------- */

static int
got_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t n,
	   const uint8_t *value, size_t size, uint8_t flags, void *context)
{
	struct h2_stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)n;
	(void)flags;
	(void)context;
	if (s == NULL)
		return 0;
	/* Both, name and value, end with a NUL. */
	if (strcmp((const char *)name, ":status") == 0)
		s->http = atoi((const char *)value);
	else if (strcmp((const char *)name, "grpc-status") == 0)
		s->status = atoi((const char *)value);
	else if (strcmp((const char *)name, "grpc-message") == 0)
		snprintf(s->message, sizeof(s->message), "%.*s", (int)size, (const char *)value);
	return 0;
}

static int
got_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t n,
	 void *context)
{
	struct h2_stream *s = nghttp2_session_get_stream_user_data(session, id);

	(void)flags;
	(void)context;
	if (s == NULL)
		return 0;
	/* What was taken is dropped once for many messages, as this moves what is behind them. */
	if (s->taken > 0)
		memmove(s->in.at, s->in.at + s->taken, s->in.n - s->taken);
	s->in.n -= s->taken;
	s->taken = 0;
	wire_raw(&s->in, bytes, n);
	if (s->in.failed) {
		refuse(s, NO_MEMORY);
	} else if (s->in.n > s->most + WIRE_FRAME) {
		refuse(s, TOO_LONG);
	} else if (s->open) {
		make_ready(s);
	}
	return 0;
}

/* A server that ends a call before it has read all of it resets the stream without an error. */
static void
closed(struct h2_stream *s, uint32_t error)
{
	if (s->out.failed)
		end(s, AWAY, NO_MEMORY);
	else if (error == NGHTTP2_NO_ERROR && s->http != 0)
		end(s, FINE, NULL);
	else if (error == NGHTTP2_REFUSED_STREAM)
		end(s, AWAY, "it takes no more calls");
	else
		end(s, BROKEN, CUT);
}

static int
stream_closed(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
	struct h2_stream *s = nghttp2_session_get_stream_user_data(session, id);

	(void)context;
	if (s != NULL)
		closed(s, error);
	return 0;
}

/* The server's end is a stream's end, though we have more to say. */
static int
got_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct h2_stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct h2_conn *c = context;

	c->spoke = true;
	if (s != NULL && (s->open || s->sent < s->out.n) &&
	    (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
	    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
		reset(s, NGHTTP2_NO_ERROR);
		closed(s, NGHTTP2_NO_ERROR);
	}
	return 0;
}

static ssize_t
give(nghttp2_session *session, int32_t id, uint8_t *to, size_t room, uint32_t *flags,
     nghttp2_data_source *source, void *context)
{
	struct h2_stream *s = nghttp2_session_get_stream_user_data(session, id);
	size_t n;

	(void)source;
	(void)context;
	/* It was dropped, or must not be sent. */
	if (s == NULL || s->out.failed)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	n = s->out.n - s->sent;
	if (n == 0 && s->open)
		return NGHTTP2_ERR_DEFERRED;
	if (n > room)
		n = room;
	memcpy(to, s->out.at + s->sent, n);
	s->sent += n;
	if (s->sent == s->out.n && s->open)
		s->sent = s->out.n = 0;
	else if (s->sent == s->out.n)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

bool
streams_begin(struct h2_conn *c)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW },
	};
	nghttp2_session_callbacks *calls;
	bool made;

	if (nghttp2_session_callbacks_new(&calls) != 0)
		return false;
	nghttp2_session_callbacks_set_on_header_callback(calls, got_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, got_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, stream_closed);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, got_frame);
	made = nghttp2_session_client_new(&c->session, calls, c) == 0;
	nghttp2_session_callbacks_del(calls);
	return made &&
	       nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
				       sizeof(settings) / sizeof(settings[0])) == 0 &&
	       nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, WINDOW) == 0;
}

/* ---- what starters call -------------------------------------------------------------------- */

/* libnghttp2 copies it. */
static nghttp2_nv
header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			     strlen(value), NGHTTP2_NV_FLAG_NONE };
}

/* Without "hasleader" a server that has lost the others lets calls and watches hang. */
static int32_t
submit(struct h2_conn *c, struct h2_stream *s)
{
	nghttp2_data_provider provider = { .read_callback = give };
	nghttp2_nv headers[] = {
		header(":method", "POST"),
		header(":scheme", c->where.tls ? "https" : "http"),
		header(":path", s->path),
		header(":authority", c->where.authority),
		header("content-type", "application/grpc"),
		header("te", "trailers"),
		header("hasleader", "true"),
		header("token", s->token != NULL ? s->token : ""),
	};
	size_t n = sizeof(headers) / sizeof(headers[0]);

	headers[n - 1].flags = NGHTTP2_NV_FLAG_NO_INDEX;
	return nghttp2_submit_request(c->session, NULL, headers, s->token != NULL ? n : n - 1,
				      &provider, s);
}

void
h2_start(struct h2 *h, struct h2_conn *c, struct h2_stream *s)
{
	s->h2 = h;
	s->status = -1;
	if (c == NULL || s->out.failed) {
		end(s, AWAY, NO_MEMORY);
		return;
	}
	if (LIST_EMPTY(&c->streams)) { /* until now it had nothing to say */
		c->heard = flki_boottime_ns();
		c->asked = 0;
	}
	s->conn = c;
	LIST_INSERT_HEAD(&c->streams, s, link);
	if (c->state == DEAD)
		streams_die(c);
	else if ((s->id = submit(c, s)) < 0)
		end(s, AWAY, NO_MEMORY);
	else
		c->eager = true;
}

void
h2_send(struct h2_stream *s)
{
	if (s->conn == NULL)
		return;
	nghttp2_session_resume_data(s->conn->session, s->id);
	s->conn->eager = true;
}

void
h2_cancel(struct h2_stream *s)
{
	if (s->ready)
		TAILQ_REMOVE(&s->h2->ready, s, queue);
	if (s->conn != NULL) {
		reset(s, NGHTTP2_CANCEL);
		LIST_REMOVE(s, link);
	}
	wire_free(&s->in);
	*s = (struct h2_stream){ .out = s->out };
}

void
h2_drop(struct h2_stream *s)
{
	h2_cancel(s);
	wire_free(&s->out);
}

uint8_t *
h2_take(struct h2_stream *s, size_t *size)
{
	size_t there = s->in.n - s->taken, n;
	uint8_t *f;

	if (there < WIRE_FRAME)
		return NULL;
	f = s->in.at + s->taken;
	n = (size_t)f[1] << 24 | (size_t)f[2] << 16 | (size_t)f[3] << 8 | f[4];
	if (f[0] != 0 || n > there - WIRE_FRAME) {
		if (!s->over && (f[0] != 0 || n > s->most))
			refuse(s, f[0] != 0 ? NONSENSE : TOO_LONG);
		return NULL;
	}
	*size = n;
	s->taken += WIRE_FRAME + n;
	return f + WIRE_FRAME;
}

/* A starter may make others ready, without end: their turn is the next step. */
void
streams_call(struct h2 *h)
{
	struct h2_stream *s;
	size_t n = 0;

	TAILQ_FOREACH(s, &h->ready, queue)
		n++;
	for (; n > 0 && (s = TAILQ_FIRST(&h->ready)) != NULL; n--) {
		TAILQ_REMOVE(&h->ready, s, queue);
		s->ready = false;
		s->heard(s);
	}
}
