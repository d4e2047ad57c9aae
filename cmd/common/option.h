/* SPDX-License-Identifier: ISC */
/*
 * option.h - what every command line has in common.
 */
#ifndef OPTION_H
#define OPTION_H

#include <getopt.h>

#define OPTION_OK  (-1) /* go on */
#define OPTION_BAD 125  /* a line was printed; the status to exit with */

/* As it was typed: --opt, or -o. */
const char *option_name(int c, const struct option *table, char room[32]);

int option_bad(const char *option, const char *value, const char *what);

/*
 * An optional value needs the equals sign.  OPTION was given without a value: if the NEXT word is
 * one of its VALUES, refuses it with a line that shows the equals sign.
 */
int option_apart(const char *option, const char *next, const char *const values[]);

struct habit;

/*
 * Prints a line about the option for which getopt returned ':' or '?'.  `habits' has options of
 * other tools, each with a hint (see suggest.h); NULL: none.
 */
int option_refuse(int c, char **argv, const struct option *table, const struct habit *habits);

/* Prints TEXT on stdout, for --help and --version; returns the status to exit with. */
int option_print(const char *text);

#endif
