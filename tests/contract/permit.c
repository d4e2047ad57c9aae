/* SPDX-License-Identifier: ISC */
/*
 * permit.c - a permit: what it weighs, under which limit, with which seat, and how it ends.
 */
#include "contract.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
none(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *t = taker(f);
	struct flk_permit p;
	int fd = flk_guard_open(f), own;

	is(flk_permit(t, &p), -FLK_NOPERMIT, "without a permit there is none to describe");
	is(flk_release(t), -FLK_NOPERMIT, "to release");
	is(flk_release_units(t, 1), -FLK_NOPERMIT, "to release in part");
	is(flk_forget(t), -FLK_NOPERMIT, "to forget");
	is(flk_working(t, getpid()), -FLK_NOPERMIT, "to work under");
	is(flk_ended(t, 0), -FLK_NOPERMIT, "to have ended");
	is(flk_took(t, 1, 1), -FLK_NOPERMIT, "to have taken memory");
	is(flk_guard(t, &own), -FLK_NOPERMIT, "to guard");
	ok(fd >= 0, "a common guard");
	is(flk_guard_by(t, fd), -FLK_NOPERMIT, "to guard in common");
	is(flk_entrust(t), -FLK_NOPERMIT, "to entrust");
	ok(flk_entrust_to(t, fd, getpid()) < 0, "to entrust to a descriptor");
	close(fd);
	flk_taker_free(t);
	flk_detach(f);
}

static void
plain(void)
{
	struct flk *f = limiter(2);
	struct flk_taker *t = taker(f), *u = taker(f), *v = taker(f);
	const struct flk_request later = { .reserved = { [5] = 1 } };
	struct flk_permit p;

	is(flk_try(t, &later), -EINVAL, "a request for what only a later version has");
	is(flk_enqueue(t, &later), -EINVAL, "is none");
	is(flk_acquire_for(t, &later, PATIENCE_MS), -EINVAL, "for which one could wait");
	is(flk_try(t, NULL), 0, "no request is one for a permit");
	ok(flk_permit(t, &p) == 0 && p.weight == 1 && p.limit == flk_declared(f),
	   "of one unit under the usual limit");
	is(flk_acquire_for(u, NULL, PATIENCE_MS), 0, "for which it may wait");
	is(flk_enqueue(v, NULL), -EINPROGRESS, "and join the line");
	is(flk_release(t), 0, "until a unit is free");
	is(wait_ms(v, PATIENCE_MS), 0, "and it is granted");
	done_with(f, "plain permits", t, u, v, NULL);
}

static void
elastic(void)
{
	struct flk *f = limiter(3);
	struct flk_taker *t = taker(f), *u = taker(f);
	struct flk_request want = { .weight = 1, .limit = 4, .most = 4 };
	struct flk_permit p;

	take(u, 1, 4);
	is(flk_acquire_for(t, &want, PATIENCE_MS), expected(ELASTIC), "an elastic weight");
	if (expected(ELASTIC) != 0)
		take(t, 3, 4);
	is(flk_permit(t, &p), 0, "a permit");
	is((int)p.weight, 3, "of all that is free");
	is(flk_shrink(f, p.ticket, 0), -EINVAL, "by nothing it can't shrink");
	is(flk_shrink(f, p.ticket, 3), expected(SHRINK) == 0 ? -FLK_OVERRELEASE : -ENOTSUP,
	   "nor to nothing");
	is(flk_shrink(f, p.ticket + 9, 1), expected(SHRINK) == 0 ? -FLK_NOPERMIT : -ENOTSUP,
	   "a ticket that nobody has");
	is(flk_shrink(f, p.ticket, 2), expected(SHRINK), "two units of it are given back");
	is((int)units_used(f), expected(SHRINK) == 0 ? 2 : 4, "and can be had");
	is(flk_grow(f, p.ticket, 0), -EINVAL, "by nothing it can't grow");
	is(flk_grow(f, p.ticket + 9, 1), expected(SHRINK) == 0 ? -FLK_NOPERMIT : -ENOTSUP,
	   "nor a ticket that nobody has");
	is(flk_grow(f, p.ticket, 9), expected(SHRINK), "it gets all that is free again");
	is((int)units_used(f), 4, "which are the two");
	is(flk_grow(f, p.ticket, 1), expected(SHRINK) == 0 ? -EAGAIN : -ENOTSUP, "and no more");
	is(flk_shrink(f, p.ticket, 2), expected(SHRINK), "it gives them back");
	is(flk_release_units(t, 2), expected(SHRINK) == 0 ? -FLK_OVERRELEASE : -ENOTSUP,
	   "its owner has fewer now");
	is(flk_release(t), 0, "and releases the rest");
	want.weight = 3;
	want.most = 2;
	is(flk_acquire_for(t, &want, 0), -EINVAL, "the most can't be less than the least");
	done_with(f, "elastic weights", t, u, NULL);
}

static void
seat_sets(void)
{
	struct flk *f = limiter(4);
	struct flk_taker *t = taker(f), *u = taker(f);
	struct flk_request want = { .weight = 2, .limit = 4, .not_seats = 2 };
	struct flk_permit p;
	int files = expected(SEAT_SETS) == 0, code;

	code = flk_enqueue(t, &want);
	is(code, expected(SEAT_SETS), "a taker that does not want seat 1");
	want.not_seats = 0;
	if (!files)
		take(t, 2, 4);
	is(flk_permit(t, &p), 0, "a permit");
	is((int)p.seat, 0, "whose first seat is 0");
	is((int)p.seats, files ? 5 : 0, "and another for its other unit");
	is(steer_seat(f, 3, true), expected(SEAT_SETS), "a seat is out of use");
	is(flk_try(u, &want), files ? -EAGAIN : 0, "so two are not free");
	flk_leave(u);
	is(steer_seat(f, 3, false), expected(SEAT_SETS), "it is in use again");
	is(flk_try(u, &want), 0, "and two are free");
	is(flk_permit(u, &p), 0, "a permit");
	is((int)p.seats, files ? 10 : 0, "of the others");
	want = (struct flk_request){ .weight = 4, .limit = 4, .not_seats = 1 };
	is(flk_release(t), 0, "the first releases");
	is(flk_try(t, &want), files ? -FLK_HEAVY : -ENOTSUP, "four of three seats");
	done_with(f, "sets of seats", t, u, NULL);
}

/* What the snapshot says of the only permit. */
static void
waits_for_is(struct flk *f, const char *name)
{
	struct flk_snapshot *s;

	is(flk_snapshot(f, &s), 0, "a snapshot");
	ok(s->holders == 1 && strcmp(s->entry[0].waits_for, name) == 0,
	   "whose owner waits for '%s': '%s'", name, s->entry[0].waits_for);
	free(s);
}

static void
waits_for(void)
{
	char name[2 * FLK_WAITS_FOR];
	struct flk *f = limiter(1);
	struct flk_taker *t = taker(f);
	bool files = expected(WAITS_FOR) == 0;

	is(flk_waits_for(t, "other"), files ? -FLK_NOPERMIT : -ENOTSUP, "it has no permit yet");
	take(t, 1, 1);
	waits_for_is(f, "");
	is(flk_waits_for(t, "other"), expected(WAITS_FOR), "it waits for another limiter");
	waits_for_is(f, files ? "other" : "");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	is(flk_waits_for(t, name), expected(WAITS_FOR), "for one with a long name");
	name[FLK_WAITS_FOR - 1] = '\0';
	waits_for_is(f, files ? name : "");
	is(flk_waits_for(t, NULL), expected(WAITS_FOR), "and no longer");
	waits_for_is(f, "");
	is(flk_waits_for(t, "other"), expected(WAITS_FOR), "for another one, until it releases");
	is(flk_release(t), 0, "a release");
	take(t, 1, 1);
	waits_for_is(f, "");
	done_with(f, "a limiter elsewhere", t, NULL, NULL);
}

static bool
say_no(void *context)
{
	(void)context;
	return false;
}

static void
gate(void)
{
	struct flk *f = limiter(4);
	struct flk_taker *t = taker(f), *u = taker(f);
	struct flk_gate gate = { .when = "disk:/>1", .patience_ns = UINT64_MAX };
	struct flk_request want = { .limit = 4, .ask = say_no };
	struct flk_settings now;
	int files = expected(GATE) == 0, code;
	char why[8] = "as ever";

	is(flk_gate_check("disk:/>1", why, sizeof(why)), 0, "a right condition");
	is(strcmp(why, "as ever"), 0, "is no reason for words");
	is(flk_gate_check("disk:/>1", NULL, 0), 0, "nor is room for them needed");
	is(steer_gate(f, &gate), expected(GATE), "a gate that lets all pass");
	is(flk_get(f, &now), 0, "and what it is");
	is(strcmp(now.gate.when, files ? gate.when : ""), 0, "is this");
	take(t, 1, 4);
	code = flk_enqueue(u, &want);
	is(code, files ? -EINPROGRESS : -ENOTSUP, "a taker with a question");
	if (files) {
		is(flk_wait(u, NULL, NULL), -FLK_ASK, "is to answer it");
		flk_answer(u, true);
		is(flk_wait(u, NULL, NULL), 0, "and gets its permit after a yes");
	}
	memset(gate.when, 'x', sizeof(gate.when));
	is(steer_gate(f, &gate), -EINVAL, "a text without an end");
	strcpy(gate.when, "mem");
	is(steer_gate(f, &gate), -EINVAL, "and one that is no condition");
	gate.when[0] = '\0';
	is(steer_gate(f, &gate), expected(GATE), "no gate");
	done_with(f, "a gate", t, u, NULL);
}

static void
consent(void)
{
	struct flk *f = limiter(3);
	struct flk_taker *t = taker(f), *u = taker(f), *v = taker(f);
	struct flk_request want = { .weight = 3, .limit = 3, .yield = 1 };
	struct flk_permit early, late;
	int code;

	take(t, 2, 3);
	is(flk_permit(t, &early), 0, "a permit");
	code = flk_enqueue(u, &want);
	is(code == -EINPROGRESS ? 0 : code, expected(CONSENT), "a waiter that yields");
	if (expected(CONSENT) != 0) {
		want.yield = 0;
		is(flk_enqueue(u, &want), -EINPROGRESS, "one that does not");
	}
	want = (struct flk_request){ .weight = 1, .limit = 3 };
	is(flk_try(v, &want), expected(CONSENT) == 0 ? 0 : -EAGAIN, "is passed if it consents");
	is(flk_release(t), 0, "the holder releases");
	if (expected(CONSENT) == 0)
		is(flk_release(v), 0, "and so does the one that has passed");
	is(flk_wait(u, NULL, NULL), 0, "the waiter's turn comes");
	is(flk_permit(u, &late), 0, "its permit");
	ok(late.fence > early.fence, "has a higher fence");
	want.yield = FLK_MAX_UNITS + 1;
	is(flk_try(v, &want), -EINVAL, "no number of takers");
	done_with(f, "consent", t, u, v, NULL);
}

static void
one_permit(void)
{
	struct flk *f = limiter(3);
	struct flk_taker *t = taker(f);
	struct timespec soon = in_ms(1000);
	struct flk_permit p, q;
	uint64_t first;

	take(t, 2, 3);
	is(flk_permit(t, &p), 0, "a permit for 2 of 3");
	ok(p.ticket > 0 && p.weight == 2 && p.limit == 3 && p.seat == 0, "is as it was asked for");
	ok(flk_holds(f, flk_slot(t), p.ticket, &q), "anybody can see that it is held");
	ok(q.ticket == p.ticket && q.weight == 2 && q.limit == 3 && q.seat == 0, "and how");
	ok(!flk_holds(f, flk_slot(t), p.ticket + 1, &q), "another ticket is not");
	ok(!flk_holds(f, 99999, p.ticket, &q), "nor is it in another slot");
	is(acquire(t, 1, 3, 0), -FLK_BUSY, "a holder can't take another");
	is(flk_wait_idle(t, &soon), -FLK_BUSY, "nor wait until it is done itself");
	is(flk_release_units(t, 3), -FLK_OVERRELEASE, "more than is held can't be released");
	is((int)units_used(f), 2, "and that changes nothing");
	is(flk_release_units(t, 1), expected(RELEASE_A_PART), "one of two");
	is(flk_permit(t, &p), 0, "leaves a permit");
	is((int)p.weight, expected(RELEASE_A_PART) == 0 ? 1 : 2, "of what is left");
	is((int)units_used(f), (int)p.weight, "which is used");
	is(flk_release_units(t, p.weight), 0, "all that is left");
	is_out(t, "after the last unit");
	is(flk_release(t), -FLK_NOPERMIT, "a second time it can't be released");
	first = p.ticket;
	take(t, 0, 1);
	is(flk_permit(t, &p), 0, "another permit");
	ok(p.ticket > first, "has a higher ticket");
	is((int)p.weight, 1, "weight 0 is 1");
	is(flk_forget(t), expected(FORGET_IT), "to forget it");
	if (expected(FORGET_IT) == 0) {
		is_out(t, "after flk_forget()");
		is((int)units_used(f), 0, "its unit is not in use");
		is(try_it(t, 1, 1), -EAGAIN, "but is not free either");
		is(steer_restore(f, 2), -FLK_OVERRELEASE, "more than is withheld is not restored");
		is(steer_restore(f, 1), 0, "it is restored");
		take(t, 3, 3);
	}
	is(steer_restore(f, 1), -FLK_OVERRELEASE, "nothing is withheld");
	is(steer_restore(f, 0), 0, "and nothing can be restored");
	done_with(f, "a permit", t, NULL);
}

static void
weights(void)
{
	struct flk *f = limiter(3);
	struct flk_taker *t = taker(f);

	is(acquire(t, 4, 3, PATIENCE_MS), -FLK_HEAVY, "a weight above the limit");
	is_out(t, "after a heavy request");
	is(try_it(t, 4, 3), -FLK_HEAVY, "nor may it try");
	is(acquire(t, FLK_MAX_UNITS + 1, 0, 0), -EINVAL, "a weight above all limits");
	is(acquire(t, 1, FLK_MAX_UNITS + 1, 0), -EINVAL, "a limit above all limits");
	is_out(t, "after wrong numbers");
	take(t, FLK_MAX_UNITS, FLK_MAX_UNITS);
	is(flk_release(t), 0, "the largest of both can be had");
	done_with(f, "weights", t, NULL);
}

/* The strictest limit that runs decides. */
static void
limits(void)
{
	struct flk *f = limiter(4);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);

	take(a, 1, 4);
	is(try_it(b, 1, 1), -EAGAIN, "a taker that declares 1 does not run beside another");
	take(b, 1, 2);
	is(try_it(c, 1, 4), -EAGAIN, "while a limit of 2 runs, no third unit does");
	queue(c, 1, 4, 1);
	is(flk_release(b), 0, "when it ends");
	is(wait_ms(c, PATIENCE_MS), 0, "others decide");
	is(try_it(b, 3, 4), -EAGAIN, "the sum stays within 4");
	take(b, 2, 4);
	is((int)units_used(f), 4, "all of it can be used");
	done_with(f, "declared limits", a, b, c, NULL);
}

static void
seats(void)
{
	struct flk *f = limiter(3);
	struct flk_taker *t[3] = { taker(f), taker(f), taker(f) };
	struct flk_permit p;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		take(t[i], 1, 3);
		is(flk_permit(t[i], &p), 0, "a permit");
		is((int)p.seat, (int)i, "has the smallest seat that is free");
	}
	is(flk_release(t[1]), 0, "seat 1 is free");
	take(t[1], 1, 3);
	is(flk_permit(t[1], &p), 0, "the next permit");
	is((int)p.seat, 1, "has it");
	done_with(f, "seats", t[0], t[1], t[2], NULL);
}

/* ---- how many may wait ---- */

static int
bounded(struct flk_taker *t, uint32_t most, int ms)
{
	struct flk_request want = {
		.weight = 1, .limit = 1, .limit_queue = true, .max_queue = most
	};

	return flk_acquire_for(t, &want, ms);
}

static void
bounds(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_request two = { .weight = 1, .limit = 1, .limit_queue = true, .max_queue = 2 };

	is(bounded(a, 0, PATIENCE_MS), 0, "a taker that would not wait at all need not");
	is(bounded(b, 0, PATIENCE_MS), -FLK_FULL, "another would have to");
	is_out(b, "after -FLK_FULL");
	is(bounded(b, 0, 0), -EAGAIN, "one that does not wait fills no line");
	queue(b, 1, 1, 1);
	is(bounded(c, 1, PATIENCE_MS), -FLK_FULL, "nor behind one");
	is(flk_enqueue(c, &two), -EINPROGRESS, "but behind fewer than two");
	ok(stands(f, 1, 2), "it stands in the line");
	is(flk_release(a), 0, "the holder goes");
	is(wait_ms(b, PATIENCE_MS), 0, "the head is granted");
	is(flk_release(b), 0, "and goes");
	is(wait_ms(c, PATIENCE_MS), 0, "the last too");
	done_with(f, "bounds", a, b, c, NULL);
}

void
contract_permit(void)
{
	none();
	one_permit();
	plain();
	elastic();
	consent();
	seat_sets();
	gate();
	waits_for();
	weights();
	limits();
	seats();
	bounds();
}
