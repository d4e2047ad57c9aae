/* SPDX-License-Identifier: ISC */
/*
 * json.h - what is asked, and how it is answered, in the gateway's JSON.
 *
 * Read: numbers may be strings, members that nobody knows are skipped, names may be snake_case or
 * camelCase.  Written: in etcd's order, and without what is zero, false or empty.
 */
#ifndef FAKE_JSON_H
#define FAKE_JSON_H

#include <jansson.h>

#include "kv.h"

/* Codes are gRPC's. */
enum {
	UNKNOWN = 2,
	BAD_ARGUMENT = 3,
	NOT_FOUND = 5,
	DENIED = 7,
	PRECONDITION = 9,
	OUT_OF_RANGE = 11,
	UNIMPLEMENTED = 12,
	UNAUTHENTICATED = 16,
};

/* What is wrong with a call; code 0: nothing. */
struct wrong {
	int code;
	bool undecoded; /* it never came as far as etcd: such answers look different */
	char text[200];
};

/* Only the first is kept.  Returns false. */
bool wrong_is(struct wrong *w, int code, const char *text);

/* Pieces of memory that are freed together, when the call is over. */
struct scrap {
	void **list;
	size_t count, room;
};

void scrap_free(struct scrap *s);

/* What the members of an object are read with: the first that is wrong is noted in *wrong. */
struct reading {
	struct scrap *scrap;
	struct wrong *wrong;
};

/* The member, or NULL. */
json_t *read_member(const json_t *o, const char *name);

/* Zero, false or empty where there is no such member. */
int64_t read_int(struct reading *r, const json_t *o, const char *name);
bool read_bool(struct reading *r, const json_t *o, const char *name);
struct bytes read_bytes(struct reading *r, const json_t *o, const char *name);
const char *read_text(struct reading *r, const json_t *o, const char *name);

/* The number of one of `names', which ends with NULL. */
int read_enum(struct reading *r, const json_t *o, const char *name, const char *type,
	      const char *const *names);
struct range read_range(struct reading *r, const json_t *o);

/* `,"name":"N"', unless it is 0. */
void write_int(struct buf *b, const char *name, int64_t value);

/* {"key":...}, version and all; the value unless it is a list of keys only. */
void write_kv(struct buf *b, const struct key *key, const struct version *v, bool keys_only);

/* {"error":...} */
void write_wrong(struct buf *b, const struct wrong *w);

#endif
