/* SPDX-License-Identifier: ISC */
/*
 * steer.c - what an operator does to a limiter.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>

#include "cancel.h"
#include "create.h"
#include "setting.h"

/* What an operator asks for: settings; or to take a taker or the limiter away. */
struct order {
	unsigned which; /* of `to' */
	const struct flk_settings *to;
	uint64_t ticket;
	uint32_t units;
	bool steered_too;
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

/* One store, so a reader, or the next owner of the lock, finds the old number or the new one. */
static void
change_number(struct state *st, const struct flki_number *n, int64_t value)
{
	void *word = (char *)st->h + n->word;

	if (n->width == sizeof(uint64_t))
		flki_state_store(word, (uint64_t)value);
	else
		__atomic_store_n((uint32_t *)word, (uint32_t)value, __ATOMIC_RELAXED);
	flki_state_note_steering(st, value != n->none ? n->set : n->over,
				 n->kind != FLKI_SWITCH ? (int32_t)value : 0);
}

static void
change_seats(struct state *st, uint64_t seats, bool off)
{
	uint64_t was = st->h->seats_off;

	flki_state_store(&st->h->seats_off, off ? was | seats : was & ~seats);
	for (; seats != 0; seats &= seats - 1)
		flki_state_note_steering(st, off ? FLK_EV_SEAT_OFF : FLK_EV_SEAT_ON,
					 __builtin_ctzll(seats));
}

static int
change_withheld(struct state *st, uint32_t units)
{
	if (units > st->h->withheld)
		return -FLK_OVERRELEASE;
	flki_state_store(&st->h->withheld, st->h->withheld - units);
	flki_state_note_steering(st, FLK_EV_RESTORED, (int32_t)units);
	return 0;
}

static void
change_pace(struct state *st, const struct flk_pace *pace, unsigned which)
{
	flki_pace_set(st, pace, which);
	/* The second in the line has a timer from now on: see due() in wait.c. */
	if (st->h->waiting.head != NIL)
		flki_state_wake(st, flki_state_at(st, st->h->waiting.head)->next);
	flki_state_note_pace(st, which);
}

static void
change_gate(struct state *st, const struct flk_gate *gate)
{
	flki_gate_set(st, gate);
	st->h->gate.waiter = 0; /* so that the head is told, and the second in the line */
	flki_state_note_gate(st, gate->when);
}

/* Those who wait stay where they are; from now on, newcomers are put into the line by their keys. */
static void
change_fair(struct state *st, uint32_t fair)
{
	if (fair != st->h->fair)
		flki_fair_set(st);
	__atomic_store_n(&st->h->fair, fair, __ATOMIC_RELAXED);
	flki_state_note_steering(st, fair != FLK_FAIR_OFF ? FLK_EV_FAIR : FLK_EV_UNFAIR,
				 (int32_t)fair);
}

/* What can fail comes first. */
static int
change_settings(struct state *st, const struct order *o)
{
	const struct flk_settings *to = o->to;
	const struct flki_number *n;
	int error = 0;

	if ((o->which & FLK_SET_RESTORED) != 0)
		error = change_withheld(st, to->withheld);
	if (error != 0)
		return error;
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++)
		if ((o->which & n->which) != 0)
			change_number(st, n, flki_number_get(n, to));
	if ((o->which & FLK_SET_SEATS_OFF) != 0)
		change_seats(st, to->seats_off, true);
	if ((o->which & FLK_SET_SEATS_ON) != 0)
		change_seats(st, to->seats_off, false);
	if ((o->which & FLK_SET_PACE) != 0)
		change_pace(st, &to->pace, o->which & FLK_SET_PACE);
	if ((o->which & FLK_SET_GATE) != 0)
		change_gate(st, &to->gate);
	if ((o->which & FLK_SET_FAIR) != 0)
		change_fair(st, to->fair);
	if ((o->which & FLK_SET_CLOSED) != 0 && to->closed)
		flki_state_evict_all(st, -FLK_CLOSED);
	return 0;
}

int
flki_local_set(struct flk *f, unsigned which, const struct flk_settings *to)
{
	/* Asked for now, because inside.c asks only if there is a pace or a gate. */
	if ((which & (FLK_SET_PACE | FLK_SET_GATE)) != 0)
		flki_clock_ahead(f);
	return steer(f, change_settings, (struct order){ .which = which, .to = to });
}

void
flki_settings_read(const struct header *h, struct flk_settings *s)
{
	const struct flki_number *n;

	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++) {
		const void *word = (const char *)h + n->word;
		flki_number_put(
		    n, s,
		    n->width == sizeof(uint64_t)
			? (int64_t)__atomic_load_n((const uint64_t *)word, __ATOMIC_RELAXED)
			: (int64_t)__atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED));
	}
	s->seats_off = __atomic_load_n(&h->seats_off, __ATOMIC_RELAXED);
	s->withheld = (uint32_t)__atomic_load_n(&h->withheld, __ATOMIC_RELAXED);
	flki_pace_copy(h, &s->pace);
	flki_gate_copy(h, &s->gate);
	s->fair = __atomic_load_n(&h->fair, __ATOMIC_RELAXED);
}

int
flki_local_get(struct flk *f, struct flk_settings *s)
{
	*s = flki_no_settings;
	flki_settings_read(f->file.h, s);
	s->declared = flki_local_declared(f);
	return 0;
}

/* ---- taking others out ---- */

static int
change_waiter(struct state *st, const struct order *o)
{
	uint32_t i = st->h->waiting.head, left = st->n;

	for (; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (s->ticket == o->ticket && s->kind == TAKER) {
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
	return steer(f, change_waiter, (struct order){ .ticket = ticket });
}

/* NIL: none has that ticket. */
static uint32_t
holder_of(struct state *st, uint64_t ticket)
{
	uint32_t i = st->h->holders.head, left = st->n;

	for (; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (s->ticket == ticket)
			return i;
		i = s->next;
	}
	return NIL;
}

/* An operator, or the command itself, gives back a part of a permit, and never the last unit. */
static int
shrink_holder(struct state *st, const struct order *o)
{
	uint32_t i = holder_of(st, o->ticket);

	if (i == NIL)
		return -FLK_NOPERMIT;
	if (o->units >= flki_state_at(st, i)->weight)
		return -FLK_OVERRELEASE;
	flki_state_release_units(st, i, o->units);
	return 0;
}

/* A dead waiter waits for nothing. */
static int
grow_holder(struct state *st, const struct order *o)
{
	uint32_t i;

	flki_state_reap_watched(st, NIL);
	if ((i = holder_of(st, o->ticket)) == NIL)
		return -FLK_NOPERMIT;
	return flki_state_grow(st, i, o->units) > 0 ? 0 : -EAGAIN;
}

int
flki_local_shrink(struct flk *f, uint64_t ticket, uint32_t units)
{
	return steer(f, shrink_holder, (struct order){ .ticket = ticket, .units = units });
}

int
flki_local_grow(struct flk *f, uint64_t ticket, uint32_t units)
{
	return steer(f, grow_holder, (struct order){ .ticket = ticket, .units = units });
}

/* Something that an operator set, but for what takers declare. */
static bool
is_steered(const struct header *h)
{
	return h->paused || h->closed || h->override != FLK_AUTO || h->withheld > 0 ||
	       h->seats_off != 0;
}

/* Marks the limiter as dead if it has neither holders nor waiters: no taker can come in from then on. */
static int
change_dead(struct state *st, const struct order *o)
{
	const struct header *h = st->h;

	flki_state_reap_watched(st, NIL);
	if (h->waiting.head != NIL || h->holders.head != NIL)
		return -FLK_BUSY;
	if (!o->steered_too && is_steered(h))
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
	error = steer(f, change_dead, (struct order){ .steered_too = steered_too });
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
