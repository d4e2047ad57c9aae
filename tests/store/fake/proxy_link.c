/* SPDX-License-Identifier: ISC */
#include "proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 1 << 20, DROP_MS = 20 };
enum { PREFACE = 24, DATA = 0, HEADERS = 1 }; /* HTTP/2: what a client begins with; frames */

void
link_kill(struct link *l)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	if (l->dead)
		return;
	l->dead = true;
	setsockopt(l->client, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	setsockopt(l->server, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

void
link_free(struct link *l)
{
	close(l->client);
	close(l->server);
	buf_free(&l->up.bytes);
	buf_free(&l->down.bytes);
	free(l->up.pieces);
	free(l->down.pieces);
	free(l);
}

void
link_new(struct proxy *p, int client)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct link *l = must_make(sizeof(*l));
	int on = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons((uint16_t)p->target);
	l->asks.left = PREFACE;
	l->client = client;
	l->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->server == -1)
		abort();
	setsockopt(l->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(l->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	l->connecting = true;
	if (connect(l->server, (const struct sockaddr *)&to, sizeof(to)) == -1 &&
	    errno != EINPROGRESS)
		link_kill(l);
	if (p->count == p->room) {
		p->room = 2 * p->room + 16;
		p->links = must_grow(p->links, p->room, sizeof(struct link *));
	}
	p->links[p->count++] = l;
}

/* ---- flows ---- */

static void
flow_add(struct flow *f, const char *at, size_t len, int64_t due)
{
	if (f->count == f->room) {
		f->room = 2 * f->room + 16;
		f->pieces = must_grow(f->pieces, f->room, sizeof(*f->pieces));
	}
	f->pieces[f->count++] = (struct piece){ due, len };
	buf_add(&f->bytes, at, len);
}

/* How many bytes may leave now. */
static size_t
flow_ready(const struct proxy *p, const struct flow *f)
{
	size_t i, n = 0, drop = (size_t)(p->orders.drip * DROP_MS / 1000 + 1);

	for (i = 0; i < f->count && f->pieces[i].due <= p->now; i++)
		n += f->pieces[i].len;
	if (p->orders.drip > 0)
		n = p->now < f->drip_at ? 0 : n > drop ? drop : n;
	return n;
}

static int64_t
flow_due(const struct proxy *p, const struct flow *f)
{
	int64_t due = f->count > 0 ? f->pieces[0].due : INT64_MAX;

	return f->count > 0 && p->orders.drip > 0 && f->drip_at > due ? f->drip_at : due;
}

static void
flow_sent(struct proxy *p, struct flow *f, size_t n)
{
	/* A slow drip has drops of one byte, and the more time between them. */
	int64_t each = p->orders.drip > 0 ? (int64_t)n * 1000 / p->orders.drip : 0;
	size_t i = 0;

	f->drip_at = p->now + (each > 0 ? each : 1);
	buf_eat(&f->bytes, n);
	for (; i < f->count && n >= f->pieces[i].len; i++)
		n -= f->pieces[i].len;
	memmove(f->pieces, f->pieces + i, (f->count - i) * sizeof(*f->pieces));
	f->count -= i;
	if (n > 0)
		f->pieces[0].len -= n;
}

/* ---- what goes through ---- */

/* Whether this request is the one that the orders are for. */
static enum cut
doom(struct proxy *p)
{
	struct orders *o = &p->orders;
	enum cut cut = o->cut;

	if (cut == NO_CUT || cut == CUT_IN_CHUNK || --o->nth > 0)
		return NO_CUT;
	o->cut = NO_CUT;
	return cut;
}

/* Takes bytes, and is true when it has the head of a frame. */
static bool
next_frame(struct frames *f, const unsigned char **at, size_t *len)
{
	size_t n;

	while (*len > 0) {
		n = f->left < *len ? f->left : *len;
		f->left -= n;
		*at += n;
		*len -= n;
		if (f->left > 0 || *len == 0)
			return false;
		f->head[f->have++] = *(*at)++;
		--*len;
		if (f->have == sizeof(f->head)) {
			f->have = 0;
			f->left = (size_t)f->head[0] << 16 | (size_t)f->head[1] << 8 | f->head[2];
			return true;
		}
	}
	return false;
}

static unsigned
stream_of(const struct frames *f)
{
	return (unsigned)f->head[6] << 16 | (unsigned)f->head[7] << 8 | f->head[8];
}

/*
 * Looks for requests in what the client said.  A frame of data is one: none of ours has two.  It is
 * small, so it is all there.
 */
static void
listen_in(struct proxy *p, struct link *l, const char *at, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)at;

	while (l->cut == NO_CUT && next_frame(&l->asks, &bytes, &len)) {
		if (l->asks.head[3] != DATA || l->asks.left == 0)
			continue;
		p->requests++;
		l->stream = stream_of(&l->asks);
		l->cut = doom(p);
	}
}

/* Whether the answer to the last request has begun to come. */
static bool
is_answered(struct link *l, const char *at, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)at;
	bool answered = false;

	while (next_frame(&l->answers, &bytes, &len))
		if (l->answers.head[3] <= HEADERS && stream_of(&l->answers) == l->stream)
			answered = true;
	return answered;
}

/* At once, for nothing is sent once we are dead; and by an end, as a reset might overtake it. */
static void
answer_half(struct link *l, const char *at, size_t len)
{
	if (send(l->client, at, len / 2, MSG_NOSIGNAL) == -1)
		link_kill(l);
	l->dead = true;
}

/* What the server said, unless it is to be cut. */
static void
answer(struct proxy *p, struct link *l, const char *at, size_t len)
{
	struct orders *o = &p->orders;

	if (is_answered(l, at, len) && l->cut == CUT_BEFORE_REPLY) {
		link_kill(l);
		return;
	}
	if (o->cut == CUT_IN_CHUNK && --o->nth == 0) {
		o->cut = NO_CUT;
		answer_half(l, at, len);
		return;
	}
	flow_add(&l->down, at, len, p->now + p->orders.delay);
}

static void
receive(struct proxy *p, struct link *l, bool up)
{
	struct flow *f = up ? &l->up : &l->down;
	char piece[16384];
	ssize_t n = read(up ? l->client : l->server, piece, sizeof(piece));

	if (n > 0 && up) {
		listen_in(p, l, piece, (size_t)n);
		flow_add(f, piece, (size_t)n, p->now + p->orders.delay);
	} else if (n > 0) {
		answer(p, l, piece, (size_t)n);
	} else if (n == 0) {
		f->ended = true;
	} else if (errno != EAGAIN && errno != EINTR) {
		link_kill(l);
	}
}

static void
transmit(struct proxy *p, struct link *l, bool up)
{
	struct flow *f = up ? &l->up : &l->down;
	int to = up ? l->server : l->client;
	size_t ready = flow_ready(p, f);
	ssize_t n;

	if (ready > 0) {
		n = send(to, f->bytes.at, ready, MSG_NOSIGNAL);
		if (n > 0)
			flow_sent(p, f, (size_t)n);
		else if (errno != EAGAIN && errno != EINTR)
			link_kill(l);
	}
	if (f->ended && f->bytes.len == 0 && !f->told) {
		shutdown(to, SHUT_WR);
		f->told = true;
	}
	if (up && l->cut == CUT_AFTER_REQUEST && f->bytes.len == 0)
		link_kill(l);
}

void
link_watch(const struct proxy *p, const struct link *l, struct pollfd *fds)
{
	bool hold = p->orders.stop, mute = hold || p->orders.oneway;
	short client = 0, server = 0;

	if (!hold && !l->up.ended && l->up.bytes.len < MOST)
		client |= POLLIN;
	if (!mute && flow_ready(p, &l->down) > 0)
		client |= POLLOUT;
	if (!mute && !l->down.ended && l->down.bytes.len < MOST && !l->connecting)
		server |= POLLIN;
	if (!hold && (l->connecting || flow_ready(p, &l->up) > 0))
		server |= POLLOUT;
	/* Where nothing is awaited an end would wake us for ever. */
	fds[0] = (struct pollfd){ client != 0 ? l->client : -1, client, 0 };
	fds[1] = (struct pollfd){ server != 0 ? l->server : -1, server, 0 };
}

static void
connected(struct link *l)
{
	socklen_t len = sizeof(int);
	int error = 0;

	l->connecting = false;
	if (getsockopt(l->server, SOL_SOCKET, SO_ERROR, &error, &len) == -1 || error != 0)
		link_kill(l);
}

void
link_serve(struct proxy *p, struct link *l, const struct pollfd *fds)
{
	bool hold = p->orders.stop, mute = hold || p->orders.oneway;

	if (l->connecting && fds[1].revents != 0)
		connected(l);
	else if (!l->dead && (fds[1].revents & (POLLIN | POLLHUP | POLLERR)) && !mute)
		receive(p, l, false);
	if (!l->dead && (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) && !hold)
		receive(p, l, true);
	if (!l->dead && !l->connecting && !hold)
		transmit(p, l, true);
	if (!l->dead && !mute)
		transmit(p, l, false);
	if (l->up.told && l->down.told)
		l->dead = true;
}

int64_t
link_due(const struct proxy *p, const struct link *l)
{
	int64_t up = flow_due(p, &l->up), down = flow_due(p, &l->down);

	if (p->orders.stop)
		return INT64_MAX;
	if (p->orders.oneway)
		down = INT64_MAX;
	/* What is due already waits for room, of which poll() tells. */
	up = up <= p->now ? INT64_MAX : up;
	down = down <= p->now ? INT64_MAX : down;
	return up < down ? up : down;
}
