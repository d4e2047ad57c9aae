/* SPDX-License-Identifier: ISC */
/*
 * bench.h - what is measured; see README.md.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>

#include "world.h"

struct bench {
	char program[PATH_SIZE]; /* flocklimit */
	char dir[PATH_SIZE];     /* where noop and mark are */
	bool quick;
};

/* The two ways in which the commands are built. */
struct build {
	const char *suffix; /* of the file's name */
	const char *title;
};

#define BUILDS 2
extern const struct build builds[BUILDS];

/* The path of a command, for instance "noop", in one of its builds. */
char *bench_command(const struct bench *b, const char *name, int build, char path[PATH_SIZE]);

void uncontended(const struct bench *b);
void handover(const struct bench *b);
void pool(const struct bench *b);
void scripts(const struct bench *b);
void memory(const struct bench *b);
void crowd(const struct bench *b);
void acquire(const struct bench *b);
void scale(const struct bench *b);
void map(const struct bench *b);
void admission(const struct bench *b);
void turns(const struct bench *b);
void shares(const struct bench *b);

#endif
