/* SPDX-License-Identifier: ISC */
/*
 * hello.c - the first call of a connection, whose answer says which copy of the store that is.
 */
#include "client.h"

#define CALL_MS 5000
#define SCHEMA  1 /* of schema.sql */

/* By our clock, and as late as it can have been: it was measured before it came. */
static uint64_t
replaced(const PGresult *result)
{
	uint64_t now = flki_boottime_ns(), age = (uint64_t)answer_number(result, 0, FLAG) * MS;

	return PQgetisnull(result, 0, FLAG) ? 0 : age < now ? now - age : 1;
}

static void
hello_answered(struct records_call *c, const PGresult *result, const struct verdict *v)
{
	static const struct verdict other = { .result = RECORDS_WRONG,
					      .words =
						  "the database was set up for another version "
						  "of flocklimit" };
	struct records *r = c->context;
	int last = PQntuples(result) - 1;

	(void)v;
	if (result == NULL)
		return;
	if (last < 1 || answer_number(result, last, SAYS) != SCHEMA) {
		link_lost(r, &other);
		return;
	}
	r->sound = true;
	hosts_well(r);
	r->seen = answer_number(result, last, REVISION);
	r->epoch = answer_number(result, 0, REVISION);
	r->replaced_ns = replaced(result);
}

bool
hello_begin(struct records *r)
{
	return call_begin(r, "hello", args_of(r->client), CALL_MS, hello_answered, r) != NULL;
}
