/* SPDX-License-Identifier: ISC */
/*
 * taker_options.h - the options that flocklimit and flockmap share: which limiter, and what the
 * taker wants of it.
 */
#ifndef TAKER_OPTIONS_H
#define TAKER_OPTIONS_H

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "now.h"
#include "pace.h"
#include "store_exec.h"

struct taker_options {
	const char *limiter;     /* as people know it: a name, or a path as it was typed */
	const char *file, *name; /* what was given: -f, -N */
	char name_room[72];
	mode_t mode;                           /* 0: not given */
	uint32_t limit;                        /* 0: not given */
	uint32_t percent;                      /* 0: not given */
	uint32_t weight, most;                 /* most: of an elastic weight; else as `weight' */
	uint32_t weight_percent, most_percent; /* 0: not given so; see limiter_count_units() */
	const char *weight_word;               /* as it was typed */
	bool limit_given, weight_given;
	uint32_t yield;      /* how many later takers may go first */
	uint64_t not_seats;  /* a set of seats that the permit must not have */
	uint64_t timeout_ns; /* NEVER; 0: do not wait */
	bool limit_queue;
	uint32_t max_queue;
	uint64_t run_timeout_ns; /* NEVER */
	uint64_t kill_after_ns;  /* NEVER */
	int signal;
	struct flk_pace pace;
	unsigned pacing;  /* which parts of the pace were given: FLK_RATE, ... */
	const char *when; /* the gate's conditions, or off; NULL: not given */
	uint64_t settle_ns, gate_patience_ns; /* NEVER - 1: not given */
	const char *when_run;                 /* the taker's own question; NULL: none */
	struct store_options store;
};

#define TAKER_DEFAULTS                                                                \
	{                                                                             \
		.weight = 1, .most = 1, .timeout_ns = NEVER, .run_timeout_ns = NEVER, \
		.kill_after_ns = NEVER, .signal = SIGTERM, .settle_ns = NOT_GIVEN,    \
		.gate_patience_ns = NOT_GIVEN, .pace = {                              \
			.ramp_idle_ns = PACE_IDLE_NS                                  \
		}                                                                     \
	}

enum {
	TAKER_MODE = 512,
	TAKER_NONBLOCK,
	TAKER_MAX_QUEUE,
	TAKER_RATE,
	TAKER_STAGGER,
	TAKER_RAMP,
	TAKER_RAMP_IDLE,
	TAKER_STORE,
	TAKER_LOCAL,
	TAKER_TTL,
	TAKER_GRACE,
	TAKER_ON_LOST,
	TAKER_RECLAIM,
	TAKER_YIELD,
	TAKER_NOT_SEAT,
	TAKER_WHEN,
	TAKER_SETTLE,
	TAKER_GATE_PATIENCE,
	TAKER_WHEN_RUN
};

#define NOT_GIVEN (NEVER - 1) /* of a duration */

#define TAKER_SHORT "N:T:f:j:k:n:s:t:w:"

/* clang-format off */
#define TAKER_LONG \
	{ "file", required_argument, NULL, 'f' }, \
	{ "gate-patience", required_argument, NULL, TAKER_GATE_PATIENCE }, \
	{ "grace", required_argument, NULL, TAKER_GRACE }, \
	{ "jobs", required_argument, NULL, 'j' }, \
	{ "kill-after", required_argument, NULL, 'k' }, \
	{ "limit", required_argument, NULL, 'n' }, \
	{ "local", required_argument, NULL, TAKER_LOCAL }, \
	{ "max-queue", required_argument, NULL, TAKER_MAX_QUEUE }, \
	{ "mode", required_argument, NULL, TAKER_MODE }, \
	{ "name", required_argument, NULL, 'N' }, \
	{ "nonblock", no_argument, NULL, TAKER_NONBLOCK }, \
	{ "not-seat", required_argument, NULL, TAKER_NOT_SEAT }, \
	{ "on-lost", required_argument, NULL, TAKER_ON_LOST }, \
	{ "ramp", required_argument, NULL, TAKER_RAMP }, \
	{ "ramp-idle", required_argument, NULL, TAKER_RAMP_IDLE }, \
	{ "rate", required_argument, NULL, TAKER_RATE }, \
	{ "reclaim", required_argument, NULL, TAKER_RECLAIM }, \
	{ "run-timeout", required_argument, NULL, 'T' }, \
	{ "settle", required_argument, NULL, TAKER_SETTLE }, \
	{ "signal", required_argument, NULL, 's' }, \
	{ "stagger", required_argument, NULL, TAKER_STAGGER }, \
	{ "store", required_argument, NULL, TAKER_STORE }, \
	{ "timeout", required_argument, NULL, 't' }, \
	{ "ttl", required_argument, NULL, TAKER_TTL }, \
	{ "weight", required_argument, NULL, 'w' }, \
	{ "when", required_argument, NULL, TAKER_WHEN }, \
	{ "when-run", required_argument, NULL, TAKER_WHEN_RUN }, \
	{ "yield", required_argument, NULL, TAKER_YIELD }
/* clang-format on */

#define TAKER_OTHER (-2)

/* Takes one option: OPTION_OK; OPTION_BAD, after a line; or TAKER_OTHER: it is not one of these. */
int taker_options_parse(struct taker_options *w, int c, const char *option, char *word);

/* The limiter by -f, -N or $FLOCKLIMIT_NAME, else by the name of PROGRAM; NULL: none of them. */
const char *taker_options_limiter(struct taker_options *w, const char *program);

/* True for -w MIN-MAX and -w MIN-. */
bool taker_options_elastic(const struct taker_options *w);

/* Whether the options agree with each other: OPTION_OK, or OPTION_BAD after a line. */
int taker_options_check(const struct taker_options *w);

#endif
