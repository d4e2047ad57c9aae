/* SPDX-License-Identifier: ISC */
/*
 * resolve.h - looks up the names of a store's hosts without blocking the loop, and not too often.
 */
#ifndef RESOLVE_H
#define RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resolver;

/* The i-th host has these addresses: "192.0.2.1,2001:db8::1". */
typedef void resolver_found(void *context, size_t i, const char *addresses);

/*
 * NULL for want of memory.  epoll is readable when resolver_step() has something to do.  name[i] is NULL for a
 * host that needs no look-up; the names outlive the resolver.
 */
struct resolver *resolver_new(int epoll, const char *const *name, size_t n, uint64_t pause_most,
			      resolver_found *found, void *context);
void resolver_free(struct resolver *r); /* takes NULL, too */

/* Whether that is neither an address nor a path, and so is to be looked up. */
bool resolver_is_name(const char *host);

/* Looks all names up, unless the last look-up was just now, or its child is not gone yet. */
void resolver_start(struct resolver *r);

/* A look-up is under way; resolver_start() would begin one. */
bool resolver_looks(const struct resolver *r);
bool resolver_may_start(const struct resolver *r);

/* The names were of use: the next look-up may begin soon after the last. */
void resolver_was_useful(struct resolver *r);

uint64_t resolver_due(const struct resolver *r); /* as records_due() */
void resolver_step(struct resolver *r);          /* calls found() */

/* For tests: how long a look-up may take. */
extern unsigned resolver_patience_ms;

#endif
