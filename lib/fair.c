/* SPDX-License-Identifier: ISC */
/*
 * fair.c - the turns of keys in a fair limiter: start-time fair queueing.
 *
 * On a line without end, each key has an end: so far reaches what was given to it, a unit of weight as
 * FAIR_UNIT divided by the key's share.  A newcomer's tag is the end of its key or, if that is behind,
 * `turn': the largest tag that was granted so far.  The line is in the order of the tags, so a key that
 * has had less than others goes first, and one that asks for forty permits at once gets forty tags that
 * rise, behind the first of any other key.
 *
 * What must hold:
 *  F1	The end of a key is the largest of `given' in its slots, and of tag + cost of those that wait.
 *  F2	`turn' is not below the tag of any holder, and never falls while a taker waits or holds.
 *  F3	An end that no slot has any more was not above `turn': nobody gains by being forgotten.
 *
 * Why nobody starves: a newcomer passes a waiter only while its tag is below the waiter's.  By F3 its
 * key's end is known, or it begins at `turn' or above; and each permit that it gets moves its end on by
 * its cost.  So of each key at most share x (tag - turn) units and one taker more can pass; and of all
 * that come with new keys, as many for each slot, as an end that moves takes a slot that says nothing.
 *
 * `given' belongs to the slot's key, not to its taker: it stays when the taker has left, and a newcomer
 * of another key that gets the slot moves it to a slot that says nothing.  So a key needs no place of
 * its own in the file.  A taker that was not granted has been given nothing, so its death costs
 * its key nothing, unless it has passed a waiter that still waits: else a key that gives up and comes
 * again could keep that one out for ever.
 *
 * A permit that grows, while nobody waits, pays for what is beyond all that its key has had.
 *
 * All of this is written under the lock, and one word at a time.  A granter that is killed in between
 * leaves a key a turn too many or too few, and no more: the order of those who wait is in their tags.
 */
#include "state.h"

#include "clock.h"

#define FAIR_UNIT UINT64_C(65536) /* of cost: a unit of weight at the share 1 */

static bool
is_of(const struct slot *s, const char key[FLK_KEY])
{
	return memcmp(s->key, key, FLK_KEY) == 0;
}

/* Rounded up: of a share that does not divide it, nobody gains. */
static uint64_t
cost(const struct slot *s, uint32_t units)
{
	uint32_t share = s->share != 0 ? s->share : 1;

	return (units * FAIR_UNIT + share - 1) / share;
}

/* Where its key's end is when it has got so many units. */
static uint64_t
end_with(const struct slot *s, uint32_t units)
{
	return flki_plus(s->tag, cost(s, units));
}

/* Of one that waits: it may get all that it asked for. */
static uint64_t
end_of(const struct slot *s)
{
	return end_with(s, s->most > s->least ? s->most : s->least);
}

static bool
waits(const struct slot *s)
{
	return s->kind == TAKER && atomic_load_explicit(&s->state, memory_order_relaxed) == WAITING;
}

/* It has no end that a key other than `known' could miss. */
static bool
is_silent(const struct state *st, const struct slot *s, const char known[FLK_KEY])
{
	uint32_t now = atomic_load_explicit(&s->state, memory_order_relaxed);

	return now != WAITING && now != HELD &&
	       (!flki_fair_has_key(s) || s->given <= st->h->turn || is_of(s, known));
}

static void
raise_turn(struct state *st, uint64_t tag)
{
	if (tag > st->h->turn)
		flki_state_store(&st->h->turn, tag);
}

/* A granter that is killed in here leaves no key with what was given to another. */
static void
set_end(struct slot *s, const char key[FLK_KEY], uint64_t given)
{
	memset(s->key, 0, FLK_KEY);
	atomic_signal_fence(memory_order_seq_cst);
	flki_state_store(&s->given, given);
	atomic_signal_fence(memory_order_seq_cst);
	/* Without its first bytes it is nobody's. */
	memcpy(s->key + 8, key + 8, FLK_KEY - 8);
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(s->key, key, 8);
}

/* F3: slot s is about to get another key, and all that was given to that one. */
static void
move_end(struct state *st, const struct slot *s, const char next[FLK_KEY])
{
	struct slot *to;

	for (to = st->slots; to < st->slots + st->n; to++)
		if (to != s && is_silent(st, to, next)) {
			set_end(to, s->key, s->given);
			return;
		}
	raise_turn(st, s->given);
}

/* Forgets all keys and their ends. */
static void
forget(struct state *st)
{
	struct slot *s;

	for (s = st->slots; s < st->slots + st->n; s++) {
		s->given = 0;
		memset(s->key, 0, FLK_KEY);
	}
}

/* What was given to a key, and in *end its end. */
static uint64_t
given_to(const struct state *st, const char key[FLK_KEY], uint64_t *end)
{
	const struct slot *s;
	uint64_t given = 0;

	*end = 0;
	for (s = st->slots; s < st->slots + st->n; s++) {
		if (!is_of(s, key))
			continue;
		if (s->given > given)
			given = s->given;
		if (waits(s) && end_of(s) > *end)
			*end = end_of(s);
	}
	if (given > *end)
		*end = given;
	return given;
}

static uint64_t
last_tag(struct state *st)
{
	uint32_t tail = st->h->waiting.tail;

	return tail != NIL ? flki_state_at(st, tail)->tag : 0;
}

void
flki_fair_set(struct state *st)
{
	forget(st);
	raise_turn(st, last_tag(st));
}

void
flki_fair_arrive(struct state *st, struct slot *s, const char key[FLK_KEY])
{
	uint64_t given, end;

	if (key == NULL) {
		s->tag = last_tag(st);
		if (s->kind == TAKER && flki_fair_has_key(s))
			memset(s->key, 0, FLK_KEY);
		return;
	}
	/*
	 * While nobody waits or holds, all have had what they wanted.  `turn' comes last: with a new turn
	 * and an old end, a key would wait for what it had long ago.
	 */
	if (st->h->waiting.count == 0 && st->h->holders.count == 0) {
		forget(st);
		flki_state_store(&st->h->turn, 0);
	}
	given = given_to(st, key, &end);
	if (!is_of(s, key) && flki_fair_has_key(s) && s->given > st->h->turn)
		move_end(st, s, key);
	set_end(s, key, given);
	s->tag = end > st->h->turn ? end : st->h->turn;
}

void
flki_fair_give(struct state *st, struct slot *s)
{
	s->given = end_with(s, s->weight);
	raise_turn(st, s->tag);
}

/* F2, also where `turn' was scribbled on, or a doubt had all holders go while one was inside. */
void
flki_fair_came(struct state *st, const struct slot *s)
{
	if (flki_fair_has_key(s))
		raise_turn(st, s->tag);
}

void
flki_fair_leave(struct state *st, struct slot *s)
{
	uint32_t i = s->next, left;

	if (!flki_fair_has_key(s) || s->kind != TAKER)
		return;
	for (left = st->n; i != NIL && left > 0; left--) {
		const struct slot *behind = flki_state_at(st, i);
		if (behind->ticket < s->ticket) {
			s->given = end_of(s);
			return;
		}
		i = behind->next;
	}
}

void
flki_fair_grow(struct slot *s, uint32_t units)
{
	uint64_t end = end_with(s, s->weight + units);

	/* Units that it gave back and takes again are paid for. */
	if (end > s->given)
		s->given = end;
}
