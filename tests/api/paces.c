/* SPDX-License-Identifier: ISC */
/*
 * paces.c - when the head of a line looks again where the limiter has a pace: at the instant at which
 * there is room for it, and no earlier; or never, where time alone brings none.  And which paces there are.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "state.h"
#include "clock.h"

static struct header h;
static struct slot slots[2];
static struct state st;

/* One permit of `used' units is held, and a ramp has just begun; the head needs `weight'. */
static void
begin_ramp(uint64_t from, uint64_t step, uint64_t period_ms, uint32_t used, uint32_t weight)
{
	memset(&h, 0, sizeof(h));
	memset(slots, 0, sizeof(slots));
	h.override = FLK_AUTO;
	h.pace.ramp = from << 48 | step << 32 | period_ms;
	h.paced.ramp_since_ns = 100 * SECOND;
	h.holders.count = 1;
	h.used = used;
	slots[0].weight = weight;
	st = (struct state){ .h = &h, .slots = slots, .n = 2, .me = NIL };
	st.now_ns = 100 * SECOND;
}

static bool
has_room_at(uint64_t at)
{
	struct state then = st;

	then.now_ns = at;
	return flki_pace_capacity(&then) >= h.used + h.withheld + slots[0].weight;
}

static void
test_ramps(void)
{
	unsigned from, step, used, weight, withheld, wrong = 0, looks = 0;
	uint64_t at;

	for (from = 1; from < 6; from++)
		for (step = 1; step < 5; step++)
			for (used = 0; used < 6; used++)
				for (weight = 1; weight < 7; weight++)
					for (withheld = 0; withheld < 3; withheld++) {
						begin_ramp(from, step, 7, used, weight);
						h.withheld = withheld;
						at = flki_pace_look(&st, &slots[0]);
						if (has_room_at(st.now_ns))
							wrong += at != UINT64_MAX;
						else
							wrong +=
							    !has_room_at(at) || has_room_at(at - 1);
						looks++;
					}
	is(wrong, 0, "%u heads look when the ramp has room for them, and not before", looks);
}

static void
test_never(void)
{
	begin_ramp(1, 1, 1000, 1, 1);
	is(flki_pace_look(&st, &slots[0]) - st.now_ns, SECOND, "a head that waits for a ramp");
	h.paused = 1;
	is(flki_pace_look(&st, &slots[0]), UINT64_MAX, "has nothing to look for in a pause");
	h.paused = 0;
	h.holders.count = 0;
	is(flki_pace_look(&st, &slots[0]), UINT64_MAX, "nor where no permit is held");
	begin_ramp(1, 0, 1000, 1, 1);
	is(flki_pace_look(&st, &slots[0]), UINT64_MAX, "nor where the ramp does not grow");
	begin_ramp(1, 1, 0, 1, 1);
	is(flki_pace_look(&st, &slots[0]), UINT64_MAX, "in any time");
	begin_ramp(1, 1, UINT32_MAX, 1, 1);
	h.withheld = UINT64_MAX / 2;
	is(flki_pace_look(&st, &slots[0]), UINT64_MAX, "or not in this age");
	begin_ramp(1, 1, 1000, 1, 1);
	st.ahead_ns = (int64_t)(10 * SECOND);
	st.now_ns = 110 * SECOND;
	is(flki_pace_look(&st, &slots[0]) - st.now_ns, SECOND, "it looks by its own clock");
}

static void
test_start(void)
{
	begin_ramp(9, 1, 1000, 1, 1);
	h.pace.stagger_ns = 3 * SECOND;
	h.paced.last_ns = 99 * SECOND;
	is(flki_pace_look(&st, &slots[0]) - st.now_ns, 2 * SECOND,
	   "a start that is not allowed yet");
	is(flki_pace_start(&st) - st.now_ns, 2 * SECOND, "is at that time");
	st.now_ns += 2 * SECOND;
	is(flki_pace_start(&st), 0, "at which it is allowed");
	is(flki_pace_look(&st, &slots[0]), UINT64_MAX, "and nothing is to be looked for");
	h.paced.last_ns = 0;
	st.now_ns = SECOND;
	is(flki_pace_start(&st), 0, "the first start of all comes after none");
	h.pace.stagger_ns = 0;
	h.paced.last_ns = 2 * SECOND;
	is(flki_pace_start(&st), 0, "and without a stagger none comes after another");
	h.pace.rate = UINT64_C(3) << 48 | SECOND;
	h.paced.free_ns = 3 * SECOND;
	is(flki_pace_start(&st), 0, "three at once may start");
	h.paced.free_ns++;
	is(flki_pace_start(&st), SECOND + 1, "and the fourth when one interval is over");
	h.pace.rate = SECOND;
	h.paced.free_ns = 2 * SECOND;
	is(flki_pace_start(&st), 2 * SECOND, "a burst of none is one of one");
}

static void
test_capacity(void)
{
	begin_ramp(4, 2, 10, 1, 1);
	is(flki_pace_capacity(&st), 4, "a ramp begins with so much");
	st.now_ns += 10 * MS - 1;
	is(flki_pace_capacity(&st), 4, "for a period");
	st.now_ns++;
	is(flki_pace_capacity(&st), 6, "and has more after it");
	st.now_ns = 99 * SECOND;
	is(flki_pace_capacity(&st), 4, "a clock that goes back says nothing");
	st.now_ns = UINT64_MAX;
	is(flki_pace_capacity(&st), UINT64_MAX, "in the end there is enough for all");
	st.now_ns = 200 * SECOND;
	h.holders.count = 0;
	h.idle_since_ns = 150 * SECOND;
	h.pace.ramp_idle_ns = 50 * SECOND + 1;
	ok(flki_pace_capacity(&st) > 4, "where nothing is held it stays for a while");
	h.pace.ramp_idle_ns--;
	is(flki_pace_capacity(&st), 4, "and then begins anew");
	h.paced.ramp_since_ns = 0;
	h.pace.ramp_idle_ns = UINT64_MAX;
	is(flki_pace_capacity(&st), 4, "as it does before the first start");
	h.pace.ramp = 0;
	is(flki_pace_capacity(&st), UINT64_MAX, "without a ramp there is no such limit");
}

/* ---- what an operator may set ---- */

static void
paces(struct flk_pace pace, unsigned which, int result, const char *words)
{
	struct flk *f = fresh(1);
	struct flk_settings now = { .declared = 0 };
	const struct flk_pace *got = &now.pace;

	is(steer_pace(f, &pace, which), result, "%s", words);
	flk_get(f, &now);
	if (result == 0 && which == 7)
		ok(got->interval_ns == pace.interval_ns && got->burst == pace.burst &&
		       got->stagger_ns == pace.stagger_ns && got->ramp_from == pace.ramp_from &&
		       got->ramp_step == pace.ramp_step &&
		       got->ramp_period_ns == pace.ramp_period_ns &&
		       got->ramp_idle_ns == pace.ramp_idle_ns,
		   "and it is what is set");
	if (result == 0 && (which & FLK_SET_RATE) != 0 && pace.interval_ns == 0)
		ok(got->interval_ns == 0 && got->burst == 0, "and there is none");
	if (result == 0 && (which & FLK_SET_RAMP) != 0 && pace.ramp_from == 0)
		ok(got->ramp_from == 0 && got->ramp_step == 0 && got->ramp_period_ns == 0,
		   "and there is none");
	flk_detach(f);
}

static void
test_paces(void)
{
	const uint64_t most = UINT64_MAX >> 16;
	struct flk_pace all;

	memset(&all, 0, sizeof(all));
	all.interval_ns = 1;
	all.burst = 2;
	all.stagger_ns = 3;
	all.ramp_from = 4;
	all.ramp_step = 5;
	all.ramp_period_ns = 6 * MS;
	all.ramp_idle_ns = 7;
	paces(all, 7, 0, "a pace of all parts");
	paces(all, 8, -EINVAL, "there is no other part");
	paces(all, 0, -EINVAL, "nor one without a part");
	all.interval_ns = most;
	all.burst = all.ramp_from = all.ramp_step = 65535;
	all.stagger_ns = all.ramp_idle_ns = UINT64_MAX;
	all.ramp_period_ns = UINT32_MAX * MS;
	paces(all, 7, 0, "the largest numbers");
	paces((struct flk_pace){ .interval_ns = most + 1, .burst = 1 }, 1, -EINVAL, "an interval");
	paces((struct flk_pace){ .interval_ns = 1, .burst = 0 }, 1, -EINVAL, "no burst");
	paces((struct flk_pace){ .interval_ns = 1, .burst = 65536 }, 1, -EINVAL, "a large one");
	paces((struct flk_pace){ .interval_ns = 0, .burst = 0 }, 1, 0, "no rate at all");
	paces((struct flk_pace){ .interval_ns = 1, .burst = 0 }, 2, 0, "which is not set");
	all.ramp_from = 65536;
	paces(all, 4, -EINVAL, "a ramp from too much");
	paces(all, 3, 0, "which is not set");
	all.ramp_from = 1;
	all.ramp_step = 65536;
	paces(all, 4, -EINVAL, "by too much");
	all.ramp_step = 0;
	paces(all, 4, -EINVAL, "by nothing");
	all.ramp_step = 1;
	paces(all, 4, 0, "by one");
	all.ramp_period_ns = MS - 1;
	paces(all, 4, -EINVAL, "in no time");
	all.ramp_period_ns = MS;
	paces(all, 4, 0, "in a millisecond");
	all.ramp_period_ns = (UINT32_MAX + UINT64_C(1)) * MS;
	paces(all, 4, -EINVAL, "in too long a time");
	all.ramp_from = 0;
	paces(all, 4, 0, "no ramp at all");
}

int
main(void)
{
	begin();
	test_ramps();
	test_never();
	test_start();
	test_capacity();
	test_paces();
	return tap_done();
}
