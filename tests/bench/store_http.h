/*
 * store_http.h - asks an etcd for its figures.
 */
#ifndef BENCH_STORE_HTTP_H
#define BENCH_STORE_HTTP_H

#include <stdbool.h>

#include "store_servers.h"

bool etcd_is_well(int port);

/* How many keys begin so. */
long etcd_keys(const struct etcd *e, const char *prefix);

struct traffic {
	double calls;   /* messages that its nodes got: calls, and what comes on open streams */
	double events;  /* that its nodes sent to watchers */
	double commits; /* proposals that were applied, of one node */
};

void etcd_traffic(const struct etcd *e, struct traffic *t);

#endif
