/* SPDX-License-Identifier: ISC */
/*
 * taker_options.h - the options that flocklimit and flockmap share: which limiter, and what the
 * taker wants of it.
 */
#ifndef TAKER_OPTIONS_H
#define TAKER_OPTIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manner.h"
#include "now.h"
#include "option.h"
#include "pace.h"

#define AND_MOST 15 /* how often --and may be given */

struct ands {
	char *word[AND_MOST];
	unsigned n;
};

enum { NESTED_JOIN, NESTED_QUEUE };

/* The options for stores, as they were typed; NULL: not given.  The store's program parses them. */
struct store_options {
	const char *url;   /* --store */
	const char *local; /* --local */
	const char *ttl, *grace, *on_lost, *reclaim;
};

struct taker_options {
	const char *limiter;     /* as people know it: a name, or a path as it was typed */
	const char *file, *name; /* what was given: -f, -N */
	char name_room[72];
	mode_t mode;                           /* 0: not given */
	struct flk_request request;            /* limit 0: not given; most: `weight' at least */
	uint32_t percent;                      /* 0: not given */
	uint32_t weight_percent, most_percent; /* 0: not given so; see limiter_count_units() */
	const char *weight_word;               /* as it was typed */
	bool limit_given, weight_given;
	uint64_t timeout_ns;     /* NEVER; 0: do not wait */
	uint64_t run_timeout_ns; /* NEVER */
	uint64_t kill_after_ns;  /* NEVER */
	int signal;
	struct flk_settings to; /* what the limiter is to be set to, */
	unsigned which;         /* and which of it was given: FLK_SET_RATE, ... */
	const char *when;       /* the gate's conditions, or off; NULL: not given */
	const char *when_run;   /* the taker's own question; NULL: none */
	struct ands ands;
	int conflict_exit;
	int nested; /* NESTED_JOIN, ... */
	struct store_options store;
	struct manner how; /* flocklimit alone */
	struct given given;
	bool ruled;            /* a limits file has a line about the command */
	struct given declared; /* those of them that only a limits file gave */
};

#define TAKER_DEFAULTS                                                                           \
	{                                                                                        \
		.request = { .weight = 1, .most = 1 }, .conflict_exit = 75, .timeout_ns = NEVER, \
		.run_timeout_ns = NEVER, .kill_after_ns = NEVER, .signal = SIGTERM,              \
		.to = {.pace = { .ramp_idle_ns = PACE_IDLE_NS },                                 \
		       .gate = { .settle_ns = FLK_SETTLE_NS, .patience_ns = FLK_PATIENCE_NS } }  \
	}

/* The limiter by -f, -N or $FLOCKLIMIT_NAME, else by the name of PROGRAM; NULL: none of them. */
const char *taker_options_limiter(struct taker_options *w, const char *program);

/* FLOCKLIMIT=off: commands run without a limiter. */
bool taker_options_off(void);

/* True for -w MIN-MAX and -w MIN-. */
bool taker_options_elastic(const struct taker_options *w);

/* Whether the options agree with each other: OPTION_OK, or OPTION_BAD after a line. */
int taker_options_check(const struct taker_options *w);

#endif
