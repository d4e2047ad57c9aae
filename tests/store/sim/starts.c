/* SPDX-License-Identifier: ISC */
/*
 * starts.c - what the store counts of a pace: each start, by the transaction that grants it.
 */
#include "protocol/starts.h"
#include "protocol/record.h"

#include "sim.h"
#include "truth.h"

static struct starts was, now; /* before the changes, and by now */
static bool put, in_force;     /* in_force: cfg has a pace */

void
starts_change(const struct memory_record *r, char kind)
{
	struct flk_settings config;

	if (kind == CONFIG)
		in_force = !r->deleted && config_decode(&config, r->kv.value, r->kv.value_size) &&
			   starts_are_paced(&config.pace);
	if (kind != AGAIN && kind != REST)
		return;
	put |= kind == AGAIN;
	if (r->deleted)
		now = (struct starts){ .changed = 0 };
	else if (!starts_read(&now, kind, &r->kv))
		breaks(PACED, "%s makes no sense", r->kv.key);
}

/* What no machine's clock can show yet. */
static uint64_t
latest(void)
{
	uint64_t ran = true_ns - 1000 * SECOND;

	return STARTS_REAL + true_ns + STARTS_SKEW + ran / 50;
}

static void
check_rate(size_t grants)
{
	const struct flk_pace *p = &sim.plan.pace;
	uint64_t most = latest() + p->burst * (p->interval_ns + (sim.plan.rivals ? MS : 0));

	if (now.free_ns < was.free_ns + grants * p->interval_ns)
		breaks(PACED, "%zu start, and %llu ns are counted", grants,
		       (unsigned long long)(now.free_ns - was.free_ns));
	if (now.free_ns > most)
		breaks(PACED, "a start comes %llu ns too soon",
		       (unsigned long long)(now.free_ns - most));
}

static void
check_stagger(size_t grants)
{
	if (grants > 1)
		breaks(PACED, "%zu start at once", grants);
	if (was.last_ns != 0 && now.last_ns < was.last_ns + sim.plan.pace.stagger_ns)
		breaks(PACED, "a start follows another after %lld ns",
		       (long long)(now.last_ns - was.last_ns));
}

static void
check_ramp(void)
{
	const struct flk_pace *p = &sim.plan.pace;
	uint64_t most = p->ramp_from;

	if (latest() > now.ramp_since_ns)
		most += (latest() - now.ramp_since_ns) / p->ramp_period_ns * p->ramp_step;
	if (sim.holders > 1 && sim.used > most)
		breaks(PACED, "%llu are held, and the ramp has %llu", (unsigned long long)sim.used,
		       (unsigned long long)most);
}

void
starts_check(size_t grants)
{
	if (grants > 0 && in_force) {
		if (!put)
			breaks(PACED, "%zu start, and are not counted", grants);
		if ((sim.plan.which & FLK_SET_RATE) != 0)
			check_rate(grants);
		if ((sim.plan.which & FLK_SET_STAGGER) != 0)
			check_stagger(grants);
		if ((sim.plan.which & FLK_SET_RAMP) != 0)
			check_ramp();
	}
	was = now;
	put = false;
}

void
starts_begin(void)
{
	was = now = (struct starts){ .changed = 0 };
	put = in_force = false;
}
