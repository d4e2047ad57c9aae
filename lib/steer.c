/*
 * steer.c - what an operator does to a limiter, from outside of the line.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>

#include "cancel.h"
#include "make.h"

/* What an operator asks for: a number, or a pace and which parts of it. */
struct order {
	int64_t number;
	const struct flk_pace *pace;
	unsigned which;
};

/*
 * The head of the line is woken before anything changes: if we are killed after the change and
 * before its consequences, it is already on its way to the lock, and carries on.
 */
static int
steer(struct flk *f, int (*change)(struct state *, const struct order *), struct order order)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct state st;
	int error, damage;

	error = flki_enter(&me, &st);
	if (error == 0) {
		flki_state_rouse(&st);
		error = change(&st, &order);
		if (error == 0)
			flki_state_grant(&st);
		damage = flki_quit(&me, &st);
		error = damage != 0 ? damage : error;
	}
	flki_drop_slot(&me);
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
	st->h->override = o->number;
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
	st->h->withheld -= (uint64_t)o->number;
	flki_state_note_steering(st, FLK_EV_RESTORED, (int32_t)o->number);
	return 0;
}

static int
change_pace(struct state *st, const struct order *o)
{
	flki_pace_set(st, o->pace, o->which);
	if (st->h->waiting.head != NIL) /* it looks after the first's time from now on */
		flki_state_poke(st, flki_state_at(st, st->h->waiting.head)->next);
	flki_state_note_pace(st, o->which);
	return 0;
}

int
flk_set_pace(struct flk *f, const struct flk_pace *pace, unsigned which)
{
	int error = flki_pace_check(pace, which);

	if (error != 0)
		return error;
	flki_clock_ahead(f); /* nothing may be paced yet, and then nobody asks */
	return steer(f, change_pace, (struct order){ .pace = pace, .which = which });
}

void
flk_pace(const struct flk *f, struct flk_pace *pace)
{
	flki_pace_tell(f->file.h, pace);
}

int
flk_set_limit(struct flk *f, uint32_t limit)
{
	return limit < 1 || limit > FLK_MAX_UNITS ? -EINVAL : steer_to(f, change_limit, limit);
}

int
flk_override(struct flk *f, int64_t limit)
{
	if (limit != FLK_AUTO && (limit < 0 || limit > FLK_MAX_UNITS))
		return -EINVAL;
	return steer_to(f, change_override, limit);
}

int
flk_pause(struct flk *f)
{
	return steer_to(f, change_paused, 1);
}

int
flk_resume(struct flk *f)
{
	return steer_to(f, change_paused, 0);
}

int
flk_refuse(struct flk *f)
{
	return steer_to(f, change_closed, 1);
}

int
flk_admit(struct flk *f)
{
	return steer_to(f, change_closed, 0);
}

int
flk_restore(struct flk *f, uint32_t units)
{
	return steer_to(f, change_withheld, units);
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
flk_evict(struct flk *f, uint64_t ticket)
{
	return steer_to(f, change_waiter, (int64_t)ticket);
}

/*
 * Nobody is in it, and from now on nobody can come in.  With the number 0 a limiter that an
 * operator has steered stays.
 */
static int
change_dead(struct state *st, const struct order *o)
{
	const struct header *h = st->h;

	flki_state_mend(st, NIL);
	if (h->waiting.head != NIL || h->holders.head != NIL)
		return -FLK_BUSY;
	if (o->number == 0 &&
	    (h->paused || h->closed || h->override != FLK_AUTO || h->withheld > 0))
		return -FLK_BUSY;
	atomic_store(&st->h->dead, 1);
	return 0;
}

/*
 * The lock on the name first: a process that can only read the file may be in its way, by a read
 * lock, and then nothing has changed yet.  If we are killed after the mark, the next process that
 * opens the dead limiter takes its name away.
 */
static int
remove_file(struct flk *f, bool steered_too)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct stat sb;
	int error = flki_file_stat(&f->file, &sb);

	if (error == 0)
		error = flki_make_lock(f->file.fd);
	if (error != 0)
		return error;
	error = steer_to(f, change_dead, steered_too);
	if (error == 0 || error == -FLK_GONE)
		error = flki_file_bury(&f->file, AT_FDCWD, f->path);
	flki_make_unlock(f->file.fd);
	return error;
}

int
flk_remove(struct flk *f)
{
	return remove_file(f, true);
}

int
flk_remove_unused(struct flk *f)
{
	return remove_file(f, false);
}

int
flk_repair(struct flk *f)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct state st;
	int error;

	if ((error = flki_enter_anyway(&me, &st)) == 0) {
		flki_state_rouse(&st);
		st.bad = false; /* by what is to be made anew */
		flki_state_salvage(&st);
		atomic_store(&st.h->damaged, !flki_state_rebuild(&st));
		error = flki_quit(&me, &st);
	}
	flki_drop_slot(&me);
	return error;
}
