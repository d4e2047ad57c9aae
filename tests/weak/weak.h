/* SPDX-License-Identifier: ISC */
/*
 * weak.h - the parts of the explorer: words.c, cells.c, memory.c, hooks.c, schedule.c, system.c and
 * scenarios.c.  weaken.h has the others.  README.md says what is modelled.
 */
#ifndef WEAK_H
#define WEAK_H

#include "site.h"
#include "small.h"
#include "internal.h"

#define THREADS 4 /* of a scenario; thread 0 is what was there before them */
#define ALL     (THREADS + 1)

/* ---- words.c: the memory that the threads share, and the names of its words ---- */

struct shared {
	unsigned char file[SLOTS_AT + 2 * FIRST_SLOTS * sizeof(struct slot)]; /* it may grow */
	struct flk_taker taker[ALL];
	uint64_t work; /* what the holder of a limiter of one permit writes to: see scenarios.c */
};
extern struct shared shared;
#define CELLS (sizeof(struct shared) / 4)

/* A word of 64 bits is one cell.  All else are cells of 32 bits. */
bool word_is_wide(size_t offset);
/* layout.h says that it may be read without the lock. */
bool word_is_doorless(size_t offset);
const char *word_name(size_t offset);

/* ---- memory.c ---- */

bool memory_has(const volatile void *p); /* it is of the memory that is modelled */
uint64_t memory_load(const volatile void *p, size_t size, int order);
void memory_store(volatile void *p, size_t size, uint64_t value, int order);
uint64_t memory_modified(uint64_t was, enum rmw op, uint64_t value);
uint64_t memory_rmw(volatile void *p, size_t size, enum rmw op, uint64_t value, int order);
bool memory_cas(volatile void *p, size_t size, uint64_t *expected, uint64_t value, bool may_fail,
		int order);
void memory_fence_of(int order);
void memory_plain_at(const void *p, size_t size, bool writes, const void *pc); /* before it */

void memory_reset(void);
/* From now on all threads know of all that was stored so far. */
void memory_join(void);
void memory_fence(void); /* seq_cst, of the present thread: what a futex call is taken for */
uint64_t memory_read(const void *p, size_t size); /* the kernel's load of a futex word */
/* The kernel marks a word at its owner's death: acquires and releases. */
uint32_t memory_mark_dead(struct alive *a, uint32_t tid);
void memory_plain(const void *p, size_t size, bool writes); /* the scenario's own */
/* A store whose place was contended for the first time: the search begins anew. */
extern bool memory_learned;
extern bool memory_traces; /* prints each access */

/* ---- cells.c ---- */

/* The cells where that was so: a part of what repeats an execution. */
void memory_print_contended(char *text, size_t size);
void memory_parse_contended(const char *text);

/* ---- schedule.c ---- */

struct bounds {
	unsigned deviations; /* preemptions, stale reads, spurious failures: together */
	unsigned deaths;
};
extern unsigned now_running; /* the present thread; 0: none of the scenario's */
extern uint64_t changes;     /* stores so far */

struct scenario {
	const char *name, *words;
	unsigned threads;
	unsigned quick, whole; /* deviations in `make check', and in `make check-weak' */
	void (*setup)(void);   /* by each thread alone, one after the other */
	void (*body[ALL])(void);
	void (*check)(void);
	unsigned victim; /* the thread that may be killed; 0: none */
};

/* False if there is no next execution. */
bool explore(const struct scenario *s, struct bounds bounds, const char *replay, unsigned long most,
	     unsigned long *executions);

unsigned choose(unsigned n);  /* the number of one of n branches */
unsigned deviate(unsigned n); /* the same, where all but 0 are deviations */
void schedule_point(void);    /* another thread may run now, or this one die */
void schedule_death(void);    /* this one may die */
bool schedule_sleep(const void *const *words, unsigned count, uint64_t deadline); /* woken? */
void schedule_wake(const void *word, unsigned most);
bool schedule_explores(void); /* false in setup() and check() */
bool somebody_died_yet(void);
_Noreturn void failed(const char *words, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void report_failure(const char *words, const char *choices); /* weak.c */

/* ---- system.c ---- */

void system_reset(void);
void system_exit(void); /* the kernel's part of a thread's death */
extern uint64_t virtual_now;
void system_be_idle(uint64_t deadline); /* fails if this sleep needed its deadline */

/* ---- scenarios.c ---- */

void scenario_death(void); /* the present thread dies */
extern const struct scenario scenarios[];
extern const unsigned scenario_count;

#endif
