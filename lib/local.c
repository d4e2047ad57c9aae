/* SPDX-License-Identifier: ISC */
/*
 * local.c - the table of a limiter file.
 */
#include "internal.h"

#include <stddef.h>

_Static_assert(offsetof(struct flk, base) == 0, "api.c finds the table there");
_Static_assert(offsetof(struct flk_taker, flk) == 0, "api.c finds the limiter there");

const struct flk_ops flki_local = {
	.close = flki_local_close,
	.path = flki_local_path,
	.identity = flki_local_identity,
	.verify = flki_local_verify,
	.stuck_pid = flki_local_stuck_pid,
	.declared = flki_local_declared,
	.guard_open = flki_local_guard_open,
	.holds = flki_local_holds,
	.taker_new = flki_local_taker_new,
	.taker_free = flki_local_taker_free,
	.enqueue = flki_local_enqueue,
	.queue = flki_local_queue,
	.try = flki_local_try,
	.wait = flki_local_wait,
	.wait_idle = flki_local_wait_idle,
	.leave = flki_local_leave,
	.release = flki_local_release,
	.release_units = flki_local_release_units,
	.forget = flki_local_forget,
	.working = flki_local_working,
	.working_child = flki_local_working_child,
	.waits_for = flki_local_waits_for,
	.ended = flki_local_ended,
	.took = flki_local_took,
	.cancel = flki_local_cancel,
	.interrupt = flki_local_interrupt,
	.answer = flki_local_answer,
	.permit = flki_local_permit,
	.slot = flki_local_slot,
	.guard = flki_local_guard,
	.guard_by = flki_local_guard_by,
	.entrust = flki_local_entrust,
	.entrust_to = flki_local_entrust_to,
	.entrusted = flki_local_entrusted,
	.take_back = flki_local_take_back,
	.evictor = flki_local_evictor,
	.place = flki_local_place,
	.set = flki_local_set,
	.get = flki_local_get,
	.evict = flki_local_evict,
	.shrink = flki_local_shrink,
	.remove = flki_local_remove,
	.snapshot = flki_local_snapshot,
	.heirs = flki_local_heirs,
	.is_taker = flki_local_is_taker,
	.check = flki_local_check,
	.repair = flki_local_repair,
	.history = flki_local_history,
	.follow = flki_local_follow,
};
