/* SPDX-License-Identifier: ISC */
/*
 * start.h - the store of a test in C: a server that it starts, and that ends with it.
 */
#ifndef START_H
#define START_H

#include <stdio.h>
#include <sys/types.h>

struct store_server {
	pid_t pid;
	FILE *to, *from; /* its standard input and output */
	char first[64];  /* the first line that it said */
};

/* The program is that file below the tests' build directory; argument: its only one, or NULL. */
void start_server(struct store_server *s, const char *program, const char *argument);
void tell_server(struct store_server *s, const char *command); /* and waits for its line */
void end_server(struct store_server *s);

/*
 * Starts the server of the engine that the program has: fake/start.c or memory/start.c.  Its URL,
 * without a path.
 */
const char *start_store(void);
extern struct store_server store_server;

#endif
