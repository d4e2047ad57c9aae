/* SPDX-License-Identifier: ISC */
#include "differ.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

static void
dial(struct peer *p)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int on = 1;

	if (p->fd != -1)
		return;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons((uint16_t)p->port);
	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->fd == -1 || connect(p->fd, (const struct sockaddr *)&to, sizeof(to)) == -1)
		err(1, "%s: port %d", p->name, p->port);
	setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void
peer_close(struct peer *p)
{
	if (p->fd != -1)
		close(p->fd);
	p->fd = -1;
	buf_free(&p->in);
}

/* More of what it says; false: nothing came in time. */
static bool
more(struct peer *p, int ms)
{
	struct pollfd fd = { p->fd, POLLIN, 0 };
	char piece[16384];
	ssize_t n;

	if (poll(&fd, 1, ms) <= 0)
		return false;
	n = read(p->fd, piece, sizeof(piece));
	if (n <= 0)
		errx(1, "%s: it ended the connection", p->name);
	buf_add(&p->in, piece, (size_t)n);
	return true;
}

static void
need_more(struct peer *p)
{
	if (!more(p, PATIENCE_MS))
		errx(1, "%s: no answer", p->name);
}

void
peer_ask(struct peer *p, const char *path, struct bytes body)
{
	struct buf out = { 0 };
	size_t sent = 0;

	dial(p);
	buf_printf(&out, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", path,
		   body.len);
	buf_add(&out, body.at, body.len);
	while (sent < out.len) {
		ssize_t n = send(p->fd, out.at + sent, out.len - sent, MSG_NOSIGNAL);

		if (n <= 0)
			err(1, "%s", p->name);
		sent += (size_t)n;
	}
	buf_free(&out);
}

/* Where the first \r\n is behind `from'. */
static size_t
line_end(struct peer *p, size_t from)
{
	const char *end;

	while (p->in.len <= from ||
	       (end = memmem(p->in.at + from, p->in.len - from, "\r\n", 2)) == NULL)
		need_more(p);
	return (size_t)(end - p->in.at);
}

static size_t
length_of(const struct buf *head)
{
	const char *at = strcasestr(head->at, "\r\nContent-Length:");

	return at == NULL ? 0 : strtoul(at + 17, NULL, 10);
}

/* The head, and with it the empty line. */
static void
take_head(struct peer *p, struct buf *head)
{
	size_t end;

	do {
		end = line_end(p, 0);
		buf_add(head, p->in.at, end + 2);
		buf_eat(&p->in, end + 2);
	} while (end > 0);
}

/* One chunk, added to `to'; false: it was the last, and the trailer is gone as well. */
static bool
take_chunk(struct peer *p, struct buf *to)
{
	size_t end = line_end(p, 0), n = strtoul(p->in.at, NULL, 16);
	struct buf trailer = { 0 };

	buf_eat(&p->in, end + 2);
	if (n == 0) {
		take_head(p, &trailer);
		buf_free(&trailer);
		return false;
	}
	while (p->in.len < n + 2)
		need_more(p);
	buf_add(to, p->in.at, n);
	buf_eat(&p->in, n + 2);
	return true;
}

/* Without the lines that say when it was, and how long it is. */
static void
drop_line(struct buf *head, const char *name)
{
	char *at = strcasestr(head->at, name), *end;

	if (at == NULL)
		return;
	end = strstr(at + 2, "\r\n");
	memmove(at, end, (size_t)(head->at + head->len - end) + 1);
	head->len -= (size_t)(end - at);
}

void
peer_call(struct peer *p, const char *path, struct bytes body, struct answer *a)
{
	size_t n;

	*a = (struct answer){ 0 };
	peer_ask(p, path, body);
	take_head(p, &a->head);
	buf_text(&a->body, "");
	if (strcasestr(a->head.at, "\r\nTransfer-Encoding: chunked") != NULL) {
		while (take_chunk(p, &a->body))
			;
	} else {
		n = length_of(&a->head);
		while (p->in.len < n)
			need_more(p);
		buf_add(&a->body, p->in.at, n);
		buf_eat(&p->in, n);
	}
	drop_line(&a->head, "\r\nDate:");
	drop_line(&a->head, "\r\nContent-Length:");
}

void
answer_free(struct answer *a)
{
	buf_free(&a->head);
	buf_free(&a->body);
}

char *
peer_line(struct peer *p, int ms)
{
	static struct buf line;
	struct buf head = { 0 };

	while (p->in.len == 0) {
		if (!more(p, ms))
			return NULL;
	}
	if (p->in.at[0] == 'H') {
		take_head(p, &head);
		buf_free(&head);
	}
	line.len = 0;
	/* A server of Go's sends a line of over two kilobytes in a chunk, and its newline in the next. */
	do {
		if (!take_chunk(p, &line))
			errx(1, "%s: a stream ended", p->name);
	} while (line.at[line.len - 1] != '\n');
	return line.at;
}
