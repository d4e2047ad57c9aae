/* SPDX-License-Identifier: ISC */
#include "grpc.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void
accept_all(struct server *s, int listener, bool operator)
{
	int fd, on = 1;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1) {
		struct conn *c = must_make(sizeof(*c));

		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		c->fd = fd;
		c->operator= operator;
		if (s->count == s->room) {
			s->room = 2 * s->room + 16;
			s->conns = must_grow(s->conns, s->room, sizeof(struct conn *));
		}
		s->conns[s->count++] = c;
	}
}

static void
drop(struct conn *c)
{
	close(c->fd);
	buf_free(&c->in);
	buf_free(&c->out);
	buf_free(&c->request.body);
	watch_free(&c->watches);
	grpc_free(c->grpc);
	free(c);
}

static void
end(struct conn *c)
{
	c->state = ENDING;
	c->out.len = 0;
}

static void
receive(struct conn *c)
{
	char piece[16384];
	ssize_t n;

	while ((n = read(c->fd, piece, sizeof(piece))) > 0)
		buf_add(&c->in, piece, (size_t)n);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (c->grpc != NULL ? grpc_owes(c->grpc)
			    : c->state == ASKED && is_done_later(c->deed.action))
		c->gone = true;
	else
		end(c);
}

static void
transmit(struct conn *c)
{
	ssize_t n = send(c->fd, c->out.at, c->out.len, MSG_NOSIGNAL);

	if (n > 0)
		buf_eat(&c->out, (size_t)n);
	else if (n == -1 && errno != EAGAIN && errno != EINTR)
		end(c);
}

/* The same of one that speaks gRPC. */
static void
advance_grpc(struct conn *c)
{
	if (!grpc_advance(c->grpc))
		c->state = ENDING;
	if (c->gone && !grpc_owes(c->grpc))
		end(c);
}

/* As far as it can go on without waiting. */
static void
advance(struct server *s, struct conn *c)
{
	int n;

	if (c->grpc == NULL && !c->operator&& grpc_begins(&c->in)) {
		c->grpc = grpc_new(s, c);
		if (s->log != NULL) {
			fprintf(s->log, "%" PRId64 " connection\n", s->fake.now);
			fflush(s->log);
		}
	}
	if (c->grpc != NULL && c->state != ENDING)
		advance_grpc(c);
	while (c->grpc == NULL && (c->state == READING || c->state == ASKED)) {
		if (c->state == ASKED) {
			if (c->serve_at > s->fake.now)
				break;
			serve(s, c);
			if (c->gone)
				end(c);
			continue;
		}
		n = http_read(&c->in, &c->request, &c->out);
		if (n == 0)
			break;
		if (n == 1)
			serve_begin(s, c);
		else
			end(c);
	}
	if (c->out.len > 0 && c->write_at <= s->fake.now)
		transmit(c);
}

static void
sweep(struct server *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count; i++) {
		struct conn *c = s->conns[i];

		if (c->state == ENDING && c->out.len == 0)
			drop(c);
		else
			s->conns[n++] = c;
	}
	s->count = n;
}

/* Leases whose time is over. */
static void
expire(struct server *s)
{
	struct lease *lease;
	bool any = false;

	while ((lease = lease_over(&s->fake.leases, s->fake.now)) != NULL) {
		if (s->log != NULL) {
			fprintf(s->log, "%" PRId64 " over %" PRId64 "\n", s->fake.now, lease->id);
			fflush(s->log);
		}
		lease_revoke(&s->fake.leases, lease, &s->fake.kv);
		any = true;
	}
	if (any)
		serve_watches(s);
}

static short
events_of(const struct server *s, const struct conn *c)
{
	if (c->gone || (s->paused && !c->operator))
		return 0;
	return (short)(POLLIN | (c->out.len > 0 && c->write_at <= s->fake.now ? POLLOUT : 0));
}

/* How long there is nothing to do but to wait: ms, or -1. */
static int
patience(const struct server *s)
{
	int64_t next = lease_next(&s->fake.leases);
	size_t i;

	for (i = 0; i < s->count && !s->paused; i++) {
		const struct conn *c = s->conns[i];

		if (c->state == ASKED && c->serve_at < next)
			next = c->serve_at;
		if (c->grpc != NULL && grpc_due(c->grpc) < next)
			next = grpc_due(c->grpc);
		if (c->out.len > 0 && c->write_at > s->fake.now && c->write_at < next)
			next = c->write_at;
	}
	if (next == INT64_MAX)
		return -1;
	return next <= s->fake.now ? 0 : (int)(next - s->fake.now);
}

/* What is to be watched: the connections, and behind them the two sockets where they come. */
static struct pollfd *
watch_all(const struct server *s)
{
	struct pollfd *fds = must_make((s->count + 2) * sizeof(*fds));
	size_t i;

	for (i = 0; i < s->count; i++)
		fds[i] = (struct pollfd){ s->conns[i]->fd, events_of(s, s->conns[i]), 0 };
	fds[s->count] = (struct pollfd){ s->paused ? -1 : s->listener, POLLIN, 0 };
	fds[s->count + 1] = (struct pollfd){ s->control, POLLIN, 0 };
	for (i = 0; i < s->count; i++) {
		/* Else a connection that was given up would wake us without end. */
		if (fds[i].events == 0)
			fds[i].fd = -1;
	}
	return fds;
}

void
loop(struct server *s)
{
	size_t i, count;

	while (!s->over) {
		struct pollfd *fds = watch_all(s);

		s->fake.now = now_ms();
		count = s->count;
		if (poll(fds, count + 2, patience(s)) == -1 && errno != EINTR)
			s->over = true;
		s->fake.now = now_ms();
		expire(s);
		for (i = 0; i < count; i++) {
			struct conn *c = s->conns[i];

			if (fds[i].revents & (POLLIN | POLLERR | POLLHUP))
				receive(c);
		}
		for (i = 0; i < count; i++) {
			if (!s->paused || s->conns[i]->operator)
				advance(s, s->conns[i]);
		}
		if (fds[count].revents != 0)
			accept_all(s, s->listener, false);
		if (fds[count + 1].revents != 0)
			accept_all(s, s->control, true);
		free(fds);
		sweep(s);
	}
	for (i = 0; i < s->count; i++) {
		/* The last word: the answer to who told us to end. */
		if (s->conns[i]->out.len > 0)
			transmit(s->conns[i]);
		drop(s->conns[i]);
	}
	free(s->conns);
}
