/* SPDX-License-Identifier: ISC */
/*
 * turns.c - a fair limiter, by the words of its page: who has had how much, and who goes next.
 */
#include "twin.h"

#include <string.h>

struct naive_record naive_record[2 * MOST];

void
naive_turns_reset(uint32_t slots)
{
	memset(naive_record, 0, sizeof(naive_record));
	naive_header.records = slots;
}

/* In units of 1/65536, rounded up; a share of 0 is one of 1. */
static uint64_t
end_of(unsigned me, uint32_t weight)
{
	uint64_t share = naive[me].want.share > 1 ? naive[me].want.share : 1, cost;

	cost = (uint64_t)weight * 65536 / share;
	return naive[me].tag + cost + ((uint64_t)weight * 65536 % share != 0);
}

/* What it has asked for, all of it. */
static uint32_t
wanted_at_most(unsigned me)
{
	return naive[me].most > naive[me].least ? naive[me].most : naive[me].least;
}

static bool
is_busy(uint32_t slot)
{
	return slot < takers && (naive[slot].state == WAITING || naive[slot].state == HELD);
}

static uint64_t
last_tag(void)
{
	uint64_t tag = 0;
	unsigned i;

	for (i = 0; i < takers; i++)
		if (naive[i].state == WAITING && naive[i].tag > tag)
			tag = naive[i].tag;
	return tag;
}

static void
forget_all(void)
{
	memset(naive_record, 0, sizeof(naive_record));
}

void
naive_turns_set(bool fair)
{
	if (fair != naive_header.fair) {
		forget_all();
		if (last_tag() > naive_header.turn)
			naive_header.turn = last_tag();
	}
	naive_header.fair = fair;
}

/* Its slot's record is another key's, which must not be the better for it. */
static void
make_room(unsigned me, uint32_t key)
{
	struct naive_record *mine = &naive_record[me], *r;
	uint32_t i;

	if (mine->key == 0 || mine->key == key || mine->given <= naive_header.turn)
		return;
	for (i = 0; i < naive_header.records; i++) {
		r = &naive_record[i];
		if (i == me || is_busy(i))
			continue;
		if (r->key == 0 || r->key == key || r->given <= naive_header.turn) {
			*r = *mine;
			return;
		}
	}
	naive_header.turn = mine->given;
}

static bool
somebody_is_busy(void)
{
	unsigned i;

	for (i = 0; i < takers; i++)
		if (is_busy(i))
			return true;
	return false;
}

void
naive_turns_arrive(unsigned me, uint32_t key)
{
	uint64_t given = 0, end = 0;
	uint32_t i;

	if (!naive_header.fair || naive[me].kind == BARRIER) {
		naive[me].tag = last_tag();
		if (naive[me].kind == TAKER)
			naive_record[me].key = 0;
		return;
	}
	if (!somebody_is_busy()) {
		forget_all();
		naive_header.turn = 0;
	}
	for (i = 0; i < naive_header.records; i++) {
		if (naive_record[i].key != key)
			continue;
		if (naive_record[i].given > given)
			given = naive_record[i].given;
		if (i < takers && naive[i].state == WAITING && naive[i].kind == TAKER &&
		    end_of(i, wanted_at_most(i)) > end)
			end = end_of(i, wanted_at_most(i));
	}
	make_room(me, key);
	naive_record[me] = (struct naive_record){ key, given };
	naive[me].tag = naive_header.turn;
	if (given > naive[me].tag)
		naive[me].tag = given;
	if (end > naive[me].tag)
		naive[me].tag = end;
}

/* Before it gets so many units. */
void
naive_turns_give(unsigned me, uint32_t weight)
{
	if (naive_record[me].key == 0)
		return;
	naive_record[me].given = end_of(me, weight);
	if (naive[me].tag > naive_header.turn)
		naive_header.turn = naive[me].tag;
}

void
naive_turns_grow(unsigned me, uint32_t units)
{
	uint64_t end = end_of(me, naive[me].weight + units);

	if (naive_record[me].key != 0 && end > naive_record[me].given)
		naive_record[me].given = end;
}

/* Before it leaves the line: its turn is gone if another still waits behind it that came before. */
void
naive_turns_leave(unsigned me)
{
	unsigned i;

	if (naive_record[me].key == 0 || naive[me].kind != TAKER)
		return;
	for (i = 0; i < takers; i++)
		if (naive[i].state == WAITING && naive[i].rank > naive[me].rank &&
		    naive[i].ticket < naive[me].ticket)
			naive_record[me].given = end_of(me, wanted_at_most(me));
}

const char *
turns_differ(void)
{
	char key[FLK_KEY];
	uint32_t i;

	if (real->fair != (naive_header.fair ? FLK_FAIR_KEY : FLK_FAIR_OFF))
		return complain("the fairness", 0, real->fair, naive_header.fair);
	if (real->turn != naive_header.turn)
		return complain("the turn", 0, real->turn, naive_header.turn);
	for (i = 0; i < naive_header.records; i++) {
		const struct slot *s = &real_slots[i];
		twin_key(naive_record[i].key, key);
		if (memcmp(s->key, key, FLK_KEY) != 0)
			return complain("the key", i, (unsigned char)s->key[0],
					naive_record[i].key);
		if (s->key[0] != '\0' && s->given != naive_record[i].given)
			return complain("what was given to the key", i, s->given,
					naive_record[i].given);
		if (i < takers && naive[i].state == WAITING && s->tag != naive[i].tag)
			return complain("the tag", i, s->tag, naive[i].tag);
	}
	return NULL;
}
