/* SPDX-License-Identifier: ISC */
/*
 * story.c - operations as data: made at random, played, printed.
 *
 * Chance chooses what to do with an eye on how things stand, so that little of it is nonsense;
 * but what stands in a story are plain values, and what makes no sense when it is played again
 * without its neighbours is passed over.
 */
#include "twin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- at random ---- */

#define CROWD 72 /* seats enough for a second word */

static uint32_t most_units, keys; /* of this story */

static bool
percent(uint32_t n)
{
	return random_below(100) < n;
}

/* 1 to `most'; of large ones mostly those at the ends. */
static uint32_t
units(uint32_t most)
{
	if (most <= 8)
		return 1 + random_below(most);
	switch (random_below(6)) {
	case 0:
		return most;
	case 1:
		return most - 1;
	case 2:
		return most / 2 + random_below(2);
	case 3:
		return 1 + random_below(most);
	default:
		return 1 + random_below(4);
	}
}

/* Of a permit that is held: some units go, or come. */
static void
resize(struct op *op)
{
	if (op->deed == SHRINKS) {
		op->who = naive_next(HELD, NOBODY) != NOBODY ? naive_next(HELD, NOBODY) : 0;
		op->a = naive[op->who].weight > 1 ? units(naive[op->who].weight - 1) : 1;
		return;
	}
	while (op->who < takers && naive[op->who].state != HELD)
		op->who++;
	op->who %= takers;
	op->a = units(most_units);
}

static void
steer(struct op *op)
{
	static const enum deed deeds[] = { OVERRIDES, OVERRIDES,   PAUSES,    REFUSES,   RESTORES,
					   DECLARES,  EVICTS_ALL,  SWEEPS,    REBUILDS,  EVICTS,
					   REPAIRS,   SHRINKS,     TAKES_OUT, PUTS_BACK, TAKES_OUT,
					   GATES,     TAKES_TURNS, GROWS,     GROWS,     GROWS };
	unsigned waits = naive_next(WAITING, NOBODY);

	op->deed = deeds[random_below(ARRAY_LEN(deeds))];
	op->a = units(most_units);
	if (op->deed == OVERRIDES && percent(60))
		op->a = percent(70) ? UNCUT : random_below(3);
	/* Most of what comes is dull while little is granted. */
	if (naive_header.paused && percent(60))
		op->deed = RESUMES;
	else if (naive_header.closed && percent(60))
		op->deed = ADMITS;
	else if (naive_header.override >= 0 && percent(40))
		*op = (struct op){ .deed = OVERRIDES, .a = UNCUT, .cut = op->cut };
	else if (naive_header.withheld > 0 && percent(50))
		*op = (struct op){ .deed = RESTORES,
				   .a = (uint32_t)naive_header.withheld,
				   .cut = op->cut };
	if (op->deed == TAKES_OUT || op->deed == PUTS_BACK)
		op->a = random_below(percent(80) ? 8 : SEATS);
	else if (naive_header.seats_off != 0 && percent(40))
		*op = (struct op){ .deed = PUTS_BACK,
				   .a = (uint32_t)__builtin_ctzll(naive_header.seats_off),
				   .cut = op->cut };
	if (naive_header.gated && percent(30))
		op->deed = GATES;
	/* A crowd that waits takes the naive one long. */
	if (op->deed == GATES)
		*op = (struct op){ .deed = GATES,
				   .a = takers != MOST && (!naive_header.gated || percent(20)),
				   .b = percent(30) ? 0 : random_below(8000),
				   .cut = op->cut };
	if (op->deed == TAKES_TURNS)
		op->a = percent(70);
	if (op->deed == REBUILDS || op->deed == REPAIRS)
		op->a = random_below(UINT32_MAX);
	if (op->deed == EVICTS && waits != NOBODY)
		while (percent(60) && naive_next(WAITING, waits) != NOBODY)
			waits = naive_next(WAITING, waits);
	op->who = op->deed == EVICTS && waits != NOBODY ? waits : 0;
	if (op->deed == SHRINKS || op->deed == GROWS)
		resize(op);
}

static enum deed
of_holder(struct op *op, uint32_t dice)
{
	if (world[op->who].dead)
		return COMMAND_ENDS;
	if (world[op->who].fresh && dice < 40)
		return LOOKS;
	op->a = naive[op->who].weight > 1 ? units(naive[op->who].weight - 1) : 1;
	op->b = random_below(3) * units(most_units);
	op->c = random_below(1000);
	if (dice < 60)
		op->a = percent(50) ? 0 : percent(50) ? 0x100 : (uint32_t)FLK_UNKNOWN;
	return dice < 60   ? RELEASES
	       : dice < 72 ? RELEASES_UNITS
	       : dice < 79 ? FORGETS
	       : dice < 92 ? DIES
			   : DIES_GUARDED;
}

static enum deed
of_waiter(struct op *op, uint32_t dice)
{
	op->a = percent(20);
	if (world[op->who].dead || (dice >= 65 && dice < 70))
		return EVICTS;
	if (dice >= 70 && dice < 84)
		op->a = percent(50) ? 0 : (uint32_t)(percent(50) ? -ETIMEDOUT : -FLK_CANCELLED);
	return dice < 65 ? LOOKS : dice < 84 ? LEAVES : DIES;
}

static enum deed
of_others(struct op *op, uint32_t dice)
{
	struct flk_request *want = &op->want;

	if (world[op->who].dead)
		return IS_CLAIMED;
	if (naive[op->who].state == OUT)
		return dice < 90 ? COMES_BACK : DIES;
	want->limit = takers == MOST && percent(80) ? MOST : units(most_units);
	want->weight = takers == MOST && percent(80) ? 1 : units(want->limit);
	want->most = percent(70)   ? want->weight
		     : percent(30) ? FLK_MAX_UNITS
				   : want->weight + units(most_units) - 1;
	if (want->most > FLK_MAX_UNITS)
		want->most = FLK_MAX_UNITS;
	/* A crowd could use up the numbers between two places: request.c then passes fewer. */
	if (takers != MOST && !percent(50))
		request_draw(want, random_below);
	op->a = percent(75) ? 0 : percent(60) ? 1U << random_below(8) : random_below(UINT32_MAX);
	op->b = 1 + random_below(keys);
	op->e = percent(50) ? 0 : random_below(5);
	return dice < 70 ? ENTERS : dice < 85 ? TRIES : dice < 96 ? BARS : DIES;
}

/* Most have measured where there is a gate, and most of that lets them in. */
static uint32_t
for_the_gate(const struct op *op)
{
	uint32_t f = op->deed != LOOKS && takers != MOST && percent(5) ? ASKS : 0;

	if (naive[op->who].asks && percent(60))
		f |= YES;
	if (naive_header.gated && percent(80))
		f |= READING | (percent(80) ? HELD_TRUE : 0) |
		     (percent(70) ? random_below(5) : random_below(6000)) << AGE;
	return f;
}

static bool
may_be_cut(enum deed deed)
{
	return deed <= FORGETS || deed >= EVICTS;
}

/* `past': so many operations of this story are over. */
static void
choose(struct op *op, unsigned past)
{
	uint32_t dice = random_below(100);

	*op = (struct op){ .who = random_below(takers), .cut = UNCUT };
	if (takers == MOST && past < CROWD)
		*op = (struct op){ .deed = ENTERS,
				   .who = past,
				   .want = { .weight = 1, .limit = MOST, .most = 1 },
				   .cut = UNCUT };
	else if (percent(9))
		steer(op);
	else if (naive[op->who].state == HELD)
		op->deed = of_holder(op, dice);
	else if (naive[op->who].state == WAITING)
		op->deed = of_waiter(op, dice);
	else
		op->deed = of_others(op, dice);
	if (op->deed == ENTERS || op->deed == TRIES || op->deed == LOOKS)
		op->d = for_the_gate(op);
	if (may_be_cut(op->deed) && percent(op->deed == GROWS ? 50 : 6))
		op->cut = random_below(10);
}

static uint64_t
some_ticket(void)
{
	switch (random_below(8)) {
	case 0:
		return LAST_TICKET - STORY; /* as many can still be drawn */
	case 1:
		return UINT32_MAX - random_below(100);
	case 2:
		return INT64_MAX / PLACE_GAP - random_below(100);
	default:
		return 0;
	}
}

/* Mostly few takers, since what goes wrong goes wrong with few; of units many and few. */
static void
begin_story(struct story *story, uint64_t seed)
{
	static const uint32_t kinds[] = {
		6, 6, 6, 3, 8, 20, SEATS, SEATS + 2, FLK_MAX_UNITS, FLK_MAX_UNITS
	};

	random_seed(seed);
	*story = (struct story){ .takers = 2 + random_below(7),
				 .slots = FIRST_SLOTS,
				 .first_ticket = some_ticket() };
	most_units = kinds[random_below(ARRAY_LEN(kinds))];
	keys = 1 + random_below(12);
	if (random_below(4) == 0) /* a file that is full: each slot may be in one list */
		story->slots = story->takers;
	if (random_below(200) == 0) {
		story->takers = MOST;
		story->slots = 2 * MOST;
		most_units = MOST;
	}
}

const char *
story_invent(struct story *story, uint64_t seed)
{
	const char *why = NULL;
	struct op *op;

	begin_story(story, seed);
	act_reset(story);
	while (story->count < STORY && why == NULL) {
		op = &story->op[story->count++];
		choose(op, story->count - 1);
		if (act_possible(op)) {
			act(op);
			why = disagreement();
		} else {
			story->count -= random_below(4) != 0; /* no story hangs for want of ideas */
		}
	}
	return why;
}

const char *
story_play(struct story *story)
{
	const char *why = NULL;
	unsigned i;

	act_reset(story);
	for (i = 0; i < story->count && why == NULL; i++)
		if (act_possible(&story->op[i])) {
			act(&story->op[i]);
			why = disagreement();
		}
	if (why != NULL)
		story->count = i;
	return why;
}

/* ---- for people ---- */

static const struct {
	const char *words; /* %w: who, %a to %e: operands, %r: want */
} printed[] = {
	[ENTERS] = { "%w enters, %r, not %a, key %b, gate %d" },
	[TRIES] = { "%w tries, %r, not %a, key %b, gate %d, behind %e" },
	[BARS] = { "%w enters as a barrier" },
	[LOOKS] = { "%w looks (%a), gate %d" },
	[LEAVES] = { "%w leaves the line (%a)" },
	[RELEASES] = { "%w releases (%a, %b KiB, %c ms)" },
	[RELEASES_UNITS] = { "%w releases %a units" },
	[FORGETS] = { "%w forgets" },
	[COMES_BACK] = { "%w sees that it is out" },
	[DIES] = { "%w dies" },
	[DIES_GUARDED] = { "%w dies, its command lives on" },
	[COMMAND_ENDS] = { "the command of %w ends" },
	[IS_CLAIMED] = { "the slot of %w is claimed" },
	[EVICTS] = { "%w is evicted" },
	[EVICTS_ALL] = { "all are evicted" },
	[SHRINKS] = { "%w's permit shrinks by %a" },
	[GROWS] = { "%w's permit grows by %a" },
	[OVERRIDES] = { "override %a" },
	[PAUSES] = { "pause" },
	[RESUMES] = { "resume" },
	[REFUSES] = { "refuse" },
	[ADMITS] = { "admit" },
	[RESTORES] = { "restore %a" },
	[TAKES_OUT] = { "seat %a out of use" },
	[PUTS_BACK] = { "seat %a in use" },
	[DECLARES] = { "declare %a" },
	[GATES] = { "gate %a, settles for %b ms" },
	[TAKES_TURNS] = { "fair %a" },
	[SWEEPS] = { "sweep" },
	[REBUILDS] = { "rebuild (%a)" },
	[REPAIRS] = { "repair (%a)" },
};

static const uint32_t *
operand_of(const struct op *op, char letter)
{
	const uint32_t *of_a_to_e[] = { &op->a, &op->b, &op->c, &op->d, &op->e };

	return letter == 'w' ? &op->who : of_a_to_e[letter - 'a'];
}

static void
print_op(unsigned i, const struct op *op)
{
	char line[200 + REQUEST_TEXT], want[REQUEST_TEXT];
	int n = snprintf(line, sizeof(line), "%3u  ", i + 1);
	const char *p;

	for (p = printed[op->deed].words; *p != '\0'; p++) {
		if (*p != '%') {
			line[n++] = *p;
			continue;
		}
		p++;
		if (*p == 'r')
			n += snprintf(line + n, REQUEST_TEXT, "%s", request_text(&op->want, want));
		else if (*p == 'a' && op->a == UNCUT)
			n += snprintf(line + n, 12, "auto");
		else
			n += snprintf(line + n, 12, "%u", *operand_of(op, *p));
	}
	line[n] = '\0';
	if (op->cut == UNCUT)
		tap_note("%s", line);
	else
		tap_note("%s, killed %s store %u", line, op->cut % 2 ? "after" : "before",
			 op->cut / 2 + 1);
}

void
story_print(const struct story *story)
{
	unsigned i;

	tap_note("%u takers, %u slots, the last ticket %llu", story->takers, story->slots,
		 (unsigned long long)story->first_ticket);
	for (i = 0; i < story->count; i++)
		print_op(i, &story->op[i]);
}
