/* SPDX-License-Identifier: ISC */
/*
 * truth.h - the kinds of a limiter's keys.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>

enum key_kind {
	AGAIN = 'a',
	AROUND = 'o',
	BATCH = 'f',
	BELL = 'b',
	CONFIG = 'c',
	EVICTOR = 'e',
	PERMIT = 'h',
	LIFE = 'l',
	RUN = 'm',
	TALLY = 'n',
	PERSON = 'p',
	REST = 'r',
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

/* The waiter whose turn it is; NULL: nobody waits. */
const struct taker *truth_next(void);

/* ---- in a fair limiter: turns.c ---- */

void turns_begin(void);
const struct taker *turns_next(void);
void turns_change(const struct memory_record *r, char kind);
void turns_check(struct taker *const *granted, size_t grants);

/* ---- by the pace: starts.c ---- */

void starts_begin(void);
void starts_change(const struct memory_record *r, char kind);
void
starts_check(size_t grants); /* after all changes of a transaction, of which so many are grants */

#endif
