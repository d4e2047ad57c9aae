/* SPDX-License-Identifier: ISC */
#include "limits_text.h"

#include <stdio.h>
#include <string.h>

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./~^-"

/* As the file may have it: in quotes if it must be. */
static void
print_word(const char *word)
{
	if (*word != '\0' && word[strspn(word, PLAIN)] == '\0')
		printf(" %s", word);
	else if (strchr(word, '\'') == NULL)
		printf(" '%s'", word);
	else
		printf(" \"%s\"", word);
}

void
limits_print(const struct limits_line *line)
{
	int i;

	printf("%s:%u: %s", line->file, line->number, line->command ? "command" : "limiter");
	for (i = 0; i < line->words; i++)
		print_word(line->word[i]);
	putchar('\n');
}
