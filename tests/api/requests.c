/* SPDX-License-Identifier: ISC */
/*
 * requests.c - which numbers a taker or an operator may ask for, and what becomes of a request if an
 * operator changes the limiter right before the taker has the lock.
 */
#include "../helpers/common.h"
#include "../helpers/request.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "clock.h"
#include "setting.h"
#include "state.h"

#define MOST FLK_MAX_UNITS

/* ---- what a taker may ask for ---- */

static const struct {
	struct flk_request want;
	int result;
} requests[] = {
	{ { .weight = MOST, .limit = MOST }, 0 },
	{ { .weight = MOST + 1, .limit = MOST }, -EINVAL },
	{ { .weight = 1, .limit = MOST + 1 }, -EINVAL },
	{ { .weight = 1, .limit = 9, .most = MOST }, 0 },
	{ { .weight = 1, .limit = 9, .most = MOST + 1 }, -EINVAL },
	{ { .weight = 3, .limit = 9, .most = 3 }, 0 },
	{ { .weight = 3, .limit = 9, .most = 2 }, -EINVAL },
	{ { .weight = 0, .limit = 9, .most = 1 }, 0 },
	{ { .weight = 3, .limit = 2 }, -FLK_HEAVY },
	{ { .weight = 2, .limit = 2 }, 0 },
	{ { .weight = 3, .limit = 4, .not_seats = 1 }, 0 },
	{ { .weight = 4, .limit = 4, .not_seats = 1 }, -FLK_HEAVY },
	{ { .weight = 4, .limit = 4, .not_seats = 16 }, 0 },
	{ { .weight = 64, .limit = 64, .not_seats = 1 }, -FLK_HEAVY },
	{ { .weight = 64, .limit = 65, .not_seats = 1 }, 0 },
};

static void
test_requests(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	unsigned i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		is(flk_try(t, &requests[i].want), requests[i].result, "request %u", i);
		flk_leave(t);
	}
	for (i = 0; i < REQUEST_NUMBERS; i++) {
		struct flk_request most = { .weight = 1, .limit = 9 }, more = most;
		if (request_numbers[i].most == 0)
			continue;
		*request_number(&most, i) = request_numbers[i].bound;
		*request_number(&more, i) = request_numbers[i].bound + 1;
		is(flk_try(t, &most), 0, "the largest %s", request_numbers[i].name);
		flk_leave(t);
		is(flk_try(t, &more), -EINVAL, "and a larger one");
	}
	flk_taker_free(t);
	whole(f, "after all requests");
	flk_detach(f);
}

static bool
say_no(void *context)
{
	(void)context;
	return false;
}

/* The patience of a question, in the file: whole seconds and 1, or for ever. */
static void
test_patience(void)
{
	static const struct {
		uint64_t ns;
		uint32_t asks;
	} patience[] = {
		{ 0, 61 },
		{ SECOND, 2 },
		{ (UINT32_MAX - UINT64_C(3)) * SECOND, UINT32_MAX - 2 },
		{ (UINT32_MAX - UINT64_C(2)) * SECOND, UINT32_MAX - 1 },
		{ (UINT32_MAX - UINT64_C(1)) * SECOND, UINT32_MAX - 1 },
		{ UINT32_MAX * SECOND, UINT32_MAX - 1 },
		{ UINT64_MAX - 1, UINT32_MAX - 1 },
		{ UINT64_MAX, UINT32_MAX },
	};
	struct flk_request want = { .weight = 1, .limit = 1, .ask = say_no };
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	unsigned i;

	for (i = 0; i < sizeof(patience) / sizeof(patience[0]); i++) {
		want.ask_patience_ns = patience[i].ns;
		is(flk_enqueue(t, &want), -EINPROGRESS, "a taker with a question waits");
		is(taker_slot(t)->asks, patience[i].asks, "for %llu ns at most",
		   (unsigned long long)patience[i].ns);
		flk_leave(t);
	}
	want.ask = NULL;
	is(flk_enqueue(t, &want), 0, "one without a question does not");
	is(taker_slot(t)->asks, 0, "whatever its patience");
	flk_taker_free(t);
	flk_detach(f);
}

/* ---- what an operator has done ---- */

static struct flk *unused;

static int
pause_it(void)
{
	return steer_pause(unused);
}

static int
close_it(void)
{
	return steer_close(unused);
}

static int
override_it(void)
{
	return steer_override(unused, 0);
}

static int
withhold_a_unit(void)
{
	const struct flk_request one = { .weight = 1, .limit = 3 };
	struct flk_taker *t = taker(unused);
	int error = flk_try(t, &one);

	if (error == 0)
		error = flk_forget(t);
	flk_taker_free(t);
	return error;
}

static int
take_seat_0_out(void)
{
	return steer_seat(unused, 0, true);
}

static int
take_seat_63_out(void)
{
	return steer_seat(unused, 63, true);
}

/* What an operator has steered stays, by each steering alone. */
static void
test_unused(void)
{
	static int (*const steer[])(void) = { pause_it,        close_it,        override_it,
					      withhold_a_unit, take_seat_0_out, take_seat_63_out };
	unsigned i;

	for (i = 0; i < sizeof(steer) / sizeof(steer[0]); i++) {
		unused = fresh(3);
		is(steer[i](), 0, "steered in way %u", i);
		is(flk_remove_unused(unused), -FLK_BUSY, "a limiter is in use");
		is(flk_verify(unused), 0, "and stays");
		is(flk_remove(unused), 0, "unless an operator removes it");
		flk_detach(unused);
	}
	unused = fresh(3);
	is(STEER(unused, 0, .paused = true), -EINVAL, "nothing can't be set");
	is(STEER(unused, 2 * FLK_SET_FAIR, .paused = true), -EINVAL, "nor what is no setting");
	is(flk_shrink(unused, 1, 0), -EINVAL, "nothing can't be released");
	is(steer_restore(unused, 1), -FLK_OVERRELEASE, "nor what is not withheld be restored");
	is(flk_remove_unused(unused), 0, "one that nobody has steered goes");
	flk_detach(unused);
}

/* ---- right before the lock ---- */

static struct flk *others;
static void (*meanwhile)(void);
static uint64_t ticket;

static void
right_before(void *context, bool is_inside)
{
	void (*act)(void) = meanwhile;

	(void)context;
	meanwhile = NULL;
	if (is_inside && act != NULL)
		act();
	else
		meanwhile = act;
}

static void
shrink_by_1(void)
{
	if (flk_shrink(others, ticket, 1) != 0)
		tap_bail("no shrinking");
}

static void
shrink_by_2(void)
{
	if (flk_shrink(others, ticket, 2) != 0)
		tap_bail("no shrinking");
}

static void
declare_1(void)
{
	if (steer_limit(others, 1) != 0)
		tap_bail("no limit");
}

static void
test_right_before(void)
{
	const struct flk_options options = { .limit = 3, .inside = right_before };
	const struct flk_request three = { .weight = 3 }, two = { .weight = 2 };
	struct flk_permit permit;
	struct flk_taker *t;
	struct flk *f;

	if (flk_attach(&f, fresh_path(), &options) != 0)
		tap_bail("flk_attach");
	others = attach(flk_path(f));
	t = taker(f);
	is(flk_try(t, &three), 0, "a permit of three units");
	flk_permit(t, &permit);
	ticket = permit.ticket;
	meanwhile = shrink_by_1;
	is(flk_release_units(t, 2), 0, "of which an operator takes one while two are released");
	is(flk_permit(t, &permit), -FLK_NOPERMIT, "ends, for these were all");
	is(flk_try(t, &three), 0, "another");
	flk_permit(t, &permit);
	ticket = permit.ticket;
	meanwhile = shrink_by_2;
	is(flk_release_units(t, 2), -FLK_OVERRELEASE, "of which an operator takes two");
	ok(flk_permit(t, &permit) == 0 && permit.weight == 1, "has one, and keeps it");
	is(flk_release_units(t, 1), 0, "until that is released");
	meanwhile = declare_1;
	is(flk_try(t, &two), -FLK_HEAVY, "the usual limit is that which is found inside");
	flk_taker_free(t);
	whole(f, "after what operators did");
	flk_detach(others);
	flk_detach(f);
}

/* A waiter that does not run just now has its permit when the operator's call returns. */
static void
test_grants_at_once(void)
{
	const struct flk_request two = { .weight = 2, .limit = 2 };
	const struct timespec now = { .tv_sec = 0 };
	struct flk *f = fresh(2);
	struct flk_taker *a = taker(f), *b = taker(f);

	flk_try(a, &two);
	is(flk_enqueue(b, &two), -EINPROGRESS, "a waiter");
	flk_interrupt(b);
	is(flk_wait(b, &now, NULL), -EINTR, "that is interrupted");
	is(flk_wait(b, &now, NULL), -ETIMEDOUT, "once");
	is(steer_override(f, 4), 0, "for which an operator makes room");
	is(state_of(taker_slot(b)), HELD, "is granted its permit by the operator");
	is(steer_close(f), 0, "who then closes the limiter");
	is(flk_wait(b, NULL, NULL), 0, "what was granted is granted");
	steer_open(f);
	flk_leave(b);
	flk_leave(a);
	steer_override(f, FLK_AUTO);
	flk_try(a, &two);
	flk_enqueue(b, &two);
	f->file.h->closed = 1; /* as by an operator that was killed then */
	is(flk_wait(b, NULL, NULL), -FLK_CLOSED, "and what was not is not");
	f->file.h->closed = 0;
	flk_taker_free(b);
	flk_taker_free(a);
	whole(f, "after that");
	flk_detach(f);
}

/* ---- what people see ---- */

static void
test_shown(void)
{
	static const char name[] = "a name that is so long that it does not fit into the room that "
				   "there is for it in the file";
	const struct flk_request one = { .weight = 1, .limit = 1, .command = "make all" };
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f), *second = taker(f);
	struct flk_snapshot *s;
	uint64_t before = now_ns();

	flk_try(t, &one);
	is(flk_enqueue(second, &one), -EINPROGRESS, "a waiter");
	flk_working(t, getpid());
	is(taker_slot(t)->started_before_ns, 0, "without a guard it may have been started before");
	is(flk_waits_for(t, name), 0, "a holder waits for another limiter");
	is(flk_waits_for(second, name), -FLK_NOPERMIT, "a waiter has nothing to wait with");
	if (flk_snapshot(f, &s) != 0)
		tap_bail("no snapshot");
	ok(strlen(s->entry[0].waits_for) == FLK_WAITS_FOR - 1 &&
	       strncmp(s->entry[0].waits_for, name, FLK_WAITS_FOR - 1) == 0,
	   "of whose name there is as much as there is room for");
	is(s->entry[1].waits_for[0], '\0', "the waiter has none");
	ok(s->entry[0].since_ns >= before && s->entry[0].since_ns <= now_ns(),
	   "the time since when it holds is between");
	ok(s->entry[0].worker == getpid() && s->entry[1].worker == 0, "and a waiter has no worker");
	free(s);
	taker_slot(t)->since_ns = now_ns() + SECOND;
	flk_snapshot(f, &s);
	ok(s->entry[0].since_ns <= now_ns(), "a time of a clock that is ahead is now");
	is(flk_took(t, 1025, 0), 0, "what the work took");
	is(taker_slot(t)->took.peak_kib, 2, "is in whole KiB");
	flk_took(t, 1024, 0);
	is(taker_slot(t)->took.peak_kib, 1, "and no more of them than needed");
	flk_took(t, UINT64_MAX, UINT64_MAX);
	is(taker_slot(t)->took.peak_kib, UINT32_MAX, "as many as there is room for");
	free(s);
	f->file.h->damaged = 1;
	is(flk_release_units(t, 0), -FLK_DAMAGED, "a damaged limiter takes nothing back");
	is(f->file.h->doubted, 0, "and is left as it is");
	f->file.h->damaged = 0;
	flk_taker_free(second);
	flk_taker_free(t);
	flk_detach(f);
}

/* What an operator asks for is written over what is there; a store's program does that. */
static void
test_settings(void)
{
	const struct flk_settings to = {
		.declared = 3, .override = 5, .paused = true, .closed = true
	};
	struct flk_settings now = flki_no_settings;

	flki_settings_set(&now, FLK_SET_OVERRIDE | FLK_SET_CLOSED, &to);
	ok(now.override == 5 && now.closed, "two settings are set");
	ok(now.declared == 0 && !now.paused, "and the others stay");
	flki_settings_set(&now, FLK_SET_DECLARED | FLK_SET_PAUSED, &to);
	ok(flki_settings_same(&now, &to), "until they are set");
}

/* What flk_check() says of a waiter, and what a repairer makes of it. */
static void
test_damaged(void)
{
	struct slot s = { .kind = TAKER, .weight = 3, .least = 3, .passed_by = 2, .yield = 2 };

	ok(flki_state_asked_wrongly(&s) == NULL, "a waiter has what it asked for");
	s.weight = 2;
	ok(flki_state_asked_wrongly(&s) != NULL, "not another weight");
	flki_state_mend_asked(&s);
	ok(s.weight == 3 && flki_state_asked_wrongly(&s) == NULL, "and gets it back");
	s.passed_by = 3;
	ok(flki_state_asked_wrongly(&s) != NULL, "nor do more pass it than it consented to");
	flki_state_mend_asked(&s);
	ok(s.passed_by == 2 && flki_state_asked_wrongly(&s) == NULL, "so many have, then");
}

/* A setting that is not named has no effect, whatever its value. */
static void
test_named(void)
{
	const struct flk_settings to = { .paused = true, .closed = true };
	const struct flk_request one = { .weight = 1, .limit = 1 };
	const struct timespec over = { .tv_sec = 0 };
	struct flk *f = fresh(1);
	struct flk_taker *holder = taker(f), *waiter = taker(f);

	flk_try(holder, &one);
	is(flk_enqueue(waiter, &one), -EINPROGRESS, "a taker waits");
	is(flk_set(f, FLK_SET_PAUSED, &to), 0, "the limiter is paused, and not closed");
	is(flk_wait(waiter, &over, NULL), -ETIMEDOUT, "and the waiter still stands in the line");
	flk_leave(waiter);
	is(flk_set(f, FLK_SET_RATE,
		   &(struct flk_settings){ .pace = { .interval_ns = 1, .burst = 1 } }),
	   0, "a pace is set");
	ok(atomic_load(&f->ahead_ns) != INT64_MIN, "in the time of all namespaces");
	flk_taker_free(waiter);
	flk_taker_free(holder);
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_requests();
	test_settings();
	test_named();
	test_damaged();
	test_patience();
	test_unused();
	test_right_before();
	test_grants_at_once();
	test_shown();
	return tap_done();
}
