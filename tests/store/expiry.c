/* SPDX-License-Identifier: ISC */
/*
 * What is due to a command whose permit may be lost, and when: cmd/store/keeper/expiry.c.
 */
#include "../helpers/tap.h"
#include "keeper/expiry.h"

#define S UINT64_C(1000000000)

static void
test_times(void)
{
	struct expiry w;
	uint32_t ttl, g;
	bool enough = true;

	expiry_begin(&w, 10, 7, false, 100 * S);
	ok(expiry_deadline(&w) == 117 * S - S - 17 * S / 100,
	   "D is a second and a hundredth before");
	ok(expiry_due(&w) == expiry_deadline(&w) - 2 * S, "TERM is due two seconds before D");
	for (ttl = 2; ttl <= 86400; ttl++) {
		uint64_t life;
		g = expiry_least_grace(ttl);
		life = ((uint64_t)ttl + g) * S;
		/* A renewal a third of the ttl late, TERM and the margin fit between ttl and D. */
		enough &= life - S - life / 100 >= (uint64_t)ttl * S + ttl * S / 3 + 2 * S;
	}
	ok(enough, "the least grace is enough, whatever the ttl");
	ok(expiry_least_grace(10) == 7, "it is 7 s for 10 s");
}

static void
test_silence(void)
{
	struct expiry w;
	uint64_t d;

	expiry_begin(&w, 10, 7, false, 0);
	d = expiry_deadline(&w);
	ok(expiry_step(&w, d - 2 * S - 1) == EXPIRY_NOTHING, "nothing before its time");
	expiry_renew(&w, 5 * S);
	ok(expiry_step(&w, d - 2 * S) == EXPIRY_NOTHING, "a renewal moves it");
	ok(expiry_deadline(&w) == d + 5 * S, "by as much");
	ok(!expiry_renew(&w, 4 * S) && expiry_deadline(&w) == d + 5 * S, "but never back");
	d = expiry_deadline(&w);
	ok(expiry_step(&w, d - 2 * S) == EXPIRY_TERM, "TERM");
	ok(w.lost, "then it counts as lost");
	ok(expiry_step(&w, d - 1) == EXPIRY_NOTHING, "once");
	expiry_renew(&w, d);
	ok(expiry_due(&w) == d, "what is renewed afterwards does not undo that");
	ok(expiry_step(&w, d) == EXPIRY_KILL, "KILL at D");
	ok(expiry_step(&w, d + 100 * S) == EXPIRY_NOTHING && expiry_due(&w) == EXPIRY_NEVER,
	   "once");
}

static void
test_late(void)
{
	struct expiry w;
	uint64_t d;

	expiry_begin(&w, 10, 7, false, 0);
	d = expiry_deadline(&w);
	ok(expiry_step(&w, d + 9 * S) == EXPIRY_TERM, "one who was stopped beyond D sends TERM");
	ok(expiry_step(&w, d + 9 * S) == EXPIRY_KILL, "and KILL at once");
}

static void
test_lost(void)
{
	struct expiry w;

	expiry_begin(&w, 10, 7, false, 100 * S);
	expiry_lose(&w, 101 * S);
	ok(expiry_step(&w, 101 * S) == EXPIRY_TERM, "a loss: TERM at once");
	ok(expiry_step(&w, 102 * S) == EXPIRY_NOTHING, "and time to end");
	ok(expiry_step(&w, 103 * S) == EXPIRY_KILL, "KILL two seconds later");
}

static void
test_warn(void)
{
	struct expiry w;
	uint64_t d;

	expiry_begin(&w, 10, 7, true, 0);
	d = expiry_deadline(&w);
	ok(expiry_step(&w, d - 1) == EXPIRY_NOTHING, "who is only warned is not told before D");
	ok(expiry_step(&w, d) == EXPIRY_WARN, "at D he is");
	ok(expiry_step(&w, d + 100 * S) == EXPIRY_NOTHING && expiry_due(&w) == EXPIRY_NEVER,
	   "once");
	ok(expiry_renew(&w, d + S), "and it is news when it was kept");
	ok(expiry_step(&w, expiry_deadline(&w)) == EXPIRY_WARN, "the next time he is told again");
	expiry_lose(&w, d + 100 * S);
	ok(!expiry_renew(&w, d + 101 * S), "what is lost for good is not kept");
}

int
main(void)
{
	test_times();
	test_silence();
	test_late();
	test_lost();
	test_warn();
	return tap_done();
}
