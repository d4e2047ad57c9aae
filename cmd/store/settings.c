/* SPDX-License-Identifier: ISC */
/*
 * settings.c - what the options and the environment say of the store.
 */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "flocklimit.h"
#include "keeper/expiry.h"
#include "option.h"
#include "parse.h"
#include "say.h"
#include "kind.h"
#include "taker_options.h"

#define DEFAULT_TTL 10
#define LEAST_TTL   2
#define MOST_S      86400

struct settings settings = { .ttl_s = DEFAULT_TTL };

static int
bad(const char *option, const char *word, const char *what)
{
	say(NULL, "%s '%s': %s", option, word, what);
	return OPTION_BAD;
}

/* In whole seconds, rounded up: stores count in seconds. */
static int
take_seconds(const char *option, const char *word, uint32_t least, uint32_t *s)
{
	uint64_t ns;

	if (word == NULL)
		return OPTION_OK;
	if (!parse_duration(word, &ns) || ns > MOST_S * SECOND)
		return bad(option, word, "not a duration of up to a day: use 10s, 1m, ...");
	*s = (uint32_t)((ns + SECOND - 1) / SECOND);
	if (*s >= least)
		return OPTION_OK;
	say(NULL, "%s '%s': too short to be safe: use %us or more", option, word, least);
	return OPTION_BAD;
}

/* Whether a word is the second of two; any third word is an error. */
static int
take_word(const char *option, const char *word, const char *const words[2], bool *second)
{
	if (word == NULL || strcmp(word, words[0]) == 0)
		return OPTION_OK;
	if (strcmp(word, words[1]) == 0) {
		*second = true;
		return OPTION_OK;
	}
	say(NULL, "%s '%s': use %s or %s", option, word, words[0], words[1]);
	return OPTION_BAD;
}

static int
take_local(const struct taker_options *w)
{
	const char *word = w->store.local;
	uint64_t n;

	if (word == NULL)
		return OPTION_OK;
	if (!parse_number(word, 1, FLK_MAX_UNITS, &n))
		return bad("--local", word, "not a limit: use 1 to 1000000000");
	settings.local = (uint32_t)n;
	if (w->request.weight <= settings.local)
		return OPTION_OK;
	say(w->limiter, "-w %u is above --local %s: it could never run", w->request.weight, word);
	return OPTION_BAD;
}

static int
take_times(const struct store_options *s)
{
	int status = take_seconds("--ttl", s->ttl, LEAST_TTL, &settings.ttl_s);

	settings.grace_s = expiry_least_grace(settings.ttl_s);
	return status != OPTION_OK
		   ? status
		   : take_seconds("--grace", s->grace, settings.grace_s, &settings.grace_s);
}

static int
refuse_what_is_local(const struct taker_options *w)
{
	unsigned i;

	if (taker_options_elastic(w)) {
		say(w->limiter, "-w %s is for limiters of one machine: in a store, give one number",
		    w->weight_word);
		return OPTION_BAD;
	}
	for (i = 0; i < w->given.n; i++) {
		if (w->given.row[i]->not_in_store == NULL)
			continue;
		say(w->limiter, "--%s is for limiters of one machine: %s", w->given.row[i]->name,
		    w->given.row[i]->not_in_store);
		return OPTION_BAD;
	}
	return OPTION_OK;
}

static int
take_keeper(void)
{
	static const char *const keepers[] = { "host", "own" };

	return take_word("FLOCKLIMIT_KEEPER", getenv("FLOCKLIMIT_KEEPER"), keepers, &settings.own);
}

static const char *
url_of(const struct taker_options *w)
{
	const char *url = w->store.url != NULL ? w->store.url : getenv("FLOCKLIMIT_STORE");

	return url != NULL && *url != '\0' ? url : NULL;
}

int
settings_choose(const struct taker_options *w, char **argv)
{
	static const char *const on_lost[] = { "kill", "warn" }, *const reclaim[] = { "auto",
										      "manual" };
	const struct store_options *s = &w->store;
	const char *url = url_of(w), *wrong;
	int status;

	(void)argv;
	if (url == NULL) {
		say(NULL,
		    "no store is named: run flocklimit, which starts this program when needed");
		return OPTION_BAD;
	}
	if ((wrong = url_parse(&settings.url, url)) != NULL) {
		say(NULL, "%s: %s", s->url != NULL ? "--store" : "FLOCKLIMIT_STORE", wrong);
		return OPTION_BAD;
	}
	if ((status = refuse_what_is_local(w)) != OPTION_OK ||
	    (status = take_times(s)) != OPTION_OK || (status = take_local(w)) != OPTION_OK ||
	    (status = take_keeper()) != OPTION_OK ||
	    (status = take_word("--on-lost", s->on_lost, on_lost, &settings.warn)) != OPTION_OK ||
	    (status = take_word("--reclaim", s->reclaim, reclaim, &settings.manual)) != OPTION_OK)
		return status;
	/* For commands further down, which find their limiter by it. */
	if (setenv("FLOCKLIMIT_STORE", url, 1) == -1) {
		say(NULL, "no memory for the environment");
		return OPTION_BAD;
	}
	return OPTION_OK;
}
