/* SPDX-License-Identifier: ISC */
/*
 * seats.h - a set of seats as words: 0,3.
 */
#ifndef SEATS_H
#define SEATS_H

#include <stdbool.h>
#include <stdint.h>

#define SEATS_TEXT 192 /* all 64 of them */

/* 0,3 or 0-3,7; false: the word is no such list, or has a seat above 63. */
#define SEATS_LIST "not a list of seats: use 0 to 63, say 0,3 or 0-3"
bool seats_parse(const char *word, void *seats); /* uint64_t */

/* Rising, with commas; "" for none.  The second, for people, has 0-2 for three and more in a row. */
const char *seats_text(uint64_t seats, char text[SEATS_TEXT]);
const char *seats_ranges(uint64_t seats, char text[SEATS_TEXT]);

/* Those of a permit: one for each unit, in a set; or `only' alone, if the set is empty. */
const char *seats_of_permit(uint64_t seats, uint32_t only, char text[SEATS_TEXT]);

/* What a permit has of this set, when so many units are left: its own seat, and the lowest others. */
uint64_t seats_kept(uint64_t seats, uint32_t own, uint32_t units);

/* The smallest of a set that is not empty. */
static inline unsigned
seats_first(uint64_t seats)
{
	return (unsigned)__builtin_ctzll(seats);
}

#endif
