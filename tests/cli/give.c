/* SPDX-License-Identifier: ISC */
/*
 * give.c - what an elastic command is to give back, of more units than this machine may have CPUs.
 */
#include "give.h"

#include <stdlib.h>

#include "../helpers/tap.h"

#define NOW   UINT64_C(1000)
#define HEADS 3

static const struct {
	const char *what;
	uint32_t limit, used, holders, least;
	uint32_t waits[HEADS]; /* weights; 0: no more of them */
	int64_t override;
	bool paused;
	uint64_t starts; /* the pace's next start */
	uint64_t wanted;
} each[] = {
	{ "nobody waits", 8, 8, 1, 2, { 0 }, FLK_AUTO, false, 0, 0 },
	{ "one wants two, of all", 8, 8, 1, 2, { 2 }, FLK_AUTO, false, 0, 2 },
	{ "one wants two, of which one is free", 8, 7, 1, 2, { 2 }, FLK_AUTO, false, 0, 1 },
	{ "three want two each", 8, 8, 1, 2, { 2, 2, 2 }, FLK_AUTO, false, 0, 6 },
	{ "what they want is free", 8, 4, 2, 2, { 2, 2 }, FLK_AUTO, false, 0, 0 },
	{ "the head wants too much", 8, 8, 1, 4, { 5, 1 }, FLK_AUTO, false, 0, 0 },
	{ "the head wants what two could give", 8, 8, 2, 2, { 5 }, FLK_AUTO, false, 0, 5 },
	{ "it is paused", 8, 8, 1, 2, { 2 }, FLK_AUTO, true, 0, 0 },
	{ "its pace lets nothing start yet", 8, 8, 1, 2, { 2 }, FLK_AUTO, false, NOW + 1, 0 },
	{ "it is time", 8, 8, 1, 2, { 2 }, FLK_AUTO, false, NOW, 2 },
	{ "an operator's limit is lower", 5, 8, 1, 2, { 0 }, 5, false, 0, 3 },
	{ "and one waits besides", 5, 8, 1, 2, { 2 }, 5, false, 0, 5 },
	{ "and the limiter is paused", 5, 8, 1, 2, { 2 }, 5, true, 0, 3 },
	{ "a waiter's own limit is lower", 5, 8, 1, 2, { 4 }, FLK_AUTO, false, 0, 0 },
};

int
main(void)
{
	size_t size = sizeof(struct flk_snapshot) + (HEADS + 2) * sizeof(struct flk_entry), i;
	struct flk_snapshot *s = calloc(1, size);
	uint32_t k;

	if (s == NULL)
		tap_bail("no memory");
	for (i = 0; i < sizeof(each) / sizeof(*each); i++) {
		*s = (struct flk_snapshot){ .limit = each[i].limit,
					    .used = each[i].used,
					    .holders = each[i].holders,
					    .next_start_ns = each[i].starts };
		s->set.override = each[i].override;
		s->set.paused = each[i].paused;
		for (k = 0; k < HEADS && each[i].waits[k] > 0; k++)
			s->entry[s->holders + k].weight = each[i].waits[k];
		s->waiters = k;
		is(give_wanted(s, each[i].least, NOW), each[i].wanted, "%s", each[i].what);
	}
	free(s);
	return tap_done();
}
