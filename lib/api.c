/* SPDX-License-Identifier: ISC */
/*
 * api.c - the public functions that take a limiter or a taker: each calls the implementation that
 * the handle belongs to, by the table that ops.h describes.
 */
#include <errno.h>
#include <string.h>

#include "flocklimit.h"
#include "ops.h"
#include "setting.h"
#include "share.h"
#include "state.h"

static const struct flk_ops *
ops(const struct flk *f)
{
	return ((const struct flk_base *)f)->ops;
}

/* A taker begins with its limiter. */
struct flk *
flk_limiter(const struct flk_taker *t)
{
	return *(struct flk *const *)t;
}

static const struct flk_ops *
ops_of(const struct flk_taker *t)
{
	return ops(flk_limiter(t));
}

/* ---- the limiter ---- */

void
flki_share(struct flk *f)
{
	atomic_fetch_add(&((struct flk_base *)f)->users, 1);
}

void
flki_put(struct flk *f)
{
	if (atomic_fetch_sub(&((struct flk_base *)f)->users, 1) == 1)
		ops(f)->close(f);
}

void
flk_detach(struct flk *f)
{
	if (f != NULL)
		flki_put(f);
}

const char *
flk_path(const struct flk *f)
{
	return ops(f)->path(f);
}

uint64_t
flk_identity(const struct flk *f)
{
	return ops(f)->identity(f);
}

int
flk_verify(const struct flk *f)
{
	return ops(f)->verify(f);
}

pid_t
flk_stuck_pid(const struct flk *f)
{
	return ops(f)->stuck_pid(f);
}

uint32_t
flk_declared(const struct flk *f)
{
	return ops(f)->declared(f);
}

int
flk_guard_open(struct flk *f)
{
	return ops(f)->guard_open(f);
}

bool
flk_holds(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit)
{
	return ops(f)->holds(f, slot, ticket, permit);
}

/* ---- takers and permits ---- */

int
flk_taker_new(struct flk_taker **taker, struct flk *f)
{
	return ops(f)->taker_new(taker, f);
}

void
flk_taker_free(struct flk_taker *t)
{
	if (t != NULL)
		ops_of(t)->taker_free(t);
}

int
flk_enqueue(struct flk_taker *t, const struct flk_request *want)
{
	return ops_of(t)->enqueue(t, want);
}

int
flki_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns)
{
	return ops_of(t)->queue(t, want, until_ns);
}

int
flk_try(struct flk_taker *t, const struct flk_request *want)
{
	return ops_of(t)->try(t, want);
}

int
flk_wait(struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask)
{
	return ops_of(t)->wait(t, deadline, mask);
}

int
flk_wait_idle(struct flk_taker *t, const struct timespec *deadline)
{
	return ops_of(t)->wait_idle(t, deadline);
}

int
flk_leave(struct flk_taker *t)
{
	return ops_of(t)->leave(t);
}

int
flk_release(struct flk_taker *t)
{
	return ops_of(t)->release(t);
}

int
flk_release_units(struct flk_taker *t, uint32_t units)
{
	return ops_of(t)->release_units(t, units);
}

int
flk_forget(struct flk_taker *t)
{
	return ops_of(t)->forget(t);
}

int
flk_working(struct flk_taker *t, pid_t pid)
{
	return ops_of(t)->working(t, pid);
}

void
flk_working_child(struct flk_taker *t)
{
	ops_of(t)->working_child(t);
}

int
flk_waits_for(struct flk_taker *t, const char *limiter)
{
	return ops_of(t)->waits_for != NULL ? ops_of(t)->waits_for(t, limiter) : -ENOTSUP;
}

int
flk_ended(struct flk_taker *t, int status)
{
	return ops_of(t)->ended(t, status);
}

int
flk_took(struct flk_taker *t, uint64_t memory, uint64_t cpu_ns)
{
	return ops_of(t)->took(t, memory, cpu_ns);
}

void
flk_cancel(struct flk_taker *t)
{
	ops_of(t)->cancel(t);
}

void
flk_interrupt(struct flk_taker *t)
{
	ops_of(t)->interrupt(t);
}

void
flk_answer(struct flk_taker *t, bool yes)
{
	if (ops_of(t)->answer != NULL)
		ops_of(t)->answer(t, yes);
}

int
flk_permit(const struct flk_taker *t, struct flk_permit *permit)
{
	return ops_of(t)->permit(t, permit);
}

uint32_t
flk_slot(const struct flk_taker *t)
{
	return ops_of(t)->slot(t);
}

int
flk_guard(struct flk_taker *t, int *fd)
{
	return ops_of(t)->guard(t, fd);
}

int
flk_guard_by(struct flk_taker *t, int fd)
{
	return ops_of(t)->guard_by(t, fd);
}

int
flk_entrust(struct flk_taker *t)
{
	return ops_of(t)->entrust(t);
}

int
flk_entrusted(struct flk *f, int fd, struct flk_permit *permit)
{
	return ops(f)->entrusted != NULL ? ops(f)->entrusted(f, fd, permit) : -FLK_NOPERMIT;
}

int
flk_take_back(struct flk *f, int fd)
{
	return ops(f)->take_back != NULL ? ops(f)->take_back(f, fd) : -ENOTSUP;
}

int
flk_entrust_to(struct flk_taker *t, int fd, pid_t pid)
{
	const struct flk_ops *o = ops_of(t);

	return o->entrust_to != NULL ? o->entrust_to(t, fd, pid) : -ENOTSUP;
}

void
flk_evictor(const struct flk_taker *t, pid_t *pid, uid_t *uid)
{
	ops_of(t)->evictor(t, pid, uid);
}

int
flk_place(struct flk_taker *t, struct flk_place *place)
{
	return ops_of(t)->place(t, place);
}

/* ---- for operators ---- */

static int
check_settings(unsigned which, const struct flk_settings *to)
{
	const struct flki_number *n;
	char why[200];
	int error;

	if (which == 0 || which >= 2 * FLK_SET_RESTORED)
		return -EINVAL;
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++)
		if ((which & n->which) != 0 && !flki_number_is_good(n, flki_number_get(n, to)))
			return -EINVAL;
	if ((which & FLK_SET_PACE) != 0 &&
	    (error = flki_pace_check(&to->pace, which & FLK_SET_PACE)) != 0)
		return error;
	if ((which & FLK_SET_GATE) == 0)
		return 0;
	if (memchr(to->gate.when, '\0', sizeof(to->gate.when)) == NULL)
		return -EINVAL;
	return flk_gate_check(to->gate.when, why, sizeof(why));
}

int
flk_set(struct flk *f, unsigned which, const struct flk_settings *to)
{
	int error = check_settings(which, to);

	return error != 0 ? error : ops(f)->set(f, which, to);
}

int
flk_get(struct flk *f, struct flk_settings *settings)
{
	return ops(f)->get(f, settings);
}

int
flk_evict(struct flk *f, uint64_t ticket)
{
	return ops(f)->evict(f, ticket);
}

int
flk_shrink(struct flk *f, uint64_t ticket, uint32_t units)
{
	const struct flk_ops *o = ops(f);

	if (units < 1)
		return -EINVAL;
	return o->shrink != NULL ? o->shrink(f, ticket, units) : -ENOTSUP;
}

int
flk_remove(struct flk *f)
{
	return ops(f)->remove(f, true);
}

int
flk_remove_unused(struct flk *f)
{
	return ops(f)->remove(f, false);
}

int
flk_snapshot(struct flk *f, struct flk_snapshot **snapshot)
{
	return ops(f)->snapshot(f, snapshot);
}

size_t
flk_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room)
{
	return ops(f)->heirs(f, slot, pid, room);
}

int
flk_is_taker(struct flk *f, uint32_t slot, pid_t pid)
{
	return ops(f)->is_taker(f, slot, pid);
}

int
flk_check(struct flk *f, char *why, size_t size)
{
	return ops(f)->check(f, why, size);
}

int
flk_repair(struct flk *f)
{
	return ops(f)->repair(f);
}

size_t
flk_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room)
{
	return ops(f)->history(f, number, event, room);
}

int
flk_follow(struct flk *f, uint64_t number, const struct timespec *deadline)
{
	return ops(f)->follow(f, number, deadline);
}
