/* SPDX-License-Identifier: ISC */
#include "chaos.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

uint64_t
chaos_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One line, one write: the file is opened with O_APPEND, so lines never mix. */
void
chaos_say(const char *format, ...)
{
	char line[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	line[n++] = '\n';
	if (write(LOG_FD, line, (size_t)n) != n)
		_exit(96); /* no status that anybody expects */
}
