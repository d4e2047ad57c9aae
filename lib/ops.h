/* SPDX-License-Identifier: ISC */
/*
 * ops.h - the seam between the functions of flocklimit.h and the two implementations of a limiter.
 *
 * A limiter is a file of this machine (local.c), or it is kept in a store (cmd/store/).  An open
 * limiter begins with a struct flk_base, which names the table of its implementation; a taker
 * begins with a pointer to its limiter.  What follows is known to the implementation alone.
 *
 * api.c has the public functions that take a limiter or a taker: each calls its namesake in the
 * table.  acquire.c, map.c and maparray.c know only the public functions and those of share.h, and
 * so they work for both implementations.
 *
 * Each function of a table keeps the contract that flocklimit.h has for its namesake.  A pointer to
 * a limiter or a taker is never NULL here.  A function that flocklimit.h lets a signal handler or a
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

struct flk_ops {
	/* Of a limiter. */
	void (*close)(struct flk *f); /* frees it, after its last user is done */
	const char *(*path)(const struct flk *f);
	uint64_t (*identity)(const struct flk *f);
	int (*verify)(const struct flk *f);
	pid_t (*stuck_pid)(const struct flk *f);
	uint32_t (*declared)(const struct flk *f);
	int (*guard_open)(struct flk *f);
	bool (*holds)(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit);
	int (*taker_new)(struct flk_taker **taker, struct flk *f);

	/* Of a taker. */
	void (*taker_free)(struct flk_taker *t);
	int (*enqueue)(struct flk_taker *t, const struct flk_request *want);
	int (*queue)(struct flk_taker *t, const struct flk_request *want,
		     uint64_t until_ns); /* flki_queue() in share.h */
	int (*try)(struct flk_taker *t, const struct flk_request *want);
	int (*wait)(struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask);
	int (*wait_idle)(struct flk_taker *t, const struct timespec *deadline);
	int (*leave)(struct flk_taker *t);
	int (*release)(struct flk_taker *t);
	int (*release_units)(struct flk_taker *t, uint32_t units);
	int (*forget)(struct flk_taker *t);
	int (*working)(struct flk_taker *t, pid_t pid);
	void (*working_child)(struct flk_taker *t);
	int (*waits_for)(struct flk_taker *t, const char *limiter); /* NULL: -ENOTSUP */
	int (*ended)(struct flk_taker *t, int status);
	int (*took)(struct flk_taker *t, uint64_t memory, uint64_t cpu_ns);
	void (*cancel)(struct flk_taker *t);
	void (*interrupt)(struct flk_taker *t);
	void (*answer)(struct flk_taker *t, bool yes); /* NULL: it never asks */
	int (*permit)(const struct flk_taker *t, struct flk_permit *permit);
	uint32_t (*slot)(const struct flk_taker *t);
	int (*guard)(struct flk_taker *t, int *fd);
	int (*guard_by)(struct flk_taker *t, int fd);
	int (*entrust)(struct flk_taker *t);
	/* NULL: there are no descriptors of such a limiter. */
	int (*entrust_to)(struct flk_taker *t, int fd, pid_t pid);
	int (*entrusted)(struct flk *f, int fd, struct flk_permit *permit);
	int (*take_back)(struct flk *f, int fd);
	void (*evictor)(const struct flk_taker *t, pid_t *pid, uid_t *uid);
	int (*place)(struct flk_taker *t, struct flk_place *place);

	/* For operators. */
	int (*set)(struct flk *f, unsigned which, const struct flk_settings *to); /* good ones */
	int (*get)(struct flk *f, struct flk_settings *settings);
	int (*shrink)(struct flk *f, uint64_t ticket, uint32_t units); /* NULL: -ENOTSUP */
	int (*evict)(struct flk *f, uint64_t ticket);
	int (*remove)(struct flk *f, bool steered_too); /* false: flk_remove_unused() */
	int (*snapshot)(struct flk *f, struct flk_snapshot **snapshot);
	size_t (*heirs)(struct flk *f, uint32_t slot, pid_t *pid, size_t room);
	int (*is_taker)(struct flk *f, uint32_t slot, pid_t pid);
	int (*check)(struct flk *f, char *why, size_t size);
	int (*repair)(struct flk *f);
	size_t (*history)(struct flk *f, uint64_t number, struct flk_event *event, size_t room);
	int (*follow)(struct flk *f, uint64_t number, const struct timespec *deadline);
};

struct flk_base {
	const struct flk_ops *ops;
	_Atomic uint32_t users; /* flki_share(), flki_put(): the last one closes it */
};

#endif
