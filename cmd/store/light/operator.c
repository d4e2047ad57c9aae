/* SPDX-License-Identifier: ISC */
/*
 * operator.c - what an operator asks of a limiter, and the command under a permit does not: this program
 * has no way to the store but the keeper.
 */
#include <errno.h>

#include "operator/session.h"
#include "wrapper/internal.h"

static void
none(const void *of, ...)
{
	(void)of;
}

/* clang-format off */
#define NONE(type, name, parameters, arguments, result) \
	type store_##name parameters \
	{ \
		none arguments; \
		return result; \
	}

NONE(int, get, (struct flk *f, struct flk_settings *settings), (f, settings), -ENOTSUP)
NONE(int, set, (struct flk *f, unsigned which, const struct flk_settings *to), (f, which, to), -ENOTSUP)
NONE(int, evict, (struct flk *f, uint64_t ticket), (f, ticket), -ENOTSUP)
NONE(int, snapshot, (struct flk *f, struct flk_snapshot **snapshot), (f, snapshot), -ENOTSUP)
NONE(int, check, (struct flk *f, char *why, size_t size), (f, why, size), -ENOTSUP)
NONE(int, repair, (struct flk *f), (f), -ENOTSUP)
NONE(int, remove, (struct flk *f, bool steered_too), (f, steered_too), -ENOTSUP)
NONE(size_t, history, (struct flk *f, uint64_t number, struct flk_event *event, size_t room), (f, number, event, room), 0)
NONE(int, follow, (struct flk *f, uint64_t number, const struct timespec *deadline), (f, number, deadline), -ENOTSUP)
NONE(int, wait_idle, (struct flk_taker *t, const struct timespec *deadline), (t, deadline), -ENOTSUP)
NONE(size_t, heirs, (struct flk *f, uint32_t slot, pid_t *pid, size_t room), (f, slot, pid, room), 0)
NONE(int, is_taker, (struct flk *f, uint32_t slot, pid_t pid), (f, slot, pid), 0)
/* clang-format on */

void
session_close(struct session *d)
{
	none(d);
}
