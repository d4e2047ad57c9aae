/* SPDX-License-Identifier: ISC */
/*
 * record.h - the values of the keys.  Any taker or operator may have written a wrong one, so no reader
 * trusts it.
 *
 * What takers decide by is a line of numbers: it is read with every grant.  What people read, and what
 * operators write, is JSON, whose readers skip members that they do not know.  Each has a version; that of
 * cfg is the version of all the limiter's keys, see keys.h.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"
#include "view.h"

#define RECORD_VERSION 3
#define PERSON_VERSION 1
#define CONFIG_VERSION 3
#define CONFIG_STEERED \
	4 /* of a limiter that is fair, or has a pace: what knows neither must not grant */

#define RECORD_TEXT 160 /* bytes of a record's value, at most */

/* A bound for times that others wrote: below it, our sums can't overflow. */
#define MOST_MS (INT64_MAX / 1000000)

/* Of h/ and w/. */
struct record {
	uint32_t weight;
	uint32_t limit;       /* w/: declared, or 0; h/: the limit in force, from any taker */
	uint32_t under, seat; /* h/ */
	uint64_t ticket; /* h/ of a taker that waited; 0: the key's create revision is the ticket */
	uint32_t ttl_s, grace_s;
	bool manual;      /* only the taker itself and an operator give its permit back */
	int64_t since_ms; /* when it began to wait, or was granted, by its writer's clock */
	char life[STORE_SELF];
	/* In a limiter that was fair when the taker came: the key that it is counted to, and its share. */
	uint64_t key; /* 0: none */
	uint32_t share;
};

/* Of p/: a taker; and of e/ and in cfg: an operator, of which no role and no command is said. */
struct person {
	uint32_t pid, uid;
	enum flk_role role;
	int64_t came_ms; /* when it arrived, by its own clock; 0: not said */
	char host[STORE_HOST];
	char command[FLK_COMMAND];
	char key[FLK_KEY]; /* in a fair limiter */
	uint32_t share;
};

/* Its length. */
size_t record_encode(char text[RECORD_TEXT], const struct record *r);

/* The caller frees it; NULL for want of memory. */
char *person_encode(const struct person *p);

/*
 * Of cfg: the numbers of setting.h and, for people, the operator that set them.  A taker does not
 * sign the limit that it declares there: by is NULL.
 */
char *config_encode(const struct flk_settings *c, const struct person *by);

/*
 * False if the value makes no sense.  r is then a record that is compatible with no other: a record
 * that we do not understand may hold anything.
 */
bool record_decode(struct record *r, const char *value, size_t size);
bool person_decode(struct person *p, const char *value, size_t size);
bool config_decode(struct flk_settings *c, const char *value, size_t size);
bool config_signer(struct person *by, const char *value, size_t size);

/*
 * For a cfg that config_decode() refuses because of its version: what to do about it, as the end of
 * a sentence that begins with the key.  NULL if the version is not the fault.
 */
const char *config_trouble(const char *value, size_t size);

/* Removes control characters: what others wrote may end up on a terminal. */
void record_tame(char *said);

/* This process and machine. */
void person_me(struct person *me);

int64_t record_now_ms(void);

#endif
