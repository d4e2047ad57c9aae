/* SPDX-License-Identifier: ISC */
/*
 * records.c - the records of a PostgreSQL database, by libpq: opens the client, drives and closes it.
 *
 * The database has the tables of schema.sql and the functions of functions.sql.  Its server must be the
 * primary.  Leases end by the server's clock.
 *
 * A standby that was promoted, and what was restored from a dump or an archive, may lack the last changes.
 * The database knows that by where it is, and hello() says so; what was decided before is then refused.
 */
#include "records/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include "client.h"
#include "now.h"

#define MOST_VALUE (1 << 20)

static int
check_url(const struct url *u, char why[RECORDS_TEXT])
{
	static const char *const names[] = { "user",    "password-file", "database",
					     "sslmode", "cacert",        "cert",
					     "key",     "host",          "port" };
	size_t n = sizeof(names) / sizeof(names[0]), i, k;

	if (*u->variant != '\0') {
		snprintf(why, RECORDS_TEXT, "use postgres://, and sslmode= for TLS");
		return -EINVAL;
	}
	for (i = 0; i < u->params; i++) {
		for (k = 0; k < n && strcmp(u->param[i].name, names[k]) != 0; k++)
			;
		if (k < n)
			continue;
		snprintf(why, RECORDS_TEXT,
			 "there is no parameter %.40s=: there are user=, password-file=, "
			 "database=, sslmode=, cacert=, cert=, key=, host= and port=",
			 u->param[i].name);
		return -EINVAL;
	}
	return 0;
}

static void
copy_url(struct records *r, const struct url *url)
{
	ptrdiff_t moved = r->url.room - url->room;
	size_t i;

	r->url = *url;
#define MOVE(member) ((member) = (member) == NULL ? NULL : (member) + moved)
	for (i = 0; i < r->url.params; i++) {
		MOVE(r->url.param[i].name);
		MOVE(r->url.param[i].value);
	}
	for (i = 0; i < r->url.hosts; i++)
		MOVE(r->url.at[i].host);
}

int
records_open(struct records **records, const struct url *url, unsigned pause_ms,
	     char why[RECORDS_TEXT])
{
	struct records *r = calloc(1, sizeof(*r));
	int error;

	*records = NULL;
	snprintf(why, RECORDS_TEXT, "no memory is left");
	if (r == NULL)
		return -ENOMEM;
	TAILQ_INIT(&r->calls);
	TAILQ_INIT(&r->sent);
	LIST_INIT(&r->watches);
	r->tick_ns = UINT64_MAX;
	/* See watchers in schema.sql. */
	while (getrandom(&r->client, sizeof(r->client), 0) != sizeof(r->client))
		;
	r->pause_ns = pause_ms * MS;
	copy_url(r, url);
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	error = r->epoll == -1 ? -errno : check_url(url, why);
	if (error == 0)
		error = secret_load(&r->secret, url, why, RECORDS_TEXT);
	if (error == 0)
		error = hosts_set(r);
	if (error == 0)
		*records = r;
	else
		records_close(r);
	return error;
}

void
records_close(struct records *r)
{
	watches_end(r);
	calls_end(r);
	link_end(r);
	hosts_free(r);
	if (r->epoll != -1)
		close(r->epoll);
	secret_clear(&r->secret);
	explicit_bzero(&r->url, sizeof(r->url));
	free(r);
}

int
records_fd(const struct records *r)
{
	return r->epoll;
}

uint64_t
records_due(const struct records *r)
{
	uint64_t due[] = { resolver_due(r->resolver), link_due(r), calls_due(r), watches_due(r) },
		 first = UINT64_MAX;
	size_t i;

	for (i = 0; i < sizeof(due) / sizeof(due[0]); i++)
		first = earlier(first, due[i]);
	return first;
}

void
records_step(struct records *r)
{
	resolver_step(r->resolver);
	link_step(r);
	watches_step(r);
	calls_step(r);
}

struct records_limits
records_limits(const struct records *r)
{
	(void)r;
	return (struct records_limits){ CALL_OPERATIONS, MOST_VALUE };
}

uint64_t
records_replaced(const struct records *r)
{
	return r->replaced_ns;
}
