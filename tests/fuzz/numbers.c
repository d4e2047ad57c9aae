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

static long double
unit_of(const char *end)
{
	return *end == '\0' || strcmp(end, "s") == 0 ? 1e9L
	       : strcmp(end, "ms") == 0              ? 1e6L
	       : strcmp(end, "m") == 0               ? 60e9L
	       : strcmp(end, "h") == 0               ? 3600e9L
	       : strcmp(end, "d") == 0               ? 86400e9L
						     : 0;
}

static void
check_duration(const char *word)
{
	uint64_t ns;
	const char *end = word + strspn(word, "0123456789.");
	bool zero = strspn(word, "0.") == (size_t)(end - word);
	long double value;

	if (!parse_duration(word, &ns))
		return;
	require(end > word && unit_of(end) != 0);
	require(memchr(word, '.', (size_t)(end - word)) ==
		memrchr(word, '.', (size_t)(end - word)));
	require((ns == 0) == zero);
	value = strtold(word, NULL) * unit_of(end);
	require(value <= LONGEST + unit_of(end));
	/* A day's last decimal place is 864 ns. */
	require((long double)ns > value - 1000 && (long double)ns < value + 1000);
}

static void
check_signal(const char *word)
{
	int number = 0;

	if (parse_signal(word, &number))
		require(number >= 1 && number <= 64);
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
