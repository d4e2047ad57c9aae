/* SPDX-License-Identifier: ISC */
/*
 * deeds.c - what anybody on the stage can be told to do.
 */
#include "killstep.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdlib.h>

static const struct flk_request one = { .weight = 1, .limit = 2 };
static const struct flk_request both = { .weight = 2, .limit = 2 };
static const struct flk_request elastic = { .weight = 1, .limit = 2, .most = 2 };
static const struct flk_request but_first = { .weight = 1, .limit = 2, .not_seats = 1 };
static const struct flk_request but_second = { .weight = 1, .limit = 2, .not_seats = 2 };
static const struct flk_request alone = { .weight = 1, .limit = 2, .limit_queue = true };

int
come(struct part *p)
{
	int error = flk_attach(&p->f, p->path, NULL);

	return error != 0 ? error : flk_taker_new(&p->t, p->f);
}

int
idle(struct part *p)
{
	struct flk_place place;

	return flk_place(p->t, &place);
}

int
take_one(struct part *p)
{
	return flk_acquire(p->t, &one, NULL);
}

int
take_all(struct part *p)
{
	return flk_acquire(p->t, &both, NULL);
}

/* One unit, or both. */
int
take_elastic(struct part *p)
{
	return flk_acquire(p->t, &elastic, NULL);
}

/* One unit, whose seat is not the first, or not the second. */
int
take_but_first(struct part *p)
{
	return flk_acquire(p->t, &but_first, NULL);
}

int
take_but_second(struct part *p)
{
	return flk_acquire(p->t, &but_second, NULL);
}

int
take_if_alone(struct part *p)
{
	return flk_acquire(p->t, &alone, NULL);
}

int
try_one(struct part *p)
{
	return flk_try(p->t, &one);
}

int
line_up_for_one(struct part *p)
{
	return flk_enqueue(p->t, &one);
}

int
line_up_for_all(struct part *p)
{
	return flk_enqueue(p->t, &both);
}

int
wait_on(struct part *p)
{
	return flk_wait(p->t, NULL, NULL);
}

int
wait_no_longer(struct part *p)
{
	static const struct timespec past;
	int error = flk_wait(p->t, &past, NULL);

	return flk_leave(p->t) == 0 ? error : -1;
}

int
take_all_soon(struct part *p)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += 8000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return flk_acquire(p->t, &both, &t);
}

int
cancel(struct part *p)
{
	flk_cancel(p->t);
	return 0;
}

int
cancelled_in_line(struct part *p)
{
	int error = flk_enqueue(p->t, &both);

	flk_cancel(p->t);
	return error;
}

/* The canceller comes too late: what it was granted goes on to the next. */
int
wait_and_leave(struct part *p)
{
	int error = flk_wait(p->t, NULL, NULL);

	return flk_leave(p->t) == 0 ? error : -1;
}

int
leave(struct part *p)
{
	return flk_leave(p->t);
}

int
release(struct part *p)
{
	return flk_release(p->t);
}

int
release_one(struct part *p)
{
	return flk_release_units(p->t, 1);
}

int
forget(struct part *p)
{
	return flk_forget(p->t);
}

int
forget_one(struct part *p)
{
	int error = flk_acquire(p->t, &one, NULL);

	return error != 0 ? error : flk_forget(p->t);
}

int
restore_one(struct part *p)
{
	return steer_restore(p->f, 1);
}

int
restore_all(struct part *p)
{
	struct flk_snapshot *s;
	uint32_t units;
	int error = flk_snapshot(p->f, &s);

	if (error != 0)
		return error;
	units = s->set.withheld;
	free(s);
	return units > 0 ? steer_restore(p->f, units) : 0;
}

int
set_limit(struct part *p)
{
	return steer_limit(p->f, 1);
}

int
take_seat_out(struct part *p)
{
	return steer_seat(p->f, 1, true);
}

int
put_seat_back(struct part *p)
{
	return steer_seat(p->f, 1, false);
}

int
override_nothing(struct part *p)
{
	return steer_override(p->f, 0);
}

int
override_one(struct part *p)
{
	return steer_override(p->f, 1);
}

int
override_three(struct part *p)
{
	return steer_override(p->f, 3);
}

int
lift_override(struct part *p)
{
	return steer_override(p->f, FLK_AUTO);
}

int
pause_it(struct part *p)
{
	return steer_pause(p->f);
}

int
resume(struct part *p)
{
	return steer_resume(p->f);
}

int
refuse_all(struct part *p)
{
	return steer_close(p->f);
}

int
admit(struct part *p)
{
	return steer_open(p->f);
}

int
wait_idle(struct part *p)
{
	return flk_wait_idle(p->t, NULL);
}

int
look(struct part *p)
{
	struct flk_snapshot *s = NULL;
	int error = flk_snapshot(p->f, &s);

	free(s);
	return error;
}

int
check_it(struct part *p)
{
	char why[100];

	return flk_check(p->f, why, sizeof(why));
}

int
guard(struct part *p)
{
	int fd;

	return flk_guard(p->t, &fd);
}

int
take_all_guarded(struct part *p)
{
	int error = take_all(p);

	return error != 0 ? error : guard(p);
}

int
end(struct part *p)
{
	struct flk_taker *t = p->t;

	p->t = NULL;
	flk_taker_free(t);
	return 0;
}

static void
write_nonsense(struct state *st)
{
	st->h->waiting = st->h->holders = (struct list){ 77, 3, 1 };
	st->h->used = 99;
	st->h->barriers = 3;
	st->h->min_count = 4;
	st->slots[0].next = st->slots[1].next = 1;
	st->slots[0].seat_bits = 0xf0f0;
}

/* Leaves the lock taken, and an index that is nonsense. */
int
break_index(struct part *p)
{
	struct state st;
	int error = flki_enter(p->t, &st);

	if (error == 0)
		write_nonsense(&st);
	return error;
}

/* As if another taker had inherited the lock while this one was inside, and had left it again. */
static int
leave_lost_lock(struct part *p, struct state *st)
{
	atomic_store(&st->h->lock, 0);
	return flki_leave_lock(p->t, st) == -FLK_MISTAKEN ? 0 : -EPROTO;
}

int
doubt_index(struct part *p)
{
	struct state st;
	int error = flki_enter(p->t, &st);

	if (error != 0)
		return error;
	write_nonsense(&st);
	return leave_lost_lock(p, &st);
}

static struct state lost; /* of an actor that has lost the lock, and is inside until it notices */

/* It tears the list of the holders, so that the head watches none of them; the sum stays right. */
int
lose_lock_inside(struct part *p)
{
	int error = flki_enter(p->t, &lost);

	if (error != 0)
		return error;
	lost.h->holders.head = lost.h->holders.tail = NIL;
	atomic_store(&lost.h->lock, 0);
	return 0;
}

/* Once: it does nothing if the actor has left already. */
int
notice_lost_lock(struct part *p)
{
	struct state st = lost;

	lost.h = NULL;
	return st.h == NULL || flki_leave_lock(p->t, &st) == -FLK_MISTAKEN ? 0 : -EPROTO;
}

/* And it has changed nothing. */
int
lose_lock(struct part *p)
{
	struct state st;
	int error = flki_enter(p->t, &st);

	return error != 0 ? error : leave_lost_lock(p, &st);
}
