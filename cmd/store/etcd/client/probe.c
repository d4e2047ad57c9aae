/* SPDX-License-Identifier: ISC */
/*
 * probe.c - does an endpoint speak the other protocol: TLS where the URL says etcd://, or plain
 * HTTP/2 where it says etcd+https://?
 *
 * etcd closes such a connection without a word, and so does a server that is about to end.  The two
 * differ in one thing: the wrong protocol's endpoint answers in the other protocol.  So if a
 * connection broke and no server has answered this client yet, the client asks the same endpoint in
 * the other protocol.  Only an answer is evidence.  The request carries no secret and asks for
 * nothing but the server's state.  It ends as any connection does: see h2.h.
 */
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define MOST_ANSWER 65536

void
probe_end(struct records *r)
{
	if (r->probe.conn != NULL)
		h2_leave(r->probe.conn);
	h2_drop(&r->probe.stream);
	memset(&r->probe, 0, sizeof(r->probe));
}

static void
probed(struct h2_stream *s)
{
	struct records *r = s->owner;

	if (r->probe.conn != NULL && h2_answered(r->probe.conn))
		r->probe.at->other = true;
	probe_end(r);
}

void
probe_begin(struct records *r, struct endpoint *at)
{
	struct probe *p = &r->probe;
	struct h2_where where = { at->name, at->host, at->port, at->addresses, !r->tls };

	if (p->at != NULL || at->addresses == NULL)
		return;
	p->at = at;
	p->stream = (struct h2_stream){ .path = "/etcdserverpb.Maintenance/Status",
					.most = MOST_ANSWER,
					.heard = probed,
					.owner = r };
	wire_frame_end(&p->stream.out, wire_frame(&p->stream.out));
	p->conn = h2_connect(r->h2, &where);
	h2_start(r->h2, p->conn, &p->stream);
}
