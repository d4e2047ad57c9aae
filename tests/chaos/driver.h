/* SPDX-License-Identifier: ISC */
/*
 * driver.h - the driver's parts: the takers that were launched, what is done to them, and the limiters.
 */
#ifndef CHAOS_STORM_H
#define CHAOS_STORM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../helpers/request.h"
#include "chaos.h"

#define AT_ONCE  240  /* takers */
#define PROGRAMS 2000 /* processes that run under permits, at most */
#define LIMITERS 4
#define QUIET    3  /* this limiter is left alone while its few takers are not done */
#define LIMIT    16 /* the largest that anyone declares, and so the most orphans at once */

struct taker {
	pid_t pid, pgid;    /* 0: nobody */
	uint64_t id, group; /* id: if it holds two limiters, id - 1 is its second permit */
	unsigned lim;
};

struct program {
	pid_t pid;
	uint64_t id;
	bool heir;
};

struct flk;

struct limiter {
	char path[200];
	unsigned n; /* what most declare */
};

extern struct taker taker[AT_ONCE];
extern struct program program[PROGRAMS];
extern unsigned programs;
extern unsigned takers_interrupted; /* they started, and their waits had been interrupted */
extern unsigned takers_of_two;      /* they started under the permits of two limiters */
extern struct limiter limiter[LIMITERS];
extern uint64_t last_id;

unsigned below(unsigned n); /* a random number */
bool chance(unsigned percent);

bool due(double per_second, double seconds);

/* ---- choice.c ---- */

struct words {
	char text[40][24];
	char *word[41];
	unsigned n, texts;
};

struct choice {
	struct flk_request want; /* limit 0: the latest */
	unsigned lim, flags;
	unsigned key; /* 1 to KEYS; 0: none of its own */
	unsigned wait_ms, run_ms;
	unsigned also, also_w, also_n; /* --and; also_w 0: none */
};

struct choice choose(bool quiet); /* quiet: of that limiter */

/* SELF: our own program.  ID: the taker's; its second permit, if it has one, is ID - 1. */
void choice_words(struct words *w, const struct choice *c, uint64_t id, const char *self);

/* ---- takers.c ---- */

void takers_begin(const char *self, const char *log);
void takers_launch(void);     /* fills up the empty places, some at a time */
bool takers_reap(void);       /* those that ended, or stopped by themselves; none are left */
void takers_follow(void);     /* reads in the log which programs run */
unsigned takers_left(void);   /* not reaped yet */
bool takers_of(unsigned lim); /* is one of them in this limiter? */
uint64_t takers_oldest(void); /* smallest id of those that live; UINT64_MAX */
struct taker *taker_of(uint64_t id);
void takers_forget(pid_t pid); /* a program that is gone */
void machine_beats(void);

/* ---- harm.c ---- */

extern unsigned harm_done;

void harm_some(double seconds); /* what is due in so many */
void harm_planned(uint64_t now);
bool harm_will_cont(uint64_t id); /* it is stopped, and will be sent CONT */
void harm_cont_all(void);
void harm_end_all(void);
void harm_stopped(const struct taker *t); /* it stopped, and nobody will send CONT */

/* ---- limiters.c ---- */

void limiters_begin(const char *dir);
void limiters_steer(double seconds);
void limiters_calm(void); /* no override, not paused, open */
/* Looks at removed ones that nobody can use any more; at the end, at all. */
void limiters_inspect(bool end);
void limiters_remove(void);
struct flk *limiter_handle(unsigned i);
bool limiter_gate_is_closed(unsigned i); /* by limiters_steer() */
void limiter_anew(unsigned i);           /* nobody can use the old one any more */

/* ---- operator.c ---- */

enum act { CANCELLED, CHECKED, READ, REMOVED, REFUSED, PACED, GATED, TURNED, ACTS };
extern unsigned operator_acts[ACTS];

void operator_begin(const char *self);
void operator_acts_for(double seconds);
void operator_calm(void);
void operator_lift_gate(unsigned lim);       /* if the operator has set one */
bool operator_reaped(pid_t pid, int status); /* it was one of its readers */

/* ---- orders.c ---- */

extern unsigned orders_given, orders_killed;

void orders_begin(const char *dir);
bool orders_possible(void);
void orders_act_for(double seconds);
void orders_calm(void);
bool orders_reaped(pid_t pid, int status); /* it was a maker, or gave an order */
void orders_clean_up(void);

#endif
