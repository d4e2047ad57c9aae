/* SPDX-License-Identifier: ISC */
/*
 * store_http.h - asks an etcd for its figures, and tells a proxy what to do.
 */
#ifndef BENCH_STORE_HTTP_H
#define BENCH_STORE_HTTP_H

#include <stdbool.h>

#include "store_servers.h"

bool etcd_is_well(int port);

/* A line for the proxy that has its control socket at `path'. */
bool order(const char *path, const char *line);

/* How many keys begin so. */
long etcd_keys(const struct etcd *e, const char *prefix);

struct traffic {
	double messages; /* messages that its nodes got: calls, and what comes on open streams */
	double events;   /* that its nodes sent to watchers */
	double syncs;    /* of its log to disk, of the node with the most */
};

void etcd_traffic(const struct etcd *e, struct traffic *t);

#endif
