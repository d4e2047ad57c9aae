/* SPDX-License-Identifier: ISC */
#include "title.h"

#include <stdio.h>
#include <string.h>

#include "flocklimit.h"

#define PROGRAM "flocklimit: "

/* The words of the command line, which lie one behind the other; the environment comes next. */
static struct {
	char *words;
	size_t size;
} line;

void
title_begin(int argc, char **argv)
{
	int i;

	line.words = argc > 0 ? argv[0] : NULL;
	for (i = 0, line.size = 0; i < argc && argv[i] == line.words + line.size; i++)
		line.size += strlen(argv[i]) + 1;
}

void
title_set(const char *limiter)
{
	char text[sizeof(PROGRAM) + sizeof("keeper of ") + FLK_NAME_MAX];
	const char *title = text;
	size_t n;

	if (line.size < 2)
		return;
	snprintf(text, sizeof(text), PROGRAM "keeper%s%s", limiter != NULL ? " of " : "",
		 limiter != NULL ? limiter : "");
	/* A command line that has the name as a word of its own has room for the rest at least. */
	if (strlen(text) >= line.size)
		title += strlen(PROGRAM);
	n = strnlen(title, line.size - 1);
	memset(line.words, 0, line.size);
	memcpy(line.words, title, n);
	/* If the last byte is not NUL, the kernel shows the line up to its first NUL, and no padding. */
	if (n < line.size - 1)
		line.words[line.size - 1] = ' ';
}
