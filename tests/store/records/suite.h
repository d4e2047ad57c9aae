/* SPDX-License-Identifier: ISC */
/*
 * suite.h - what every engine's records.h must do: the same cases for all of them.
 */
#ifndef RECORDS_SUITE_H
#define RECORDS_SUITE_H

#include "records/records.h"

/* How a program that runs the cases reaches its engine. */
struct ground {
	const char *url;

	/* Sleeps until the store is to be stepped, or until then (CLOCK_BOOTTIME). */
	void (*sleep)(struct records *r, uint64_t until_ns);

	/* The store forgets what happened before that revision.  NULL: the cases can't have it so. */
	void (*compact)(int64_t revision);
};

extern const struct ground *ground;

int suite_run(const struct ground *where); /* what main() returns */

/* ---- help.c ---- */

struct records *store_open(void);

void sleep_really(struct records *r, uint64_t until_ns); /* a ground's sleep, in real time */

/* Runs the store until *happened is that many, for a minute at most. */
bool until(struct records *r, const int *happened, int times);
void run_for(struct records *r, uint64_t ns);

/* A key of this run of this case, which no other has; the n-th of the last 16 stays valid. */
const char *key(const char *name);

/* An answer that stays. */
struct outcome {
	int times;
	struct records_answer a;
	struct records_found found[8];
	struct record_kv kv[8][8];
	char text[8][8][64], name[8][8][128];
};

records_done remember;

/* Sends it, and waits for the answer. */
const struct outcome *did(struct records *r, struct txn *x);
const struct outcome *leased(struct records *r, int64_t id, uint32_t ttl_s);
const struct outcome *renewed(struct records *r, int64_t id);
const struct outcome *ended(struct records *r, int64_t id);

int64_t put(struct records *r, const char *k, const char *value, int64_t lease); /* its revision */
bool is_there(struct records *r, const char *k);
int64_t new_lease(void); /* an id */

/* What a watch reported: "+NAME=VALUE " or "-NAME " for each change. */
struct heard {
	int begun, changes, compacted, failed;
	int64_t revision, last;
	struct records_watch *end; /* to be ended by the next change */
	char text[1024];
};

records_hears hear;

void cases_txn(void);
void cases_get(void);
void cases_lease(void);
void cases_watch(void);

#endif
