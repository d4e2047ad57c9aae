/* SPDX-License-Identifier: ISC */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../helpers/tap.h"
#include "reply.h"

#define LIFE_S 60

static int notes = -1;

static int
listen_somewhere(unsigned *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || bind(fd, (struct sockaddr *)&a, size) == -1 || listen(fd, 16) == -1 ||
	    getsockname(fd, (struct sockaddr *)&a, &size) == -1)
		tap_bail("no server can be made: %s", strerror(errno));
	*port = ntohs(a.sin_port);
	return fd;
}

unsigned
nobodys_port(void)
{
	unsigned port;

	close(listen_somewhere(&port));
	return port;
}

static int
listen_at(const char *address, unsigned port)
{
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	bool is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
	const void *a = is_six ? (const void *)&six : (const void *)&four;
	socklen_t size = is_six ? sizeof(six) : sizeof(four);
	int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	inet_pton(AF_INET, address, &four.sin_addr);
	if (fd == -1 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
	    bind(fd, a, size) == -1 || listen(fd, 16) == -1) {
		if (fd != -1)
			close(fd);
		return -1;
	}
	return fd;
}

static struct server
serve_on(int listener, unsigned port, script *s)
{
	struct server server = { .port = port };
	int pipes[2];

	if (pipe(pipes) == -1)
		tap_bail("pipe: %s", strerror(errno));
	fflush(stdout);
	server.pid = fork();
	if (server.pid == -1)
		tap_bail("fork: %s", strerror(errno));
	if (server.pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		alarm(LIFE_S);
		close(pipes[0]);
		notes = pipes[1];
		s(listener);
		_exit(0);
	}
	close(listener);
	close(pipes[1]);
	server.notes = pipes[0];
	return server;
}

struct server
serve(script *s)
{
	unsigned port;
	int listener = listen_somewhere(&port);

	return serve_on(listener, port, s);
}

struct server
serve_at(const char *address, unsigned port, script *s)
{
	int listener = listen_at(address, port);

	if (listener == -1)
		return (struct server){ .port = 0 };
	return serve_on(listener, port, s);
}

char *
served(struct server *s)
{
	static const size_t room = 1 << 20;
	char *text = malloc(room);
	size_t n = 0;
	ssize_t got;

	if (text == NULL)
		tap_bail("no memory");
	while ((got = read(s->notes, text + n, room - n - 1)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(s->notes);
	waitpid(s->pid, NULL, 0);
	return text;
}

/* ---- in a script --------------------------------------------------------------------------- */

void
note(const char *words, ...)
{
	va_list args;

	va_start(args, words);
	vdprintf(notes, words, args);
	va_end(args);
}

/* A call: what came of it, and what is said. */
struct call {
	LIST_ENTRY(call) link;
	int32_t id;
	char path[128], token[128];
	struct wire_out in;
	struct reply reply;
};

struct visitor {
	int fd;
	nghttp2_session *session;
	LIST_HEAD(, call) calls;
	bool held;
};

static struct call *
call_of(struct visitor *v, int32_t id)
{
	return nghttp2_session_get_stream_user_data(v->session, id);
}

static int
begins(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct visitor *v = context;
	struct call *c = calloc(1, sizeof(*c));

	if (c == NULL)
		_exit(1);
	c->id = frame->hd.stream_id;
	LIST_INSERT_HEAD(&v->calls, c, link);
	return nghttp2_session_set_stream_user_data(session, c->id, c);
}

static int
got_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t n,
	   const uint8_t *value, size_t size, uint8_t flags, void *context)
{
	struct call *c = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)n;
	(void)flags;
	(void)context;
	if (strcmp((const char *)name, ":path") == 0)
		snprintf(c->path, sizeof(c->path), "%.*s", (int)size, (const char *)value);
	if (strcmp((const char *)name, "token") == 0)
		snprintf(c->token, sizeof(c->token), "%.*s", (int)size, (const char *)value);
	return 0;
}

static int
got_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t n,
	 void *context)
{
	struct call *c = nghttp2_session_get_stream_user_data(session, id);

	(void)flags;
	(void)context;
	wire_raw(&c->in, bytes, n);
	return 0;
}

struct visitor *
visit_with(int listener, unsigned window)
{
	nghttp2_settings_entry settings[] = { { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window } };
	struct visitor *v = calloc(1, sizeof(*v));
	nghttp2_session_callbacks *calls;
	int on = 1;

	if (v == NULL || (v->fd = accept(listener, NULL, NULL)) == -1)
		_exit(1);
	setsockopt(v->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	LIST_INIT(&v->calls);
	nghttp2_session_callbacks_new(&calls);
	nghttp2_session_callbacks_set_on_begin_headers_callback(calls, begins);
	nghttp2_session_callbacks_set_on_header_callback(calls, got_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, got_data);
	nghttp2_session_server_new(&v->session, calls, v);
	nghttp2_session_callbacks_del(calls);
	nghttp2_submit_settings(v->session, NGHTTP2_FLAG_NONE, settings, 1);
	return v;
}

struct visitor *
visit(int listener)
{
	return visit_with(listener, 65535);
}

int
raw(const struct visitor *v)
{
	return v->fd;
}

void
send_bytes(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t sent = write(fd, at, n);

		if (sent <= 0)
			return;
		at += sent;
		n -= (size_t)sent;
	}
}

/* All in one packet, if it has room. */
void
flush(struct visitor *v)
{
	struct wire_out all = { .failed = false };
	const uint8_t *frame;
	ssize_t n;

	while (!v->held && (n = nghttp2_session_mem_send(v->session, &frame)) > 0)
		wire_raw(&all, frame, (size_t)n);
	send_bytes(v->fd, all.at, all.n);
	free(all.at);
}

void
hold_back(struct visitor *v, bool held)
{
	v->held = held;
	flush(v);
}

/* Reads more of what comes; false: it has closed. */
static bool
more(struct visitor *v)
{
	uint8_t piece[16384];
	ssize_t n;

	flush(v);
	n = read(v->fd, piece, sizeof(piece));
	return n > 0 && nghttp2_session_mem_recv(v->session, piece, (size_t)n) == n;
}

/* The first key in a message: that of its first part, or of the first part of that. */
static void
note_key(struct wire_in in, char *to, size_t room)
{
	struct wire_field f;

	*to = '\0';
	while (*to == '\0' && wire_next(&in, &f)) {
		if (f.type != WIRE_BYTES)
			continue;
		if (f.bytes.at < f.bytes.end && *f.bytes.at >= ' ')
			snprintf(to, room, "%.*s", (int)(f.bytes.end - f.bytes.at),
				 (const char *)f.bytes.at);
		in = f.bytes;
	}
}

/* "KEY[..END][ @FROM] #ID", or "-#ID" of the end of a watch. */
static void
note_watch(struct wire_in in, char *to, size_t room)
{
	struct wire_field f, g;
	char key[100] = "", end[100] = "";
	int from = 0, id = 0;
	bool ends;

	if (!wire_next(&in, &f))
		return;
	ends = f.number == 2;
	while (wire_next(&f.bytes, &g)) {
		int size = (int)(g.bytes.end - g.bytes.at);

		if (!ends && g.number == 1)
			snprintf(key, sizeof(key), "%.*s", size, (const char *)g.bytes.at);
		else if (!ends && g.number == 2)
			snprintf(end, sizeof(end), "..%.*s", size, (const char *)g.bytes.at);
		else if (!ends && g.number == 3)
			from = (int)g.value;
		else if (g.number == (ends ? 1 : 7))
			id = (int)g.value;
	}
	if (ends)
		snprintf(to, room, "-#%d", id);
	else if (from == 0)
		snprintf(to, room, "%s%s #%d", key, end, id);
	else
		snprintf(to, room, "%s%s @%d #%d", key, end, from, id);
}

static bool
take(struct call *c, struct heard *h)
{
	struct wire_in in;
	struct wire_field f;
	char words[300];
	size_t n;

	if (c->in.n < WIRE_FRAME)
		return false;
	n = (size_t)c->in.at[3] << 8 | c->in.at[4];
	if (c->in.n < WIRE_FRAME + n)
		return false;
	in = (struct wire_in){ .at = c->in.at + WIRE_FRAME, .end = c->in.at + WIRE_FRAME + n };
	*h = (struct heard){ .id = c->id };
	snprintf(h->call, sizeof(h->call), "%s", strrchr(c->path, '/') + 1);
	snprintf(h->token, sizeof(h->token), "%s", c->token);
	if (strcmp(h->call, "Watch") == 0) {
		note_watch(in, words, sizeof(words));
	} else if (strcmp(h->call, "Authenticate") == 0) {
		note_key(in, h->key, sizeof(h->key));
		wire_next(&in, &f);
		note_key(in, h->key + strlen(h->key) + 1, 20);
		snprintf(words, sizeof(words), "%s %s", h->key, h->key + strlen(h->key) + 1);
	} else {
		note_key(in, h->key, sizeof(h->key));
		snprintf(words, sizeof(words), "%s", h->key);
	}
	note("%s%s%s %s\n", h->call, *h->token != '\0' ? " " : "", h->token, words);
	c->in.n -= WIRE_FRAME + n;
	memmove(c->in.at, c->in.at + WIRE_FRAME + n, c->in.n);
	return true;
}

bool
hear(struct visitor *v, struct heard *h)
{
	struct call *c, *first;

	do {
		first = NULL;
		LIST_FOREACH(c, &v->calls, link)
			if (c->in.n > 0 && (first == NULL || c->id < first->id))
				first = c;
		if (first != NULL && take(first, h))
			return true;
	} while (more(v));
	return false;
}

struct visitor *
visit_and_hear(int listener, struct heard *h)
{
	for (;;) {
		struct visitor *v = visit(listener);

		if (hear(v, h))
			return v;
		close(v->fd);
	}
}

void
begin_call(struct visitor *v, int32_t id, const char *status)
{
	reply_speak(&call_of(v, id)->reply, v->session, id, status);
}

void
say(struct visitor *v, int32_t id, const void *bytes, size_t n)
{
	struct call *c = call_of(v, id);

	if (c == NULL)
		return; /* the client has given it up */
	wire_raw(&c->reply.out, bytes, n);
	begin_call(v, id, "200");
	flush(v);
}

void
end_call(struct visitor *v, int32_t id, int status, const char *message)
{
	struct call *c = call_of(v, id);

	if (c == NULL)
		return;
	reply_end(&c->reply, status, message);
	begin_call(v, id, "200");
	flush(v);
}

void
page(struct visitor *v, int32_t id, const char *status, const char *text)
{
	struct call *c = call_of(v, id);

	if (c == NULL)
		return;
	/* In one packet: a client that has the text alone takes it for a message that makes no sense. */
	wire_raw(&c->reply.out, text, strlen(text));
	begin_call(v, id, status);
	end_call(v, id, -1, "");
}

void
answer(struct visitor *v, int32_t id, struct wire_out message)
{
	say(v, id, message.at, message.n);
	end_call(v, id, 0, "");
}

void
reset_call(struct visitor *v, int32_t id, unsigned code)
{
	nghttp2_submit_rst_stream(v->session, NGHTTP2_FLAG_NONE, id, code);
	flush(v);
}

void
go_away(struct visitor *v, int32_t last)
{
	nghttp2_submit_goaway(v->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0);
	flush(v);
}

bool
is_called(struct visitor *v, int32_t id)
{
	return call_of(v, id) != NULL || !more(v);
}

void
let_write(struct visitor *v, int32_t id)
{
	while (!is_called(v, id))
		;
	nghttp2_submit_window_update(v->session, NGHTTP2_FLAG_NONE, id, 65535);
	flush(v);
}

struct wire_out
message(int revision, const struct wire_out *more)
{
	struct wire_out w = { .failed = false };
	size_t begun = w.n, inner = wire_begin(&w, 1);

	wire_number(&w, 1, 1);
	wire_number(&w, 3, revision);
	wire_end(&w, inner);
	if (more != NULL)
		wire_raw(&w, more->at, more->n);
	wire_frame(&w, begun);
	return w;
}

struct wire_out
sound(int revision)
{
	return message(revision, NULL);
}

void
linger(struct visitor *v)
{
	while (more(v))
		;
	close(v->fd);
}

void
reset(struct visitor *v)
{
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(v->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(v->fd);
}
