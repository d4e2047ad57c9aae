/* SPDX-License-Identifier: ISC */
/*
 * clock.c - see clock.h.
 */
#include "clock.h"

#include <stddef.h>

uint64_t true_ns = 1000 * UINT64_C(1000000000);
const struct machine_clock *running;

/* ---- time ---- */

/* So much more than ns that fast_ppm makes of it; never decreases by more than ns grows. */
static uint64_t
excess(uint64_t ns, int32_t fast_ppm)
{
	int64_t millions = (int64_t)(ns / 1000000), rest = (int64_t)(ns % 1000000);

	return (uint64_t)(millions * fast_ppm + rest * fast_ppm / 1000000);
}

uint64_t
clock_shows(const struct machine_clock *c)
{
	uint64_t passed = c->stands ? 0 : true_ns - c->since_ns;

	return c->showed_ns + passed + excess(passed, c->fast_ppm);
}

uint64_t
clock_when(const struct machine_clock *c, uint64_t shows_ns)
{
	uint64_t left, passed;

	if (shows_ns <= c->showed_ns)
		return c->since_ns;
	if (shows_ns == NEVER || c->stands)
		return NEVER;
	left = shows_ns - c->showed_ns;
	passed = left - excess(left, c->fast_ppm);
	while (passed + excess(passed, c->fast_ppm) < left)
		passed += left - (passed + excess(passed, c->fast_ppm));
	return c->since_ns + passed;
}

uint64_t
clock_now(void)
{
	return running == NULL ? true_ns : clock_shows(running);
}

void
clock_set(struct machine_clock *c, int32_t fast_ppm, bool stands)
{
	c->showed_ns = clock_shows(c);
	c->since_ns = true_ns;
	c->fast_ppm = fast_ppm;
	c->stands = stands;
}

/* ---- chance: splitmix64 ---- */

static uint64_t at;

void
chance_seed(uint64_t seed)
{
	at = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

uint64_t
chance(void)
{
	uint64_t x = at += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t
chance_below(uint64_t n)
{
	return n == 0 ? 0 : chance() % n;
}

bool
chance_of(unsigned in_a_thousand)
{
	return chance() % 1000 < in_a_thousand;
}
