/* SPDX-License-Identifier: ISC */
/*
 * setup.c - runs schema.sql and functions.sql by the user of the URL, in one transaction.
 */
#include "records/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

const char *const *
records_setup(void)
{
	return schema;
}

/* NULL for want of memory. */
static char *
whole_schema(void)
{
	size_t size = 1, i;
	char *text, *to;

	for (i = 0; schema[i] != NULL; i++)
		size += strlen(schema[i]);
	if ((text = to = malloc(size)) != NULL)
		for (i = 0; schema[i] != NULL; i++)
			to = stpcpy(to, schema[i]);
	return text;
}

static bool
run(PGconn *conn, const struct records *r, char why[RECORDS_TEXT])
{
	char *text = whole_schema(), words[RECORDS_TEXT] = "no memory is left";
	PGresult *result = text != NULL ? PQexec(conn, text) : NULL;
	bool done = PQresultStatus(result) == PGRES_COMMAND_OK;

	if (!done && result != NULL)
		snprintf(words, sizeof(words), "%.200s: an administrator may run what setup prints",
			 PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
	if (!done)
		link_text(why, r, words);
	PQclear(result);
	free(text);
	return done;
}

/* 0: done; 1: another host may be the primary; or -EIO. */
static int
apply(struct records *r, char why[RECORDS_TEXT])
{
	struct verdict v = { .result = RECORDS_WRONG };
	struct parameters p;
	PGconn *conn;
	bool done = false;

	link_parameters(&p, r);
	conn = PQconnectdbParams(p.name, p.value, 0);
	if (PQstatus(conn) == CONNECTION_OK) {
		PQsetNoticeReceiver(conn, link_drop_notice, NULL);
		done = run(conn, r, why);
	} else {
		verdict_of_connection(&v,
				      conn != NULL ? PQerrorMessage(conn) : "no memory is left");
		link_text(why, r, v.words);
	}
	PQfinish(conn);
	return done ? 0 : v.result == RECORDS_AWAY ? 1 : -EIO;
}

int
records_set_up(const struct url *url, char why[RECORDS_TEXT])
{
	struct records *r;
	int error = records_open(&r, url, 0, why);

	if (error != 0)
		return error;
	for (error = 1; error == 1 && r->at < r->hosts; r->at++)
		error = apply(r, why);
	r->at = 0;
	records_close(r);
	return error == 1 ? -EIO : error;
}
