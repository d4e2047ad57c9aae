/* SPDX-License-Identifier: ISC */
/*
 * conn.c - connections: see h2.h, and the states in inside.h.
 *
 * A call goes out with the client's preface, in the first packet: the server's settings are not
 * waited for.
 *
 * A server, or a proxy before it, may hang and yet keep its connections.  So while a stream is under way
 * and nothing is heard, we send a PING.  etcd ends a connection whose client sends one more often than
 * every 5 seconds.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "clock.h"
#include "inside.h"
#include "now.h"

#define PIECE  16384 /* no record of TLS is longer: what is left is in the socket, as epoll knows */
#define PIECES 16    /* that one step reads of one connection */

uint64_t h2_quiet_ns = 10 * SECOND, h2_ping_ns = 5 * SECOND;

/* ---- the one descriptor -------------------------------------------------------------------- */

struct h2 *
h2_new(const struct h2_tls *tls)
{
	struct h2 *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return NULL;
	h->tls = tls;
	TAILQ_INIT(&h->ready);
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h->epoll != -1)
		return h;
	free(h);
	return NULL;
}

int
h2_fd(const struct h2 *h)
{
	return h->epoll;
}

void
conn_look_for(struct h2_conn *c, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = c };

	if (c->events == events || c->fd == -1)
		return;
	epoll_ctl(c->h2->epoll, c->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, c->fd, &ev);
	c->events = events;
}

/* ---- its end ------------------------------------------------------------------------------- */

void
conn_hang_up(struct h2_conn *c)
{
	tls_end(c->tls);
	c->tls = NULL;
	if (c->fd == -1)
		return;
	/* If a forked process keeps it open, epoll would report it for ever. */
	epoll_ctl(c->h2->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	close(c->fd);
	c->fd = -1;
	c->events = 0;
}

void
conn_die(struct h2_conn *c, struct trouble why)
{
	conn_hang_up(c);
	c->state = DEAD;
	c->trouble = why;
	streams_die(c);
}

void
conn_free(struct h2_conn *c)
{
	LIST_REMOVE(c, link);
	conn_hang_up(c);
	nghttp2_session_del(c->session);
	free(c->out.at);
	free(c->addresses);
	free(c);
}

void
h2_free(struct h2 *h)
{
	if (h == NULL)
		return;
	while (!LIST_EMPTY(&h->conns))
		conn_free(LIST_FIRST(&h->conns));
	close(h->epoll);
	free(h);
}

void
h2_leave(struct h2_conn *c)
{
	c->left = true;
	c->eager = true;
}

/* Frees those that were left, and have no stream any more: the server hears the end. */
static void
sweep(struct h2 *h)
{
	struct h2_conn *c, *next;

	for (c = LIST_FIRST(&h->conns); c != NULL; c = next) {
		next = LIST_NEXT(c, link);
		if (c->left && LIST_EMPTY(&c->streams))
			conn_free(c);
	}
}

bool
h2_usable(const struct h2_conn *c)
{
	return c->state != DEAD && nghttp2_session_check_request_allowed(c->session) != 0;
}

bool
h2_answered(const struct h2_conn *c)
{
	return c->spoke || c->shaken;
}

/* ---- frames -------------------------------------------------------------------------------- */

/* What came is not HTTP/2. */
static struct trouble
foreign(const struct h2_conn *c)
{
	if (!c->spoke)
		return (struct trouble){ WRONG, NO_H2 };
	return (struct trouble){ BROKEN, CUT };
}

/* False: there is no more to read. */
static bool
receive_piece(struct h2_conn *c)
{
	uint8_t piece[PIECE];
	ssize_t n = c->tls != NULL ? tls_read(c->tls, piece, sizeof(piece))
				   : read(c->fd, piece, sizeof(piece));
	struct trouble why = { BROKEN, CUT };

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		if (c->tls != NULL)
			tls_explain(c->tls, &why);
		conn_die(c, why);
		return false;
	}
	c->heard = flki_boottime_ns();
	c->asked = 0;
	if (!c->spoke && c->tls == NULL && n > 1 && piece[0] == 21 && piece[1] == 3) /* an alert */
		conn_die(c, (struct trouble){ WRONG, TLS_ONLY });
	else if (nghttp2_session_mem_recv(c->session, piece, (size_t)n) < 0)
		conn_die(c, foreign(c));
	return c->state != DEAD;
}

/*
 * To the end, if there is one: what an answer leads to must not be begun on a connection that has ended.
 * What is left after so many pieces epoll reports again.
 */
static void
receive(struct h2_conn *c)
{
	int i;

	for (i = 0; i < PIECES && receive_piece(c); i++)
		;
}

/* Puts frames into `out', until it has about one piece of them; false: for want of memory. */
static bool
gather(struct h2_conn *c)
{
	const uint8_t *frame;
	ssize_t n;

	c->written = c->out.n = 0;
	while (c->out.n < PIECE && (n = nghttp2_session_mem_send(c->session, &frame)) != 0) {
		if (n < 0)
			return false;
		wire_raw(&c->out, frame, (size_t)n);
	}
	return !c->out.failed;
}

static void
transmit(struct h2_conn *c)
{
	for (;;) {
		const uint8_t *from;
		ssize_t n;

		if (c->written == c->out.n && !gather(c)) {
			conn_die(c, (struct trouble){ AWAY, NO_MEMORY });
			return;
		}
		if (c->out.n == 0)
			break;
		from = c->out.at + c->written;
		n = c->tls != NULL ? tls_write(c->tls, from, c->out.n - c->written)
				   : send(c->fd, from, c->out.n - c->written, MSG_NOSIGNAL);
		if (n > 0) {
			c->written += (size_t)n;
			continue;
		}
		/* If nothing can be written any more, there may still be an answer to be read. */
		if (errno != EAGAIN && errno != EINTR)
			c->written = c->out.n;
		break;
	}
	conn_look_for(c, EPOLLIN | (c->written < c->out.n ? (uint32_t)EPOLLOUT : 0));
}

/* ---- steps --------------------------------------------------------------------------------- */

static uint64_t
conn_due(const struct h2_conn *c)
{
	if (c->state == DEAD)
		return UINT64_MAX;
	if (c->eager)
		return 0;
	if (c->state != OPEN)
		return c->until;
	if (LIST_EMPTY(&c->streams))
		return UINT64_MAX;
	return c->asked != 0 ? c->asked + h2_ping_ns : c->heard + h2_quiet_ns;
}

static void
ping(struct h2_conn *c)
{
	nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL);
	c->asked = flki_boottime_ns();
}

void
h2_probe(struct h2_stream *s)
{
	struct h2_conn *c = s->conn;

	if (c == NULL || c->state != OPEN || c->asked != 0)
		return;
	ping(c);
	c->eager = true;
}

/* Its time has come. */
static void
overdue(struct h2_conn *c)
{
	if (c->state == CONNECTING && c->tls == NULL) {
		connect_next(c, (struct trouble){ AWAY, SILENT });
	} else if (c->state == CONNECTING || c->asked != 0) {
		conn_die(c, (struct trouble){ AWAY, SILENT });
	} else {
		ping(c);
	}
}

static void
step(struct h2_conn *c, bool ready)
{
	c->eager = false;
	if (ready && c->state == OPEN)
		receive(c);
	else if (ready && c->state != DEAD)
		connect_go_on(c);
	else if (conn_due(c) <= flki_boottime_ns())
		overdue(c);
	if (c->state == OPEN)
		transmit(c);
	/* Whether libnghttp2 has nothing more to do with it. */
	if (c->state == OPEN && nghttp2_session_want_read(c->session) == 0 &&
	    nghttp2_session_want_write(c->session) == 0)
		conn_die(c, foreign(c));
}

void
h2_step(struct h2 *h)
{
	struct epoll_event ev[16];
	int n = epoll_wait(h->epoll, ev, 16, 0), i;
	struct h2_conn *c;

	for (i = 0; i < n; i++)
		if (ev[i].data.ptr != NULL)
			step(ev[i].data.ptr, true);
	LIST_FOREACH(c, &h->conns, link)
		if (conn_due(c) <= flki_boottime_ns())
			step(c, false);
	streams_call(h);
	/* What the starters have to say goes out at once. */
	LIST_FOREACH(c, &h->conns, link)
		if (c->eager)
			step(c, false);
	sweep(h);
}

uint64_t
h2_due(const struct h2 *h)
{
	uint64_t due = TAILQ_EMPTY(&h->ready) ? UINT64_MAX : 0;
	const struct h2_conn *c;

	LIST_FOREACH(c, &h->conns, link)
		due = earlier(due, conn_due(c));
	return due;
}
