/* SPDX-License-Identifier: ISC */
/*
 * request.h - the numbers of a request, for tests that draw requests at random, write them down and read
 * them again.  A number that requests get is a row here, and then all of these tests try it.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "flocklimit.h"

static const struct request_number {
	const char *name; /* of the option of flocklimit(1) */
	size_t at;
	uint32_t most;  /* that request_draw() gives it; 0: it leaves it alone */
	uint32_t bound; /* of those: none is larger */
} request_numbers[] = {
	{ "weight", offsetof(struct flk_request, weight), 0, 0 },
	{ "limit", offsetof(struct flk_request, limit), 0, 0 },
	{ "most", offsetof(struct flk_request, most), 0, 0 },
	{ "yield", offsetof(struct flk_request, yield), 5, FLK_MAX_UNITS },
	{ "share", offsetof(struct flk_request, share), 4, FLK_MAX_SHARE },
};

#define REQUEST_NUMBERS (sizeof(request_numbers) / sizeof(request_numbers[0]))

static inline uint32_t *
request_number(struct flk_request *want, size_t i)
{
	return (void *)((char *)want + request_numbers[i].at);
}

static inline uint32_t
request_value(const struct flk_request *want, size_t i)
{
	return *(const uint32_t *)(const void *)((const char *)want + request_numbers[i].at);
}

/* The numbers that don't depend on what the limiter is like.  BELOW(n) is a random number below n. */
static inline void
request_draw(struct flk_request *want, uint32_t (*below)(uint32_t n))
{
	size_t i;

	for (i = 0; i < REQUEST_NUMBERS; i++)
		if (request_numbers[i].most > 0)
			*request_number(want, i) = below(request_numbers[i].most + 1);
}

/* For people: "weight 2, limit 4". */
#define REQUEST_TEXT (REQUEST_NUMBERS * 24)

static inline const char *
request_text(const struct flk_request *want, char text[REQUEST_TEXT])
{
	size_t i;
	int n = 0;

	text[0] = '\0';
	for (i = 0; i < REQUEST_NUMBERS; i++)
		if (request_value(want, i) != 0)
			n += snprintf(text + n, REQUEST_TEXT - (size_t)n, "%s%s %u",
				      n > 0 ? ", " : "", request_numbers[i].name,
				      request_value(want, i));
	return text;
}

#endif
