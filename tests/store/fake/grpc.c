/* SPDX-License-Identifier: ISC */
/*
 * grpc.c - see grpc.h.
 */
#include "grpc.h"

#include <nghttp2/nghttp2.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "../reply.h"
#include "transcode.h"

struct stream {
	LIST_ENTRY(stream) link;
	struct grpc *grpc;
	int32_t id;
	char path[64], token[512];
	const struct transcoder *as;
	const struct kind_of_call *kind;
	struct wire_out in;
	struct reply reply;
	struct watches watches;
};

struct grpc {
	struct server *server;
	struct conn *conn;
	nghttp2_session *session;
	LIST_HEAD(, stream) streams;
	bool busy; /* it serves, and says what there is to say afterwards */
};

static const char preface[] = "PRI * HTTP/2.0\r\n";

bool
grpc_begins(const struct buf *in)
{
	return in->len >= sizeof(preface) - 1 && memcmp(in->at, preface, sizeof(preface) - 1) == 0;
}

/* ---- what is said ---- */

/* Lets the stream say what it has. */
static void
speak(struct stream *st)
{
	if (st->reply.out.n > 0 || st->reply.ended)
		reply_speak(&st->reply, st->grpc->session, st->id, "200");
}

/* An object as a message. */
static void
say(struct stream *st, const json_t *o)
{
	size_t begun = st->reply.out.n;

	message_of_json(st->as->answered, o, &st->reply.out);
	wire_frame(&st->reply.out, begun);
}

static void
say_text(struct stream *st, const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	json_t *inner = json_object_get(o, "result");

	say(st, inner != NULL ? inner : o);
	json_decref(o);
}

/* Each line of a watch is a message. */
static void
say_lines(struct stream *st, struct buf *lines)
{
	char *line = lines->at, *end;

	while (lines->len > 0 && (end = strchr(line, '\n')) != NULL) {
		*end = '\0';
		say_text(st, line);
		line = end + 1;
	}
	lines->len = 0;
}

/* ---- what is done ---- */

/* A request to create a watch is a call of its own, as all watches of a client share a stream. */
static void
note(const struct stream *st, const json_t *body)
{
	const char *key, *path = st->as->path;
	char name[256] = "";

	if (st->kind->how != CALL_WATCH) {
		serve_note(st->grpc->server, "%s", path);
		return;
	}
	if ((body = json_object_get(body, "create_request")) == NULL)
		return;
	key = json_string_value(json_object_get(body, "key"));
	if (key != NULL && strlen(key) < sizeof(name))
		base64_decode(name, key, strlen(key));
	serve_note(st->grpc->server, "%s %s", path, name);
}

static void
do_call(struct stream *st, const json_t *body)
{
	struct server *s = st->grpc->server;
	struct call call = { .fake = &s->fake, .token = st->token, .body = body };
	bool is_watch = st->kind->how == CALL_WATCH, done;
	struct buf text = { 0 };

	note(st, body);
	call.reading = (struct reading){ &call.fake->scrap, &call.wrong };
	buf_text(&text, "");
	done = is_watch ? watch_ask(&st->watches, &call, &text) : st->kind->serve(&call, &text);
	if (!done)
		reply_end(&st->reply, call.wrong.code, call.wrong.text);
	else if (is_watch)
		say_lines(st, &text);
	else
		say_text(st, text.at);
	if (done && !is_watch)
		reply_end(&st->reply, 0, "");
	buf_free(&text);
	scrap_free(&call.fake->scrap);
	serve_watches(s);
}

/* ---- what comes ---- */

static void
take_messages(struct stream *st)
{
	struct wire_out *in = &st->in;
	json_t *body;
	size_t n;

	while (in->n >= WIRE_FRAME && !st->reply.ended) {
		n = (size_t)in->at[1] << 24 | (size_t)in->at[2] << 16 | (size_t)in->at[3] << 8 |
		    in->at[4];
		if (in->n - WIRE_FRAME < n)
			return;
		body = json_of_message(st->as->asked, in->at + WIRE_FRAME, n);
		if (body == NULL)
			reply_end(&st->reply, 13, "fake etcd: it can't read that");
		else
			do_call(st, body);
		json_decref(body);
		in->n -= WIRE_FRAME + n;
		memmove(in->at, in->at + WIRE_FRAME + n, in->n);
	}
}

static int
got_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t n,
	 void *context)
{
	struct stream *st = nghttp2_session_get_stream_user_data(session, id);

	(void)flags;
	(void)context;
	if (st == NULL || st->as == NULL)
		return 0;
	wire_raw(&st->in, bytes, n);
	take_messages(st);
	return 0;
}

static int
begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct grpc *g = context;
	struct stream *st = must_make(sizeof(*st));

	st->grpc = g;
	st->id = frame->hd.stream_id;
	LIST_INSERT_HEAD(&g->streams, st, link);
	nghttp2_session_set_stream_user_data(session, st->id, st);
	return 0;
}

static int
got_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t n,
	   const uint8_t *value, size_t size, uint8_t flags, void *context)
{
	struct stream *st = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)n;
	(void)flags;
	(void)context;
	if (st == NULL)
		return 0;
	if (strcmp((const char *)name, "token") == 0)
		snprintf(st->token, sizeof(st->token), "%.*s", (int)size, (const char *)value);
	if (strcmp((const char *)name, ":path") != 0)
		return 0;
	snprintf(st->path, sizeof(st->path), "%.*s", (int)size, (const char *)value);
	st->as = transcoder_of(st->path);
	if (st->as != NULL)
		st->kind = call_find(st->as->path);
	else
		reply_end(&st->reply, UNIMPLEMENTED, "fake etcd: it does not know that call");
	return 0;
}

static void
free_stream(struct stream *st)
{
	LIST_REMOVE(st, link);
	watch_free(&st->watches);
	free(st->in.at);
	free(st->reply.out.at);
	free(st);
}

static int
stream_closed(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
	struct stream *st = nghttp2_session_get_stream_user_data(session, id);

	(void)error;
	(void)context;
	if (st != NULL)
		free_stream(st);
	return 0;
}

/* ---- the connection ---- */

struct grpc *
grpc_new(struct server *s, struct conn *c)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000 },
	};
	struct grpc *g = must_make(sizeof(*g));
	nghttp2_session_callbacks *calls;

	g->server = s;
	g->conn = c;
	LIST_INIT(&g->streams);
	nghttp2_session_callbacks_new(&calls);
	nghttp2_session_callbacks_set_on_begin_headers_callback(calls, begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(calls, got_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, got_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, stream_closed);
	nghttp2_session_server_new(&g->session, calls, g);
	nghttp2_session_callbacks_del(calls);
	nghttp2_submit_settings(g->session, NGHTTP2_FLAG_NONE, settings, 1);
	return g;
}

void
grpc_free(struct grpc *g)
{
	if (g == NULL)
		return;
	nghttp2_session_del(g->session);
	while (!LIST_EMPTY(&g->streams))
		free_stream(LIST_FIRST(&g->streams));
	free(g);
}

/* What libnghttp2 has to send goes behind what the connection has to send already. */
static void
gather(struct grpc *g)
{
	struct stream *st;
	const uint8_t *frame;
	ssize_t n;

	LIST_FOREACH(st, &g->streams, link)
		speak(st);
	while ((n = nghttp2_session_mem_send(g->session, &frame)) > 0)
		buf_add(&g->conn->out, (const char *)frame, (size_t)n);
}

bool
grpc_advance(struct grpc *g)
{
	struct buf *in = &g->conn->in;
	ssize_t n = 0;

	g->busy = true;
	if (in->len > 0)
		n = nghttp2_session_mem_recv(g->session, (const uint8_t *)in->at, in->len);
	g->busy = false;
	in->len = 0;
	gather(g);
	return n >= 0 && (nghttp2_session_want_read(g->session) != 0 ||
			  nghttp2_session_want_write(g->session) != 0);
}

void
grpc_tell(struct grpc *g)
{
	struct buf lines = { 0 };
	struct stream *st;

	LIST_FOREACH(st, &g->streams, link) {
		if (st->watches.count == 0)
			continue;
		watch_tell(&st->watches, &g->server->fake, &lines);
		say_lines(st, &lines);
	}
	buf_free(&lines);
	if (!g->busy)
		gather(g);
}

bool
grpc_watches(const struct grpc *g)
{
	const struct stream *st;

	LIST_FOREACH(st, &g->streams, link)
		if (st->watches.count > 0)
			return true;
	return false;
}
