/* SPDX-License-Identifier: ISC */
/*
 * and_option.h - the words of --and: NAME[=W[/N]].
 */
#ifndef AND_OPTION_H
#define AND_OPTION_H

#include "taker_options.h"

/* OPTION_OK, or OPTION_BAD after a line. */
int and_option_add(struct ands *a, char *word);

/* The same word: fills in what the taker wants of that limiter. */
int and_option_parse(struct taker_options *w, char *word);

#endif
