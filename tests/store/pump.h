/* SPDX-License-Identifier: ISC */
/*
 * pump.h - a client of etcd as tests use it: run until something has happened, which is remembered.
 */
#ifndef PUMP_H
#define PUMP_H

#include <stdbool.h>

#include "records/records.h"

/* As a program of ours is: without SIGPIPE, and here without secrets of the environment. */
void clients_begin(void);

/* Of servers at these ports; extra: what follows in the URL.  0: no such port. */
struct records *client(unsigned port, unsigned second, const char *extra);

struct outcome {
	int times; /* it was told so often */
	enum records_result result;
	bool held, alive;
	size_t found; /* records */
	int64_t revision;
	uint64_t sent_ns;
	char text[512];
};

/* Gets that key; outcome remembers what comes of it. */
struct records_call *ask(struct records *r, const char *key, unsigned timeout_ms,
			 struct outcome *o);

/* The same, and waits for it. */
enum records_result asked(struct records *r, const char *key, unsigned timeout_ms,
			  struct outcome *o);

records_done remember_answer;

struct remembered {
	int begun, changes, compacted, failed;
	char text[4096];           /* "PUT a=b @5;" for each change, and why it failed */
	struct records_watch *end; /* this watch is ended at the next change */
};

records_hears remember;

/* Of texts: whether they are the same, or one has the piece (if not, a note says so); how often. */
bool same(const char *got, const char *want);
bool contains(const char *text, const char *piece);
int count(const char *text, const char *piece);

/* Until it is not 0, or for want of patience: whether it is not 0. */
bool until(struct records *r, const int *happened, int times);

/* The same, until nothing is due; and in a few steps. */
bool rests(struct records *r);

#endif
