/* SPDX-License-Identifier: ISC */
/*
 * source.h - what the keeper sleeps for: descriptors, each with a function, and a time.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct keeper_taker;

/* A descriptor that epoll(7) watches, and what to call when it is ready. */
struct source {
	void (*ready)(struct source *s);
	struct keeper_taker *taker;
};

bool sources_open(void);

int source_watch(int fd, uint32_t events, struct source *s); /* 0, or a negative errno */
void source_unwatch(int fd);

/* Sleeps until a source is ready, or that time has come (CLOCK_BOOTTIME, ns; UINT64_MAX: never). */
void sources_sleep(uint64_t until_ns);

#endif
