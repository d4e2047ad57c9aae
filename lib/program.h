/* SPDX-License-Identifier: ISC */
/*
 * program.h - the name by which people know a command: the last component of its program's path.
 */
#ifndef FLKI_PROGRAM_H
#define FLKI_PROGRAM_H

#include <stdbool.h>
#include <string.h>

#include "flocklimit.h"

/* A shell runs the word behind it: "A=1 exec make". */
static inline bool
flki_is_before_program(const char *word, size_t n)
{
	const char *equals = memchr(word, '=', n), *slash = memchr(word, '/', n);

	return n == 0 || (n == 4 && memcmp(word, "exec", 4) == 0) ||
	       (equals != NULL && (slash == NULL || equals < slash));
}

/*
 * COMMAND is a command line, or a shell's; or what the permit is for and then that, as in
 * "--fd 9: ./deploy".  Another process may have written it without its end.
 */
static inline void
flki_program_name(const char command[FLK_COMMAND], char name[20])
{
	const char *end = command + strnlen(command, FLK_COMMAND), *from = command, *space;

	if (*from == '-' && (space = memmem(from, (size_t)(end - from), ": ", 2)) != NULL)
		from = space + 2;
	while ((space = memchr(from, ' ', (size_t)(end - from))) != NULL &&
	       flki_is_before_program(from, (size_t)(space - from)))
		from = space + 1;
	if (space == NULL)
		space = end;
	if (space > from && space[-1] == ';') /* "cd web; make" */
		space--;
	end = memrchr(from, '/', (size_t)(space - from));
	if (end != NULL)
		from = end + 1;
	memset(name, 0, 20);
	memcpy(name, from, space - from < 19 ? (size_t)(space - from) : 19);
}

#endif
