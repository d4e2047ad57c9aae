/* SPDX-License-Identifier: ISC */
/*
 * store_servers.h - the servers that are measured: on free ports of 127.0.0.1, their data in the
 * world's directory, or on a disk.
 */
#ifndef BENCH_STORE_SERVERS_H
#define BENCH_STORE_SERVERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "process.h"

#define NODES          3
#define ENDPOINTS_SIZE 128

struct server {
	pid_t pid;
	int port;
};

struct etcd {
	int nodes;
	struct server node[NODES];
	char endpoints[ENDPOINTS_SIZE]; /* HOST:PORT,... */
};

/* Return when they serve. */
void etcd_start(struct etcd *e, int nodes, bool on_disk);
void redis_start(struct server *s); /* pid 0: not installed */

/* A database that is set up for flocklimit, its data in memory; pid 0: not installed, or not built for. */
void postgres_start(struct server *s, const char *ctl);
void postgres_stop(struct server *s);

/*
 * What is between the clients and the server with that port, and delays each way by ms; pid 0:
 * there is no such program.
 */
void proxy_start(struct server *s, const char *program, int to, int ms);

void server_stop(struct server *s);
void etcd_stop(struct etcd *e);

/* In seconds, of all its nodes, since they were started. */
double etcd_cpu(const struct etcd *e);
double etcd_rss_mb(const struct etcd *e); /* of the largest node */

/* The same of a server and its children, also those that have ended. */
double server_cpu(const struct server *s);
double server_pss_mb(const struct server *s); /* what its processes share, counts once */

/* For a server that has children. */
pid_t serve(const struct command *c, const char *log);
int free_port(void);

#endif
