/*
 * tokens.h - permits of a limiter, lent as bytes in a pipe.  All of it belongs to one thread.
 */
#ifndef TOKENS_H
#define TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"

struct tokens {
	/* Filled in by the caller. */
	struct flk *limiter;
	const char *name;        /* of the limiter, for people */
	struct flk_request want; /* for each; its command is ours to write */
	const char *program;     /* the command, for people */
	uint32_t most;           /* at once */
	int pipe;                /* a description that never waits */
	int guard;               /* that the command inherits */

	/* Of tokens.c.  The first `lent' takers hold; the next one may stand in the line. */
	struct flk_taker **taker;
	struct flk_taker *eye; /* asks for nothing; looks */
	uint32_t lent;
	uint32_t lay; /* bytes that lay in the pipe after the last look */
	bool asking, cheated;
	/* The newest token that we waited for: until when it is left to the command, and for how long. */
	uint64_t fresh_ns, patience_ns;
	uint64_t
	    busy_ns; /* until when the command counts as busy after it has taken or written one */
	uint64_t again_ns; /* when to ask again */
	uint32_t in_vain;  /* so many of those in a row were called back unused */
	char text[FLK_COMMAND];
};

/* 0 or a negative code; the rest of *t is empty. */
int tokens_begin(struct tokens *t);

/* Lends and calls back what is due; returns when to look again if nothing happens (ns), or NEVER. */
uint64_t tokens_look(struct tokens *t);

/* The taker that stands in the line and must be waited for; or NULL.  And how that wait ended. */
struct flk_taker *tokens_asking(const struct tokens *t);
void tokens_heard(struct tokens *t, int code);

/* The command has ended. */
void tokens_end(struct tokens *t);

#endif
