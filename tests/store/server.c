/* SPDX-License-Identifier: ISC */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../helpers/tap.h"

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

int
visit(int listener)
{
	int fd = accept(listener, NULL, NULL), on = 1;

	if (fd == -1)
		_exit(1);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

void
note(const char *words, ...)
{
	va_list args;

	va_start(args, words);
	vdprintf(notes, words, args);
	va_end(args);
}

/* Reads the head, byte by byte: what follows is not to be read. */
static bool
hear_head(int fd, char *head, size_t room)
{
	size_t n = 0;

	while (n < room - 1 && read(fd, head + n, 1) == 1) {
		head[++n] = '\0';
		if (n >= 4 && strcmp(head + n - 4, "\r\n\r\n") == 0)
			return true;
	}
	return false;
}

bool
hear(int fd, struct heard *h)
{
	char head[8192];
	const char *length, *token;
	size_t want;
	ssize_t got;

	memset(h, 0, sizeof(*h));
	if (!hear_head(fd, head, sizeof(head)))
		return false;
	length = strcasestr(head, "\r\nContent-Length:");
	token = strcasestr(head, "\r\nAuthorization:");
	if (sscanf(head, "POST %127s", h->path) != 1 || length == NULL)
		return false;
	if (token != NULL)
		sscanf(token + 16, "%127s", h->token);
	want = strtoul(length + 17, NULL, 10);
	while (h->size < want && want < sizeof(h->body)) {
		got = read(fd, h->body + h->size, want - h->size);
		if (got <= 0)
			return false;
		h->size += (size_t)got;
	}
	note("%s %s%s%s\n", h->path, h->token, *h->token != '\0' ? " " : "", h->body);
	return true;
}

int
visit_and_hear(int listener, struct heard *h)
{
	for (;;) {
		int fd = visit(listener);

		if (hear(fd, h))
			return fd;
		close(fd);
	}
}

void
send_text(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		ssize_t sent = write(fd, text, n);

		if (sent <= 0)
			return;
		text += sent;
		n -= (size_t)sent;
	}
}

void
answer(int fd, int status, const char *body)
{
	char head[200];

	snprintf(head, sizeof(head),
		 "HTTP/1.1 %d Whatever\r\nContent-Type: application/json\r\n"
		 "Content-Length: %zu\r\n\r\n",
		 status, strlen(body));
	send_text(fd, head);
	send_text(fd, body);
}

void
begin_stream(int fd)
{
	send_text(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		      "Transfer-Encoding: chunked\r\n\r\n");
}

void
send_chunk(int fd, const char *text)
{
	char size[32];

	snprintf(size, sizeof(size), "%zx\r\n", strlen(text));
	send_text(fd, size);
	send_text(fd, text);
	send_text(fd, "\r\n");
}

const char *
sound(int revision, const char *more)
{
	static char text[4096];

	snprintf(text, sizeof(text),
		 "{\"header\":{\"cluster_id\":\"1\",\"member_id\":\"2\",\"revision\":\"%d\","
		 "\"raft_term\":\"2\"}%s%s}",
		 revision, *more != '\0' ? "," : "", more);
	return text;
}

void
linger(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
	close(fd);
}

void
reset(int fd)
{
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd);
}
