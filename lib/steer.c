/*
 * steer.c - what an operator does to a limiter, from outside of the line.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>

/*
 * The head of the line is woken before anything changes: if we are killed after the change and
 * before its consequences, it is already on its way to the lock, and carries on.
 */
static int
steer(struct flk *f, int (*change)(struct state *, int64_t), int64_t value)
{
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct state st;
	int error, damage;

	error = flki_enter(&me, &st);
	if (error == 0) {
		flki_state_rouse(&st);
		error = change(&st, value);
		if (error == 0)
			flki_state_grant(&st);
		damage = flki_quit(&me, &st);
		error = damage != 0 ? damage : error;
	}
	flki_drop_slot(&me);
	return error;
}

static int
change_limit(struct state *st, int64_t limit)
{
	st->h->declared = (uint32_t)limit;
	flki_state_note_steering(st, FLK_EV_DECLARED, (int32_t)limit);
	return 0;
}

static int
change_override(struct state *st, int64_t limit)
{
	st->h->override = limit;
	flki_state_note_steering(st, FLK_EV_OVERRIDE, (int32_t)limit);
	return 0;
}

static int
change_paused(struct state *st, int64_t paused)
{
	st->h->paused = paused != 0;
	flki_state_note_steering(st, paused ? FLK_EV_PAUSED : FLK_EV_RESUMED, 0);
	return 0;
}

static int
change_closed(struct state *st, int64_t closed)
{
	st->h->closed = closed != 0;
	flki_state_note_steering(st, closed ? FLK_EV_CLOSED : FLK_EV_REOPENED, 0);
	if (closed)
		flki_state_evict_all(st, -FLK_CLOSED);
	return 0;
}

static int
change_withheld(struct state *st, int64_t units)
{
	if ((uint64_t)units > st->h->withheld)
		return -FLK_OVERRELEASE;
	st->h->withheld -= (uint64_t)units;
	flki_state_note_steering(st, FLK_EV_RESTORED, (int32_t)units);
	return 0;
}

struct new_pace {
	const struct flk_pace *pace;
	unsigned which;
};

static int
change_pace(struct state *st, int64_t address)
{
	const struct new_pace *new = (const void *)(uintptr_t)address;

	flki_pace_set(st, new->pace, new->which);
	if (st->h->waiting.head != NIL) /* it looks after the first's time from now on */
		flki_state_poke(st, flki_state_at(st, st->h->waiting.head)->next);
	flki_state_note_steering(st, FLK_EV_PACED, (int32_t) new->which);
	return 0;
}

int
flk_set_pace(struct flk *f, const struct flk_pace *pace, unsigned which)
{
	const struct new_pace new = { pace, which };
	int error = flki_pace_check(pace, which);

	return error != 0 ? error : steer(f, change_pace, (int64_t)(uintptr_t) & new);
}

void
flk_pace(const struct flk *f, struct flk_pace *pace)
{
	flki_pace_tell(f->file.h, pace);
}

int
flk_set_limit(struct flk *f, uint32_t limit)
{
	return limit < 1 || limit > FLK_MAX_UNITS ? -EINVAL : steer(f, change_limit, limit);
}

int
flk_override(struct flk *f, int64_t limit)
{
	if (limit != FLK_AUTO && (limit < 0 || limit > FLK_MAX_UNITS))
		return -EINVAL;
	return steer(f, change_override, limit);
}

int
flk_pause(struct flk *f)
{
	return steer(f, change_paused, 1);
}

int
flk_resume(struct flk *f)
{
	return steer(f, change_paused, 0);
}

int
flk_close(struct flk *f)
{
	return steer(f, change_closed, 1);
}

int
flk_reopen(struct flk *f)
{
	return steer(f, change_closed, 0);
}

int
flk_restore(struct flk *f, uint32_t units)
{
	return steer(f, change_withheld, units);
}

/* ---- taking others out ---- */

static int
change_waiter(struct state *st, int64_t ticket)
{
	uint32_t i = st->h->waiting.head, left = st->n;

	for (; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (s->ticket == (uint64_t)ticket && s->kind == TAKER) {
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
	return steer(f, change_waiter, (int64_t)ticket);
}

/* Nobody is in it, and from now on nobody can come in. */
static int
change_dead(struct state *st, int64_t steered_too)
{
	const struct header *h = st->h;

	flki_state_mend(st, NIL);
	if (h->waiting.head != NIL || h->holders.head != NIL)
		return -FLK_BUSY;
	if (!steered_too && (h->paused || h->closed || h->override != FLK_AUTO || h->withheld > 0))
		return -FLK_BUSY;
	atomic_store(&st->h->dead, 1);
	return 0;
}

/* Killed between the two, it leaves the second to whoever finds the dead limiter next. */
static int
remove_file(struct flk *f, bool steered_too)
{
	int error = steer(f, change_dead, steered_too);

	if (error == 0 || error == -FLK_GONE)
		error = flki_file_bury(&f->file, AT_FDCWD, f->path);
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
