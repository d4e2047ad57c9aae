/* SPDX-License-Identifier: ISC */
/*
 * server.h - a gRPC server that does what a test wants, right or wrong: a function of the test's, run
 * by a child, which takes connections one after the other and says what it hears and answers.
 */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "etcd/proto/wire.h"

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

/* A connection. */
struct visitor;

/* A message of a call: "Txn", with the first key in it; a user has a password behind its NUL. */
struct heard {
	int32_t id;
	char call[64], token[128], key[160];
};

struct visitor *visit(int listener);
struct visitor *visit_with(int listener, unsigned window); /* that a stream has at first */
int raw(const struct visitor *v);                          /* its descriptor */

/* Reads a message, and notes "CALL [TOKEN] WORDS"; false when there is none any more. */
bool hear(struct visitor *v, struct heard *h);

/* The next connection that a message comes over: one may be opened and closed without. */
struct visitor *visit_and_hear(int listener, struct heard *h);

void note(const char *words, ...) __attribute__((format(printf, 1, 2)));
void send_bytes(int fd, const void *bytes, size_t n);

/* Pieces of an answer; say() and end_call() begin with a status of 200. */
void begin_call(struct visitor *v, int32_t id, const char *status);
void say(struct visitor *v, int32_t id, const void *bytes, size_t n);
void end_call(struct visitor *v, int32_t id, int status,
	      const char *message); /* gRPC's; -1: none */

void answer(struct visitor *v, int32_t id, struct wire_out message);            /* a whole one */
void page(struct visitor *v, int32_t id, const char *status, const char *text); /* not gRPC's */
void reset_call(struct visitor *v, int32_t id, unsigned code);
void go_away(struct visitor *v, int32_t last);
void let_write(struct visitor *v, int32_t id); /* waits for that call, and opens its window */
void flush(struct visitor *v);
void hold_back(struct visitor *v, bool held);  /* nothing is sent until that is false again */
bool is_called(struct visitor *v, int32_t id); /* reads on, once */

/* A framed message with a header of that revision, and with more fields; or without. */
struct wire_out message(int revision, const struct wire_out *more);
struct wire_out sound(int revision);

/* Waits until the other end closes. */
void linger(struct visitor *v);

/* Closes as one does that crashed. */
void reset(struct visitor *v);

#endif
