/* SPDX-License-Identifier: ISC */
/*
 * server.h - an HTTP server that does what a test wants, right or wrong: a function of the test's,
 * run by a child, which takes connections one after the other and says what it hears and answers.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct server {
	pid_t pid;
	unsigned port;
	int notes; /* what was noted, to be read */
};

typedef void script(int listener);

/* On 127.0.0.1; until the script is at its end. */
struct server serve(script *s);

/* On that address and port, IPv4 or IPv6; its port is 0 if that address can't be had. */
struct server serve_at(const char *address, unsigned port, script *s);

/* Waits for that end; all that was noted, a line each, to be freed. */
char *served(struct server *s);

/* A port of 127.0.0.1 that nobody listens on. */
unsigned nobodys_port(void);

/* ---- in a script ---- */

struct heard {
	char path[128], token[128];
	char body[65536];
	size_t size;
};

int visit(int listener);

/* Reads a request, and notes "PATH BODY"; false when there is none any more. */
bool hear(int fd, struct heard *h);

/* The next connection that a request comes over: one may be opened and closed without. */
int visit_and_hear(int listener, struct heard *h);

void note(const char *words, ...) __attribute__((format(printf, 1, 2)));
void send_text(int fd, const char *text); /* as it stands */
void answer(int fd, int status, const char *body);
void begin_stream(int fd); /* 200, in chunks */
void send_chunk(int fd, const char *text);

/* "{}" with a header of that revision, and more before the brace: an answer of etcd's. */
const char *sound(int revision, const char *more);

/* Waits until the other end closes. */
void linger(int fd);

/* Closes as one does that crashed. */
void reset(int fd);

#endif
