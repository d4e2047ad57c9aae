/* SPDX-License-Identifier: ISC */
/*
 * made.h - logs made by hand, each with one crime, or with what looks like one.
 *
 * Times are in ms here.  `L' and `S' are written by a taker's numbers; the rest as in chaos.h.
 */
#ifndef CHAOS_MADE_H
#define CHAOS_MADE_H

#include <stdint.h>

#include "judge.h"

#define MS       UINT64_C(1000000)
#define BIRTH    UINT64_C(1700000000000000000)
#define EXIT(n)  ((n) << 8)
#define INNOCENT GUILTS

struct made {
	void (*log)(void);
	enum guilt want; /* of which it is guilty, and of nothing else */
	const char *words;
};

/* For each law, the logs that are judged by it; the last has no `log'. */
extern const struct made made_limit[], made_line[], made_file[], made_end[], made_stall[];

void made_write(const struct made *made, const char *path);

/* ---- for the logs ---- */

void line(char letter, unsigned ms, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* For the records with two times. */
void spell(char letter, unsigned from, unsigned to, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What is launched next; its id. */
unsigned launch_as(unsigned ms, struct flk_request want, unsigned flags);
unsigned launch(unsigned ms, unsigned w, unsigned n, unsigned flags);
/* In the limiter that may be fair, with this key. */
unsigned launch_of(unsigned ms, unsigned key, unsigned w, unsigned n);
/* The taker that is launched next is to hold the other limiter as well; the id of that permit. */
unsigned launch_also(unsigned ms, unsigned w, unsigned n);

void start(unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told);
void start_as(char letter, uint64_t birth, unsigned ms, unsigned id, unsigned ticket,
	      unsigned fence, unsigned w, unsigned told);
void start_in(uint64_t birth, unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told);
void start_also(unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told);
/* Of weight 2, on these two seats. */
void start_on(unsigned ms, unsigned id, unsigned ticket, unsigned seat, unsigned other);

void finish(unsigned ms, unsigned id);
/* A wrapper, its command: hit, and reaped. */
void kill_wrapper(unsigned ms, unsigned id);
void kill_command(unsigned ms, unsigned id);
/* A line that is no record. */
void scrawl(const char *text);
/* The log is cut short. */
void omit_end(void);

#endif
