/* SPDX-License-Identifier: ISC */
/*
 * settings.h - what the command line and the environment say of the store, checked.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "records/url.h"

struct settings {
	struct url url;
	uint32_t ttl_s, grace_s;
	uint32_t local; /* --local; 0: not given */
	bool manual;    /* --reclaim */
	bool warn;      /* --on-lost */
	bool own;       /* FLOCKLIMIT_KEEPER: share no keeper */
	const char *
	    starter; /* only starts the keeper of the host that meets takers at that name; or NULL */
	const char *program; /* the store's: NULL: this one */
	bool quiet;          /* kind_quiet(): only the lines that must be said */
};

/* Fixed before there is a second thread or process. */
extern struct settings settings;

/* Reads them: -1 (go on), or the status to exit with, after a line. */
struct taker_options;
int settings_choose(const struct taker_options *w, char **argv);

#endif
