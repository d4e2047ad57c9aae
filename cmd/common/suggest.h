/*
 * suggest.h - which word did the user mean?
 */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <getopt.h>
#include <stddef.h>

#define SUGGEST_TEXT 200

/*
 * A hint for a word that is none of the N known ones: "did you mean list?" for a typing error,
 * "did you mean release or resume?" for a word with which they begin, and "" where nothing is near.
 */
const char *suggest(const char *word, const char *const *known, size_t n, char room[SUGGEST_TEXT]);

/* The same for a long option, as it was typed: with its hyphens, and perhaps with =VALUE. */
const char *suggest_option(const char *word, const struct option *table, char room[SUGGEST_TEXT]);

/* What another tool calls it, and a hint in our words. */
struct habit {
	const char *typed, *hint;
};

/* The hint, or NULL; `habits' ends with a NULL. */
const char *suggest_habit(const char *word, const struct habit *habits);

#endif
