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

/* A message that came, and is served at its time, after those before it. */
struct asked {
	STAILQ_ENTRY(asked) link;
	json_t *body;
	struct deed deed;
	int64_t serve_at;
};

struct stream {
	LIST_ENTRY(stream) link;
	struct grpc *grpc;
	int32_t id;
	char path[64], token[512];
	const struct transcoder *as;
	const struct kind_of_call *kind;
	struct wire_out in;
	struct reply reply;
	STAILQ_HEAD(, asked) asked;
	struct watches watches;
	int64_t write_at; /* nothing is written before */
	bool cut_events;  /* half of its first events is the last that is sent */
};

struct grpc {
	struct server *server;
	struct conn *conn;
	nghttp2_session *session;
	LIST_HEAD(, stream) streams;
	bool over, busy; /* busy: it serves, and says what there is to say afterwards */
	bool mute;       /* it ends without another word */
};

static const char preface[] = "PRI * HTTP/2.0\r\n";

bool
grpc_begins(const struct buf *in)
{
	return in->len >= sizeof(preface) - 1 && memcmp(in->at, preface, sizeof(preface) - 1) == 0;
}

/* ---- what is said ---- */

/* Lets the stream say what it has, if its time has come. */
static void
speak(struct stream *st)
{
	if (st->write_at <= st->grpc->server->fake.now && (st->reply.out.n > 0 || st->reply.ended))
		reply_speak(&st->reply, st->grpc->session, st->id, "200");
}

/* An object as a message; cut: half of it, and it is the last of the connection. */
static void
say(struct stream *st, const json_t *o, bool cut)
{
	size_t begun = st->reply.out.n;

	message_of_json(st->as->answered, o, &st->reply.out);
	wire_frame(&st->reply.out, begun);
	if (cut) {
		st->reply.out.n -= (st->reply.out.n - begun) / 2;
		st->grpc->over = true;
	}
}

static void
say_text(struct stream *st, const char *text, bool cut)
{
	json_t *o = json_loads(text, 0, NULL);
	json_t *inner = json_object_get(o, "result");

	say(st, inner != NULL ? inner : o, cut);
	json_decref(o);
}

/* Each line of a watch is a message. */
static void
say_lines(struct stream *st, struct buf *lines)
{
	char *line = lines->at, *end;

	while (lines->len > 0 && !st->grpc->over && (end = strchr(line, '\n')) != NULL) {
		*end = '\0';
		say_text(st, line, st->cut_events && strstr(line, "\"events\"") != NULL);
		line = end + 1;
	}
	lines->len = 0;
}

/* ---- what is done ---- */

static struct call
call_of(struct stream *st, const json_t *body)
{
	return (struct call){ .fake = &st->grpc->server->fake, .token = st->token, .body = body };
}

static void
do_call(struct stream *st, const struct asked *a)
{
	struct call call = call_of(st, a->body);
	struct buf text = { 0 };
	bool done;

	call.reading = (struct reading){ &call.fake->scrap, &call.wrong };
	buf_text(&text, "");
	done = st->kind->how == CALL_WATCH ? watch_ask(&st->watches, &call, &text)
					   : st->kind->serve(&call, &text);
	if (a->deed.action == SWALLOW)
		;
	else if (!done)
		reply_end(&st->reply, call.wrong.code, call.wrong.text);
	else if (st->kind->how == CALL_WATCH)
		say_lines(st, &text);
	else
		say_text(st, text.at, a->deed.action == CUT_ANSWER);
	if (done && st->kind->how != CALL_WATCH && a->deed.action != SWALLOW && !st->grpc->over)
		reply_end(&st->reply, 0, "");
	buf_free(&text);
	scrap_free(&call.fake->scrap);
	serve_watches(st->grpc->server);
}

/* What the operator wants to be answered: a status, or a message. */
static void
answer_as_told(struct stream *st, const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	const char *message = json_string_value(json_object_get(o, "message"));

	if (json_object_get(o, "code") != NULL) {
		reply_end(&st->reply, (int)json_integer_value(json_object_get(o, "code")),
			  message != NULL ? message : "");
	} else {
		say_text(st, text, false);
		reply_end(&st->reply, 0, "");
	}
	json_decref(o);
}

static void
serve_asked(struct stream *st, struct asked *a)
{
	struct server *s = st->grpc->server;

	switch (a->deed.action) {
	case REFUSE:
		st->grpc->over = st->grpc->mute = true;
		return;
	case HANG:
		return;
	case ANSWER:
		answer_as_told(st, a->deed.text);
		return;
	case GARBAGE:
		wire_raw(&st->reply.out, "\0\0\0\0\3\xff\xff\xff", 8);
		reply_end(&st->reply, 0, "");
		return;
	case LATE:
		st->write_at = s->fake.now + a->deed.ms;
		break;
	case CUT_ANSWER:
		st->cut_events = true;
		break;
	case AS_ASKED:
	case CUT:
	case SWALLOW:
	case DELAY:
	case HOLD:
		break;
	}
	do_call(st, a);
	if (is_done_later(a->deed.action) && s->log != NULL) {
		fprintf(s->log, "%" PRId64 " done %s\n", s->fake.now, st->as->path);
		fflush(s->log);
	}
	if (a->deed.action == CUT)
		st->grpc->over = st->grpc->mute = true;
}

static void
free_asked(struct asked *a)
{
	json_decref(a->body);
	free(a);
}

static void
serve_due(struct stream *st)
{
	struct asked *a;

	while ((a = STAILQ_FIRST(&st->asked)) != NULL && !st->grpc->over &&
	       a->serve_at <= st->grpc->server->fake.now) {
		STAILQ_REMOVE_HEAD(&st->asked, link);
		serve_asked(st, a);
		free_asked(a);
	}
}

/* ---- what comes ---- */

/* A message is there: it is counted, noted, and given the deed of its fault. */
static void
ask(struct stream *st, json_t *body)
{
	struct server *s = st->grpc->server;
	struct asked *a = must_make(sizeof(*a));
	struct body as = { .values = &body, .count = 1 };
	struct buf words = { 0 };

	a->body = body;
	a->serve_at = s->fake.now;
	STAILQ_INSERT_TAIL(&st->asked, a, link);
	if (st->kind->how == CALL_WATCH && json_object_get(body, "create_request") == NULL)
		return;
	describe(&words, &as);
	s->calls++;
	a->deed = faults_of(&s->faults, st->as->path, words.at);
	if (a->deed.action == DELAY)
		a->serve_at += a->deed.ms;
	else if (a->deed.action == HOLD)
		a->serve_at = INT64_MAX;
	serve_note(s, "POST", st->as->path, words.at, a->deed.action);
	buf_free(&words);
}

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
			ask(st, body);
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
	STAILQ_INIT(&st->asked);
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
	struct asked *a;

	LIST_REMOVE(st, link);
	while ((a = STAILQ_FIRST(&st->asked)) != NULL) {
		STAILQ_REMOVE_HEAD(&st->asked, link);
		free_asked(a);
	}
	watch_free(&st->watches);
	free(st->in.at);
	free(st->reply.out.at);
	free(st);
}

static bool
owes(const struct stream *st)
{
	const struct asked *a;

	STAILQ_FOREACH(a, &st->asked, link)
		if (is_done_later(a->deed.action))
			return true;
	return false;
}

/* What is to be done later is done, though its client has gone. */
static int
stream_closed(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
	struct stream *st = nghttp2_session_get_stream_user_data(session, id);

	(void)error;
	(void)context;
	if (st != NULL && owes(st))
		st->id = -1;
	else if (st != NULL)
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
		if (st->id != -1)
			speak(st);
	while ((n = nghttp2_session_mem_send(g->session, &frame)) > 0)
		buf_add(&g->conn->out, (const char *)frame, (size_t)n);
}

bool
grpc_advance(struct grpc *g)
{
	struct buf *in = &g->conn->in;
	struct stream *st, *next;

	if (in->len > 0 &&
	    nghttp2_session_mem_recv(g->session, (const uint8_t *)in->at, in->len) < 0)
		g->over = true;
	in->len = 0;
	g->busy = true;
	for (st = LIST_FIRST(&g->streams); st != NULL && !g->over; st = next) {
		next = LIST_NEXT(st, link);
		serve_due(st);
		if (st->id == -1 && !owes(st))
			free_stream(st);
	}
	g->busy = false;
	if (g->mute)
		g->conn->out.len = 0;
	else if (!g->conn->gone)
		gather(g);
	return !g->over && (nghttp2_session_want_read(g->session) != 0 ||
			    nghttp2_session_want_write(g->session) != 0);
}

void
grpc_tell(struct grpc *g)
{
	struct buf lines = { 0 };
	struct stream *st;

	LIST_FOREACH(st, &g->streams, link) {
		if (st->watches.count == 0 || st->id == -1)
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

bool
grpc_owes(const struct grpc *g)
{
	const struct stream *st;

	LIST_FOREACH(st, &g->streams, link)
		if (owes(st))
			return true;
	return false;
}

void
grpc_release(struct grpc *g)
{
	struct stream *st;
	struct asked *a;

	LIST_FOREACH(st, &g->streams, link)
		STAILQ_FOREACH(a, &st->asked, link)
			if (a->deed.action == HOLD)
				a->serve_at = g->server->fake.now;
}

int64_t
grpc_due(const struct grpc *g)
{
	const struct stream *st;
	int64_t due = INT64_MAX;

	LIST_FOREACH(st, &g->streams, link) {
		const struct asked *a = STAILQ_FIRST(&st->asked);

		if (a != NULL && a->serve_at < due)
			due = a->serve_at;
		if ((st->reply.out.n > 0 || st->reply.ended) &&
		    st->write_at > g->server->fake.now && st->write_at < due)
			due = st->write_at;
	}
	return due;
}
