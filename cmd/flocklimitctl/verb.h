/* SPDX-License-Identifier: ISC */
/*
 * verb.h - the verbs of flocklimitctl, their options, and what --help says of both.
 */
#ifndef VERB_H
#define VERB_H

#include <getopt.h>

#include "suggest.h"

struct ctl;

struct verb {
	const char *name;
	int (*run)(const struct ctl *c);
	const char *options;   /* the letters of the options that it takes */
	const char *arguments; /* what follows the name */
	const char *does;
};

/* An option that has no short form has a capital letter for its value. */
extern const struct option verb_options[];

const struct verb *verb_find(const char *name);

/* Prints that there is no such verb, and which one the user may have meant. */
void verb_unknown(const char *word);

void verbs_help(void);
void verb_help(const struct verb *verb);

/* Which option, or verb, the user may have meant by this option that is none; "" if none is near. */
const char *verb_option_hint(const char *word, char room[SUGGEST_TEXT]);

/* The long name of an option. */
const char *verb_option_name(int letter);

#endif
