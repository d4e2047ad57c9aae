/* SPDX-License-Identifier: ISC */
/*
 * look.c - a taker measures what the gate of its limiter asks for, before it takes the lock.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "measure.h"

/* True if a condition of this text is about pressure. */
static bool
asks_for_pressure(const char *when)
{
	char wrong[CONDITION_TEXT];
	struct condition c;

	while (flki_condition_next(&when, &c, wrong) == 1)
		if (c.kind == PSI_CPU || c.kind == PSI_MEM || c.kind == PSI_IO)
			return true;
	return false;
}

/* Another process may have written what is no condition: that never holds. */
static void
measure_all(const char *when, const struct pressures *p, struct reading *r)
{
	char wrong[CONDITION_TEXT];
	struct condition c;
	uint64_t number;
	int got;

	for (number = 1; (got = flki_condition_next(&when, &c, wrong)) != 0; number++) {
		r->value = got == 1 ? flki_measure(&c, p) : UINT64_MAX;
		if (got == 1 && flki_condition_holds(&c, r->value))
			continue;
		r->failed = number;
		return;
	}
	r->value = 0;
}

/*
 * hasty: the taker will not wait, and so has no two looks.  The time is of before the measurement:
 * what starts while it measures makes the reading worthless.
 */
void
flki_look(struct flk_taker *t, bool hasty)
{
	struct flk_gate gate;
	struct reading r = { .gate = 0 };

	r.at_ns = flki_monotonic_ns();
	r.gate = flki_gate_copy(t->flk->file.h, &gate);
	if (r.gate == 0)
		return;
	if (!hasty && asks_for_pressure(gate.when)) {
		if (t->pressures == NULL)
			t->pressures = calloc(1, sizeof(*t->pressures));
		if (t->pressures != NULL)
			flki_measure_pressures(t->pressures);
	}
	measure_all(gate.when, hasty ? NULL : t->pressures, &r);
	t->reading = r;
}

int
flk_gate_check(const char *when, char *why, size_t size)
{
	static const char no_pressure[] =
	    "no pressure files here: boot the kernel with psi=1, and mount /proc";
	static const char *const missing[] = {
		[MEM] = "no /proc/meminfo here: mount /proc",
		[PSI_CPU] = no_pressure,
		[PSI_MEM] = no_pressure,
		[PSI_IO] = no_pressure,
		[RUNNING] = "no /proc/loadavg here: mount /proc",
		[DISK] = "no such path: name a directory of that file system",
	};
	char wrong[CONDITION_TEXT];
	const char *text = when;
	struct condition c;
	int got;

	if (strlen(when) >= FLK_GATE_TEXT) {
		snprintf(why, size, "longer than %d bytes", FLK_GATE_TEXT - 1);
		return -EINVAL;
	}
	while ((got = flki_condition_next(&text, &c, wrong)) == 1) {
		errno = 0;
		/* A file system that has not answered yet does not make the conditions wrong. */
		if (flki_measure(&c, NULL) == UINT64_MAX && errno != ETIMEDOUT) {
			snprintf(why, size, "'%.*s': %s", (int)c.length, c.word,
				 errno == EMFILE || errno == ENFILE
				     ? "no file descriptors left to look: raise ulimit -n"
				     : missing[c.kind]);
			return -ENOTSUP;
		}
	}
	if (got < 0)
		snprintf(why, size, "%s", wrong);
	return got < 0 ? -EINVAL : 0;
}

void
flki_gate_condition(const struct state *st, const struct slot *s, struct flk_gated *gated)
{
	char wrong[CONDITION_TEXT];
	struct flk_gate gate;
	struct condition c;
	uint64_t number;
	const char *text = gate.when;

	*gated = (struct flk_gated){ .waits = true, .value = st->h->gate.value };
	flki_gate_copy(st->h, &gate);
	if (!flki_gate_is_set(st->h) || st->h->gate.failed == 0) {
		gated->value = UINT64_MAX;
		if (s->asks != 0)
			strcpy(gated->when, FLK_GATE_QUESTION);
		return;
	}
	for (number = st->h->gate.failed; number > 0; number--)
		if (flki_condition_next(&text, &c, wrong) != 1)
			return;
	snprintf(gated->when, sizeof(gated->when), "%.*s", (int)c.length, c.word);
}
