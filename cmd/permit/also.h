/* SPDX-License-Identifier: ISC */
/*
 * also.h - the limiters of --and, of which a command holds permits as well.
 *
 * Every taker takes its permits in one order, that of the limiters' identities, and the limiter of
 * -N is one of them.  So of the takers that hold one permit and wait for another, the one that waits
 * for the limiter that is last in that order waits for no other of them: they can't wait in a circle.
 */
#ifndef ALSO_H
#define ALSO_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "and_option.h"
#include "environment.h"
#include "flocklimit.h"
#include "limiter.h"
#include "spawn.h"
#include "usage.h"

/* One of them. */
struct also {
	const struct extra_ops *ops;
	struct taker_options want; /* what the taker wants of this limiter */
	unsigned word;             /* by which --and it was named: 0, 1, ... */
	char path[LIMITER_NAME];
	struct flk *limiter;
	struct flk_taker *taker;
	struct flk_permit permit;
	uint64_t identity;
	bool joined; /* under a permit that we run under already */
};

/* What differs between the programs. */
struct extra_ops {
	void *context;
	bool quiet;
	bool joins;   /* the permits that we run under already */
	bool guarded; /* the command keeps its permits when we are killed */
	/* How one of them is to be opened. */
	void (*options)(void *context, struct also *one, struct flk_options *options);
	/* Joins its line, and waits: 0, or a code. */
	int (*take)(void *context, struct also *one, const struct flk_request *want);
};

struct extra_permits {
	const struct extra_ops *ops;
	struct also *of[AND_MOST]; /* in the order in which they are taken */
	struct heir heir[AND_MOST];
	unsigned n, heirs;
	const struct also *failed; /* because of which there is no permit */
	bool refused;              /* and a line was printed */
};

/*
 * Before all other calls, and before there is a limiter: 0 or a code.  MAIN is what is wanted of the
 * limiter of -N; its deadline is the one for all.
 */
int also_read(struct extra_permits *a, const struct extra_ops *ops, const struct ands *words,
	      const struct taker_options *main);

/*
 * Opens them, and finds out which the command runs under already.  MAIN: the identity of the limiter
 * of -N.  PROGRAM: NULL, or what must be executable before a limiter is created; *cannot_run: why it
 * is not.
 */
int also_open(struct extra_permits *a, uint64_t main, const char *program, int *cannot_run);

/*
 * Takes those whose identities are from FROM to TO, for this command and in this role.  MAIN: the
 * taker of -N, or NULL.
 */
int also_take(struct extra_permits *a, struct flk_taker *main, uint64_t from, uint64_t to,
	      const char *command, enum flk_role role);

/* In each limiter of which a permit is held, also MAIN's: its owner waits for LIMITER; NULL: no more. */
void also_waits_for(const struct extra_permits *a, struct flk_taker *main, const char *limiter);

/* All are taken: ties them to guards. */
int also_guard(struct extra_permits *a);

/* What the command inherits of them, after also_guard(). */
void also_inherit(const struct extra_permits *a, struct heritage *h);

/* Releases those from FROM to TO, the last first. */
void also_release(struct extra_permits *a, uint64_t from, uint64_t to);

void also_ended(struct extra_permits *a, int status, const struct usage *usage);
void also_entrust(struct extra_permits *a);

/* Releases what is held, and closes the limiters. */
void also_close(struct extra_permits *a);

/* Closes them, and frees what also_read() made. */
void also_free(struct extra_permits *a);

/* Appends their links to FLOCKLIMIT_HELD's. */
#define ALSO_LINKS (HELD_LINK * (AND_MOST + 1))
void also_links(const struct extra_permits *a, char links[ALSO_LINKS]);

/* Prints why there is no permit; the status to exit with. */
int also_refuse(const struct extra_permits *a, int code);

#endif
