/* SPDX-License-Identifier: ISC */
/*
 * common.h - what the tests of the library share: limiters of their own, and agents, which are
 * processes that take permits at our word.
 */
#ifndef COMMON_H
#define COMMON_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"
#include "tap.h"

#define PATIENCE_MS 60000 /* for what must happen at once, on a machine with much else to do */

/*
 * Every test begins with it.  Limiters are made in a directory that is removed when this process
 * ends.  A test that still runs after half an hour is over, whatever it waits for; one that is to
 * run for longer calls alarm(2) itself.
 */
void begin(void);

/* True where the kernel can't watch several words at once: see nowaitv.c. */
bool slow_tick(void);

/* True where a thread in F_OFD_SETLKW holds up all others: valgrind, up to 3.19 at least. */
bool one_at_a_time(void);

/* A path in our directory that was never used. */
const char *fresh_path(void);

/* Attaches, or bails out.  fresh() makes a new limiter; limit 0 means 1. */
struct flk *attach(const char *path);
struct flk *fresh(uint32_t limit);
struct flk_taker *taker(struct flk *f);

struct timespec in_ms(int ms);
uint64_t now_ns(void);
uint32_t random_below(uint32_t n); /* each thread has its own numbers */
void random_seed(uint64_t seed);

/* Waits until it stands so in the limiter; -1 means any number.  False when patience ends. */
bool stands(struct flk *f, int holders, int waiters);

/* Everything given back, no invariant broken: one test. */
bool whole(struct flk *f, const char *when);
uint64_t units_used(struct flk *f);

/* ---- agents ---- */

enum order_kind { ACQUIRE, TRY, ENQUEUE, WAIT, LEAVE, RELEASE, RELEASE_UNITS, FORGET, DETACH };

struct order {
	enum order_kind kind;
	uint32_t weight, limit; /* RELEASE_UNITS: weight of them */
	int ms;                 /* how long to wait; -1: for ever */
};

struct answer {
	int code;
	uint64_t when_ns;
	struct flk_permit permit;
};

struct agent {
	pid_t pid;
	int to, from;
};

struct agent agent_start(const char *path);
void agent_tell(struct agent *a, struct order order);
bool agent_answered(struct agent *a, int ms); /* is there an answer, within so many ms? */
struct answer agent_hear(struct agent *a);    /* bails out when there is none */
struct answer agent_do(struct agent *a, struct order order);
void agent_kill(struct agent *a, int sig); /* SIGKILL: and reaps it */
void agent_reap(struct agent *a);
void agent_stop(struct agent *a); /* lets it free its taker and exit; reaps it */

/* In a child process: the loop itself, for those who fork in their own way. */
_Noreturn void agent_serve(const char *path, int orders, int answers);

/* A child whose parent's death is its own; 0 in the child. */
pid_t fork_child(void);
int reap_child(pid_t pid);

/*
 * What /proc/PID/stat says after the process's name, beginning with its state: in text.  NULL if there
 * is no such process.
 */
#define STAT_TEXT 600
const char *stat_of(pid_t pid, char text[STAT_TEXT]);

/* In a system call, on its way nowhere. */
bool is_asleep(pid_t pid);
void until_asleep(pid_t pid);

/* SIGSTOP, and waits until it has stopped. */
void stop_child(pid_t pid);

#endif
