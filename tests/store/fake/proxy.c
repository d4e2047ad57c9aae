/* SPDX-License-Identifier: ISC */
/*
 * proxy - between clients and a server on 127.0.0.1, to make the network between them bad.
 *
 *	proxy [-p PORT] -c SOCKET TARGET-PORT
 *
 * It prints its port.  Orders are lines in the body of a request to the control socket:
 *
 *	curl --unix-socket SOCKET -d 'cut-before-reply 2' http://proxy/
 *
 *	stop			a black hole: nothing is accepted, read or written
 *	oneway			what the server says is held back
 *	refuse			new connections are refused; what is there goes on
 *	delay MS		each way
 *	drip BYTES		a second, each way
 *	go			none of these any more
 *	kill			all connections are reset
 *	cut-after-request [N]	the Nth request from now on was sent on whole: a reset
 *	cut-before-reply [N]	its answer has come: a reset instead
 *	cut-in-chunk [N]	half of the Nth piece of answers that comes, and an end
 *		(a request is a message to the server, by HTTP/2)
 *	count			requests
 *	links			connections there are
 *	accepted		connections there were
 *	quit
 */
#include "proxy.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sockets.h"

/* One request after the other; nobody has to wait for long. */
struct operator
{
	int listener, fd; /* -1: nobody is there */
	struct buf in;
	struct buf body; /* of a request */
	bool over;
};

static void
set_listening(struct proxy *p, bool listening)
{
	if (listening && p->listener == -1) {
		p->listener = listen_on_port(&p->port);
		if (p->listener == -1)
			err(1, "port %d", p->port);
	} else if (!listening && p->listener != -1) {
		close(p->listener);
		p->listener = -1;
	}
}

/* [N] */
static void
order_cut(struct proxy *p, enum cut cut, const char *rest)
{
	unsigned long n = strtoul(rest, NULL, 10);

	p->orders.cut = cut;
	p->orders.nth = n > 0 ? n : 1;
}

static void
order_go(struct proxy *p)
{
	p->orders = (struct orders){ 0 };
	set_listening(p, true);
}

static bool
order_is(struct proxy *p, const char *name, const char *rest)
{
	static const char *const cuts[] = { "", "cut-after-request", "cut-before-reply",
					    "cut-in-chunk" };
	int i;

	for (i = CUT_AFTER_REQUEST; i <= CUT_IN_CHUNK; i++) {
		if (strcmp(name, cuts[i]) != 0)
			continue;
		order_cut(p, (enum cut)i, rest);
		return true;
	}
	if (strcmp(name, "stop") == 0)
		p->orders.stop = true;
	else if (strcmp(name, "oneway") == 0)
		p->orders.oneway = true;
	else if (strcmp(name, "refuse") == 0)
		set_listening(p, false);
	else if (strcmp(name, "delay") == 0)
		p->orders.delay = atol(rest);
	else if (strcmp(name, "drip") == 0)
		p->orders.drip = atol(rest);
	else if (strcmp(name, "go") == 0)
		order_go(p);
	else
		return false;
	return true;
}

static bool
order(struct proxy *p, struct operator* o, const char *line, struct buf *out)
{
	char name[32];
	int n = 0;
	size_t i;

	if (sscanf(line, "%31s %n", name, &n) < 1)
		return true;
	if (strcmp(name, "quit") == 0)
		o->over = true;
	else if (strcmp(name, "count") == 0)
		buf_printf(out, "%lu\n", p->requests);
	else if (strcmp(name, "links") == 0)
		buf_printf(out, "%zu\n", p->count);
	else if (strcmp(name, "accepted") == 0)
		buf_printf(out, "%lu\n", p->accepted);
	else if (strcmp(name, "kill") == 0)
		for (i = 0; i < p->count; i++)
			link_kill(p->links[i]);
	else
		return order_is(p, name, line + n);
	return true;
}

/* The orders in a request, and their answer.  The client reads at once, so it is sent in one go. */
static void
obey(struct proxy *p, struct operator* o)
{
	struct buf said = { 0 }, out = { 0 };
	char *rest = NULL, *line;
	bool fine = true;

	buf_text(&o->body, "");
	buf_text(&said, "");
	for (line = strtok_r(o->body.at, "\r\n", &rest); line != NULL && fine;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		fine = order(p, o, line, &said);
		if (!fine)
			buf_printf(&said, "not understood: %s\n", line);
	}
	http_answer(&out, fine, (struct bytes){ said.at, said.len });
	if (send(o->fd, out.at, out.len, MSG_NOSIGNAL) == -1)
		warn("control");
	buf_free(&said);
	buf_free(&out);
}

static void
serve_operator(struct proxy *p, struct operator* o)
{
	char piece[4096];
	ssize_t n;
	int got;

	if (o->fd == -1) {
		o->fd = accept4(o->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		return;
	}
	n = read(o->fd, piece, sizeof(piece));
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_add(&o->in, piece, (size_t)n);
	got = http_read(&o->in, &o->body);
	if (got == 1)
		obey(p, o);
	if (n <= 0 || got == -1) {
		close(o->fd);
		o->fd = -1;
		o->in.len = 0;
	}
}

static void
sweep(struct proxy *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->count; i++) {
		if (p->links[i]->dead)
			link_free(p->links[i]);
		else
			p->links[n++] = p->links[i];
	}
	p->count = n;
}

static int
patience(const struct proxy *p)
{
	int64_t next = INT64_MAX, due;
	size_t i;

	for (i = 0; i < p->count; i++) {
		due = link_due(p, p->links[i]);
		if (due < next)
			next = due;
	}
	return next == INT64_MAX ? -1 : next <= p->now ? 0 : (int)(next - p->now);
}

static void
accept_all(struct proxy *p)
{
	int fd;

	while ((fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1) {
		p->accepted++;
		link_new(p, fd);
	}
}

/* Two places for each link, and then those where new ones and the operator come. */
static void
turn(struct proxy *p, struct operator* o)
{
	size_t i, count = p->count;
	struct pollfd *fds = must_make((2 * count + 2) * sizeof(*fds));
	struct pollfd *last = fds + 2 * count;

	p->now = now_ms();
	for (i = 0; i < count; i++)
		link_watch(p, p->links[i], &fds[2 * i]);
	last[0] = (struct pollfd){ p->orders.stop ? -1 : p->listener, POLLIN, 0 };
	last[1] = (struct pollfd){ o->fd != -1 ? o->fd : o->listener, POLLIN, 0 };
	if (poll(fds, 2 * count + 2, patience(p)) == -1 && errno != EINTR)
		err(1, "poll");
	p->now = now_ms();
	for (i = 0; i < count; i++)
		link_serve(p, p->links[i], &fds[2 * i]);
	if (last[0].revents != 0)
		accept_all(p);
	if (last[1].revents != 0)
		serve_operator(p, o);
	sweep(p);
	free(fds);
}

int
main(int argc, char **argv)
{
	struct operator o = { .listener = -1, .fd = -1 };
	struct proxy p = { .listener = -1 };
	int c;

	while ((c = getopt(argc, argv, "c:p:")) != -1) {
		if (c == 'c')
			o.listener = listen_on_path(optarg);
		else if (c == 'p')
			p.port = atoi(optarg);
		else
			errx(1, "see the head of proxy.c");
	}
	if (o.listener == -1 || optind + 1 != argc)
		errx(1, "see the head of proxy.c");
	p.target = atoi(argv[optind]);
	p.reserved = reserve_port(&p.port);
	if (p.reserved == -1)
		err(1, "port %d", p.port);
	set_listening(&p, true);
	printf("%d\n", p.port);
	fflush(stdout);
	while (!o.over)
		turn(&p, &o);
	while (p.count > 0)
		link_free(p.links[--p.count]);
	free(p.links);
	return 0;
}
