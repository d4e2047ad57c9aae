/*
 * What is due to a command whose permit may be lost, and when: cmd/store/seat/ward.c.
 */
#include "seat/ward.h"
#include "tap.h"

#define S UINT64_C(1000000000)

static void
test_times(void)
{
	struct ward w;
	uint32_t ttl, g;
	bool enough = true;

	ward_begin(&w, 10, 7, false, 100 * S);
	ok(ward_deadline(&w) == 117 * S - S - 17 * S / 100, "D is a second and a hundredth before");
	ok(ward_due(&w) == ward_deadline(&w) - 2 * S, "TERM is due two seconds before D");
	for (ttl = 2; ttl <= 86400; ttl++) {
		uint64_t life;
		g = ward_least_grace(ttl);
		life = ((uint64_t)ttl + g) * S;
		/* A renewal a third of the ttl late, TERM and the margin fit between ttl and D. */
		enough &= life - S - life / 100 >= (uint64_t)ttl * S + ttl * S / 3 + 2 * S;
	}
	ok(enough, "the least grace is enough, whatever the ttl");
	ok(ward_least_grace(10) == 7, "it is 7 s for 10 s");
}

static void
test_silence(void)
{
	struct ward w;
	uint64_t d;

	ward_begin(&w, 10, 7, false, 0);
	d = ward_deadline(&w);
	ok(ward_step(&w, d - 2 * S - 1) == WARD_NOTHING, "nothing before its time");
	ward_renew(&w, 5 * S);
	ok(ward_step(&w, d - 2 * S) == WARD_NOTHING, "a renewal moves it");
	ok(ward_deadline(&w) == d + 5 * S, "by as much");
	ok(!ward_renew(&w, 4 * S) && ward_deadline(&w) == d + 5 * S, "but never back");
	d = ward_deadline(&w);
	ok(ward_step(&w, d - 2 * S) == WARD_TERM, "TERM");
	ok(w.lost, "then it counts as lost");
	ok(ward_step(&w, d - 1) == WARD_NOTHING, "once");
	ward_renew(&w, d);
	ok(ward_due(&w) == d, "what is renewed afterwards does not undo that");
	ok(ward_step(&w, d) == WARD_KILL, "KILL at D");
	ok(ward_step(&w, d + 100 * S) == WARD_NOTHING && ward_due(&w) == WARD_NEVER, "once");
}

static void
test_late(void)
{
	struct ward w;
	uint64_t d;

	ward_begin(&w, 10, 7, false, 0);
	d = ward_deadline(&w);
	ok(ward_step(&w, d + 9 * S) == WARD_TERM, "one who was stopped beyond D sends TERM");
	ok(ward_step(&w, d + 9 * S) == WARD_KILL, "and KILL at once");
}

static void
test_lost(void)
{
	struct ward w;

	ward_begin(&w, 10, 7, false, 100 * S);
	ward_lose(&w, 101 * S);
	ok(ward_step(&w, 101 * S) == WARD_TERM, "a loss: TERM at once");
	ok(ward_step(&w, 102 * S) == WARD_NOTHING, "and time to end");
	ok(ward_step(&w, 103 * S) == WARD_KILL, "KILL two seconds later");
}

static void
test_warn(void)
{
	struct ward w;
	uint64_t d;

	ward_begin(&w, 10, 7, true, 0);
	d = ward_deadline(&w);
	ok(ward_step(&w, d - 1) == WARD_NOTHING, "who is only warned is not told before D");
	ok(ward_step(&w, d) == WARD_TELL, "at D he is");
	ok(ward_step(&w, d + 100 * S) == WARD_NOTHING && ward_due(&w) == WARD_NEVER, "once");
	ok(ward_renew(&w, d + S), "and it is news when it was kept");
	ok(ward_step(&w, ward_deadline(&w)) == WARD_TELL, "the next time he is told again");
	ward_lose(&w, d + 100 * S);
	ok(!ward_renew(&w, d + 101 * S), "what is lost for good is not kept");
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
