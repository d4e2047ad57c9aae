/* SPDX-License-Identifier: ISC */
#include "habits.h"

#include <stddef.h>

#define EACH "for a command per item use flockmap"
#define ONE  "for one at a time use -n 1"
#define WAIT "to give up waiting use -t DUR"

const struct habit habits[] = {
	/* flock(1) */
	{ "--wait", "for flock's --wait use -t DUR; to wait for all to end, flocklimitctl wait" },
	{ "--nb", "use --nonblock" },
	{ "--shared", "for readers use -n N; for a writer use -n N -w N" },
	{ "--exclusive", ONE },
	{ "-x", ONE },
	{ "-e", ONE },
	{ "--fcntl", "a limiter is not an fcntl lock: drop the option" },
	/* sem(1) */
	{ "--id", "for sem's --id use -N NAME" },
	{ "--fg", "flocklimit stays in the foreground: drop the option" },
	{ "--bg", "use --background" },
	{ "--semaphore", "use flocksem, which has sem's options" },
	{ "--semaphore-name", "use -N NAME" },
	{ "--semaphore-timeout", WAIT },
	{ "--st", WAIT },
	/* parallel(1), xargs(1) */
	{ "-P", "for xargs' -P use -n N" },
	{ "--max-procs", "use -n N" },
	{ "--delay", "use --stagger DUR" },
	{ "--halt", "use flockmap --fail-fast" },
	{ "--fail-fast", "use flockmap --fail-fast" },
	{ "--keep-order", "use flockmap, which keeps the order" },
	{ "--order", EACH },
	{ "--joblog", EACH },
	{ "--resume", EACH },
	{ "--retries", EACH },
	{ "--tag", EACH },
	{ "--arg-file", EACH },
	{ "--null", EACH },
	{ "-a", EACH },
	{ "-0", EACH },
	{ "-I", EACH },
	{ "-L", EACH },
	{ "-d", EACH },
	{ "--dry-run", "use flockmap --dry-run" },
	{ "--dryrun", "use flockmap --dry-run" },
	{ "--nice", "use flocklimit ... nice -n N COMMAND" },
	{ "--load", "give a limit, -n N" },
	{ "-l", "give a limit, -n N" },
	/* timeout(1) */
	{ "--foreground", "COMMAND stays in its process group: drop the option" },
	{ "-p", "use --preserve-status" },
	/* flocklimitctl(1) */
	{ "--list", "use flocklimitctl list" },
	{ "--status", "use flocklimitctl show NAME" },
	{ "--show", "use flocklimitctl show NAME" },
	{ NULL, NULL },
};

#define CTL "for a verb use flocklimitctl"

const struct habit word_habits[] = {
	{ "run", "flocklimit runs COMMAND: leave the word out" },
	{ "exec", "flocklimit runs COMMAND: leave the word out" },
	{ "create", "the first use creates a limiter: leave the word out" },
	{ "list", CTL },
	{ "show", CTL },
	{ "status", CTL },
	{ "limit", CTL },
	{ "pause", CTL },
	{ "resume", CTL },
	{ NULL, NULL },
};
