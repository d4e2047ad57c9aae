/* SPDX-License-Identifier: ISC */
/*
 * look.c - how a limiter stands, for a taker and for operators; and what happens in it.
 */
#include "contract.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
place(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f), *eye = taker(f);
	struct flk_permit p;
	struct flk_place at;

	take(a, 1, 1);
	is(flk_permit(a, &p), 0, "a holder");
	queue(b, 1, 1, 1);
	queue(c, 1, 1, 2);
	is(flk_place(c, &at), 0, "the place of the second");
	ok(at.ahead == 1 && at.holders == 1 && at.used == 1 && at.limit == 1,
	   "is behind a waiter and a holder");
	ok(at.oldest.ticket == p.ticket && at.oldest.holds, "the holder is named");
	ok(at.head.ticket > p.ticket && !at.head.holds, "and so is the head");
	is(flk_place(eye, &at), 0, "a taker that would come");
	is((int)at.ahead, 2, "would be behind both");
	is(flk_leave(b), 0, "the head leaves");
	is(flk_place(c, &at), 0, "then the place");
	ok(at.ahead == 0 && at.head.ticket == 0, "is the first");
	ok(!at.set.paused && !at.set.closed, "nothing is paused or closed");
	is(steer_pause(f), 0, "paused");
	is(flk_place(c, &at), 0, "and the place");
	ok(at.set.paused && !at.set.closed, "says so");
	is(steer_resume(f), 0, "resumed");
	flk_taker_free(eye);
	done_with(f, "places", a, b, c, NULL);
}

static void
snapshot(void)
{
	struct flk *f = limiter(3);
	struct flk_taker *t[5];
	struct flk_snapshot *s;
	char line[300];
	struct flk_request want = { .weight = 1, .limit = 3, .command = line, .role = FLK_WRAPPER };
	bool right = true;
	uint32_t i;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	for (i = 0; i < 5; i++) {
		t[i] = taker(f);
		is(i < 3 ? flk_acquire_for(t[i], &want, PATIENCE_MS) : flk_enqueue(t[i], &want),
		   i < 3 ? 0 : -EINPROGRESS, "taker %u", i);
		ok(stands(f, i < 3 ? (int)i + 1 : 3, i < 3 ? 0 : (int)i - 2), "is there");
	}
	is(flk_snapshot(f, &s), 0, "a snapshot");
	ok(s->used == 3 && s->limit == 3 && s->set.declared == 3 && s->set.withheld == 0,
	   "has the units");
	ok(s->set.override == FLK_AUTO && !s->set.paused && !s->set.closed,
	   "and that no operator was there");
	for (i = 0; i < 5; i++) {
		const struct flk_entry *e = &s->entry[i];
		right &= e->holds == (i < 3) && (i >= 3 || e->seat == i) && e->weight == 1 &&
			 e->limit == 3 && e->pid == getpid() && e->uid == getuid() &&
			 e->since_ns <= now_ns() && e->role == FLK_WRAPPER && e->host == NULL &&
			 !e->orphan && !e->silent && strlen(e->command) == FLK_COMMAND - 1 &&
			 (i == 0 || e->ticket > s->entry[i - 1].ticket);
	}
	ok(right, "in order, with what is known of each taker");
	is(s->last_ticket == s->entry[4].ticket, 1, "the last ticket is the last waiter's");
	free(s);
	for (i = 0; i < 5; i++)
		flk_taker_free(t[4 - i]);
	is(flk_check(f, NULL, 0), 0, "all is right, which takes no words");
	is(flk_repair(f), expected(REPAIR), "a repair");
	done_with(f, "a snapshot", NULL);
}

/* ---- events ---- */

/* Waits for an event after *number: its code, or bails out; *number is the event's then. */
static int
happens(struct flk *f, uint64_t *number, enum flk_event_kind kind, uint64_t ticket)
{
	struct timespec until = in_ms(PATIENCE_MS);
	struct flk_event e;

	for (;;) {
		while (flk_history(f, *number, &e, 1) == 1) {
			*number = e.number;
			if (e.kind == (uint32_t)kind && e.ticket == ticket)
				return e.code;
		}
		if (flk_follow(f, *number, &until) != 0)
			tap_bail("no event of kind %d", (int)kind);
	}
}

/* The events so far: at most ROOM of them. */
static size_t
past(struct flk *f, struct flk_event *event, size_t room)
{
	uint64_t number = 0;
	size_t n = 0;

	while (n < room && flk_history(f, number, &event[n], 1) == 1)
		number = event[n++].number;
	return n;
}

static void
history(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct flk_event e[8];
	struct flk_snapshot *s;
	struct flk_permit p, q;
	uint64_t times = 0;
	int i;

	take(a, 1, 1);
	is(flk_permit(a, &p), 0, "a permit");
	queue(b, 1, 1, 1);
	ok(flk_ended(a, 3 << 8) == 0 && flk_took(a, 5 << 20, 7000000) == 0, "its work ends");
	is(flk_release(a), 0, "released");
	is(wait_ms(b, PATIENCE_MS), 0, "the next");
	is(flk_permit(b, &q), 0, "has a permit");
	is((int)past(f, e, 8), 4, "four events are remembered");
	ok(e[0].kind == FLK_EV_GRANTED && e[0].ticket == p.ticket && e[0].limit == 1 &&
	       e[0].pid == getpid() && e[0].uid == getuid(),
	   "the grant");
	ok(e[1].kind == FLK_EV_QUEUED && e[1].ticket == q.ticket && e[1].weight == 1,
	   "who came then");
	ok(e[2].kind == FLK_EV_RELEASED && e[2].ticket == p.ticket && e[2].code == 3 << 8 &&
	       e[2].memory == 5 << 20 && e[2].cpu_ns == 7000000,
	   "the release, with what the work told");
	ok(e[3].kind == FLK_EV_GRANTED && e[3].ticket == q.ticket, "and the next grant");
	ok(e[0].when_ns <= e[1].when_ns && e[1].when_ns <= e[2].when_ns &&
	       e[2].when_ns <= e[3].when_ns && e[3].when_ns <= now_ns(),
	   "in their order");
	is(flk_release(b), 0, "released, too");
	is(flk_snapshot(f, &s), 0, "a snapshot");
	for (i = 0; i < FLK_BUCKETS; i++)
		times += s->waited.count[i] + s->held.count[i];
	ok(s->granted == 2 && s->released == 2 && times == 4, "has counted both");
	free(s);
	done_with(f, "a history", a, b, NULL);
}

static void
events(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct timespec soon;
	struct flk_permit p, q;
	struct flk_event e[8];
	uint64_t number;

	take(a, 1, 1);
	is(flk_release(a), 0, "a limiter that is there");
	number = e[past(f, e, 8) - 1].number;
	soon = in_ms(50);
	is(flk_follow(f, number, &soon), -ETIMEDOUT, "where nothing happens, nothing is told");
	take(a, 1, 1);
	queue(b, 1, 1, 1);
	is(flk_permit(a, &p), 0, "a permit");
	is(happens(f, &number, FLK_EV_GRANTED, p.ticket), 0, "its grant is an event");
	is(flk_release(a), 0, "released");
	is(wait_ms(b, PATIENCE_MS), 0, "the next");
	is(flk_permit(b, &q), 0, "has a permit");
	is(happens(f, &number, FLK_EV_RELEASED, p.ticket), FLK_UNKNOWN, "so is its end");
	is(happens(f, &number, FLK_EV_GRANTED, q.ticket), 0, "and then the next grant");
	is(steer_pause(f), 0, "paused");
	is(happens(f, &number, FLK_EV_PAUSED, 0), 0, "so is a pause");
	is(steer_resume(f), 0, "resumed");
	is(happens(f, &number, FLK_EV_RESUMED, 0), 0, "and its end");
	done_with(f, "events", a, b, NULL);
}

void
contract_look(void)
{
	place();
	snapshot();
	history();
	events();
}
