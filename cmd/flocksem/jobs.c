/* SPDX-License-Identifier: ISC */
#include "jobs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "flocklimit.h"
#include "parse.h"

static bool
parse_word(const char *word, uint32_t *limit)
{
	bool more = *word == '+', fewer = *word == '-';
	uint64_t n, cpus = more || fewer ? flk_cpus(100) : 0;
	size_t length = strlen(word);
	char digits[16];

	if (length > 1 && length < sizeof(digits) && word[length - 1] == '%') {
		memcpy(digits, word, length);
		digits[length - 1] = '\0';
		if (!parse_number(digits, 0, 100000, &n))
			return false;
		*limit = flk_cpus(n > 0 ? (uint32_t)n : 1);
		return true;
	}
	if (!parse_number(word + (more || fewer), 0, FLK_MAX_UNITS, &n))
		return false;
	if (fewer)
		n = n < cpus ? cpus - n : 1;
	else if (more)
		n = n + cpus < FLK_MAX_UNITS ? n + cpus : FLK_MAX_UNITS;
	else if (n == 0)
		n = FLK_MAX_UNITS;
	*limit = (uint32_t)n;
	return true;
}

/* The file is read at each call, so that its owner can change the limit meanwhile. */
bool
jobs_parse(const char *word, uint32_t *limit)
{
	char text[64];
	ssize_t n;
	int fd;

	if (parse_word(word, limit))
		return true;
	fd = open(word, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, " \t\r\n")] = '\0';
	return parse_word(text, limit);
}
