/* SPDX-License-Identifier: ISC */
/*
 * template.h - the command with {} and its like in it, filled in for one job.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filling {
	char **items;
	size_t n;
	uint64_t number;
	uint32_t seat;
};

/*
 * The words up to NULL, where REPLACE stands for the items.  All in one allocation for free(3); NULL: no
 * memory.
 */
char **template_fill(char *const *command, const char *replace, const struct filling *f);

/* Whether this word of the command is the same for every item. */
bool template_is_fixed(const char *replace, const char *word);

bool template_has_item(const char *replace, const char *word);

/* The words, quoted for a shell; malloced. */
char *template_quote(char *const *words);

#endif
