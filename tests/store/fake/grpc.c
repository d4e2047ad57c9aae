/* SPDX-License-Identifier: ISC */
/*
 * grpc.c - the fake's connections: HTTP/2, whose streams are calls of etcd.  Each connection is a client
 * of the store in memory, which answers at once.
 */
#include "fake.h"

#include <errno.h>
#include <limits.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "../../../lib/clock.h"
#include "../memory/clock.h"
#include "../memory/inside.h"
#include "../memory/world.h"
#include "../reply.h"

struct stream;

struct watch {
	LIST_ENTRY(watch) link;
	struct stream *stream;
	struct records_watch *watch;
	int64_t id;
	struct wire_out events; /* that were not said yet */
};

struct stream {
	LIST_ENTRY(stream) link;
	struct peer *peer;
	int32_t id;
	char call[40], token[512]; /* call: as Txn */
	struct wire_out in;
	struct asked_txn asked;
	struct reply reply;
	LIST_HEAD(, watch) watches;
};

struct peer {
	int fd;
	nghttp2_session *session;
	struct records *records;
	LIST_HEAD(, stream) streams;
	struct wire_out out; /* what was not sent yet */
};

/* ---- what is said ---- */

static struct wire_out *
say(struct stream *st, size_t *begun, int64_t revision)
{
	*begun = st->reply.out.n;
	write_header(&st->reply.out, revision);
	return &st->reply.out;
}

/* The same of a watch. */
static struct wire_out *
say_of(struct stream *st, size_t *begun, int64_t id, int64_t revision)
{
	struct wire_out *w = say(st, begun, revision);

	wire_number(w, 2, id);
	return w;
}

static void
refuse(struct stream *st, const struct records_answer *a)
{
	static const enum code codes[] = { [RECORDS_NOLEASE] = NOT_FOUND,
					   [RECORDS_EXISTS] = PRECONDITION,
					   [RECORDS_WRONG] = BAD_ARGUMENT };
	const char *words = strchr(a->text, ' ');
	char text[RECORDS_TEXT];

	snprintf(text, sizeof(text), "etcdserver:%s", words == NULL ? "" : words);
	reply_end(&st->reply, codes[a->result], text);
}

/* ---- calls ---- */

static void
did_txn(void *context, const struct records_answer *a)
{
	struct stream *st = context;
	size_t begun;

	if (a->result != RECORDS_OK) {
		refuse(st, a);
		return;
	}
	begun = st->reply.out.n;
	write_txn(&st->reply.out, &st->asked, a);
	wire_frame(&st->reply.out, begun);
	reply_end(&st->reply, OK, "");
}

static void
call_txn(struct stream *st, struct wire_in in)
{
	if (read_txn(in, &st->asked)) {
		records_txn(st->peer->records, st->asked.txn, UINT_MAX, did_txn, st);
		return;
	}
	txn_free(st->asked.txn);
	reply_end(&st->reply, UNIMPLEMENTED, "fake etcd: it does not know that");
}

/* Its TTL: the client asks only whether there is one. */
static void
did_lease(void *context, const struct records_answer *a)
{
	struct stream *st = context;
	struct wire_out *w;
	size_t begun;

	if (a->result != RECORDS_OK) {
		refuse(st, a);
		return;
	}
	w = say(st, &begun, a->revision);
	if (a->alive)
		wire_number(w, 3, 1);
	wire_frame(w, begun);
	reply_end(&st->reply, OK, ""); /* a client asks once in a stream */
}

static void
call_lease(struct stream *st, struct wire_in in)
{
	bool grants = strcmp(st->call, "LeaseGrant") == 0;
	struct records *r = st->peer->records;
	int64_t id = 0, ttl = 0;
	struct wire_field f;

	while (wire_next(&in, &f))
		if (f.number == (grants ? 2 : 1))
			id = (int64_t)f.value;
		else
			ttl = (int64_t)f.value;
	if (grants)
		records_lease(r, id, (uint32_t)ttl, UINT_MAX, did_lease, st);
	else if (strcmp(st->call, "LeaseRevoke") == 0)
		records_end(r, id, UINT_MAX, did_lease, st);
	else
		records_renew(r, id, UINT_MAX, did_lease, st);
}

static void
call_token(struct stream *st, struct wire_in in)
{
	char *text[3] = { NULL };
	const char *token, *why;
	struct wire_field f;
	enum code code;
	struct wire_out *w;
	size_t begun;

	while (wire_next(&in, &f))
		if (f.type == WIRE_BYTES && f.number < 3 && text[f.number] == NULL)
			text[f.number] = copy_of(&f);
	token = user_token(text[1], text[2], &why, &code);
	free(text[1]);
	free(text[2]);
	if (token == NULL) {
		reply_end(&st->reply, (int)code, why);
		return;
	}
	w = say(st, &begun, memory_revision(world_memory()));
	wire_text(w, 2, token);
	wire_frame(w, begun);
	reply_end(&st->reply, OK, "");
}

/* ---- watches ---- */

static void
watch_free(struct watch *w)
{
	if (w->watch != NULL)
		records_unwatch(w->watch);
	LIST_REMOVE(w, link);
	wire_free(&w->events);
	free(w);
}

static void
hears(void *context, const struct records_news *news)
{
	struct watch *w = context;
	int64_t revision = memory_revision(world_memory());
	struct wire_out *out;
	size_t begun;

	if (news->kind == WATCH_CHANGE) {
		write_event(&w->events, news->change);
	} else if (news->kind == WATCH_BEGUN) {
		out = say_of(w->stream, &begun, w->id,
			     news->revision != 0 ? news->revision - 1 : revision);
		wire_number(out, 3, true);
		wire_frame(out, begun);
	}
}

static void
say_events(struct stream *st)
{
	struct wire_out *out;
	struct watch *w;
	size_t begun;

	LIST_FOREACH(w, &st->watches, link) {
		if (w->events.n == 0)
			continue;
		out = say_of(st, &begun, w->id, memory_revision(world_memory()));
		wire_raw(out, w->events.at, w->events.n);
		wire_frame(out, begun);
		w->events.n = 0;
	}
}

static void
cancel(struct stream *st, int64_t id, const char *why)
{
	size_t begun;
	struct wire_out *w = say_of(st, &begun, id, memory_revision(world_memory()));

	if (why != NULL)
		wire_number(w, 3, true);
	wire_number(w, 4, true);
	wire_text(w, 6, why);
	wire_frame(w, begun);
}

static void
watch_create(struct stream *st, struct wire_in in)
{
	struct watch *w = memory_got(calloc(1, sizeof(*w)));
	struct records_range range = { .key = NULL };
	char *text[3] = { NULL }, why[200];
	const char *wrong;
	struct wire_field f;
	int64_t from = 0;
	enum code code;

	while (wire_next(&in, &f)) {
		if (f.type == WIRE_BYTES && f.number < 3 && text[f.number] == NULL)
			text[f.number] = copy_of(&f);
		else if (f.number == 3)
			from = (int64_t)f.value;
		else if (f.number == 5)
			*(f.value == 0 ? &range.no_put : &range.no_delete) = true;
		else if (f.number == 7)
			w->id = (int64_t)f.value;
	}
	range.key = text[1];
	range.end = text[2];
	note("%s %s", st->call, range.key);
	wrong = user_wrong(st->token, &code);
	if (wrong != NULL) {
		snprintf(why, sizeof(why), "rpc error: code = %s desc = %s",
			 code == UNAUTHENTICATED ? "Unauthenticated" : "InvalidArgument", wrong);
		cancel(st, -1, why);
		free(w);
	} else {
		w->stream = st;
		LIST_INSERT_HEAD(&st->watches, w, link);
		w->watch = records_watch(st->peer->records, &range, 1, from, hears, w);
	}
	free(text[1]);
	free(text[2]);
}

static void
watch_end(struct stream *st, struct wire_in in)
{
	struct wire_field f;
	struct watch *w;

	if (!wire_next(&in, &f))
		return;
	LIST_FOREACH(w, &st->watches, link)
		if (w->id == (int64_t)f.value) {
			watch_free(w);
			cancel(st, (int64_t)f.value, NULL);
			return;
		}
}

/* ---- what comes ---- */

static void
call(struct stream *st, struct wire_in in)
{
	bool is_watch = strcmp(st->call, "Watch") == 0;
	const char *wrong = NULL;
	struct wire_field f;
	enum code code;

	if (!is_watch)
		note("%s", st->call);
	/* etcd looks at the token of a call for a lease only if it has one. */
	if (strcmp(st->call, "Txn") == 0 ||
	    (strncmp(st->call, "Lease", 5) == 0 && st->token[0] != '\0' &&
	     strcmp(st->call, "LeaseKeepAlive") != 0))
		wrong = user_wrong(st->token, &code);
	if (wrong != NULL) {
		reply_end(&st->reply, (int)code, wrong);
	} else if (strcmp(st->call, "Txn") == 0 && st->asked.txn == NULL) {
		call_txn(st, in);
	} else if (strncmp(st->call, "Lease", 5) == 0) {
		call_lease(st, in);
	} else if (strcmp(st->call, "Authenticate") == 0) {
		call_token(st, in);
	} else if (is_watch && wire_next(&in, &f) && f.type == WIRE_BYTES) {
		if (f.number == 1)
			watch_create(st, f.bytes);
		else
			watch_end(st, f.bytes);
	} else {
		reply_end(&st->reply, UNIMPLEMENTED, "fake etcd: it does not know that");
	}
	/* So no answer is due when its stream is closed. */
	records_step(st->peer->records);
}

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
		call(st, (struct wire_in){ .at = in->at + WIRE_FRAME, .end = in->at + n });
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

	st->peer = p;
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
	while (!LIST_EMPTY(&st->watches))
		watch_free(LIST_FIRST(&st->watches));
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
		say_events(st);
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
