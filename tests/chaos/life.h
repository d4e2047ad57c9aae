/* SPDX-License-Identifier: ISC */
/*
 * life.h - the life of one limiter file, and what its limit may have been; for the laws.
 */
#ifndef CHAOS_LIFE_H
#define CHAOS_LIFE_H

#include "judge.h"

struct life { /* of one file: the runs in it by fence, that is, as they were granted */
	const struct story *s;
	struct run **run;
	uint64_t *last; /* the latest `surely' of those up to here */
	struct array steers;
	size_t n;
	uint64_t birth;
};

struct sum {
	uint64_t weight, runs, limit; /* limit: the smallest declared */
};

/*
 * May this have been so at some time between?  A change happens between its two times, so the
 * state before it is possible until the second and the state after it from the first.
 */
bool life_may_be(const struct life *l, enum verb verb, int64_t value, uint64_t from, uint64_t to);

void life_count(const struct life *l, struct sum *sum, const struct run *r);

/* What the sum may be, if z is the last that was granted. */
uint64_t life_bound(const struct life *l, const struct run *z, const struct sum *sum);

/* Those up to z that surely hold at t. */
struct sum life_up_to(const struct life *l, size_t z, uint64_t t);

/* removed.c */
void life_check_removed(const struct life *l, struct verdict *v);

#endif
