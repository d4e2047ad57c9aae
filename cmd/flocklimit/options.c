/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "flocklimit.h"
#include "habits.h"
#include "limiter.h"
#include "option.h"
#include "parse.h"
#include "say.h"

enum {
	OPT_NESTED = 256,
	OPT_HOLD_FOR,
	OPT_JOBSERVER,
	OPT_PRESERVE_STATUS,
	OPT_BACKGROUND,
	OPT_FD,
	OPT_UNTIL_READY,
	OPT_AND
};

static const char short_options[] = "+:E:FVc:hoquv" TAKER_SHORT;

static const struct option long_options[] = {
	TAKER_LONG,
	{ "and", required_argument, NULL, OPT_AND },
	{ "background", optional_argument, NULL, OPT_BACKGROUND },
	{ "close", no_argument, NULL, 'o' },
	{ "command", required_argument, NULL, 'c' },
	{ "conflict-exit-code", required_argument, NULL, 'E' },
	{ "fd", required_argument, NULL, OPT_FD },
	{ "help", no_argument, NULL, 'h' },
	{ "hold-for", required_argument, NULL, OPT_HOLD_FOR },
	{ "jobserver", optional_argument, NULL, OPT_JOBSERVER },
	{ "nested", required_argument, NULL, OPT_NESTED },
	{ "no-fork", no_argument, NULL, 'F' },
	{ "preserve-status", no_argument, NULL, OPT_PRESERVE_STATUS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "unlock", no_argument, NULL, 'u' },
	{ "until-ready", no_argument, NULL, OPT_UNTIL_READY },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* A terminal has 80 columns. */
static const char help[] =
    "Usage: flocklimit [OPTION]... [--] COMMAND [ARG]...\n"
    "Run COMMAND when a limiter has room for it; first come, first served.\n"
    "\n"
    "  -N, --name NAME        the limiter (default: $FLOCKLIMIT_NAME, or the last\n"
    "                         part of COMMAND's path)\n"
    "  -f, --file PATH        the limiter kept in PATH\n"
    "      --mode OCTAL       permissions of a new file, 0660 to share with a group\n"
    "  -n, -j, --limit N|N%   at most N units at once, or per cent of the CPUs\n"
    "      --jobs N|N%        the same\n"
    "  -w, --weight W         COMMAND takes W units (1); MIN-MAX: what is free then\n"
    "      --and NAME[=W[/N]]     take W units (1) of this limiter, too; repeatable\n"
    "  -t, --timeout DUR      give up waiting after DUR; 0: do not wait\n"
    "      --nonblock         the same as -t 0\n"
    "      --max-queue M      give up now rather than wait behind M others\n"
    "      --yield K          let up to K takers that arrive later go first (0)\n"
    "      --not-seat LIST    take none of these seats, say 0,3 or 0-3\n"
    "      --rate N/DUR[:BURST]   at most N starts per DUR, all takers together\n"
    "      --stagger DUR      at least DUR between two starts\n"
    "      --ramp FROM+STEP/DUR   begin with FROM units, add STEP each DUR\n"
    "                         (these three belong to the limiter; off removes one)\n"
    "      --ramp-idle DUR    ramp again after DUR without a holder (1m)\n"
    "      --when COND,...    start only while the machine has room, as in mem>4G,\n"
    "                         psi.io<20, running<16 or disk:/tmp>10G; also the\n"
    "                         limiter's; off removes it\n"
    "      --settle DUR       look again only DUR after the last start (2s)\n"
    "      --gate-patience DUR|never   start anyway when nothing has run for DUR (1m)\n"
    "      --when-run LINE    start only when sh -c LINE exits with 0\n"
    "      --store URL        keep the limiter in a store, for many machines:\n"
    "                         see flocklimit-store(7)\n"
    "      --ttl DUR          store: a taker is dead after DUR without contact (10s)\n"
    "      --grace DUR        store: then keep its permit for DUR (the shortest safe)\n"
    "      --on-lost=kill|warn    store: when COMMAND loses its permit (kill)\n"
    "      --reclaim=auto|manual  store: a dead taker's permit passes on by itself\n"
    "                         (default), or when an operator breaks it\n"
    "      --local N          store: also at most N units on this machine\n"
    "  -E, --conflict-exit-code C   exit status when there is no permit (75)\n"
    "  -T, --run-timeout DUR  end COMMAND when it has run for DUR,\n"
    "  -s, --signal SIG       with SIG (TERM),\n"
    "  -k, --kill-after DUR   and with KILL after another DUR\n"
    "      --preserve-status  exit as COMMAND did, even if -T ended it\n"
    "  -c, --command LINE     run LINE with $SHELL -c, or /bin/sh -c\n"
    "  -F, --no-fork          exec COMMAND instead of waiting for it\n"
    "  -o, --close            do not let COMMAND inherit the guard descriptor\n"
    "      --background[=stdin]   return when COMMAND has its permit and runs; with\n"
    "                         /dev/null, or the caller's stdin, as its input\n"
    "      --nested=join|queue    under a permit of this limiter: join it (default),\n"
    "                         or queue for another\n"
    "      --until-ready      give the permit back when COMMAND reports READY=1, as\n"
    "                         systemd's services do, and let COMMAND run on\n"
    "      --jobserver[=fifo|pipe]   give COMMAND (make, ninja, cargo) a jobserver\n"
    "      --hold-for PID     run nothing: take a permit for process PID, return\n"
    "      --fd N             run nothing: take a permit for descriptor N, return\n"
    "  -u, --unlock           with --fd: give that permit back\n"
    "  -v, --verbose          print the oldest holder, and how long the wait took\n"
    "  -q, --quiet            print nothing about waits, and no notes\n"
    "  -h, --help             print this help\n"
    "  -V, --version          print the version\n"
    "\n"
    "DUR is in seconds, or has units: us, ms, s, m (min), h, d, as 1.5h or 1h30m.\n"
    "Exit status: COMMAND's own; 128+N if signal N ended it; 75 no permit; 76 permit\n"
    "lost (store); 124 run timeout (137 if killed); 125 flocklimit failed;\n"
    "126 COMMAND cannot be executed; 127 COMMAND not found.\n";

static int
parse_one(struct options *o, int c, const char *option, char *word)
{
	uint64_t v;

	switch (c) {
	case 'E':
		if (!parse_number(word, 0, 255, &v))
			return option_bad(option, word, "not an exit status: use 0 to 255");
		o->conflict_exit = (int)v;
		return OPTION_OK;
	case OPT_AND:
		return and_option_add(&o->ands, word);
	case OPT_NESTED:
		o->queue_nested = strcmp(word, "queue") == 0;
		if (!o->queue_nested && strcmp(word, "join") != 0)
			return option_bad(option, word, "use join or queue");
		return OPTION_OK;
	case OPT_HOLD_FOR:
		if (!parse_number(word, 1, INT32_MAX, &v))
			return option_bad(option, word, "not a process id");
		o->hold_for = (pid_t)v;
		return OPTION_OK;
	case OPT_FD:
		if (!parse_number(word, 0, INT32_MAX, &v))
			return option_bad(option, word, "not the number of a descriptor");
		o->fd = (int)v;
		return OPTION_OK;
	default:
		return OPTION_OK;
	}
}

/* NEXT is the word that follows. */
static int
parse_jobserver(struct options *o, const char *option, const char *word, const char *next)
{
	static const char *const styles[] = { "fifo", "pipe", NULL };

	o->jobserver = true;
	o->style = JOBSERVER_BEST;
	if (word == NULL)
		return option_apart(option, next, styles);
	o->style = strcmp(word, "pipe") == 0 ? JOBSERVER_PIPE : JOBSERVER_FIFO;
	if (o->style == JOBSERVER_FIFO && strcmp(word, "fifo") != 0)
		return option_bad(option, word, "use fifo or pipe");
	return OPTION_OK;
}

static int
parse_background(struct options *o, const char *option, const char *word, const char *next)
{
	static const char *const inputs[] = { "stdin", NULL };

	o->background = true;
	o->keep_stdin = word != NULL;
	if (word == NULL)
		return option_apart(option, next, inputs);
	return strcmp(word, "stdin") == 0 ? OPTION_OK : option_bad(option, word, "use stdin");
}

static int
parse_option(struct options *o, int c, char **argv)
{
	char room[32];
	const char *option = option_name(c, long_options, room);
	int status;

	switch (c) {
	case 'c':
		o->line = optarg;
		return OPTION_OK;
	case 'F':
		o->no_fork = true;
		return OPTION_OK;
	case 'o':
		o->close_fd = true;
		return OPTION_OK;
	case OPT_BACKGROUND:
		return parse_background(o, option, optarg, argv[optind]);
	case OPT_JOBSERVER:
		return parse_jobserver(o, option, optarg, argv[optind]);
	case OPT_PRESERVE_STATUS:
		o->preserve_status = true;
		return OPTION_OK;
	case 'u':
		o->unlock = true;
		return OPTION_OK;
	case OPT_UNTIL_READY:
		o->until_ready = true;
		return OPTION_OK;
	case 'v':
		o->verbose = true;
		return OPTION_OK;
	case 'q':
		o->quiet = true;
		return OPTION_OK;
	case ':':
	case '?':
		return option_refuse(c, argv, long_options, habits);
	default:
		status = taker_options_parse(&o->want, c, option, optarg);
		return status != TAKER_OTHER ? status : parse_one(o, c, option, optarg);
	}
}

/* What has no meaning for a permit that no process of ours stays with. */
static bool
needs_command(const struct options *o)
{
	return o->background || o->no_fork || o->close_fd || o->jobserver || o->preserve_status ||
	       o->until_ready || o->want.run_timeout_ns != NEVER || o->want.kill_after_ns != NEVER;
}

static int
check_descriptor(const struct options *o)
{
	const struct taker_options *w = &o->want;

	if (o->unlock && o->fd == -1) {
		say(NULL, "--unlock is for --fd N; a command's permit is released when it ends");
		return OPTION_BAD;
	}
	if (o->fd == -1)
		return OPTION_OK;
	if (o->hold_for != 0 || o->command != NULL) {
		say(NULL, "--fd takes no %s: it takes a permit for descriptor %d",
		    o->hold_for != 0 ? "--hold-for" : "command", o->fd);
		return OPTION_BAD;
	}
	if (needs_command(o)) {
		say(NULL, "--fd runs no command: use it without --background, --run-timeout, "
			  "--kill-after, --preserve-status, --no-fork, --close, --jobserver and "
			  "--until-ready");
		return OPTION_BAD;
	}
	if (o->ands.n > 0) {
		say(NULL, "--fd takes a permit of one limiter: use it without --and, once for each "
			  "descriptor");
		return OPTION_BAD;
	}
	if (w->store.url != NULL) {
		say(NULL, "--fd is for limiters in files: with --store use --hold-for $$");
		return OPTION_BAD;
	}
	if (o->unlock &&
	    (w->limit_given || w->weight_given || w->timeout_ns != NEVER || w->limit_queue ||
	     w->pacing != 0 || w->when != NULL || w->when_run != NULL)) {
		say(NULL, "--unlock only gives a permit back: use it with --fd alone");
		return OPTION_BAD;
	}
	return OPTION_OK;
}

static int
check_until_ready(const struct options *o)
{
	const char *other = o->no_fork         ? "--no-fork"
			    : o->hold_for != 0 ? "--hold-for"
			    : o->jobserver     ? "--jobserver"
					       : NULL;

	if (!o->until_ready || other == NULL)
		return OPTION_OK;
	say(NULL, "--until-ready and %s cannot be combined: %s", other,
	    o->no_fork     ? "flocklimit must stay, to hear when the command is ready"
	    : o->jobserver ? "the jobserver's tokens are for as long as the command runs"
			   : "no command runs that could be ready");
	return OPTION_BAD;
}

/*
 * Whether a weight may be meant as flock's -w, which is a time: in a file that is named as lock files are.
 * A writer among readers, as in flocklimit(1), takes the whole limit.
 */
static bool
looks_like_flock(const struct taker_options *w)
{
	size_t n = w->file != NULL ? strlen(w->file) : 0;

	return n >= 4 && strcmp(w->file + n - 4, "lock") == 0 && w->weight > 1 &&
	       w->weight != w->limit && !taker_options_elastic(w);
}

static int
check_together(const struct options *o)
{
	int status = check_until_ready(o);

	if (status != OPTION_OK)
		return status;
	if (o->hold_for != 0 && o->command != NULL) {
		say(NULL, "--hold-for takes no command: it holds the permit for a process");
		return OPTION_BAD;
	}
	if (options_run(o) && o->command == NULL) {
		say(NULL, "no command to run: see flocklimit --help");
		return OPTION_BAD;
	}
	if (o->background && (o->no_fork || o->hold_for != 0)) {
		say(NULL, "--background and %s cannot be combined: use one of them",
		    o->no_fork ? "--no-fork" : "--hold-for");
		return OPTION_BAD;
	}
	if (o->no_fork && o->close_fd) {
		say(NULL, "--no-fork and --close cannot be combined: use one of them");
		return OPTION_BAD;
	}
	if (o->no_fork && o->want.run_timeout_ns != NEVER) {
		say(NULL, "--no-fork leaves no process that could end the command: use it without "
			  "--run-timeout");
		return OPTION_BAD;
	}
	if (o->preserve_status && o->want.run_timeout_ns == NEVER) {
		say(NULL,
		    "--preserve-status has no effect without --run-timeout: give -T, or drop it");
		return OPTION_BAD;
	}
	if (o->jobserver && (o->no_fork || o->close_fd || o->hold_for != 0)) {
		say(NULL,
		    "--jobserver needs flocklimit to stay: use it without --no-fork, --close and "
		    "--hold-for");
		return OPTION_BAD;
	}
	if (o->jobserver && taker_options_elastic(&o->want)) {
		say(NULL,
		    "--jobserver lends permits of one weight: use it without -w %s, or let the "
		    "command read FLOCKLIMIT_WEIGHT",
		    o->want.weight_word);
		return OPTION_BAD;
	}
	if (o->hold_for != 0 && (o->no_fork || o->close_fd || o->want.run_timeout_ns != NEVER)) {
		say(NULL, "--hold-for runs no command: use it without --no-fork, --close and "
			  "--run-timeout");
		return OPTION_BAD;
	}
	if (taker_options_check(&o->want) != OPTION_OK)
		return OPTION_BAD;
	if (!o->quiet && looks_like_flock(&o->want))
		say(o->want.limiter, "-w %u takes %u units; for flock's -w, a time, use -t %u",
		    o->want.weight, o->want.weight, o->want.weight);
	return limiter_check_gate(&o->want);
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

int
options_parse(struct options *o, int argc, char **argv)
{
	int c, status;

	*o = (struct options){ .want = TAKER_DEFAULTS, .conflict_exit = 75, .fd = -1 };
	opterr = 0;
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		if (c == 'h')
			return option_print(help);
		if (c == 'V')
			return option_print("flocklimit " VERSION "\n");
		if ((status = parse_option(o, c, argv)) != OPTION_OK)
			return status;
	}
	if (optind < argc)
		o->command = argv + optind;
	if (o->line != NULL) {
		if (o->command != NULL) {
			say(NULL, "unexpected word '%s': -c takes the whole command in one word",
			    o->command[0]);
			return OPTION_BAD;
		}
		use_shell(o);
	}
	if ((status = check_descriptor(o)) != OPTION_OK)
		return status;
	/* FLOCKLIMIT_NAME is not asked: the descriptor says which limiter. */
	if (o->fd == -1 || o->want.file != NULL || o->want.name != NULL)
		o->want.limiter = taker_options_limiter(
		    &o->want, o->command != NULL && o->line == NULL ? o->command[0] : NULL);
	if (o->want.limiter == NULL && (o->hold_for != 0 || o->line != NULL)) {
		say(NULL, "%s needs --name, --file or FLOCKLIMIT_NAME",
		    o->hold_for != 0 ? "--hold-for" : "-c");
		return OPTION_BAD;
	}
	return check_together(o);
}
