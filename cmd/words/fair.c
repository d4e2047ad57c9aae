/* SPDX-License-Identifier: ISC */
#include "fair.h"

#include <string.h>

#include "flocklimit.h"

static const char *const words[] = { [FLK_FAIR_OFF] = "off",
				     [FLK_FAIR_USER] = "user",
				     [FLK_FAIR_SESSION] = "session",
				     [FLK_FAIR_KEY] = "key" };

#define KINDS (sizeof(words) / sizeof(words[0]))

bool
fair_parse(const char *word, void *kind)
{
	uint32_t i;

	for (i = 0; i < KINDS && strcmp(word, words[i]) != 0; i++)
		;
	if (i < KINDS)
		*(uint32_t *)kind = i;
	return i < KINDS;
}

const char *
fair_word(uint32_t kind)
{
	return words[kind < KINDS ? kind : FLK_FAIR_OFF];
}

const char *
fair_without_effect(uint32_t kind, bool key, bool share)
{
	if (kind == FLK_FAIR_OFF && key)
		return "--key has no effect: the limiter is not fair; use --fair=key";
	if (kind == FLK_FAIR_OFF && share)
		return "--share has no effect: the limiter is not fair; use --fair";
	if (kind == FLK_FAIR_USER && key)
		return "--key has no effect: the limiter's keys are users; use --fair=key";
	if (kind == FLK_FAIR_SESSION && key)
		return "--key has no effect: the limiter's keys are sessions; use --fair=key";
	return NULL;
}
