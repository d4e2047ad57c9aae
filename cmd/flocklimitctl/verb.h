/* SPDX-License-Identifier: ISC */
/*
 * verb.h - the verbs of flocklimitctl, and what --help says of them.
 */
#ifndef VERB_H
#define VERB_H

#include <stdbool.h>

#include "flocklimit.h"
#include "option.h"
#include "suggest.h"

struct ctl;

/* A row, which completions/generate reads as text, as it does the options'. */
struct verb {
	const char *name;
	int (*run)(const struct ctl *c);
	const char *options;   /* the names of those that it takes, beside those that all take */
	const char *arguments; /* what follows the name */
	const char *does;
	const char *values;  /* what the shells offer behind the limiters */
	const char *tickets; /* or whose tickets: waiting, holding, or kept by --hold-for */
	const char *not_in_store, *only_in_store; /* why */
	bool no_limiters;                         /* its words name none */
	bool makes, lists; /* limiters that so far a limits file alone knows */
	bool reads;        /* it changes nothing: it may look at the limiters of other users */

	/* Of a verb that sets something, of enum flk_setting: to this, or to what its word says. */
	unsigned which;
	bool on;
	bool (*parse)(const char *word, void *pace); /* NULL: a gate */
	const char *wrong;
};

const struct verb *verb_find(const char *name);

bool verb_takes(const struct verb *verb, const char *option);

/* Prints that there is no such verb, and which one the user may have meant. */
void verb_unknown(const char *word);

void verbs_help(const struct option_table *t);
void verb_help(const struct verb *verb, const struct option_table *t);

/* Which option, or verb, the user may have meant by this option that is none; "" if none is near. */
const char *verb_option_hint(const char *word, const struct option *longs, char room[SUGGEST_TEXT]);

#endif
