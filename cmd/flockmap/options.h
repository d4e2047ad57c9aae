/* SPDX-License-Identifier: ISC */
/*
 * options.h - the command line of flockmap.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "taker_options.h"
#include "template.h"

enum order { IN_ORDER, AS_DONE, STRAIGHT, AS_LINES };
enum fail_fast { GO_ON, START_NO_MORE, END_ALL };

struct options {
	struct taker_options want;
	char delimiter;          /* of items */
	bool lines;              /* items are lines, and empty ones are skipped */
	const char *arg_file;    /* NULL: stdin, or what came after ::: */
	uint32_t per_command;    /* items */
	const char *weight_from; /* NULL: want.weight */
	enum order order;
	bool tag;
	enum fail_fast fail_fast;
	uint32_t retries;
	const char *joblog;
	bool resume, resume_failed;
	bool dry_run, quiet;
	bool unlimited;      /* FLOCKLIMIT=off */
	const char *line;    /* -c */
	const char *results; /* a directory */
	char *shell[4];      /* the words that run it */
	struct template command;
	char **items; /* after the first :::, up to NULL; or NULL */
	size_t lists; /* so many one behind the other, each up to NULL */
};

/* Returns OPTION_OK, or the status to exit with at once. */
int map_options_parse(struct options *o, int argc, char **argv);

/* Divides command and items, in argv itself: a store's program must be executed before that. */
void map_options_split(struct options *o);

#endif
