/*
 * verbs.h - the verbs of flocklimitctl, their options, and what --help says of both.
 */
#ifndef VERBS_H
#define VERBS_H

#include <getopt.h>

struct ctl;

struct verb {
	const char *name;
	int (*run)(const struct ctl *c);
	const char *options;   /* the letters of those that mean something to it */
	const char *arguments; /* what follows the name */
	const char *does;
};

/* Long options without a letter of their own have a capital, see options_help. */
extern const struct option verb_options[];

const struct verb *verb_find(const char *name);

/* Prints what else the user may have meant. */
void verb_unknown(const char *word);

void verbs_help(void);
void verb_help(const struct verb *verb);

/* The long name of an option. */
const char *verb_option_name(int letter);

#endif
