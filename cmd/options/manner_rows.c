/* SPDX-License-Identifier: ISC */
/*
 * manner_rows.c - how flocklimit waits for and runs its command.
 */
#include "manner.h"
#include "taker_options.h"

static int
take_jobserver(const struct option_row *row, void *into, const char *option, char *word)
{
	struct manner *how = &((struct taker_options *)into)->how;
	int style = JOBSERVER_BEST, status = OPTION_OK;

	if (word != NULL)
		status = option_choice(row, option, word, &style);
	how->jobserver = true;
	how->drops_jobs = word != NULL && style == JOBSERVER_BEST;
	how->style = (enum jobserver_style)style;
	return status;
}

#define YES(member) .take = take_yes, .at = offsetof(struct taker_options, how.member)

/* clang-format off */
const struct option_row manner_rows[] = {
	{ .name = "or-run", YES(or_run),
	  .help = "without a permit, or without a limiter, say why and\n"
	          "run COMMAND all the same" },
	{ .name = "tree", YES(tree),
	  .help = "until COMMAND and all that it started have ended;\n"
	          "-T and signals that end flocklimit reach them all",
	  .not_in_store = "a store's permit is for COMMAND alone" },
	{ .name = "jobserver", .value = "[=fifo|pipe|force]", .take = take_jobserver, .offers = "fifo pipe force",
	  .help = "give COMMAND (make, ninja, cargo) a\n"
	          "jobserver; force: leave out its -j" },
	{ .name = "verbose", .letters = "v", YES(verbose), .help = "print the oldest holder, and how long the wait took" },
	{ .name = "quiet", .letters = "q", YES(quiet), .help = "print nothing about waits, and no notes" },
	{ .name = NULL },
};
/* clang-format on */
