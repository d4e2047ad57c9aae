/* SPDX-License-Identifier: ISC */
#include "sem_habits.h"

#define ONE_COMMAND "flocksem runs one command: drop the option, or use flockmap"
#define ONE_MACHINE "flocksem runs the command here: see flocklimit --store"

const struct habit sem_habits[] = {
	{ "--group", "the output is not held back: drop the option" },
	{ "-g", "the output is not held back: drop the option" },
	{ "--delay", "use flocklimit --stagger DUR" },
	{ "--halt", ONE_COMMAND },
	{ "--retries", ONE_COMMAND },
	{ "--joblog", ONE_COMMAND },
	{ "--resume", ONE_COMMAND },
	{ "--results", ONE_COMMAND },
	{ "--tag", ONE_COMMAND },
	{ "--pipe", ONE_COMMAND },
	{ "--progress", "use flocklimitctl top" },
	{ "--bar", "use flocklimitctl top" },
	{ "--eta", "use flocklimitctl top" },
	{ "--load", "give a limit with -j" },
	{ "--memfree", "give a limit with -j" },
	{ "--interactive", "a command in the background cannot be interactive" },
	{ "-p", "a command in the background cannot be interactive" },
	{ "--verbose", "use --dry-run to see the line" },
	{ "-v", "use --dry-run to see the line" },
	{ "-t", "use --dry-run to see the line" },
	{ "--tmux", "start tmux yourself, with flocklimit inside" },
	{ "--sshlogin", ONE_MACHINE },
	{ "-S", ONE_MACHINE },
	{ NULL, NULL },
};
