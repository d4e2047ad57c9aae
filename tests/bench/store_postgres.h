/* SPDX-License-Identifier: ISC */
/*
 * store_postgres.h - asks a PostgreSQL for its figures.
 */
#ifndef BENCH_STORE_POSTGRES_H
#define BENCH_STORE_POSTGRES_H

#include "store_http.h"

/* How many keys begin so. */
long postgres_keys(const struct server *s, const char *prefix);

/*
 * Transactions for messages, notifications for events.  A process of the server tells what it has counted when it
 * ends, or with a transaction a second later: so this waits for that.
 */
void postgres_traffic(const struct server *s, struct traffic *t);

#endif
