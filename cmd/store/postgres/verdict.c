/* SPDX-License-Identifier: ISC */
/*
 * verdict.c - what an error of the server, or of the connection, means for the caller.  Errors of the server
 * have a code, its SQLSTATE, whose first two characters are a class.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

/* PgBouncer also refuses the parameters with which our connections begin, unless it is told to ignore them. */
#define POOLER                                                                               \
	"a pooler is between, such as PgBouncer in transaction mode: connect to the server " \
	"itself, as "                                                                        \
	"a pooler loses its notifications"

static const struct {
	const char *code; /* or a class */
	enum records_result result;
	bool leave;
	const char *words; /* NULL: the server's */
} codes[] = {
	{ "FLK01", RECORDS_NOLEASE, false, NULL }, /* of functions.sql */
	{ "FLK02", RECORDS_EXISTS, false, NULL },
	{ "FLK03", RECORDS_AWAY, true, NULL }, /* hello() has to come first */
	{ "FLK04", RECORDS_WRONG, true, POOLER },
	{ "42501", RECORDS_DENIED, false,
	  "this user has no rights on flocklimit: GRANT flocklimit TO the user, in SQL" },
	{ "3F000", RECORDS_WRONG, true,
	  "the database is not set up: flocklimitctl --store URL setup --apply" },
	{ "42883", RECORDS_WRONG, true,
	  "the database was set up for another version: flocklimitctl --store URL setup --apply" },
	{ "28P01", RECORDS_WRONG, true,
	  "user or password is wrong: look at user= and password-file=, or at "
	  "$FLOCKLIMIT_STORE_USER and $FLOCKLIMIT_STORE_PASSWORD" },
	{ "28", RECORDS_WRONG, true, NULL },    /* it does not let us in */
	{ "3D000", RECORDS_WRONG, true, NULL }, /* no such database: its words have the name */
	{ "23505", RECORDS_WRONG, false, "a transaction changes a key twice" },
	{ "25006", RECORDS_AWAY, true, "it is a standby" },
	{ "08P01", RECORDS_WRONG, true, POOLER },
	{ "08", RECORDS_AWAY, true, NULL },  /* the connection */
	{ "57P", RECORDS_AWAY, true, NULL }, /* it is shut down, or starts */
	{ "53", RECORDS_AWAY, true, NULL },  /* connections, memory, or disk */
	{ "58", RECORDS_AWAY, true, NULL },  /* its system */
	{ "XX", RECORDS_AWAY, true, NULL },
	{ "40", RECORDS_AWAY, false, NULL }, /* rolled back, for a reason that passes */
	{ "55", RECORDS_AWAY, false, NULL }, /* a lock is not to be had */
	{ "57", RECORDS_AWAY, false, NULL }, /* cancelled */
};

/* The first line; what a server sends may end up on a terminal. */
static void
say(struct verdict *v, const char *words)
{
	char *c;

	snprintf(v->words, sizeof(v->words), "%.*s", (int)strcspn(words, "\n"), words);
	for (c = v->words; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

static void
judge(struct verdict *v, const char *code, const char *words)
{
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (strncmp(code, codes[i].code, strlen(codes[i].code)) != 0)
			continue;
		v->result = codes[i].result;
		v->leave = codes[i].leave;
		say(v, codes[i].words != NULL ? codes[i].words : words);
		return;
	}
	v->result = RECORDS_WRONG;
	v->leave = false;
	say(v, words);
}

void
verdict_of_result(struct verdict *v, const PGresult *result)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	/* Without a code, it is libpq's: the connection is lost. */
	judge(v, code != NULL ? code : "08", words != NULL ? words : "connection lost");
}

/* The code in a verbose message, as "FATAL:  28P01: words"; NULL: there is none. */
static const char *
code_of(const char *message)
{
	const char *at;
	size_t i;

	for (at = strstr(message, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
		for (i = 0; i < 5 && (isupper((unsigned char)at[3 + i]) ||
				      isdigit((unsigned char)at[3 + i]));
		     i++)
			;
		if (i == 5 && strncmp(at + 8, ": ", 2) == 0)
			return at + 3;
	}
	return NULL;
}

/*
 * libpq has no codes for what it finds itself: most of it passes, but certificates and passwords that are
 * missing stay so.
 */
void
verdict_of_connection(struct verdict *v, const char *message)
{
	static const char *const lasting[] = { "certificate", "no password supplied",
					       "does not support SSL", "sslmode" };
	const char *code = code_of(message), *words = strstr(message, "failed: ");
	size_t i;

	words = words != NULL ? words + strlen("failed: ") : message;
	if (code != NULL) {
		judge(v, code, code + 7);
		return;
	}
	*v = (struct verdict){ .result = RECORDS_AWAY, .leave = true };
	say(v, *words != '\0' && *words != '\n' ? words : "connection lost");
	for (i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
		if (strstr(words, lasting[i]) != NULL)
			v->result = RECORDS_WRONG;
}
