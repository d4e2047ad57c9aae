/* SPDX-License-Identifier: ISC */
/*
 * waits_for.c - the limiter that the owner of a permit waits for, before its work begins: for people.
 *
 * The owner alone writes the words, while it holds the permit, and without the lock.  A copy that is made
 * meanwhile may be a part of one name and a part of another.  No taker reads them.
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define WORDS (FLK_WAITS_FOR / sizeof(uint64_t))

int
flki_local_waits_for(struct flk_taker *t, const char *limiter)
{
	uint64_t words[WORDS] = { 0 };
	struct slot *s;
	size_t k;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->slot == NIL || atomic_load(&taker_slot(t)->state) != HELD)
		return -FLK_NOPERMIT;
	if (limiter != NULL)
		snprintf((char *)words, sizeof(words), "%s", limiter);
	s = taker_slot(t);
	for (k = 0; k < WORDS; k++)
		__atomic_store_n(&s->waits_for[k], words[k], __ATOMIC_RELAXED);
	return 0;
}

void
flki_waits_for(const struct slot *s, char text[FLK_WAITS_FOR])
{
	uint64_t words[WORDS];
	size_t k;

	for (k = 0; k < WORDS; k++)
		words[k] = __atomic_load_n(&s->waits_for[k], __ATOMIC_RELAXED);
	memcpy(text, words, FLK_WAITS_FOR);
	text[FLK_WAITS_FOR - 1] = '\0';
}
