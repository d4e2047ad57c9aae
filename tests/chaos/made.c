/* SPDX-License-Identifier: ISC */
#include "made.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "../helpers/tap.h"

static FILE *out;
static unsigned takers;
static bool has_end;

void
line(char letter, unsigned ms, const char *format, ...)
{
	va_list args;

	fprintf(out, "%c %" PRIu64 " ", letter, (ms + 1000) * MS);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	putc('\n', out);
}

void
spell(char letter, unsigned from, unsigned to, const char *format, ...)
{
	va_list args;

	fprintf(out, "%c %" PRIu64 " %" PRIu64, letter, (from + 1000) * MS, (to + 1000) * MS);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	putc('\n', out);
}

static unsigned
launch_in(unsigned lim, unsigned ms, struct flk_request want, unsigned flags, unsigned key)
{
	char text[REQUEST_TEXT];
	size_t i;
	int n = 0;

	if (want.most == 0)
		want.most = want.weight;
	for (i = 0; i < REQUEST_NUMBERS; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %u", request_value(&want, i));
	line('L', ms, "%u %u 0 %u 0 0 %u%s", ++takers, lim, flags, key, text);
	return takers;
}

unsigned
launch_as(unsigned ms, struct flk_request want, unsigned flags)
{
	return launch_in(0, ms, want, flags, 0);
}

unsigned
launch_of(unsigned ms, unsigned key, unsigned w, unsigned n)
{
	return launch_in(FAIR, ms, (struct flk_request){ .weight = w, .limit = n }, 0, key);
}

unsigned
launch(unsigned ms, unsigned w, unsigned n, unsigned flags)
{
	return launch_as(ms, (struct flk_request){ .weight = w, .limit = n }, flags);
}

void
start_as(char letter, uint64_t birth, unsigned ms, unsigned id, unsigned ticket, unsigned fence,
	 unsigned w, unsigned told)
{
	line(letter, ms, "%u %u %" PRIu64 " %u %u %u %u %u 0", id, 100 + id, birth, ticket, w, told,
	     ticket % 100, fence);
}

void
start_on(unsigned ms, unsigned id, unsigned ticket, unsigned seat, unsigned other)
{
	line('S', ms, "%u %u %" PRIu64 " %u 2 4 %u %u %u", id, 100 + id, BIRTH, ticket, seat,
	     ticket, 1u << seat | 1u << other);
}

void
start_in(uint64_t birth, unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told)
{
	start_as('S', birth, ms, id, ticket, ticket, w, told);
}

void
start(unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told)
{
	start_in(BIRTH, ms, id, ticket, w, told);
}

void
finish(unsigned ms, unsigned id)
{
	line('E', ms, "%u %u %d", id, 100 + id, CODE(id));
	line('R', ms, "%u %d", id, EXIT(CODE(id)));
}

void
kill_wrapper(unsigned ms, unsigned id)
{
	line('K', ms, "%d %u 9", WRAPPER, id);
	line('R', ms, "%u 9", id);
}

void
kill_command(unsigned ms, unsigned id)
{
	line('K', ms, "%d %u 9", COMMAND, 100 + id);
	line('R', ms, "%u %d", id, EXIT(128 + 9));
}

unsigned
launch_also(unsigned ms, unsigned w, unsigned n)
{
	line('N', ms, "%u 1 %u %u", ++takers, w, n);
	return takers;
}

void
start_also(unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told)
{
	start_as('T', BIRTH + 1, ms, id, ticket, ticket, w, told);
}

void
scrawl(const char *text)
{
	fputs(text, out);
}

void
omit_end(void)
{
	has_end = false;
}

void
made_write(const struct made *made, const char *path)
{
	out = fopen(path, "w");
	if (out == NULL)
		tap_bail("%s", path);
	takers = 0;
	has_end = true;
	made->log();
	if (has_end)
		line('Z', 1000, "0");
	fclose(out);
}
