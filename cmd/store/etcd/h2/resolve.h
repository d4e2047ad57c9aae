/* SPDX-License-Identifier: ISC */
/*
 * resolve.h - addresses of names, without blocking the loop: getaddrinfo() blocks for as long as
 * the resolver does, so a child calls it, and writes what it finds into a pipe.
 *
 * R1  There is one child at a time, and it has a bounded time: a resolver that hangs costs one
 *     process, and nothing grows.
 * R2  The child keeps no descriptor but the pipe, and dies with its parent.
 * R3  We use its process id only until it is reaped, while the id is surely the child's own.
 */
#ifndef RESOLVE_H
#define RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zero it before its first use. */
struct resolver {
	pid_t pid;      /* 0: no child to reap */
	int fd;         /* the read end of the pipe; valid only while it is under way */
	bool under_way; /* we still read what the child writes */
	bool exits;     /* it has closed its descriptors */
	uint64_t until; /* when we kill the child */
	size_t first;   /* the next child begins with this name */
};

/* For tests: how long a child may take. */
extern unsigned resolver_patience_ms;

/* False: it began nothing, as the last child is not gone yet, or for want of memory. */
bool resolver_start(struct resolver *r, const char *const *name, size_t n);

/* The i-th name has these addresses: "192.0.2.1,2001:db8::1". */
typedef void resolver_finds(void *context, size_t i, const char *addresses);

/* Reads what there is to read.  False once nothing more will come: call resolver_end() next. */
bool resolver_step(struct resolver *r, resolver_finds *finds, void *context);

/* When to call resolver_step(), however silent the child is. */
uint64_t resolver_due(const struct resolver *r);

/* Ends what is under way, and closes its descriptor. */
void resolver_end(struct resolver *r);

#endif
