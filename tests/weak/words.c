/* SPDX-License-Identifier: ISC */
/*
 * words.c - the names and sizes of the words that the threads share, and those that layout.h lists
 * as read without the lock.
 */
#include "weak.h"

#include <stdio.h>

struct shared shared __attribute__((aligned(4096)));

struct word {
	size_t at, size;
	const char *name;
	bool wide, doorless;
};

#define OF(type, member, wide, doorless)                                                        \
	{                                                                                       \
		offsetof(type, member), sizeof(((type *)NULL)->member), #member, wide, doorless \
	}
#define WIDE    true
#define NARROW  false
#define LISTED  true
#define BY_LOCK false

static const struct word header_words[] = {
	OF(struct header, magic, WIDE, LISTED),
	OF(struct header, birth, WIDE, LISTED),
	OF(struct header, lock, WIDE, LISTED),
	OF(struct header, nslots, NARROW, LISTED),
	OF(struct header, hint, NARROW, LISTED),
	OF(struct header, dead, NARROW, LISTED),
	OF(struct header, damaged, NARROW, LISTED),
	OF(struct header, doubted, NARROW, LISTED),
	OF(struct header, declared, NARROW, LISTED),
	OF(struct header, override, WIDE, BY_LOCK),
	OF(struct header, paused, NARROW, BY_LOCK),
	OF(struct header, closed, NARROW, BY_LOCK),
	OF(struct header, withheld, WIDE, BY_LOCK),
	OF(struct header, pace, WIDE, LISTED),
	OF(struct header, last_ticket, WIDE, BY_LOCK),
	OF(struct header, paced, WIDE, BY_LOCK),
	OF(struct header, next, WIDE, BY_LOCK),
	OF(struct header, starting, WIDE, BY_LOCK),
	OF(struct header, idle_since_ns, WIDE, BY_LOCK),
	OF(struct header, waiting.head, NARROW, LISTED),
	OF(struct header, waiting, NARROW, BY_LOCK),
	OF(struct header, holders, NARROW, BY_LOCK),
	OF(struct header, barriers, NARROW, BY_LOCK),
	OF(struct header, used, WIDE, BY_LOCK),
	OF(struct header, min_limit, NARROW, BY_LOCK),
	OF(struct header, min_count, NARROW, BY_LOCK),
	OF(struct header, seat_hint, NARROW, BY_LOCK),
	OF(struct header, granted, WIDE, BY_LOCK),
	OF(struct header, released, WIDE, BY_LOCK),
	OF(struct header, left, WIDE, BY_LOCK),
	OF(struct header, evicted, WIDE, BY_LOCK),
	OF(struct header, reaped, WIDE, BY_LOCK),
	OF(struct header, repaired, WIDE, BY_LOCK),
	OF(struct header, waits, WIDE, BY_LOCK),
	OF(struct header, holds, WIDE, BY_LOCK),
	OF(struct header, events, WIDE, LISTED),
	OF(struct header, event_room, NARROW, LISTED),
	OF(struct header, followed, NARROW, LISTED),
	OF(struct header, bound, WIDE, LISTED),
	OF(struct header, lent, NARROW, LISTED),
	OF(struct header, last_fence, WIDE, BY_LOCK),
	OF(struct header, seats_off, WIDE, BY_LOCK),
	OF(struct header, gate.is, WIDE, LISTED),
	OF(struct header, gate.words, WIDE, LISTED),
	OF(struct header, gate.looked_ns, WIDE, LISTED),
	OF(struct header, gate, WIDE, BY_LOCK),
};

static const struct word slot_words[] = {
	OF(struct slot, alive.word, NARROW, LISTED),   OF(struct slot, alive, NARROW, BY_LOCK),
	OF(struct slot, state, NARROW, LISTED),        OF(struct slot, wake, NARROW, LISTED),
	OF(struct slot, gen, NARROW, LISTED),          OF(struct slot, kind, NARROW, BY_LOCK),
	OF(struct slot, ticket, WIDE, LISTED),         OF(struct slot, since_ns, WIDE, BY_LOCK),
	OF(struct slot, seat_bits, WIDE, BY_LOCK),     OF(struct slot, weight, NARROW, LISTED),
	OF(struct slot, limit, NARROW, BY_LOCK),       OF(struct slot, in_force, NARROW, LISTED),
	OF(struct slot, seat, NARROW, LISTED),         OF(struct slot, prev, NARROW, BY_LOCK),
	OF(struct slot, next, NARROW, BY_LOCK),        OF(struct slot, reason, NARROW, BY_LOCK),
	OF(struct slot, pid, NARROW, LISTED),          OF(struct slot, uid, NARROW, BY_LOCK),
	OF(struct slot, orphan, NARROW, BY_LOCK),      OF(struct slot, command, NARROW, BY_LOCK),
	OF(struct slot, status, NARROW, BY_LOCK),      OF(struct slot, worker_pid, NARROW, LISTED),
	OF(struct slot, exit_seen_ms, NARROW, LISTED), OF(struct slot, least, NARROW, BY_LOCK),
	OF(struct slot, most, NARROW, BY_LOCK),        OF(struct slot, yield, NARROW, BY_LOCK),
	OF(struct slot, order, WIDE, BY_LOCK),         OF(struct slot, fence, WIDE, LISTED),
	OF(struct slot, passed_by, NARROW, BY_LOCK),   OF(struct slot, took, NARROW, BY_LOCK),
	OF(struct slot, seats, WIDE, LISTED),          OF(struct slot, not_seats, WIDE, BY_LOCK),
	OF(struct slot, asks, NARROW, BY_LOCK),        OF(struct slot, waits_for, WIDE, BY_LOCK),
	OF(struct slot, role, NARROW, LISTED),
};

static const struct word history_word = { 0, sizeof(struct event), "an event", WIDE, LISTED };

static const struct word taker_words[] = {
	OF(struct flk_taker, flk, WIDE, BY_LOCK),
	OF(struct flk_taker, slot, NARROW, LISTED),
	OF(struct flk_taker, thread, WIDE, BY_LOCK),
	OF(struct flk_taker, process, WIDE, BY_LOCK),
	OF(struct flk_taker, patience.owner, WIDE, BY_LOCK),
	OF(struct flk_taker, cancelled, NARROW, LISTED),
	OF(struct flk_taker, interrupted, NARROW, LISTED),
};

static const struct word work_word = { 0, 8, "the work under the permit", WIDE, BY_LOCK };
static const struct word other_word = { 0, 0, "another word", NARROW, BY_LOCK };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct word *
find(const struct word *list, size_t count, size_t at)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (at >= list[i].at && at < list[i].at + list[i].size)
			return &list[i];
	return &other_word;
}

static const struct word *
look_up(size_t at, const char **of, size_t *number)
{
	*of = "the header's";
	*number = 0;
	if (at < HEADER)
		return find(header_words, COUNT(header_words), at);
	if (at < SLOTS_AT) {
		*of = "of the history:";
		return &history_word;
	}
	if (at < offsetof(struct shared, taker)) {
		*of = "slot";
		*number = (at - SLOTS_AT) / sizeof(struct slot);
		return find(slot_words, COUNT(slot_words), (at - SLOTS_AT) % sizeof(struct slot));
	}
	if (at < offsetof(struct shared, work)) {
		*of = "taker";
		at -= offsetof(struct shared, taker);
		*number = at / sizeof(struct flk_taker);
		return find(taker_words, COUNT(taker_words), at % sizeof(struct flk_taker));
	}
	*of = "";
	return &work_word;
}

/* The search asks for each access, so the answers are kept. */
static struct {
	bool known, wide, doorless;
} answers[CELLS];

static void
learn(size_t at)
{
	const char *of;
	size_t number;
	const struct word *word = look_up(at, &of, &number);

	answers[at / 4].known = true;
	answers[at / 4].wide = word->wide;
	answers[at / 4].doorless = word->doorless;
}

bool
word_is_wide(size_t at)
{
	if (!answers[at / 4].known)
		learn(at);
	return answers[at / 4].wide;
}

bool
word_is_doorless(size_t at)
{
	if (!answers[at / 4].known)
		learn(at);
	return answers[at / 4].doorless;
}

const char *
word_name(size_t at)
{
	static char text[4][80];
	static unsigned next;
	const char *of;
	size_t number;
	const struct word *word = look_up(at, &of, &number);
	char *name = text[next++ % 4];

	if (at >= SLOTS_AT && at < offsetof(struct shared, work))
		snprintf(name, sizeof(text[0]), "%s %zu's %s", of, number, word->name);
	else
		snprintf(name, sizeof(text[0]), "%s %s", of, word->name);
	return name;
}
