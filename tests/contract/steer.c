/* SPDX-License-Identifier: ISC */
/*
 * steer.c - what operators do: limits, pause, close, evict, pace.
 */
#include "contract.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
numbers(void)
{
	struct flk *f = limiter(1);

	is(steer_limit(f, 0), -EINVAL, "no limit is 0");
	is(steer_limit(f, FLK_MAX_UNITS + 1), -EINVAL, "nor above all limits");
	is(steer_override(f, -2), -EINVAL, "no override is below 0");
	is(steer_override(f, (int64_t)FLK_MAX_UNITS + 1), -EINVAL, "nor above all limits");
	flk_detach(f);
}

static void
set_limit(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct flk_snapshot *s;

	is(steer_limit(f, 2), 0, "a limit for takers that declare none");
	is(flk_snapshot(f, &s), 0, "a snapshot");
	ok(s->set.declared == 2 && s->limit == 2, "shows it");
	free(s);
	take(a, 1, 0);
	take(b, 1, 0);
	is((int)units_used(f), 2, "it is in force");
	done_with(f, "a set limit", a, b, NULL);
}

static void
pause_it(void)
{
	struct flk *f = limiter(2);
	struct flk_taker *a = taker(f), *b = taker(f);

	take(b, 1, 2);
	is(steer_pause(f), 0, "paused");
	is(steer_pause(f), 0, "twice");
	is(try_it(a, 1, 2), -EAGAIN, "nothing starts");
	queue(a, 1, 2, 1);
	is(wait_ms(a, 0), -ETIMEDOUT, "but waits");
	is(flk_release(b), 0, "a holder is not disturbed");
	is(wait_ms(a, 0), -ETIMEDOUT, "and its end starts nothing");
	is(steer_resume(f), 0, "resumed");
	is(wait_ms(a, PATIENCE_MS), 0, "the waiter starts");
	done_with(f, "a pause", a, b, NULL);
}

static void
several_at_once(void)
{
	const unsigned both = FLK_SET_PAUSED | FLK_SET_OVERRIDE;
	struct flk_settings to = { .paused = true, .override = 5 }, now;
	struct flk *f = limiter(2);
	struct flk_taker *t = taker(f), *u = taker(f);

	take(t, 1, 2);
	is(flk_set(f, both, &to), 0, "two settings at once");
	is(flk_get(f, &now), 0, "are read");
	ok(now.paused && now.override == 5 && !now.closed, "and are both there");
	to = (struct flk_settings){ .override = -2 };
	is(flk_set(f, both, &to), -EINVAL, "if one can't be,");
	is(flk_get(f, &now), 0, "nothing");
	ok(now.paused && now.override == 5, "is changed");
	to.override = FLK_AUTO;
	is(flk_set(f, both, &to), 0, "they end together");
	is(try_it(u, 1, 2), 0, "and takers start");
	done_with(f, "several settings", t, u, NULL);
}

static void
override(void)
{
	struct flk *f = limiter(2);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_snapshot *s;
	struct flk_permit p;

	take(a, 1, 2);
	is(steer_override(f, 1), 0, "an override below the declarations");
	is(try_it(b, 1, 2), -EAGAIN, "is in force");
	queue(b, 2, 2, 1);
	is(flk_release(a), 0, "a weight above it waits until it can");
	is(wait_ms(b, PATIENCE_MS), 0, "run alone");
	is(flk_permit(b, &p), 0, "its permit");
	is((int)p.limit, 1, "says under which limit");
	is(steer_override(f, 4), 0, "an override above the declarations");
	take(a, 1, 2);
	take(c, 1, 2);
	is((int)units_used(f), 4, "lets four units run");
	is(steer_override(f, 0), 0, "an override of 0");
	is(flk_snapshot(f, &s), 0, "a snapshot");
	ok(s->set.override == 0 && s->used == 4 && s->limit == 0 && s->holders == 3, "shows it");
	free(s);
	is(flk_release(a), 0, "a holder goes");
	queue(a, 1, 2, 1);
	is(flk_release(b), 0, "and when");
	is(flk_release(c), 0, "all is empty");
	is(wait_ms(a, 0), -ETIMEDOUT, "nothing starts");
	is(steer_override(f, FLK_AUTO), 0, "until it is lifted");
	is(wait_ms(a, PATIENCE_MS), 0, "then it does");
	done_with(f, "an override", a, b, c, NULL);
}

static void
close_it(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_request full = { .weight = 1, .limit = 1, .limit_queue = true };

	take(a, 1, 1);
	queue(b, 1, 1, 1);
	queue(c, 1, 1, 2);
	is(steer_close(f), 0, "closed");
	is(wait_ms(b, PATIENCE_MS), -FLK_CLOSED, "the head hears of it");
	is(wait_ms(c, PATIENCE_MS), -FLK_CLOSED, "and so does the last");
	is_out(b, "after -FLK_CLOSED");
	is(acquire(c, 1, 1, PATIENCE_MS), -FLK_CLOSED, "a newcomer is refused");
	is(try_it(c, 1, 1), -FLK_CLOSED, "and one that tries");
	is(flk_acquire_for(c, &full, PATIENCE_MS), -FLK_CLOSED, "and one that would not wait");
	is_out(c, "after a refusal");
	ok(stands(f, 1, 0), "the holder keeps its permit");
	is(flk_release(a), 0, "and releases it");
	is(try_it(c, 1, 1), -FLK_CLOSED, "an empty limiter stays closed");
	is(steer_open(f), 0, "opened");
	take(c, 1, 1);
	done_with(f, "a closed limiter", a, b, c, NULL);
}

static uint64_t
waiters_ticket(struct flk *f, uint32_t which)
{
	struct flk_snapshot *s;
	uint64_t ticket;

	if (flk_snapshot(f, &s) != 0 || s->waiters <= which)
		tap_bail("no such waiter");
	ticket = s->entry[s->holders + which].ticket;
	free(s);
	return ticket;
}

static void
evict(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_permit p;
	uint64_t ticket;
	pid_t pid = -1;
	uid_t uid = (uid_t)-1;

	take(a, 1, 1);
	queue(b, 1, 1, 1);
	queue(c, 1, 1, 2);
	ticket = waiters_ticket(f, 0);
	is(flk_evict(f, ticket), 0, "the head is evicted");
	is(flk_evict(f, ticket), -FLK_NOPERMIT, "once");
	is(wait_ms(b, PATIENCE_MS), -FLK_EVICTED, "it hears of it");
	flk_evictor(b, &pid, &uid);
	ok(pid == getpid() && uid == getuid(), "and by whom");
	is_out(b, "after -FLK_EVICTED");
	is(flk_permit(a, &p), 0, "a holder's ticket");
	is(flk_evict(f, p.ticket), -FLK_NOPERMIT, "is no waiter's");
	is(flk_release(a), 0, "the holder goes");
	is(wait_ms(c, PATIENCE_MS), 0, "the next in the line is granted");
	done_with(f, "an eviction", a, b, c, NULL);
}

/*
 * A waiter leaves before it has heard that it was evicted: what the two say of each other crosses on
 * the way, and must not be taken for an answer to what the taker asks next.
 */
static void
leave_when_evicted(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	const struct flk_request one = { .weight = 1, .limit = 1 };
	unsigned i, queued = 0, waited = 0;

	take(a, 1, 1);
	for (i = 0; i < 10; i++) {
		queue(b, 1, 1, 1);
		if (flk_evict(f, waiters_ticket(f, 0)) != 0)
			tap_bail("no waiter to evict");
		usleep(i * 20000); /* each time another part of it is on its way */
		flk_leave(b);
		queued += flk_enqueue(b, &one) == -EINPROGRESS;
		waited += wait_ms(b, 50) == -ETIMEDOUT;
		flk_leave(b);
	}
	is(queued, i,
	   "a waiter that was evicted, and left before it heard of that, can queue again");
	is(waited, i, "and then it waits");
	done_with(f, "evictions unheard", a, b, NULL);
}

static void
pace(void)
{
	struct flk *f = limiter(1);
	struct flk_pace slow = { .interval_ns = 1000000, .burst = 3 }, zero;
	struct flk_settings now;

	memset(&zero, 0, sizeof(zero));
	memset(&now, 1, sizeof(now));
	is(flk_get(f, &now), 0, "what is set can be read");
	ok(now.pace.interval_ns == 0 && now.pace.stagger_ns == 0 && now.pace.ramp_from == 0,
	   "at first no pace");
	is(steer_pace(f, &slow, FLK_SET_RATE), 0, "to set one");
	is(flk_get(f, &now), 0, "what is set can be read");
	ok(now.pace.interval_ns == slow.interval_ns && now.pace.burst == slow.burst,
	   "and to read it");
	is(steer_pace(f, &zero, FLK_SET_RATE), 0, "and to end it");
	flk_detach(f);
}

void
contract_steer(void)
{
	numbers();
	set_limit();
	pause_it();
	several_at_once();
	override();
	close_it();
	evict();
	leave_when_evicted();
	pace();
}
