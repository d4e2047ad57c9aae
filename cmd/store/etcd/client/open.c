/* SPDX-License-Identifier: ISC */
/*
 * open.c - the client as a whole: it opens, drives and closes it.
 */
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
check_url(const struct url *u, char *why, size_t size)
{
	static const char *const names[] = { "user",   "password-file", "token-file",
					     "cacert", "cert",          "key" };
	bool tls = strcmp(u->variant, "https") == 0;
	size_t i, k;

	if (!tls && *u->variant != '\0') {
		snprintf(why, size, "use etcd:// or etcd+https://");
		return -EINVAL;
	}
	for (i = 0; i < u->params; i++) {
		for (k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strcmp(u->param[i].name, names[k]) == 0)
				break;
		if (k == sizeof(names) / sizeof(names[0])) {
			snprintf(why, size,
				 "there is no parameter %.40s=: there are user=, password-file=, "
				 "token-file=, cacert=, cert= and key=",
				 u->param[i].name);
			return -EINVAL;
		}
		if (k >= 3 && !tls) {
			snprintf(why, size, "%s= is for etcd+https://", names[k]);
			return -EINVAL;
		}
	}
	return 0;
}

/* Calls and watches wait for the same token: resumes both. */
static void
resume(struct etcd *e, enum etcd_result result, const char *text)
{
	calls_resume(e, result, text);
	watches_resume(e, result, text);
}

int
etcd_new(struct etcd **etcd, const struct url *url, unsigned pause_ms, char *why, size_t size)
{
	struct etcd *e = calloc(1, sizeof(*e));
	int error = -ENOMEM;
	struct http_tls tls;

	*etcd = NULL;
	snprintf(why, size, "no memory is left");
	if (e == NULL)
		return -ENOMEM;
	LIST_INIT(&e->calls);
	LIST_INIT(&e->watches);
	e->token = token_new(resume);
	if (e->token == NULL ||
	    asprintf(&e->prefix, "%s/", *url->path != '\0' ? url->path : URL_PATH) == -1)
		goto out;
	error = check_url(url, why, size);
	if (error == 0)
		error = secret_load(&e->secret, url, why, size);
	if (error == 0)
		error = endpoints_set(e, url, pause_ms * MS);
	if (error != 0)
		goto out;
	tls.on = *url->variant != '\0';
	tls.cacert = e->secret.cacert;
	tls.cert = e->secret.cert;
	tls.key = e->secret.key;
	e->http = http_new(&tls, why, size);
	error = e->http == NULL ? -ELIBACC : 0;
	if (error == 0)
		endpoints_hear(e);
out:
	if (error != 0)
		etcd_free(e);
	else
		*etcd = e;
	return error;
}

void
etcd_free(struct etcd *e)
{
	if (e == NULL)
		return;
	while (!LIST_EMPTY(&e->calls))
		etcd_cancel(LIST_FIRST(&e->calls));
	while (!LIST_EMPTY(&e->watches))
		etcd_unwatch(LIST_FIRST(&e->watches));
	token_free(e->token);
	probe_end(e);
	endpoints_free(e);
	http_free(e->http);
	free(e->prefix);
	secret_clear(&e->secret);
	free(e);
}

int
etcd_fd(const struct etcd *e)
{
	return http_fd(e->http);
}

uint64_t
etcd_due(const struct etcd *e)
{
	uint64_t due[] = { http_due(e->http), endpoints_due(e), calls_due(e), watches_due(e) };
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < sizeof(due) / sizeof(due[0]); i++)
		if (due[i] < first)
			first = due[i];
	return first;
}

void
etcd_step(struct etcd *e)
{
	http_step(e->http);
	endpoints_step(e);
	calls_step(e);
	watches_step(e);
}
