/* SPDX-License-Identifier: ISC */
#include "habits.h"

#include <stddef.h>

#define LIMIT    "use -n N"
#define ITEMS    "use -L K"
#define ORDER    "output is in the order of the items: drop the option"
#define PROGRESS "a terminal shows the progress: drop the option"
#define STRAIGHT "use --order=none"
#define LINES    "use --line-buffer"
#define DRY      "use --dry-run"
#define EMPTY    "nothing runs without items: drop the option"
#define STORE    "run flockmap on each machine, with --store URL"
#define SINGLE   "this is for one command: use flocklimit"

const struct habit map_habits[] = {
	/* parallel(1) */
	{ "--keep-order", ORDER },
	{ "--group", ORDER },
	{ "--ungroup", STRAIGHT },
	{ "-u", STRAIGHT },
	{ "--linebuffer", LINES },
	{ "--lb", LINES },
	{ "--delay", "use --stagger DUR" },
	{ "--halt", "use --fail-fast or, to end running commands as well, --fail-fast=now" },
	{ "--halt-on-error", "use --fail-fast" },
	{ "--dryrun", DRY },
	{ "--retry-failed", "use --resume-failed" },
	{ "--tagstring", "use --tag" },
	{ "--max-args", ITEMS },
	{ "--max-replace-args", ITEMS },
	{ "--xargs", ITEMS },
	{ "-X", ITEMS },
	{ "-m", ITEMS },
	{ "--progress", PROGRESS },
	{ "--bar", PROGRESS },
	{ "--eta", PROGRESS },
	{ "--id", "use -N NAME" },
	{ "--semaphore", SINGLE },
	{ "--fg", SINGLE },
	{ "--bg", "for the background put & after the command" },
	{ "--wait", "flockmap waits for all its commands: drop the option" },
	{ "--pipe", "an item is an argument of the command: for its input use -c 'COMMAND < {}'" },
	{ "--memfree", LIMIT },
	{ "--will-cite", "drop the option" },
	{ "--no-notice", "drop the option" },
	{ "--nice", "put nice -n N before COMMAND" },
	{ "--load", LIMIT },
	{ "--termseq", "use -s SIG and -k DUR" },
	{ "--sshlogin", STORE },
	{ "-S", STORE },
	{ "--shuf", "pipe the items through shuf(1)" },
	/* xargs(1) */
	{ "-P", LIMIT },
	{ "--max-procs", LIMIT },
	{ "-l", ITEMS },
	{ "--max-lines", ITEMS },
	{ "-i", "{} needs no option; for another word use -I STR" },
	{ "-r", EMPTY },
	{ "--no-run-if-empty", EMPTY },
	{ "-p", DRY },
	{ "--interactive", DRY },
	{ "--verbose", DRY },
	/* flock(1), flocklimit(1) */
	{ "--shared", "for several at once give a limit, -n N" },
	{ "--exclusive", "for one at a time use -n 1" },
	{ "-x", "for one at a time use -n 1" },
	{ "--preserve-status", "--joblog FILE has the status of each command" },
	{ "-v", DRY },
	{ "-F", SINGLE },
	{ "--no-fork", SINGLE },
	{ "-o", SINGLE },
	{ "--close", SINGLE },
	{ "--hold-for", SINGLE },
	{ "--jobserver", SINGLE },
	{ NULL, NULL },
};
