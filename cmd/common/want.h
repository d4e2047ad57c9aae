/*
 * want.h - the options that say which limiter, and what is wanted of it: the same everywhere.
 */
#ifndef WANT_H
#define WANT_H

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elsewhere.h"
#include "pace.h"

#define NEVER UINT64_MAX

struct want {
	const char *limiter;     /* as people know it: a name, or a path as it was typed */
	const char *file, *name; /* what was given: -f, -N */
	char name_room[72];
	mode_t mode;      /* 0: not given */
	uint32_t limit;   /* 0: not given */
	uint32_t percent; /* 0: not given */
	uint32_t weight;
	bool limit_given, weight_given;
	uint64_t timeout_ns; /* NEVER; 0: do not wait */
	bool limit_queue;
	uint32_t max_queue;
	uint64_t run_timeout_ns; /* NEVER */
	uint64_t kill_after_ns;  /* NEVER */
	int signal;
	struct flk_pace pace;
	unsigned pacing; /* what of it was given */
	struct elsewhere store;
};

#define WANT_DEFAULTS                                                                              \
	{                                                                                          \
		.weight = 1, .timeout_ns = NEVER, .run_timeout_ns = NEVER, .kill_after_ns = NEVER, \
		.signal = SIGTERM, .pace = {                                                       \
			.ramp_idle_ns = PACE_IDLE_NS                                               \
		}                                                                                  \
	}

enum {
	WANT_MODE = 512,
	WANT_NONBLOCK,
	WANT_MAX_QUEUE,
	WANT_RATE,
	WANT_STAGGER,
	WANT_RAMP,
	WANT_RAMP_IDLE,
	WANT_STORE,
	WANT_LOCAL,
	WANT_TTL,
	WANT_GRACE,
	WANT_ON_LOST,
	WANT_RECLAIM
};

#define WANT_SHORT "N:T:f:j:k:n:s:t:w:"

/* clang-format off */
#define WANT_LONG \
	{ "file", required_argument, NULL, 'f' }, \
	{ "grace", required_argument, NULL, WANT_GRACE }, \
	{ "jobs", required_argument, NULL, 'j' }, \
	{ "kill-after", required_argument, NULL, 'k' }, \
	{ "limit", required_argument, NULL, 'n' }, \
	{ "local", required_argument, NULL, WANT_LOCAL }, \
	{ "max-queue", required_argument, NULL, WANT_MAX_QUEUE }, \
	{ "mode", required_argument, NULL, WANT_MODE }, \
	{ "name", required_argument, NULL, 'N' }, \
	{ "nonblock", no_argument, NULL, WANT_NONBLOCK }, \
	{ "on-lost", required_argument, NULL, WANT_ON_LOST }, \
	{ "ramp", required_argument, NULL, WANT_RAMP }, \
	{ "ramp-idle", required_argument, NULL, WANT_RAMP_IDLE }, \
	{ "rate", required_argument, NULL, WANT_RATE }, \
	{ "reclaim", required_argument, NULL, WANT_RECLAIM }, \
	{ "run-timeout", required_argument, NULL, 'T' }, \
	{ "signal", required_argument, NULL, 's' }, \
	{ "stagger", required_argument, NULL, WANT_STAGGER }, \
	{ "store", required_argument, NULL, WANT_STORE }, \
	{ "timeout", required_argument, NULL, 't' }, \
	{ "ttl", required_argument, NULL, WANT_TTL }, \
	{ "weight", required_argument, NULL, 'w' }
/* clang-format on */

#define WANT_OTHER (-2)

/* One option: OPTION_OK, OPTION_BAD when that was said, or WANT_OTHER: it is none of these. */
int want_parse(struct want *w, int c, const char *option, char *word);

/* What -f, -N, $FLOCKLIMIT_NAME or else the program that is run make of it; NULL: nothing. */
const char *want_limiter(struct want *w, const char *program);

/* Whether all of it goes together, as want_parse() does. */
int want_check(const struct want *w);

#endif
