/* SPDX-License-Identifier: ISC */
/*
 * records.c - the records of etcd (v3), by its gRPC API: opens the client, drives and closes it.
 *
 * A call is tried once, at one endpoint.  After a failure the next call goes to the next endpoint,
 * and every watch begins again there by itself.  The URL's first endpoint comes first.  But a call
 * that was refused for want of a valid token was not done, so the client repeats it when it has a
 * new token.
 *
 * records_open() resolves names of hosts, which may block for two seconds; the client resolves them
 * again, without blocking, when all endpoints have failed.  Its user ignores SIGPIPE, which OpenSSL
 * raises.
 */
#include "records/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd/client/client.h"
#include "etcd/proto/messages.h"
#include "now.h"

#define MOST_VALUE (1 << 20) /* etcd refuses requests of over 1.5 MiB */

static int
check_url(const struct url *u, char why[RECORDS_TEXT])
{
	static const char *const names[] = { "user",   "password-file", "token-file",
					     "cacert", "cert",          "key" };
	bool tls = strcmp(u->variant, "https") == 0;
	size_t n = sizeof(names) / sizeof(names[0]), i, k;

	if (!tls && *u->variant != '\0') {
		snprintf(why, RECORDS_TEXT, "use etcd:// or etcd+https://");
		return -EINVAL;
	}
	for (i = 0; i < u->hosts; i++)
		if (*u->at[i].host == '/') {
			snprintf(why, RECORDS_TEXT, "etcd has no socket in a directory");
			return -EINVAL;
		}
	for (i = 0; i < u->params; i++) {
		for (k = 0; k < n && strcmp(u->param[i].name, names[k]) != 0; k++)
			;
		if (k == n) {
			snprintf(why, RECORDS_TEXT,
				 "there is no parameter %.40s=: there are user=, password-file=, "
				 "token-file=, cacert=, cert= and key=",
				 u->param[i].name);
			return -EINVAL;
		}
		if (k >= 3 && !tls) {
			snprintf(why, RECORDS_TEXT, "%s= is for etcd+https://", names[k]);
			return -EINVAL;
		}
	}
	return 0;
}

int
records_open(struct records **records, const struct url *url, unsigned pause_ms,
	     char why[RECORDS_TEXT])
{
	struct records *r = calloc(1, sizeof(*r));
	int error = -ENOMEM;

	*records = NULL;
	snprintf(why, RECORDS_TEXT, NO_MEMORY);
	if (r == NULL)
		return -ENOMEM;
	if (asprintf(&r->prefix, "%s/", *url->path != '\0' ? url->path : URL_PATH) == -1)
		goto out;
	error = check_url(url, why);
	if (error == 0)
		error = secret_load(&r->secret, url, why, RECORDS_TEXT);
	if (error == 0)
		error = secret_check_pair(&r->secret, why, RECORDS_TEXT);
	if (error != 0)
		goto out;
	r->tls = *url->variant != '\0';
	r->files = (struct h2_tls){ r->secret.cacert, r->secret.cert, r->secret.key };
	token_begin(r);
	r->h2 = h2_new(&r->files);
	error = r->h2 == NULL ? -ENOMEM : endpoints_set(r, url, pause_ms * MS);
out:
	if (error != 0)
		records_close(r);
	else
		*records = r;
	return error;
}

void
records_close(struct records *r)
{
	if (r == NULL)
		return;
	calls_end(r);
	watches_end(r);
	token_end(r);
	endpoints_free(r);
	h2_free(r->h2);
	free(r->prefix);
	secret_clear(&r->secret);
	free(r);
}

int
records_fd(const struct records *r)
{
	return h2_fd(r->h2);
}

uint64_t
records_due(const struct records *r)
{
	uint64_t due[] = { h2_due(r->h2), resolver_due(r->resolver), calls_due(r), watches_due(r),
			   token_due(r) };
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < sizeof(due) / sizeof(due[0]); i++)
		first = earlier(first, due[i]);
	return first;
}

void
records_step(struct records *r)
{
	h2_step(r->h2);
	resolver_step(r->resolver);
	token_step(r);
	calls_step(r);
	watches_step(r);
	r->token.failed = false;
}

struct records_limits
records_limits(const struct records *r)
{
	(void)r;
	return (struct records_limits){ REQUEST_OPERATIONS, MOST_VALUE };
}

uint64_t
records_replaced(const struct records *r)
{
	(void)r;
	return 0; /* what etcd has answered, a majority of its servers has */
}
