/* SPDX-License-Identifier: ISC */
#include "tap.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count, failed;

static bool
result(bool passed, const char *words, va_list args)
{
	printf("%sok %d - ", passed ? "" : "not ", ++count);
	vprintf(words, args);
	putchar('\n');
	failed += !passed;
	return passed;
}

bool
tap_ok(bool passed, const char *expression, const char *file, int line, const char *words, ...)
{
	va_list args;

	va_start(args, words);
	result(passed, words, args);
	va_end(args);
	if (!passed)
		printf("# %s:%d: not so: %s\n", file, line, expression);
	fflush(stdout);
	return passed;
}

bool
tap_is(long long got, long long want, const char *expression, const char *file, int line,
       const char *words, ...)
{
	va_list args;

	va_start(args, words);
	result(got == want, words, args);
	va_end(args);
	if (got != want)
		printf("# %s:%d: %s is %lld, not %lld\n", file, line, expression, got, want);
	fflush(stdout);
	return got == want;
}

void
tap_note(const char *words, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, words);
	vprintf(words, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

void
tap_skip(const char *why)
{
	printf("ok %d # SKIP %s\n", ++count, why);
	fflush(stdout);
}

void
tap_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

void
tap_bail(const char *words, ...)
{
	int error = errno;
	va_list args;

	printf("Bail out! ");
	va_start(args, words);
	vprintf(words, args);
	va_end(args);
	printf(" (errno: %s)\n", strerror(error));
	exit(99);
}

int
tap_done(void)
{
	printf("1..%d\n", count);
	return failed > 0;
}
