/* SPDX-License-Identifier: ISC */
/*
 * store.h - what is measured of limiters that are kept in a store; see README.md.
 */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

#include <stdbool.h>

#include "process.h"
#include "queue.h"
#include "store_http.h"
#include "store_postgres.h"
#include "store_servers.h"
#include "world.h"

struct bench {
	char program[PATH_SIZE]; /* flocklimit */
	char dir[PATH_SIZE];     /* where noop and mark are */
	char source[PATH_SIZE];  /* where redis-lock is */
	char libexec[PATH_SIZE]; /* where store-etcd is */
	char tools[PATH_SIZE];   /* where takers and proxy are */
	bool quick;
};

/* Where it is measured: the servers, and how clients reach them. */
struct stage {
	const char *title;
	const struct etcd *etcd;
	char endpoints[ENDPOINTS_SIZE]; /* HOST:PORT,... */
	int redis;                      /* a port; 0: there is none */
	const struct server *postgres;  /* NULL or pid 0: there is none */
	int slow;                       /* as many times fewer runs; 0: as many as anywhere */
};

/* OURS is flocklimit with etcd, POSTGRES the same with PostgreSQL.  REDIS has no line. */
enum peer { OURS, POSTGRES, ETCDCTL, REDIS, PEERS };

extern const char *const peer_label[PEERS];

/* So many, or fewer where it is slow or wanted quick. */
int runs(const struct bench *b, const struct stage *s, int many);

/* One permit of limiter NAME; ttl: in seconds, or NULL.  Not there: word[0] is NULL. */
void peer_command(struct command *c, const struct bench *b, const struct stage *s, enum peer p,
		  const char *name, const char *ttl);

/* The same, for flocklimit, with another limit. */
void peer_limiter(struct command *c, const struct bench *b, const struct stage *s, enum peer p,
		  const char *name, const char *limit, const char *ttl);

#define URL_SIZE (ENDPOINTS_SIZE + 64)

/* The program tests/store/takers for that engine, and its URL; false: there is none. */
bool peer_takers(char program[PATH_SIZE], char url[URL_SIZE], const struct bench *b,
		 const struct stage *s, enum peer p);

/*
 * For struct queue: the server knows of the last one started.  Say in `of' which peer and limiter
 * it is.
 */
struct line {
	const struct stage *stage;
	enum peer peer;
	const char *name;
};
void peer_stands(const struct queue *q);

/* What the servers of a peer did; and used, in seconds of CPU and in MB. */
void peer_traffic(const struct stage *s, enum peer p, struct traffic *t);
double peer_cpu(const struct stage *s, enum peer p);
double peer_memory_mb(const struct stage *s, enum peer p);

/* The path of a command, for instance "mark". */
char *bench_command(const struct bench *b, const char *name, char path[PATH_SIZE]);

/* All processes that were started with $NAME=VALUE in their environment; returns how many. */
int marked(const char *name, const char *value, pid_t *pid, int room);

void store_start(const struct bench *b, const struct stage *s);
void store_use(const struct bench *b, const struct stage *s);
void store_alone(const struct bench *b, const struct stage *s);
void store_inside(const struct bench *b, const struct stage *s);
void store_handover(const struct bench *b, const struct stage *s);
void store_crowd(const struct bench *b, const struct stage *s);
void store_crash(const struct bench *b, const struct stage *s);

#endif
