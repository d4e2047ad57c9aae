/* SPDX-License-Identifier: ISC */
#include "seats.h"

#include <stdio.h>

#include "flocklimit.h"

/* Digits of a number below FLK_SEATS; returns what follows, or NULL. */
static const char *
parse_seat(const char *p, unsigned *seat)
{
	const char *from = p;

	for (*seat = 0; *p >= '0' && *p <= '9' && *seat < FLK_SEATS; p++)
		*seat = *seat * 10 + (unsigned)(*p - '0');
	return p != from && *seat < FLK_SEATS ? p : NULL;
}

bool
seats_parse(const char *word, void *to)
{
	unsigned first, last;
	uint64_t *seats = to;

	*seats = 0;
	for (;;) {
		if ((word = parse_seat(word, &first)) == NULL)
			return false;
		last = first;
		if (*word == '-' && (word = parse_seat(word + 1, &last)) == NULL)
			return false;
		if (last < first)
			return false;
		while (first <= last)
			*seats |= UINT64_C(1) << first++;
		if (*word == '\0')
			return true;
		if (*word++ != ',')
			return false;
	}
}

/* By hand, because each start of a command pays for it. */
static char *
append_seat(char *p, unsigned seat)
{
	if (seat >= 10)
		*p++ = (char)('0' + seat / 10);
	*p++ = (char)('0' + seat % 10);
	return p;
}

const char *
seats_text(uint64_t seats, char text[SEATS_TEXT])
{
	char *p = text;

	for (; seats != 0; seats &= seats - 1) {
		if (p != text)
			*p++ = ',';
		p = append_seat(p, seats_first(seats));
	}
	*p = '\0';
	return text;
}

const char *
seats_ranges(uint64_t seats, char text[SEATS_TEXT])
{
	char *p = text;

	while (seats != 0) {
		unsigned first = seats_first(seats), last = first;
		while (last < FLK_SEATS - 1 && (seats >> (last + 1) & 1) != 0)
			last++;
		if (last < first + 2)
			last = first;
		if (p != text)
			*p++ = ',';
		p = append_seat(p, first);
		if (last > first) {
			*p++ = '-';
			p = append_seat(p, last);
		}
		seats &= last < FLK_SEATS - 1 ? UINT64_MAX << (last + 1) : 0;
	}
	*p = '\0';
	return text;
}

const char *
seats_of_permit(uint64_t seats, uint32_t only, char text[SEATS_TEXT])
{
	if (seats != 0)
		return seats_ranges(seats, text);
	snprintf(text, SEATS_TEXT, "%u", only);
	return text;
}

uint64_t
seats_kept(uint64_t seats, uint32_t own, uint32_t units)
{
	uint64_t kept = UINT64_C(1) << own % FLK_SEATS, others = seats & ~kept;

	if (seats == 0)
		return 0;
	for (; units > 1 && others != 0; units--, others &= others - 1)
		kept |= others & -others;
	return kept;
}
