/* SPDX-License-Identifier: ISC */
/*
 * site.h - what the instrumented sources of lib/ call.
 */
#ifndef SITE_H
#define SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;
struct timespec;

enum site_kind { LOAD, STORE, RMW, FENCE };
enum rmw { EXCHANGE, ADD, SUBTRACT, AND, MARK }; /* MARK is the kernel's */

/* An atomic operation of a source.  NONE as the order of a fence: no fence. */
#define NONE (-1)
struct site {
	const char *file, *function, *word;
	int line;
	enum site_kind kind;
	int order;
	unsigned hits; /* how often it was executed */
};

uint64_t weak_load(const volatile void *p, size_t size, struct site *site);
void weak_store(volatile void *p, size_t size, uint64_t value, struct site *site);
uint64_t weak_rmw(volatile void *p, size_t size, enum rmw op, uint64_t value, struct site *site);
bool weak_cas(volatile void *p, size_t size, void *expected, uint64_t value, bool may_fail,
	      struct site *site);
void weak_fence(struct site *site);

/* The thread spins: another runs before it looks again. */
void weak_pause(void);

void *weak_memcpy(void *to, const void *from, size_t n);
void *weak_memset(void *to, int byte, size_t n);
int weak_clock(int clock, struct timespec *t);
int weak_fstat(int fd, struct stat *sb);

#endif
