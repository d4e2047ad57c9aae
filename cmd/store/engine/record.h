/* SPDX-License-Identifier: ISC */
/*
 * record.h - what stands in the keys: JSON.  The taker or the operator that a key is about writes
 * it, and everybody reads it, so it is never trusted.  Members that are not known are skipped.
 * "v" is the version: of cfg that of all the limiter's keys, see keys.h.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"
#include "view.h"

#define RECORD_VERSION 1
#define CONFIG_VERSION 2

/* Of h/ and w/. */
struct record {
	uint32_t weight;
	uint32_t limit;       /* w/: declared, or 0; h/: what it goes by, from any taker */
	uint32_t under, seat; /* h/ */
	uint64_t ticket;      /* h/ of one that waited; 0: the key's create revision is it */
	uint32_t pid, uid, ttl_s, grace_s;
	bool manual; /* its permit is given back by nobody but itself and an operator */
	int64_t since_ms;
	enum flk_role role;
	char host[STORE_HOST];
	char command[FLK_COMMAND];
};

/* Of cfg; that of a limiter without one is all zero but for the override. */
struct config {
	uint32_t declared;
	int64_t override; /* or FLK_AUTO */
	bool paused, closed;
};

/* Of e/. */
struct culprit {
	uint32_t pid, uid;
	char host[STORE_HOST];
};

/* To be freed; NULL for want of memory. */
char *record_encode(const struct record *r, bool holds);
char *config_encode(const struct config *c);
char *culprit_encode(const struct culprit *c);

/*
 * False if it makes no sense.  Of a record that makes none, r is then one that is compatible with
 * no other: a record that is not understood may hold anything.
 */
bool record_decode(struct record *r, const char *value, size_t size);
bool config_decode(struct config *c, const char *value, size_t size);
bool culprit_decode(struct culprit *c, const char *value, size_t size);

/*
 * Of a cfg that config_decode() refuses as it is of another version: what to do about it, as the
 * end of a sentence that begins with the key.  NULL if its version is not what is wrong.
 */
const char *config_trouble(const char *value, size_t size);

/* What others wrote may end up on a terminal: without control characters. */
void record_tame(char *said);

/* The name of this machine, and its clock, as records have them. */
void record_host(char host[STORE_HOST]);
int64_t record_now_ms(void);

#endif
