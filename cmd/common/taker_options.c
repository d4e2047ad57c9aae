/* SPDX-License-Identifier: ISC */
#include "taker_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find_program.h"
#include "flocklimit.h"
#include "name.h"
#include "option.h"
#include "pace.h"
#include "parse.h"
#include "seats.h"
#include "say.h"

/* N% of the CPUs: the number before the sign. */
static bool
parse_percent(const char *word, uint32_t *percent)
{
	size_t n = strlen(word);
	char digits[16];
	uint64_t v;

	if (n < 2 || n > sizeof(digits) || word[n - 1] != '%')
		return false;
	memcpy(digits, word, n);
	digits[n - 1] = '\0';
	if (!parse_number(digits, 1, 100000, &v))
		return false;
	*percent = (uint32_t)v;
	return true;
}

static int
parse_limit(struct taker_options *w, const char *option, char *word)
{
	size_t n = strlen(word);
	uint64_t v;

	w->limit_given = true;
	if (n > 1 && word[n - 1] == '%') {
		if (!parse_percent(word, &w->percent))
			return option_bad(option, word, "not a percentage: use 1% to 100000%");
		w->limit = 0;
		return OPTION_OK;
	}
	if (!parse_number(word, 1, FLK_MAX_UNITS, &v)) {
		if (strchr(word, '/') != NULL || access(word, F_OK) == 0 ||
		    check_program(word) == 0)
			return option_bad(option, word,
					  "not a limit: use 1 to 1000000000, or N%; for flock's -n "
					  "use --nonblock");
		return option_bad(option, word, "not a limit: use 1 to 1000000000, or N%");
	}
	w->limit = (uint32_t)v;
	w->percent = 0;
	return OPTION_OK;
}

/* A part of a weight: N or N%. */
static bool
parse_units(const char *word, uint32_t *units, uint32_t *percent)
{
	uint64_t v;

	*percent = 0;
	if (parse_percent(word, percent)) {
		*units = 1; /* until limiter_count_units() */
		return true;
	}
	if (!parse_number(word, 1, FLK_MAX_UNITS, &v))
		return false;
	*units = (uint32_t)v;
	return true;
}

#define NO_WEIGHT "not a weight: use 1 to 1000000000, N%, MIN-MAX or MIN-; for flock's -w use -t"

/* N, or MIN-MAX, or MIN- for up to the limit. */
static int
parse_weight(struct taker_options *w, const char *option, const char *word)
{
	const char *dash = strchr(word, '-');
	char least[16];

	w->weight_given = true;
	w->weight_word = word;
	if (dash == NULL) {
		if (!parse_units(word, &w->weight, &w->weight_percent))
			return option_bad(option, word, NO_WEIGHT);
		w->most = w->weight;
		w->most_percent = w->weight_percent;
		return OPTION_OK;
	}
	if ((size_t)(dash - word) >= sizeof(least))
		return option_bad(option, word, NO_WEIGHT);
	memcpy(least, word, (size_t)(dash - word));
	least[dash - word] = '\0';
	w->most = FLK_MAX_UNITS;
	w->most_percent = 0;
	if (!parse_units(least, &w->weight, &w->weight_percent) ||
	    (dash[1] != '\0' && !parse_units(dash + 1, &w->most, &w->most_percent)))
		return option_bad(option, word, NO_WEIGHT);
	if (w->weight_percent != 0 && w->most_percent != 0
		? w->most_percent < w->weight_percent
		: w->weight_percent == 0 && w->most_percent == 0 && w->most < w->weight)
		return option_bad(option, word, "MAX is below MIN: use MIN-MAX, say 2-8");
	return OPTION_OK;
}

static int
parse_time(const char *option, const char *word, uint64_t *ns)
{
	if (!parse_duration(word, ns))
		return option_bad(option, word, PARSE_DURATION);
	return OPTION_OK;
}

/* Kept as it was typed: the store's program parses it. */
static int
keep_for_store(struct store_options *s, int c, const char *word)
{
	switch (c) {
	case TAKER_STORE:
		s->url = word;
		return OPTION_OK;
	case TAKER_LOCAL:
		s->local = word;
		return OPTION_OK;
	case TAKER_TTL:
		s->ttl = word;
		return OPTION_OK;
	case TAKER_GRACE:
		s->grace = word;
		return OPTION_OK;
	case TAKER_ON_LOST:
		s->on_lost = word;
		return OPTION_OK;
	case TAKER_RECLAIM:
		s->reclaim = word;
		return OPTION_OK;
	default:
		return TAKER_OTHER;
	}
}

static int
parse_value(struct taker_options *w, int c, const char *option, char *word)
{
	uint64_t v;
	uint32_t mode;

	switch (c) {
	case 'N':
		if (*word == '\0' || strchr(word, '/') != NULL)
			return option_bad(option, word, "not a name: for a path use --file");
		if (*word == '-')
			return option_bad(option, word,
					  "not a name: it must not begin with a hyphen");
		w->name = word;
		return OPTION_OK;
	case 'w':
		return parse_weight(w, option, word);
	case TAKER_MODE:
		if (!parse_octal(word, 0777, &mode) || (mode & 0600) != 0600 || (mode & 02) != 0)
			return option_bad(option, word, "not a mode: use 0600 to 0775, say 0660");
		w->mode = (mode_t)mode;
		return OPTION_OK;
	case TAKER_MAX_QUEUE:
		if (!parse_number(word, 0, FLK_MAX_UNITS, &v))
			return option_bad(option, word, "not a number of takers: use 0 or more");
		w->limit_queue = true;
		w->max_queue = (uint32_t)v;
		return OPTION_OK;
	case TAKER_YIELD:
		if (!parse_number(word, 0, FLK_MAX_UNITS, &v))
			return option_bad(option, word,
					  "not a number of takers: use 0 or more, say 10");
		w->yield = (uint32_t)v;
		return OPTION_OK;
	case TAKER_NOT_SEAT:
		return seats_parse(word, &w->not_seats) ? OPTION_OK
							: option_bad(option, word, SEATS_LIST);
	case 's':
		if (!parse_signal(word, &w->signal))
			return option_bad(option, word, "not a signal: use a name or a number");
		return OPTION_OK;
	default:
		return keep_for_store(&w->store, c, word);
	}
}

int
taker_options_parse(struct taker_options *w, int c, const char *option, char *word)
{
	switch (c) {
	case 'n':
	case 'j':
		return parse_limit(w, option, word);
	case 't':
		return parse_time(option, word, &w->timeout_ns);
	case TAKER_NONBLOCK:
		w->timeout_ns = 0;
		return OPTION_OK;
	case 'T':
		c = parse_time(option, word, &w->run_timeout_ns);
		if (w->run_timeout_ns == 0)
			w->run_timeout_ns = NEVER; /* as timeout(1) has it */
		return c;
	case 'k':
		c = parse_time(option, word, &w->kill_after_ns);
		if (w->kill_after_ns == 0)
			w->kill_after_ns = NEVER;
		return c;
	case 'f':
		if (*word == '\0')
			return option_bad(option, word, "not a path");
		w->file = word;
		return OPTION_OK;
	case TAKER_RATE:
		w->pacing |= FLK_RATE;
		return pace_parse_rate(word, &w->pace) ? OPTION_OK
						       : option_bad(option, word, PACE_RATE);
	case TAKER_STAGGER:
		w->pacing |= FLK_STAGGER;
		return pace_parse_stagger(word, &w->pace) ? OPTION_OK
							  : option_bad(option, word, PACE_STAGGER);
	case TAKER_RAMP:
		w->pacing |= FLK_RAMP;
		return pace_parse_ramp(word, &w->pace) ? OPTION_OK
						       : option_bad(option, word, PACE_RAMP);
	case TAKER_WHEN:
		w->when = word;
		return OPTION_OK;
	case TAKER_WHEN_RUN:
		w->when_run = word;
		return OPTION_OK;
	case TAKER_SETTLE:
		return parse_time(option, word, &w->settle_ns);
	case TAKER_GATE_PATIENCE:
		if (strcmp(word, "never") == 0) {
			w->gate_patience_ns = NEVER;
			return OPTION_OK;
		}
		return parse_duration(word, &w->gate_patience_ns)
			   ? OPTION_OK
			   : option_bad(option, word, PARSE_DURATION "; or never");
	case TAKER_RAMP_IDLE:
		return parse_time(option, word, &w->pace.ramp_idle_ns);
	default:
		return parse_value(w, c, option, word);
	}
}

/* The last part of the program's path; what a name can't hold becomes _. */
static const char *
name_after(struct taker_options *w, const char *program)
{
	const char *slash = strrchr(program, '/');
	size_t i;

	if (slash != NULL && slash[1] != '\0')
		program = slash + 1;
	for (i = 0; i < FLK_NAME_MAX && program[i] != '\0'; i++)
		w->name_room[i] = strchr(NAME_CHARACTERS, program[i]) != NULL ? program[i] : '_';
	w->name_room[i] = '\0';
	if (i == 0 || w->name_room[0] == '.' || w->name_room[0] == '-')
		w->name_room[0] = '_';
	return w->name_room;
}

const char *
taker_options_limiter(struct taker_options *w, const char *program)
{
	const char *env = getenv("FLOCKLIMIT_NAME");

	if (w->file != NULL)
		return w->file;
	if (w->name != NULL)
		return w->name;
	if (env != NULL && *env != '\0')
		return env;
	return program != NULL ? name_after(w, program) : NULL;
}

bool
taker_options_elastic(const struct taker_options *w)
{
	return w->weight_word != NULL && strchr(w->weight_word, '-') != NULL;
}

int
taker_options_check(const struct taker_options *w)
{
	if (w->pace.ramp_idle_ns != PACE_IDLE_NS && !(w->pacing & FLK_RAMP)) {
		say(NULL, "--ramp-idle has no effect without --ramp: give --ramp, or drop it");
		return OPTION_BAD;
	}
	if (w->settle_ns != NOT_GIVEN && w->when == NULL) {
		say(NULL, "--settle has no effect without --when: give --when, or drop it");
		return OPTION_BAD;
	}
	if (w->gate_patience_ns != NOT_GIVEN && w->when == NULL && w->when_run == NULL) {
		say(NULL,
		    "--gate-patience has no effect without --when or --when-run: give one, or "
		    "drop it");
		return OPTION_BAD;
	}
	if (w->file == NULL && w->limiter != NULL && strchr(w->limiter, '/') != NULL)
		return option_bad("FLOCKLIMIT_NAME", w->limiter,
				  "not a name: for a path use --file");
	/*
	 * Whether a command under a permit joins it is known later; -n and -w have no effect then.
	 */
	if (w->limit == 0 || w->weight <= w->limit || getenv("FLOCKLIMIT_HELD") != NULL)
		return OPTION_OK;
	say(w->limiter, "-w %u is above -n %u: it could never run; for flock's -w use -t",
	    w->weight, w->limit);
	return OPTION_BAD;
}
