/* SPDX-License-Identifier: ISC */
/*
 * store.c - the table of functions of a limiter that is kept in a store.
 */
#include "internal.h"

#include <stddef.h>

_Static_assert(offsetof(struct store_limiter, base) == 0, "lib/api.c finds the table there");
_Static_assert(offsetof(struct store_taker, flk) == 0, "lib/api.c finds the limiter there");

const struct flk_ops store_ops = {
	.close = store_close,
	.path = store_path,
	.identity = store_identity,
	.verify = store_verify,
	.stuck_pid = store_stuck_pid,
	.declared = store_declared,
	.guard_open = store_guard_open,
	.holds = store_holds,
	.taker_new = store_taker_new,
	.taker_free = store_taker_free,
	.enqueue = store_enqueue,
	.queue = store_queue,
	.try = store_try,
	.wait = store_wait,
	.wait_idle = store_wait_idle,
	.leave = store_leave,
	.release = store_release,
	.release_units = store_release_units,
	.forget = store_forget,
	.working = store_working,
	.working_child = store_working_child,
	.ended = store_ended,
	.took = store_took,
	.cancel = store_cancel,
	.interrupt = store_interrupt,
	.permit = store_permit,
	.slot = store_slot,
	.guard = store_guard,
	.guard_by = store_guard_by,
	.entrust = store_entrust,
	.evictor = store_evictor,
	.place = store_place,
	.set = store_set,
	.get = store_get,
	.evict = store_evict,
	.remove = store_remove,
	.snapshot = store_snapshot,
	.heirs = store_heirs,
	.is_taker = store_is_taker,
	.check = store_check,
	.repair = store_repair,
	.history = store_history,
	.follow = store_follow,
};
