/* SPDX-License-Identifier: ISC */
/*
 * numbers.c - words that should be numbers, durations, signals: what is taken is right, by another
 * way to count; what is refused leaves no crash.  Each line of the input is one word.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define LONGEST 3155760000000000000.0L /* a hundred years */

/* Digits only, and of a size that long double holds to the last: or -1. */
static long double
naive_number(const char *word, int base)
{
	long double v = 0;

	if (*word == '\0')
		return -1;
	for (; *word != '\0'; word++) {
		if (*word < '0' || *word >= '0' + base)
			return -1;
		v = v * base + (*word - '0');
	}
	return v;
}

static void
check_number(const char *word)
{
	static const uint64_t most[] = { 0, 1, 64, 255, 100000, 1000000000, INT32_MAX };
	long double naive = naive_number(word, 10), octal = naive_number(word, 8);
	uint64_t v;
	uint32_t mode;
	size_t i;

	for (i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		bool taken = parse_number(word, most[i] / 2, most[i], &v);
		bool right = naive >= (long double)(most[i] / 2) && naive <= (long double)most[i];
		require(taken == right);
		require(!taken || (long double)v == naive);
	}
	require(parse_octal(word, 0777, &mode) == (octal >= 0 && octal <= 0777));
	require(octal < 0 || octal > 0777 || (long double)mode == octal);
}

/* In ns, or 0: no unit. */
static long double
unit_of(const char *word, size_t n)
{
	static const char names[][4] = { "us", "ms", "s", "sec", "m", "min", "h", "hr", "d" };
	static const long double ns[] = { 1e3L,  1e6L,    1e9L,    1e9L,    60e9L,
					  60e9L, 3600e9L, 3600e9L, 86400e9L };
	size_t i;

	for (i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		if (strlen(names[i]) == n && strncmp(names[i], word, n) == 0)
			return ns[i];
	return 0;
}

/* In ns, by strtold(3), which takes more than we do; -1: not a duration. */
static long double
naive_duration(const char *word, bool *is_zero)
{
	long double sum = 0, value;
	size_t digits, letters;
	bool alone = true;
	char *end;

	*is_zero = true;
	for (; alone || *word != '\0'; alone = false) {
		digits = strspn(word, ".0123456789");
		if (digits == 0 || (word[0] == '0' && (word[1] == 'x' || word[1] == 'X')))
			return -1;
		value = strtold(word, &end);
		if (end == word || memchr(word, 'E', (size_t)(end - word)) != NULL)
			return -1;
		if (strspn(word, "0.") < digits)
			*is_zero = false;
		letters = strspn(end, "abcdefghijklmnopqrstuvwxyz");
		if (letters == 0 && alone && *end == '\0')
			return value * 1e9L;
		if (unit_of(end, letters) == 0)
			return -1;
		sum += value * unit_of(end, letters);
		word = end + letters;
	}
	return sum;
}

static void
check_duration(const char *word)
{
	bool is_zero;
	long double value = naive_duration(word, &is_zero);
	uint64_t ns;

	require(parse_duration(word, &ns) == (value >= 0));
	if (value < 0)
		return;
	require((ns == 0) == is_zero);
	if (value > LONGEST)
		value = LONGEST;
	/* A day's last decimal place is 864 ns, and the digits of a number are 16. */
	require((long double)ns > value - 1000 - value / 1e14L);
	require((long double)ns < value + 1000 + value / 1e14L);
}

static void
check_signal(const char *word)
{
	int number = 0;

	if (parse_signal(word, &number))
		require(number >= 0 && number <= 64);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	char *word;

	while ((word = take_line(&b)) != NULL) {
		check_number(word);
		check_duration(word);
		check_signal(word);
		free(word);
	}
	return 0;
}
