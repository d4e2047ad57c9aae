/* SPDX-License-Identifier: ISC */
/*
 * looks.c - what a taker measures for a gate, and what it says of that: lib/look.c with values of our own.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "measure.h"

static uint64_t values[DISK + 1];
static const struct pressures *measured_with;
static unsigned looks_at_pressure;
static bool no_memory;

static uint64_t
fake_measure(const struct condition *c, const struct pressures *p)
{
	measured_with = p;
	return values[c->kind];
}

static void *
fake_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : calloc(n, size);
}

#define flki_measure(c, p)        fake_measure(c, p)
#define flki_measure_pressures(p) (looks_at_pressure += (p) != NULL)
#define calloc(n, size)           fake_calloc(n, size)
#include "look.c"
#undef calloc

static struct header page;
static struct flk limiter;
static struct flk_taker one;
static struct state st;

static void
begin_gate(const char *when)
{
	struct flk_gate gate = { .patience_ns = UINT64_MAX };

	memset(&page, 0, sizeof(page));
	free(one.pressures);
	memset(&one, 0, sizeof(one));
	limiter.file.h = &page;
	one.flk = &limiter;
	st = (struct state){ .h = &page, .me = NIL };
	snprintf(gate.when, sizeof(gate.when), "%s", when);
	flki_gate_set(&st, &gate);
	looks_at_pressure = 0;
	no_memory = false;
}

static struct reading
look(bool hasty)
{
	flki_look(&one, hasty);
	return one.reading;
}

static void
test_values(void)
{
	struct reading r;
	uint64_t before = now_ns();

	values[MEM] = 100;
	values[RUNNING] = 5;
	begin_gate("mem>99 running<6");
	r = look(false);
	ok(r.gate == page.gate.is && r.failed == 0 && r.value == 0, "all conditions hold");
	ok(r.at_ns >= before && r.at_ns <= now_ns(), "just now");
	begin_gate("mem>99 running<5 mem>100");
	r = look(false);
	ok(r.failed == 2 && r.value == 5, "the first that does not is named, with its value");
	begin_gate("running<5");
	r = look(true);
	ok(r.failed == 1 && r.value == 5, "also for a taker that will not wait");
	values[RUNNING] = UINT64_MAX;
	r = look(false);
	ok(r.failed == 1 && r.value == UINT64_MAX, "what is not known does not hold");
	begin_gate("mem>99 nonsense");
	r = look(false);
	ok(r.failed == 2 && r.value == UINT64_MAX, "nor does what another process has written");
	begin_gate("");
	is(look(false).gate, 0, "without a gate nothing is measured");
}

static void
test_pressure(void)
{
	static const char *const about[] = { "psi.cpu<1", "psi.mem<1", "psi.io<1",
					     "mem>1 psi.io<1" };
	struct pressures *first;
	unsigned i;

	for (i = 0; i < 4; i++) {
		begin_gate(about[i]);
		look(false);
		ok(looks_at_pressure == 1 && one.pressures != NULL &&
		       measured_with == one.pressures,
		   "%s needs two looks at pressure", about[i]);
		first = one.pressures;
		look(false);
		ok(looks_at_pressure == 2 && one.pressures == first, "by the same taker");
		look(true);
		ok(looks_at_pressure == 2 && measured_with == NULL,
		   "for which one in haste has no time");
	}
	begin_gate("psi.io<1");
	no_memory = true;
	look(false);
	ok(looks_at_pressure == 0 && measured_with == NULL, "nor without memory");
	begin_gate("mem>1 running<9 disk:/>1");
	look(false);
	ok(looks_at_pressure == 0 && one.pressures == NULL, "nor has anything else");
}

static struct flk_gated
condition_of(uint64_t failed, uint32_t asks)
{
	struct slot s = { .asks = asks };
	struct flk_gated gated;

	page.gate.failed = failed;
	page.gate.value = 77;
	flki_gate_condition(&st, &s, &gated);
	return gated;
}

static void
test_words(void)
{
	struct flk_gated gated;

	begin_gate("mem>99, running<5 disk:/a>1");
	gated = condition_of(1, 0);
	ok(gated.waits && strcmp(gated.when, "mem>99") == 0 && gated.value == 77,
	   "the first condition");
	ok(strcmp(condition_of(2, 0).when, "running<5") == 0, "the second");
	ok(strcmp(condition_of(3, 9).when, "disk:/a>1") == 0, "the third");
	is(condition_of(4, 0).when[0], '\0', "there is no fourth");
	is(condition_of(UINT64_MAX, 0).when[0], '\0', "however far one counts");
	gated = condition_of(0, 0);
	ok(gated.waits && gated.when[0] == '\0' && gated.value == UINT64_MAX,
	   "if all held it waits for a look");
	gated = condition_of(0, 2);
	ok(strcmp(gated.when, FLK_GATE_QUESTION) == 0 && gated.value == UINT64_MAX,
	   "or for its own question");
	begin_gate("");
	ok(strcmp(condition_of(2, 2).when, FLK_GATE_QUESTION) == 0, "as it does without a gate");
}

int
main(void)
{
	begin();
	test_values();
	test_pressure();
	test_words();
	free(one.pressures);
	return tap_done();
}
