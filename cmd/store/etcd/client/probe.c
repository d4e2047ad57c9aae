/* SPDX-License-Identifier: ISC */
/*
 * probe.c - does an endpoint speak the other protocol: TLS where the URL says etcd://, or plain
 * HTTP where it says etcd+https://?
 *
 * etcd closes such a connection without a word, and so does a server that is about to end.  The two
 * differ in one thing: the wrong protocol's endpoint answers in the other protocol.  So if a
 * connection broke and no server has answered this client yet, the client asks the same endpoint in
 * the other protocol.  Only an answer is evidence.  The request carries no secret and asks for
 * nothing but the version.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define PATIENCE_MS 2000
#define MOST_ANSWER 65536

bool
endpoint_has_tls(const struct endpoint *at)
{
	return strncmp(at->base, "https", 5) == 0;
}

void
probe_end(struct etcd *e)
{
	free(e->probe.url);
	http_drop(&e->probe);
	e->probed = NULL;
}

/* A certificate that the client can't verify is an answer in TLS, too. */
static void
probed(struct post *p, enum http_trouble trouble, const char *why)
{
	struct etcd *e = p->owner;

	(void)trouble;
	(void)why;
	if (p->status > 0 || p->code == CURLE_PEER_FAILED_VERIFICATION)
		e->probed->other = true;
	probe_end(e);
}

void
probe_begin(struct etcd *e, struct endpoint *at)
{
	struct post *p = &e->probe;

	if (e->probed != NULL)
		return;
	e->probed = at;
	if (asprintf(&p->url, "http%s://%s/version", endpoint_has_tls(at) ? "" : "s", at->name) ==
	    -1)
		p->url = NULL;
	p->body = strdup("{}");
	p->size = 2;
	p->address = at->address;
	p->through = at->through;
	p->dropped = at->dropped;
	p->connect_ms = p->timeout_ms = PATIENCE_MS;
	p->most = MOST_ANSWER;
	p->ended = probed;
	p->owner = e;
	if (p->url == NULL || p->body == NULL || !http_post(e->http, p))
		probe_end(e);
}
