/* SPDX-License-Identifier: ISC */
/*
 * contract.h - the cases that both implementations of flocklimit.h must pass: limiter files, and the
 * limiters of a store.
 *
 * Each case makes the calls of flocklimit.h alone, and learns from `side' how a limiter is opened.
 * Where the two implementations differ, and a page says so, the case asks expected() for the result:
 * the table in contract.c is the only place that knows of differences.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stddef.h>
#include <stdint.h>

#include "../helpers/common.h"
#include "flocklimit.h"

/* ---- the implementation: files.c or store.c ---- */

enum which { FILES, STORE };

struct side {
	void (*begin)(void); /* a place for limiters, before there are any */
	enum which which;
	int (*attach)(struct flk **limiter, const char *name, const struct flk_options *options);
	int (*locate)(const char *name, char *path, size_t size);
	int (*map_new)(struct flk_map **map, const char *name,
		       const struct flk_map_options *options);
	const char *(*strerror)(int code);
};

extern const struct side side;

/* ---- documented differences ---- */

enum difference {
	PATH_FOR_A_NAME,
	ATTACH_EXISTING_TO_NONE,
	VERIFY_REMOVED,
	ACQUIRE_REMOVED,
	RELEASE_A_PART,
	SHRINK,
	ELASTIC,
	CONSENT,
	SEAT_SETS,
	GATE,
	WAITS_FOR,
	FORGET_IT,
	ENTRUST_TO,
	ENTRUSTED,
	TAKE_BACK,
	GUARD_FOR_READING,
	HEIRS,
	IS_TAKER,
	WORKER,
	REPAIR,
	DIFFERENCES
};

int expected(enum difference what);

/* ---- what cases share ---- */

/* A name that no limiter has had; it is overwritten by the next call. */
const char *new_name(void);

/* Bails out if it can't; limit 0 means 1. */
struct flk *limiter(uint32_t limit);
struct flk *limiter_named(const char *name, const struct flk_options *options);

int acquire(struct flk_taker *t, uint32_t weight, uint32_t limit, int ms);
int try_it(struct flk_taker *t, uint32_t weight, uint32_t limit);
int wait_ms(struct flk_taker *t, int ms);

/* Takes a permit that is free, or bails out. */
void take(struct flk_taker *t, uint32_t weight, uint32_t limit);

/* Joins the line, in which `waiters' takers wait with this one; bails out if it got a permit. */
void queue(struct flk_taker *t, uint32_t weight, uint32_t limit, int waiters);

/* One test: the taker neither holds nor waits. */
void is_out(struct flk_taker *t, const char *after);

/* Frees the takers, up to NULL; nothing is left in the limiter, which is closed: one test. */
void done_with(struct flk *f, const char *what, ...);

/* ---- the cases, by subject ---- */

void contract_names(void);
void contract_idle(void);
void contract_line(void);
void contract_permit(void);
void contract_process(void);
void contract_guard(void);
void contract_steer(void);
void contract_look(void);
void contract_map(void);

#endif
