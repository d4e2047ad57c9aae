/* SPDX-License-Identifier: ISC */
/*
 * pump.h - a client of etcd as tests use it: run until something has happened, which is remembered.
 */
#ifndef PUMP_H
#define PUMP_H

#include <stdbool.h>

#include "etcd/client/etcd.h"

/* Of servers at these ports; extra: what follows in the URL.  0: no such port. */
struct etcd *client(unsigned port, unsigned second, const char *extra);

struct outcome {
	int times; /* it was told so often */
	enum etcd_result result;
	json_t *body;
	int64_t revision;
	uint64_t sent_ns;
	char text[512];
};

/* POSTs {} there; outcome remembers what comes of it. */
struct etcd_call *ask(struct etcd *e, const char *path, unsigned timeout_ms, struct outcome *o);

/* The same, and waits for it. */
enum etcd_result asked(struct etcd *e, const char *path, unsigned timeout_ms, struct outcome *o);

void forget(struct outcome *o);

struct news {
	int begun, changes, compacted, failed;
	char text[4096];        /* "PUT a=b @5;" for each change, and why it failed */
	struct etcd_watch *end; /* this watch is ended at the next change */
};

etcd_hears remember;

/* Until it is not 0, or for want of patience: whether it is not 0. */
bool until(struct etcd *e, const int *happened, int times);

#endif
