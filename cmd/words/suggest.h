/* SPDX-License-Identifier: ISC */
/*
 * suggest.h - which word did the user mean?
 */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <getopt.h>
#include <stddef.h>

#define SUGGEST_TEXT 200

/*
 * A hint for a word that is not one of the N known words: "did you mean list?" after a typing
 * error, "did you mean release or resume?" if both begin with the word, "" if no known word is
 * near.
 */
const char *suggest(const char *word, const char *const *known, size_t n, char room[SUGGEST_TEXT]);

/* The same for a long option, as it was typed: with its hyphens, and with =VALUE if it had one. */
const char *suggest_option(const char *word, const struct option *table, char room[SUGGEST_TEXT]);

/* An option or verb of another tool, and a hint that names ours. */
struct habit {
	const char *typed, *hint;
};

/* The hint for this word, or NULL; `habits' ends with a NULL. */
const char *suggest_habit(const char *word, const struct habit *habits);

#endif
