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

/* As far as it can go on without waiting. */
static void
advance(struct server *s, struct conn *c)
{
	int n = 1;

	if (c->grpc == NULL && !c->operator&& grpc_begins(&c->in)) {
		c->grpc = grpc_new(s, c);
		serve_note(s, "connection");
	}
	if (c->grpc != NULL && c->state != ENDING && !grpc_advance(c->grpc))
		c->state = ENDING;
	while (c->grpc == NULL && c->state == READING && n == 1) {
		n = http_read(&c->in, &c->request, &c->out);
		if (n == 1)
			serve(s, c);
		else if (n == -1)
			end(c);
	}
	if (c->out.len > 0)
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
		serve_note(s, "over %" PRId64, lease->id);
		lease_revoke(&s->fake.leases, lease, &s->fake.kv);
		any = true;
	}
	if (any)
		serve_watches(s);
}

/* How long there is nothing to do but to wait: ms, or -1. */
static int
patience(const struct server *s)
{
	int64_t next = lease_next(&s->fake.leases);

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

	for (i = 0; i < s->count; i++) {
		short out = s->conns[i]->out.len > 0 ? POLLOUT : 0;

		fds[i] = (struct pollfd){ s->conns[i]->fd, (short)(POLLIN | out), 0 };
	}
	fds[s->count] = (struct pollfd){ s->listener, POLLIN, 0 };
	fds[s->count + 1] = (struct pollfd){ s->control, POLLIN, 0 };
	return fds;
}

void
loop(struct server *s)
{
	size_t i, count;

	for (;;) {
		struct pollfd *fds = watch_all(s);

		s->fake.now = now_ms();
		count = s->count;
		if (poll(fds, count + 2, patience(s)) == -1 && errno != EINTR)
			abort();
		s->fake.now = now_ms();
		expire(s);
		for (i = 0; i < count; i++)
			if (fds[i].revents & (POLLIN | POLLERR | POLLHUP))
				receive(s->conns[i]);
		for (i = 0; i < count; i++)
			advance(s, s->conns[i]);
		if (fds[count].revents != 0)
			accept_all(s, s->listener, false);
		if (fds[count + 1].revents != 0)
			accept_all(s, s->control, true);
		free(fds);
		sweep(s);
	}
}
