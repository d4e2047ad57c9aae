/* SPDX-License-Identifier: ISC */
/*
 * steer.c - what an operator does to a limiter.
 */
#include "internal.h"

#include <fcntl.h>

#include "cancel.h"
#include "create.h"

/* What an operator asks for: a number, and units or a switch with it; a pace and its parts; a gate. */
struct order {
	int64_t number;
	const struct flk_pace *pace;
	unsigned which;
	uint32_t units;
	const struct flk_gate *gate;
};

/*
 * Wakes the head before it changes anything.  If the operator is killed after the change and before
 * its consequences, the head is on its way to the lock already: it inherits it, and completes them.
 */
static int
steer(struct flk *f, int (*change)(struct state *, const struct order *), struct order order)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct state st;
	int error, damage;

	error = flki_enter(&me, &st);
	if (error == 0) {
		flki_state_wake_head(&st);
		error = change(&st, &order);
		if (error == 0)
			flki_state_grant(&st);
		damage = flki_quit(&me, &st);
		error = damage != 0 ? damage : error;
	}
	flki_slot_drop(&me);
	return error;
}

static int
steer_to(struct flk *f, int (*change)(struct state *, const struct order *), int64_t number)
{
	return steer(f, change, (struct order){ .number = number });
}

static int
change_limit(struct state *st, const struct order *o)
{
	st->h->declared = (uint32_t)o->number;
	flki_state_note_steering(st, FLK_EV_DECLARED, (int32_t)o->number);
	return 0;
}

static int
change_override(struct state *st, const struct order *o)
{
	flki_state_store((uint64_t *)&st->h->override, (uint64_t)o->number);
	flki_state_note_steering(st, FLK_EV_OVERRIDE, (int32_t)o->number);
	return 0;
}

static int
change_paused(struct state *st, const struct order *o)
{
	st->h->paused = o->number != 0;
	flki_state_note_steering(st, o->number ? FLK_EV_PAUSED : FLK_EV_RESUMED, 0);
	return 0;
}

static int
change_closed(struct state *st, const struct order *o)
{
	st->h->closed = o->number != 0;
	flki_state_note_steering(st, o->number ? FLK_EV_CLOSED : FLK_EV_OPENED, 0);
	if (o->number)
		flki_state_evict_all(st, -FLK_CLOSED);
	return 0;
}

static int
change_withheld(struct state *st, const struct order *o)
{
	if ((uint64_t)o->number > st->h->withheld)
		return -FLK_OVERRELEASE;
	flki_state_store(&st->h->withheld, st->h->withheld - (uint64_t)o->number);
	flki_state_note_steering(st, FLK_EV_RESTORED, (int32_t)o->number);
	return 0;
}

static int
change_pace(struct state *st, const struct order *o)
{
	flki_pace_set(st, o->pace, o->which);
	/* The second in the line has a timer from now on: see due() in wait.c. */
	if (st->h->waiting.head != NIL)
		flki_state_wake(st, flki_state_at(st, st->h->waiting.head)->next);
	flki_state_note_pace(st, o->which);
	return 0;
}

int
flki_local_set_pace(struct flk *f, const struct flk_pace *pace, unsigned which)
{
	int error = flki_pace_check(pace, which);

	if (error != 0)
		return error;
	flki_clock_ahead(f); /* asked for now, because inside.c asks only if there is a pace */
	return steer(f, change_pace, (struct order){ .pace = pace, .which = which });
}

static int
change_gate(struct state *st, const struct order *o)
{
	flki_gate_set(st, o->gate);
	st->h->gate.waiter = 0; /* so that the head is told, and the second in the line */
	flki_state_note_gate(st, o->gate->when);
	return 0;
}

int
flki_local_set_gate(struct flk *f, const struct flk_gate *gate)
{
	flki_clock_ahead(f);
	return steer(f, change_gate, (struct order){ .gate = gate });
}

void
flki_local_gate(const struct flk *f, struct flk_gate *gate)
{
	flki_gate_copy(f->file.h, gate);
}

void
flki_local_pace(const struct flk *f, struct flk_pace *pace)
{
	flki_pace_copy(f->file.h, pace);
}

int
flki_local_steer(struct flk *f, enum flki_steering what, int64_t number)
{
	static int (*const change[])(struct state *, const struct order *) = {
		[FLKI_STEER_LIMIT] = change_limit,       [FLKI_STEER_OVERRIDE] = change_override,
		[FLKI_STEER_PAUSED] = change_paused,     [FLKI_STEER_CLOSED] = change_closed,
		[FLKI_STEER_RESTORED] = change_withheld,
	};

	return steer_to(f, change[what], number);
}

static int
change_seat(struct state *st, const struct order *o)
{
	uint64_t seat = UINT64_C(1) << o->number, off = st->h->seats_off;

	flki_state_store(&st->h->seats_off, o->which != 0 ? off | seat : off & ~seat);
	flki_state_note_steering(st, o->which != 0 ? FLK_EV_SEAT_OFF : FLK_EV_SEAT_ON,
				 (int32_t)o->number);
	return 0;
}

int
flki_local_set_seat(struct flk *f, unsigned seat, bool off)
{
	return steer(f, change_seat, (struct order){ .number = seat, .which = off });
}

/* ---- taking others out ---- */

static int
change_waiter(struct state *st, const struct order *o)
{
	uint32_t i = st->h->waiting.head, left = st->n;

	for (; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (s->ticket == (uint64_t)o->number && s->kind == TAKER) {
			flki_state_evict(st, i, -FLK_EVICTED);
			return 0;
		}
		i = s->next;
	}
	return -FLK_NOPERMIT;
}

int
flki_local_evict(struct flk *f, uint64_t ticket)
{
	return steer_to(f, change_waiter, (int64_t)ticket);
}

/* An operator, or the command itself, gives back a part of a permit, and never the last unit. */
static int
change_holder(struct state *st, const struct order *o)
{
	uint32_t i = st->h->holders.head, left = st->n;

	for (; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (s->ticket == (uint64_t)o->number) {
			if (o->units >= s->weight)
				return -FLK_OVERRELEASE;
			flki_state_release_units(st, i, o->units);
			return 0;
		}
		i = s->next;
	}
	return -FLK_NOPERMIT;
}

int
flki_local_shrink(struct flk *f, uint64_t ticket, uint32_t units)
{
	return steer(f, change_holder, (struct order){ .number = (int64_t)ticket, .units = units });
}

/*
 * Marks the limiter as dead if it has neither holders nor waiters: no taker can come in from then
 * on.  With the number 0, a limiter that an operator has steered stays.
 */
static int
change_dead(struct state *st, const struct order *o)
{
	const struct header *h = st->h;

	flki_state_reap_watched(st, NIL);
	if (h->waiting.head != NIL || h->holders.head != NIL)
		return -FLK_BUSY;
	if (o->number == 0 && (h->paused || h->closed || h->override != FLK_AUTO ||
			       h->withheld > 0 || h->seats_off != 0))
		return -FLK_BUSY;
	atomic_store(&st->h->dead, 1);
	return 0;
}

/*
 * Takes the lock on INIT_BYTE first: a process that may only read the file can keep it from us by a
 * read lock, and then nothing has changed yet.  If we are killed after the mark, the next process
 * that opens the dead limiter takes its name away.
 */
int
flki_local_remove(struct flk *f, bool steered_too)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct stat sb;
	int error = flki_file_stat(&f->file, &sb);

	if (error == 0)
		error = flki_create_lock(f->file.fd);
	if (error != 0)
		return error;
	error = steer_to(f, change_dead, steered_too);
	if (error == 0 || error == -FLK_GONE)
		error = flki_file_bury(&f->file, AT_FDCWD, f->path);
	flki_create_unlock(f->file.fd);
	return error;
}

int
flki_local_repair(struct flk *f)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct state st;
	int error;

	if ((error = flki_enter_anyway(&me, &st)) == 0) {
		flki_state_wake_head(&st);
		st.bad = false; /* about the index that is rebuilt now */
		flki_state_salvage(&st);
		atomic_store(&st.h->damaged, !flki_state_rebuild(&st));
		error = flki_quit(&me, &st);
	}
	flki_slot_drop(&me);
	return error;
}
