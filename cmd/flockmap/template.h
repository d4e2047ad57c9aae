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

struct template
{
	char **words;        /* up to NULL */
	const char *replace; /* {} */
	bool line;           /* the last word is a line for sh, in which items are quoted */
};

/*
 * The words up to NULL, where placeholders stand for the items.  All in one allocation for free(3); NULL:
 * no memory.
 */
char **template_fill(const struct template *t, const struct filling *f);

/* Whether the first word, which names the program, is the same for every item; has an item in it. */
bool template_is_fixed(const struct template *t);
bool template_is_item(const struct template *t);

/* Whether the words have items in them; the seat; items by their numbers. */
bool template_has_items(const struct template *t);
bool template_has_seat(const struct template *t);
bool template_has_numbers(const struct template *t);

/* Whether each item of the line stands where sh takes it as what it is: see shell_line.h. */
bool template_line_is_safe(const struct template *t);

/*
 * What the filled words need of the kernel's room for arguments; and how long the words are together
 * in which items are joined.  Both grow evenly with the items.
 */
void template_measure(const struct template *t, const struct filling *f, size_t *all,
		      size_t *joined);

/* The words, quoted for a shell; malloced. */
char *template_quote(char *const *words);

#endif
