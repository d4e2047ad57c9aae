/* SPDX-License-Identifier: ISC */
/*
 * twin.c - the state machine of lib/state.c and lib/repair.c beside an obviously right twin.
 *
 *	twin.t [OPERATIONS [SEED]]
 *
 * Many short stories, each from a limiter that was just born; after each operation both must
 * agree.  A story that fails is made as short and as simple as can be while it still fails (in
 * whatever way), and printed.  Story number n of a run has the seed SEED + n, so that
 * `twin.t 1 SEED' is that story alone.
 */
#include "twin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPERATIONS 200000

/* ---- shorter ---- */

static struct story best, attempt;

/* Takes the attempt if it fails too. */
static bool
better(void)
{
	if (story_play(&attempt) == NULL)
		return false;
	best = attempt;
	return true;
}

static bool
without(unsigned from, unsigned n)
{
	attempt = best;
	if (from + n > attempt.count)
		n = attempt.count - from;
	memmove(&attempt.op[from], &attempt.op[from + n],
		(attempt.count - from - n) * sizeof(attempt.op[0]));
	attempt.count -= n;
	if (better())
		return true;
	/* Those may have done no more than to draw the tickets up to where it matters. */
	if (n > 1 || best.first_ticket == 0)
		return false;
	attempt.first_ticket++;
	return better();
}

static bool
drop_chunks(void)
{
	bool any = false;
	unsigned n, from;

	for (n = best.count / 2; n > 0; n /= 2)
		for (from = 0; from < best.count;)
			if (without(from, n))
				any = true;
			else
				from += n;
	return any;
}

static bool
with(uint32_t *value, uint32_t simpler)
{
	uint32_t *copy = (void *)((char *)&attempt + ((char *)value - (char *)&best));

	if (*value == simpler)
		return false;
	attempt = best;
	*copy = simpler;
	return better();
}

/* To the smallest that still fails, by halves and then by ones. */
static bool
lower(uint32_t *value)
{
	bool any = false;

	while (*value > 1 && with(value, *value / 2))
		any = true;
	while (*value > 0 && *value < 64 && with(value, *value - 1))
		any = true;
	return any;
}

static bool
simplify(void)
{
	bool any = false;
	unsigned i, j;

	for (i = 0; i < best.count; i++) {
		struct op *op = &best.op[i];
		if (op->cut != UNCUT && !with(&op->cut, UNCUT))
			any |= lower(&op->cut);
		any |= lower(&op->b);
		any |= lower(&op->e);
		for (j = 0; j < REQUEST_NUMBERS; j++)
			any |= lower(request_number(&op->want, j));
		if (op->a != UNCUT)
			any |= lower(&op->a);
	}
	any |= lower(&best.takers);
	if (best.first_ticket != 0) {
		attempt = best;
		attempt.first_ticket = 0;
		any |= better();
	}
	return any;
}

static void
shrink(struct story *story)
{
	bool changed;

	best = *story;
	do {
		changed = drop_chunks();
		changed |= simplify();
	} while (changed);
	*story = best;
}

/* ---- many ---- */

int
main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : OPERATIONS, done = 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : now_ns() ^ (unsigned)getpid();
	uint64_t began = now_ns();
	const char *why = NULL;
	static struct story story;
	unsigned length;

	begin();
	if (argc > 1)
		alarm(3600);
	tap_note("twin.t %lu %llu", count, (unsigned long long)seed);
	for (; done < count && why == NULL; done += story.count)
		why = story_invent(&story, seed++);
	ok(why == NULL, "%lu random operations, and the twins agree", done);
	tap_note("%.0f a second", (double)done * 1e9 / (double)(now_ns() - began));
	if (why == NULL)
		return tap_done();

	tap_note("twin.t 1 %llu: %s", (unsigned long long)(seed - 1), why);
	length = story.count;
	shrink(&story);
	tap_note("the shortest of its %u operations that still fail:", length);
	story_print(&story);
	tap_note("%s", story_play(&story));
	return tap_done();
}
