/* SPDX-License-Identifier: ISC */
/*
 * ops.h - the seam between the functions of flocklimit.h and the two implementations of a limiter.
 *
 * A limiter is a file of this machine, or it is kept in a store (cmd/store/).  An open limiter begins
 * with a struct flk_base, which names the table of its implementation; a taker begins with a pointer
 * to its limiter.  What follows is known to the implementation alone.
 *
 * An operation is a row below.  From the rows come struct flk_ops, the public functions (api.c), the
 * prototypes of the implementations, flki_local_NAME() and store_NAME(), and their tables.
 * acquire.c and map.c know only the public functions and those of share.h, and so they work for both
 * implementations.
 *
 * Each operation keeps the contract that flocklimit.h has for its namesake.  A pointer to a limiter,
 * a taker or a request is never NULL here.  An operation that flocklimit.h lets a signal handler or a
 * child of vfork(2) call does no more in a table than these may do.
 */
#ifndef FLKI_OPS_H
#define FLKI_OPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

/* clang-format off */

/* OP(type, name, (parameters), (arguments)), of a limiter f or of a taker t: flk_NAME() calls it. */
#define FLKI_LIMITER_OPS(OP) \
	OP(const char *, path, (const struct flk *f), (f)) \
	OP(uint64_t, identity, (const struct flk *f), (f)) \
	OP(int, verify, (const struct flk *f), (f)) \
	OP(pid_t, stuck_pid, (const struct flk *f), (f)) \
	OP(uint32_t, declared, (const struct flk *f), (f)) \
	OP(int, guard_open, (struct flk *f), (f)) \
	OP(bool, holds, (struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit), \
	   (f, slot, ticket, permit)) \
	OP(int, get, (struct flk *f, struct flk_settings *settings), (f, settings)) \
	OP(int, evict, (struct flk *f, uint64_t ticket), (f, ticket)) \
	OP(int, snapshot, (struct flk *f, struct flk_snapshot **snapshot), (f, snapshot)) \
	OP(int, check, (struct flk *f, char *why, size_t size), (f, why, size)) \
	OP(int, repair, (struct flk *f), (f)) \
	OP(size_t, history, (struct flk *f, uint64_t number, struct flk_event *event, size_t room), \
	   (f, number, event, room)) \
	OP(int, follow, (struct flk *f, uint64_t number, const struct timespec *deadline), \
	   (f, number, deadline))
#define FLKI_TAKER_OPS(OP) \
	OP(int, wait, (struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask), \
	   (t, deadline, mask)) \
	OP(int, wait_idle, (struct flk_taker *t, const struct timespec *deadline), (t, deadline)) \
	OP(int, leave, (struct flk_taker *t), (t)) \
	OP(int, release, (struct flk_taker *t), (t)) \
	OP(int, release_units, (struct flk_taker *t, uint32_t units), (t, units)) \
	OP(int, forget, (struct flk_taker *t), (t)) \
	OP(int, working, (struct flk_taker *t, pid_t pid), (t, pid)) \
	OP(int, ended, (struct flk_taker *t, int status), (t, status)) \
	OP(int, took, (struct flk_taker *t, uint64_t memory, uint64_t cpu_ns), (t, memory, cpu_ns)) \
	OP(void, cancel, (struct flk_taker *t), (t)) \
	OP(void, interrupt, (struct flk_taker *t), (t)) \
	OP(int, permit, (const struct flk_taker *t, struct flk_permit *permit), (t, permit)) \
	OP(uint32_t, slot, (const struct flk_taker *t), (t)) \
	OP(int, guard, (struct flk_taker *t, int *fd), (t, fd)) \
	OP(int, guard_by, (struct flk_taker *t, int fd), (t, fd)) \
	OP(int, entrust, (struct flk_taker *t), (t)) \
	OP(void, evictor, (const struct flk_taker *t, pid_t *pid, uid_t *uid), (t, pid, uid)) \
	OP(int, place, (struct flk_taker *t, struct flk_place *place), (t, place))

/* Those of own.h: flki_NAME() calls it. */
#define FLKI_OWN_OPS_OF_LIMITER(OP) \
	OP(size_t, heirs, (struct flk *f, uint32_t slot, pid_t *pid, size_t room), (f, slot, pid, room)) \
	OP(int, is_taker, (struct flk *f, uint32_t slot, pid_t pid), (f, slot, pid))
#define FLKI_OWN_OPS_OF_TAKER(OP) \
	OP(void, working_child, (struct flk_taker *t), (t))

/* The same, but the public function has more to do. */
#define FLKI_INNER_OPS(OP) \
	OP(void, close, (struct flk *f), (f)) /* frees it, after its last user is done */ \
	OP(int, taker_new, (struct flk_taker **taker, struct flk *f), (taker, f)) \
	OP(void, taker_free, (struct flk_taker *t), (t)) \
	OP(int, enqueue, (struct flk_taker *t, const struct flk_request *want), (t, want)) \
	OP(int, try, (struct flk_taker *t, const struct flk_request *want), (t, want)) \
	OP(int, queue, (struct flk_taker *t, const struct flk_request *want, uint64_t until_ns), \
	   (t, want, until_ns)) /* flki_queue() in share.h */ \
	OP(int, set, (struct flk *f, unsigned which, const struct flk_settings *to), (f, which, to)) \
	OP(int, remove, (struct flk *f, bool steered_too), (f, steered_too)) /* or _unused() */

/* Those of limiter files alone: OP(type, name, (parameters), (arguments), where there is none). */
#define FLKI_FILE_OPS_OF_LIMITER(OP) \
	OP(int, entrusted, (struct flk *f, int fd, struct flk_permit *permit), (f, fd, permit), -FLK_NOPERMIT) \
	OP(int, take_back, (struct flk *f, int fd), (f, fd), -ENOTSUP)
#define FLKI_FILE_OPS_OF_TAKER(OP) \
	OP(int, waits_for, (struct flk_taker *t, const char *limiter), (t, limiter), -ENOTSUP) \
	OP(void, answer, (struct flk_taker *t, bool yes), (t, yes), (void)0) \
	OP(int, entrust_to, (struct flk_taker *t, int fd, pid_t pid), (t, fd, pid), -ENOTSUP)

/* The same, but the public function has more to do. */
#define FLKI_FILE_INNER_OPS(OP) \
	OP(int, grow, (struct flk *f, uint64_t ticket, uint32_t units), (f, ticket, units)) \
	OP(int, shrink, (struct flk *f, uint64_t ticket, uint32_t units), (f, ticket, units))

#define FLKI_OPS(OP) \
	FLKI_LIMITER_OPS(OP) FLKI_TAKER_OPS(OP) FLKI_INNER_OPS(OP) \
	FLKI_OWN_OPS_OF_LIMITER(OP) FLKI_OWN_OPS_OF_TAKER(OP)
#define FLKI_OPS_OF_FILES(OP) \
	FLKI_FILE_OPS_OF_LIMITER(OP) FLKI_FILE_OPS_OF_TAKER(OP) FLKI_FILE_INNER_OPS(OP)

#define FLKI_MEMBER(type, name, parameters, ...) type (*name) parameters;
/* clang-format on */

struct flk_ops {
	FLKI_OPS(FLKI_MEMBER)
	FLKI_OPS_OF_FILES(FLKI_MEMBER)
};

struct flk_base {
	const struct flk_ops *ops;
	_Atomic uint32_t users; /* flki_share(), flki_put(): the last one closes it */
};

#endif
