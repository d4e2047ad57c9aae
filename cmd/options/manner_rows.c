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

#define TO(member)  .at = offsetof(struct taker_options, how.member)
#define YES(member) .take = take_yes, TO(member)

/* clang-format off */
const struct option_row manner_rows[] = {
	{ .name = "or-run", YES(or_run),
	  .help = "without a permit, or without a limiter, say why and\n"
	          "run COMMAND all the same" },
	{ .name = "tree", YES(tree),
	  .help = "until COMMAND and all that it started have ended;\n"
	          "-T and signals that end flocklimit reach them all",
	  .not_in_store = "a store's permit is for COMMAND alone" },
	{ .name = "pin", YES(pin),
	  .help = "run COMMAND on as many CPUs as it has units; with\n"
	          "-w MIN-MAX it gives CPUs back while others wait",
	  .not_in_store = "a store's seats are no CPUs of this machine" },
	{ .name = "keep-place", .value = "DUR", .take = take_time, TO(keep_ns), .offers = "@times",
	  .help = "if this call ends while it waits, its place in the line\n"
	          "stays for DUR, for the same call to take it again",
	  .not_in_store = "a store's place is for as long as its caller waits" },
	{ .name = "place", .value = "WORD", .take = take_text, TO(place),
	  .help = "any call with this WORD takes that place",
	  .not_in_store = "a store's place is for as long as its caller waits" },
	{ .name = "jobserver", .value = "[=fifo|pipe|force]", .take = take_jobserver, .offers = "fifo pipe force",
	  .help = "give COMMAND (make, ninja, cargo) a\n"
	          "jobserver; force: leave out its -j" },
	{ .name = "verbose", .letters = "v", YES(verbose), .help = "print the oldest holder, and how long the wait took" },
	{ .name = "quiet", .letters = "q", YES(quiet), .help = "print nothing about waits, and no notes" },
	{ .name = NULL },
};
/* clang-format on */
