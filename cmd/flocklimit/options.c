/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "flocklimit.h"
#include "habits.h"
#include "limiter.h"
#include "limits_apply.h"
#include "say.h"
#include "taker_rows.h"

/* ---- the table ---- */

static int
take_background(const struct option_row *row, void *into, const char *option, char *word)
{
	struct options *o = into;
	int which;

	o->background = true;
	o->keep_stdin = word != NULL;
	return word != NULL ? option_choice(row, option, word, &which) : OPTION_OK;
}

#define TO(member)  .at = offsetof(struct options, member)
#define YES(member) .take = take_yes, TO(member)

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "preserve-status", YES(preserve_status), .help = "exit as COMMAND did, even if -T ended it" },
	{ .name = "command", .letters = "c", .value = "LINE", .take = take_text, TO(line), .offers = "@command",
	  .help = "run LINE with $SHELL -c, or /bin/sh -c", .no_command = "it is the whole command in one word" },
	{ .name = "no-fork", .letters = "F", YES(no_fork), .help = "exec COMMAND instead of waiting for it" },
	{ .name = "close", .letters = "o", YES(close_fd), .help = "do not let COMMAND inherit the guard descriptor" },
	{ .name = "background", .value = "[=stdin]", .take = take_background, .offers = "stdin",
	  .help = "return when COMMAND has its permit and runs; with\n"
	          "/dev/null, or the caller's stdin, as its input" },
	{ .name = "until-ready", YES(until_ready),
	  .help = "give the permit back when COMMAND reports READY=1, as\n"
	          "systemd's services do, and let COMMAND run on",
	  .not_in_store = "in a store the command holds its permit until it ends" },
	{ .name = "hold-for", .value = "PID", .take = take_number, TO(hold_for), .least = 1, .most = INT32_MAX,
	  .wrong = "not a process id", .offers = "@processes",
	  .help = "run nothing: take a permit for process PID, return",
	  .no_command = "it takes a permit for a process" },
	{ .name = "fd", .value = "N", .take = take_number, TO(fd), .most = INT32_MAX,
	  .wrong = "not the number of a descriptor", .offers = "3 4 5 6 7 8 9",
	  .help = "run nothing: take a permit for descriptor N, return",
	  .no_command = "it takes a permit for a descriptor" },
	{ .name = "unlock", .letters = "u", YES(unlock), .help = "with --fd: give that permit back" },
	{ .name = "shim", .value = "WORD", .take = take_text, TO(shim) }, /* of shim.c */
	{ .name = "help", .letters = "h", .help = "print this help" },
	{ .name = "version", .letters = "V", .help = "print the version" },
	{ .name = NULL },
};

static const struct option_rule rules[] = {
	TAKER_RULES,
	{ "preserve-status", "run-timeout", NULL },
	{ "unlock",
	  "limit weight timeout nonblock max-queue yield not-seat rate stagger ramp when when-run fair key share",
	  "--unlock only gives a permit back" },
	{ "fd", "hold-for", "one takes a permit for a descriptor, the other for a process" },
	{ "fd", "command background run-timeout kill-after preserve-status no-fork close jobserver until-ready",
	  "--fd runs no command" },
	{ "fd", "store", "--fd is for limiters in files, and with --store there is --hold-for $$" },
	{ "fd", "and", "--fd takes a permit of one limiter" },
	{ "hold-for", "command background no-fork close run-timeout", "--hold-for runs no command" },
	{ "until-ready", "hold-for", "no command runs that could be ready" },
	{ "until-ready", "no-fork", "flocklimit must stay, to hear when the command is ready" },
	{ "until-ready", "jobserver", "the jobserver's tokens are for as long as the command runs" },
	{ "jobserver", "no-fork close hold-for", "flocklimit must stay, to lend tokens" },
	{ "background", "no-fork", "flocklimit must stay, to wait for the command" },
	{ "tree", "no-fork", "flocklimit must stay, to wait for them all" },
	{ "tree", "hold-for fd", "no command runs that could start others" },
	{ "pin", "hold-for fd", "no command runs that could be pinned" },
	{ "pin", "until-ready", "the CPUs are its own only while it has the permit" },
	{ "pin", "jobserver", "the jobserver's tokens are for CPUs beside its own" },
	{ "place", "keep-place", NULL },
	{ "keep-place", "hold-for fd", "no command runs for which a place could be kept" },
	{ "keep-place", "and", "a place is kept in the line of one limiter" },
	{ "keep-place", "when-run", "the question would be asked by a caller that may have gone" },
	{ "keep-place", "until-ready", "the command has the permit itself, until it ends" },
	{ "no-fork", "close", "the command must inherit the guard descriptor, which keeps the permit" },
	{ "no-fork", "run-timeout", "--no-fork leaves no process that could end the command" },
	{ NULL, NULL, NULL },
};
/* clang-format on */

static const struct command_line command_line = {
	.usage = "Usage: flocklimit [OPTION]... [--] COMMAND [ARG]...\n"
		 "Run COMMAND when a limiter has room for it; first come, first served.\n",
	.rows = { taker_rows, rows, manner_rows },
	.rules = rules,
	.habits = habits,
	.more = "DUR is in seconds, or has units: us, ms, s, m (min), h, d, as 1.5h or 1h30m.\n"
		"Exit status: COMMAND's own; 128+N if signal N ended it; 75 no permit; 76 permit\n"
		"lost (store); 124 run timeout (137 if killed); 125 flocklimit failed;\n"
		"126 COMMAND cannot be executed; 127 COMMAND not found.\n",
};

/* ---- words that go together ---- */

/*
 * Whether a weight may be meant as flock's -w, which is a time: in a file that is named as lock files are.
 * A writer among readers, as in flocklimit(1), takes the whole limit.
 */
static bool
looks_like_flock(const struct taker_options *w)
{
	size_t n = w->file != NULL ? strlen(w->file) : 0;

	return n >= 4 && strcmp(w->file + n - 4, "lock") == 0 && w->request.weight > 1 &&
	       w->request.weight != w->request.limit && !taker_options_elastic(w);
}

static void
use_shell(struct options *o)
{
	const char *shell = getenv("SHELL");

	if (shell == NULL || *shell == '\0')
		shell = "/bin/sh";
	o->shell_argv[0] = (char *)(uintptr_t)shell;
	o->shell_argv[1] = (char *)(uintptr_t) "-c";
	o->shell_argv[2] = (char *)(uintptr_t)o->line;
	o->command = o->shell_argv;
}

static int
check_command(struct options *o)
{
	const struct given *given = &o->want.given;
	unsigned i;

	if (o->unlock && o->fd == -1) {
		say(NULL, "--unlock is for --fd N; a command's permit is released when it ends");
		return OPTION_BAD;
	}
	for (i = 0; o->command != NULL && i < given->n; i++) {
		if (given->row[i]->no_command == NULL)
			continue;
		say(NULL, "unexpected word '%s': --%s takes no command: %s", o->command[0],
		    given->row[i]->name, given->row[i]->no_command);
		return OPTION_BAD;
	}
	if (o->line != NULL)
		use_shell(o);
	if (options_run(o) && o->command == NULL) {
		say(NULL, "no command to run: see flocklimit --help");
		return OPTION_BAD;
	}
	if (!options_run(o) && o->want.how.or_run && !options_given(&o->want.declared, "or-run")) {
		say(NULL, "--or-run has no effect with --%s, which runs no command: drop it",
		    o->fd != -1 ? "fd" : "hold-for");
		return OPTION_BAD;
	}
	if (o->want.limiter == NULL && (o->hold_for != 0 || o->line != NULL)) {
		say(NULL, "%s needs --name, --file or FLOCKLIMIT_NAME",
		    o->hold_for != 0 ? "--hold-for" : "-c");
		return OPTION_BAD;
	}
	if (o->want.how.pin && o->no_fork && taker_options_elastic(&o->want)) {
		say(NULL,
		    "--pin with -w %s: with -F no process is left that could give CPUs back: "
		    "use one weight, or drop -F",
		    o->want.weight_word);
		return OPTION_BAD;
	}
	if (o->want.how.jobserver && taker_options_elastic(&o->want)) {
		say(NULL,
		    "--jobserver lends permits of one weight: use it without -w %s, or let the "
		    "command read FLOCKLIMIT_WEIGHT",
		    o->want.weight_word);
		return OPTION_BAD;
	}
	return OPTION_OK;
}

/* A shell line and a permit for another process have no command whose words could be known. */
static char *const *
plain_command(const struct options *o)
{
	return o->line == NULL && options_run(o) ? o->command : NULL;
}

/* FLOCKLIMIT_NAME is not asked for --fd: the descriptor says which limiter. */
static void
find_limiter(struct options *o)
{
	if (o->fd == -1 || o->want.file != NULL || o->want.name != NULL)
		o->want.limiter = taker_options_limiter(
		    &o->want, o->command != NULL && o->line == NULL ? o->command[0] : NULL);
}

/* What a limits file says of the command is not about a permit without one. */
static void
let_go(struct options *o)
{
	struct manner *how = &o->want.how;
	const struct {
		const char *name;
		bool *is;
	} of_commands[] = { { "pin", &how->pin }, { "tree", &how->tree } };
	size_t i;

	for (i = 0; i < sizeof(of_commands) / sizeof(of_commands[0]); i++)
		if (options_given(&o->want.declared, of_commands[i].name)) {
			options_forget(&o->want.given, of_commands[i].name);
			*of_commands[i].is = false;
		}
}

static int
read_limits(struct options *o)
{
	int status = limits_read();

	if (status == OPTION_OK && plain_command(o) != NULL)
		status = limits_take_command(&o->want, plain_command(o));
	find_limiter(o);
	if (status == OPTION_OK)
		status = limits_take_limiter(&o->want);
	if (!options_run(o))
		let_go(o);
	return status;
}

/* A file that can't be read is a limiter that can't be used: --or-run runs the command. */
static int
ask_limits(struct options *o)
{
	int status;

	o->unlimited = taker_options_off();
	if (o->unlimited) {
		find_limiter(o);
		return OPTION_OK;
	}
	say_tail = options_tail(o);
	status = read_limits(o);
	o->unlimited = status != OPTION_OK && say_tail != NULL;
	say_tail = NULL;
	return o->unlimited ? OPTION_OK : status;
}

int
options_parse(struct options *o, int argc, char **argv)
{
	int status;

	*o = (struct options){ .want = TAKER_DEFAULTS, .fd = -1 };
	status = options_read(&command_line, o, &o->want.given, argc, argv);
	if (status != OPTION_OK)
		return status;
	if (optind < argc)
		o->command = argv + optind;
	if (o->shim != NULL && (o->command == NULL || o->want.given.n != 1)) {
		say(NULL, "--shim is for links that flocklimitctl shim has made: drop it");
		return OPTION_BAD;
	}
	if (ask_limits(o) != OPTION_OK)
		return OPTION_BAD;
	/* Nothing else that the environment says is looked at. */
	if (o->shim != NULL && !o->want.ruled) {
		o->unlimited = true;
		return OPTION_OK;
	}
	if (options_agree(&command_line, &o->want.given) != OPTION_OK)
		return OPTION_BAD;
	if (check_command(o) != OPTION_OK || taker_options_check(&o->want) != OPTION_OK)
		return OPTION_BAD;
	if (!o->want.how.quiet && looks_like_flock(&o->want))
		say(o->want.limiter, "-w %u takes %u units; for flock's -w, a time, use -t %u",
		    o->want.request.weight, o->want.request.weight, o->want.request.weight);
	return limiter_read_gate(&o->want);
}
