/* SPDX-License-Identifier: ISC */
/*
 * tokens.h - permits of a limiter, lent as bytes in a pipe.  All of it belongs to one thread.
 */
#ifndef TOKENS_H
#define TOKENS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

struct tokens {
	/* Filled in by the caller. */
	struct flk *limiter;
	const char *name;        /* of the limiter, for people */
	struct flk_request want; /* for each token; tokens.c sets its command */
	const char *program;     /* the command, for people */
	uint32_t most;           /* tokens at once */
	int pipe;                /* opened with O_NONBLOCK */
	int guard;               /* the descriptor that the command inherits */
	_Atomic pid_t command;   /* the command's process, once it runs */

	/* Of tokens.c.  The first `lent' takers hold a permit; the next one may be in the line. */
	struct flk_taker **taker;
	struct flk_taker *observer; /* takes nothing: flk_place() looks at the line with it */
	uint32_t lent;
	uint32_t in_pipe; /* bytes in the pipe after the last look */
	bool asking, cheated;
	bool took;    /* the command has taken a token */
	bool crowded; /* several processes of it ran at once, while tokens were in the pipe */
	bool keeps;   /* the command took a token, and was not seen to give one back since */
	/*
	 * The newest token, for which a taker waited: until when, and how long, the command may
	 * take it.
	 */
	uint64_t fresh_ns, patience_ns;
	uint64_t busy_ns;  /* until when the command counts as busy, as it took or wrote a token */
	uint64_t again_ns; /* when to ask again */
	uint64_t count_ns, count_pause_ns; /* when to count its processes, and then again */
	uint64_t held_off_ns; /* until when a command that keeps its tokens gets no more */
	uint32_t unused;      /* so many tokens in a row were called back unused */
	char text[FLK_COMMAND];
};

/* 0 or a negative code; the rest of *t is empty. */
int tokens_begin(struct tokens *t);

/* Lends and calls back what is due; returns when to look again if no event comes (ns), or NEVER. */
uint64_t tokens_look(struct tokens *t);

/* The taker in the line, for which the lender must wait, or NULL; and the code of that wait. */
struct flk_taker *tokens_asking(const struct tokens *t);
void tokens_heard(struct tokens *t, int code);

/* The command has ended. */
void tokens_end(struct tokens *t);

/* Whether it seems to know no jobserver: it took no token, and ran several processes at once. */
bool tokens_ignored(const struct tokens *t);

#endif
