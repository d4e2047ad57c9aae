/* SPDX-License-Identifier: ISC */
/*
 * truth.h - the kinds of a limiter's keys.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>

enum key_kind {
	BELL = 'b',
	CONFIG = 'c',
	EVICTOR = 'e',
	PERMIT = 'h',
	LIFE = 'l',
	RUN = 'm',
	TALLY = 'n',
	PERSON = 'p',
	MARK = 's',
	GRACE = 't',
	PLACE = 'w',
	TAIL = 'z'
};

char key_kind(const char *key);

/* ---- what is remembered: memories.c ---- */

struct memory_record;
struct taker;

void memories_end(const struct taker *t, int64_t revision); /* its permit is gone */
void memories_change(const struct memory_record *r, char kind);
void memories_check(void); /* after all changes of a transaction */

#endif
