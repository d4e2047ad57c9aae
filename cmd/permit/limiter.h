/* SPDX-License-Identifier: ISC */
/*
 * limiter.h - from the options to an open limiter, or to a line that says why there is none.
 */
#ifndef LIMITER_H
#define LIMITER_H

#include <limits.h>
#include <string.h>

#include "flocklimit.h"
#include "pace.h"
#include "taker_options.h"

#define LIMITER_NAME (PATH_MAX + 2)

/*
 * The name or absolute path for flk_attach(): it also works in a command that changes its
 * directory.
 */
int limiter_name(const struct taker_options *w, char name[LIMITER_NAME]);

/* What stands before this limiter in a command line of flocklimitctl. */
static inline const char *
limiter_option(const char *limiter)
{
	return strchr(limiter, '/') != NULL ? "--file " : "";
}

/* The value of FLOCKLIMIT_LIMITER: that name or path, or for a limiter of a store its URL. */
const char *limiter_for_command(const char *name, char room[LIMITER_NAME]);

/*
 * here.attach() for PROGRAM, which is to run under the limiter; NULL: none is.  A limiter that
 * does not exist yet is created only for a program that can be executed: else -ECANCELED, and
 * *cannot_run says why it can't.  If the limiter exists we do not look for the program first, which
 * saves time: exec finds out.
 */
int limiter_attach(struct flk **limiter, const char *name, struct flk_options *options,
		   const char *program, int *cannot_run);

/* Makes numbers of the percentages of -n and -w, by the CPUs that this process may use. */
void limiter_count_units(struct taker_options *w);

/* Reads --when, if it can be measured here: OPTION_OK, or OPTION_BAD after a line. */
int limiter_read_gate(struct taker_options *w);

/* The limit that a taker with these options declares; 0: not known. */
uint32_t limiter_declared(const struct taker_options *w, const struct flk *f);

/* Sets what the options say of the limiter, unless it is so already: 0, or a negative code. */
int limiter_set(const struct taker_options *w, struct flk *limiter);

/* Says which of --key, --share and --yield has no effect, because the limiter is fair, or is not. */
void limiter_say_unfair(const struct taker_options *w, struct flk *limiter); /* NULL: it is new */

/*
 * " (the limiter's rate 30/m)", if a waiter waits for a pace or a gate that an earlier call has set, and
 * this one did not ask for; else "".
 */
#define KEEPS_TEXT (PACE_TEXT + 32)
const char *limiter_keeps(const struct taker_options *w, const struct flk_place *place,
			  char room[KEEPS_TEXT]);

/* Puts --when-run into a request, with which Q stays. */
struct question;
struct heritage;
void limiter_ask(const struct taker_options *w, const struct heritage *heritage,
		 struct flk_request *want, struct question *q);

/* After limiter_count_units(): -w was given, and the permit has another weight. */
bool limiter_weight_differs(const struct taker_options *w, const struct flk_permit *permit);

/*
 * The command joins a permit, after limiter_count_units(): prints a line if -n, -w, --yield or
 * --not-seat was given and has no effect.  A number that the permit has as well needs no line.
 */
void limiter_joined(const struct taker_options *w, const struct flk_permit *permit);

/*
 * Prints what is wrong with the limiter, and what to do about it.  f may be NULL.  Returns the
 * status to exit with.
 */
int limiter_refuse(const struct taker_options *w, const char *name, struct flk *f, int code);

#endif
