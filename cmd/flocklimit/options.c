#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flocklimit.h"
#include "habits.h"
#include "option.h"
#include "parse.h"
#include "say.h"

enum { OPT_NESTED = 256, OPT_HOLD_FOR, OPT_JOBSERVER, OPT_PRESERVE_STATUS };

static const char short_options[] = "+:E:FVc:hoqv" WANT_SHORT;

static const struct option long_options[] = {
	WANT_LONG,
	{ "close", no_argument, NULL, 'o' },
	{ "command", required_argument, NULL, 'c' },
	{ "conflict-exit-code", required_argument, NULL, 'E' },
	{ "help", no_argument, NULL, 'h' },
	{ "hold-for", required_argument, NULL, OPT_HOLD_FOR },
	{ "jobserver", optional_argument, NULL, OPT_JOBSERVER },
	{ "nested", required_argument, NULL, OPT_NESTED },
	{ "no-fork", no_argument, NULL, 'F' },
	{ "preserve-status", no_argument, NULL, OPT_PRESERVE_STATUS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* A terminal has 80 columns. */
static const char help[] =
    "Usage: flocklimit [OPTION]... [--] COMMAND [ARG]...\n"
    "Run COMMAND when a limiter of this machine has room for it; first come, first\n"
    "served.\n"
    "\n"
    "  -N, --name NAME        the limiter (default: $FLOCKLIMIT_NAME, or the last\n"
    "                         part of COMMAND's path)\n"
    "  -f, --file PATH        the limiter kept in PATH\n"
    "      --mode OCTAL       permissions of a new file, 0660 to share with a group\n"
    "  -n, -j, --limit N|N%   at most N units at once, or per cent of the CPUs\n"
    "      --jobs N|N%        the same\n"
    "  -w, --weight W         units that COMMAND takes (1)\n"
    "  -t, --timeout DUR      give up waiting after DUR; 0: do not wait\n"
    "      --nonblock         the same as -t 0\n"
    "      --max-queue M      give up at once rather than wait behind M others\n"
    "      --rate N/DUR[:BURST]   at most N starts per DUR, by all takers; or off\n"
    "      --stagger DUR      at least DUR between two starts; or off\n"
    "      --ramp FROM+STEP/DUR   start with FROM units, add STEP each DUR; or off\n"
    "      --ramp-idle DUR    ramp again after nothing was held for DUR (1m)\n"
    "      --store URL        keep the limiter in a store, for many machines:\n"
    "                         see flocklimit-store(7)\n"
    "      --ttl DUR          store: treat a taker as dead after DUR of silence (10s)\n"
    "      --grace DUR        store: then pass its permit on after DUR (as is safe)\n"
    "      --on-lost=kill|warn    store: what a command that lost its permit gets\n"
    "      --reclaim=auto|manual  store: pass a dead taker's permit on by itself, or\n"
    "                         leave that to an operator (auto)\n"
    "      --local N          store: and at most N units at once on this machine\n"
    "  -E, --conflict-exit-code C   exit status when there was no permit (75)\n"
    "  -T, --run-timeout DUR  end COMMAND when it has run for DUR,\n"
    "  -s, --signal SIG       with SIG (TERM),\n"
    "  -k, --kill-after DUR   and with KILL after another DUR\n"
    "      --preserve-status  exit as COMMAND did, also after -T ended it\n"
    "  -c, --command LINE     run LINE with $SHELL -c, or /bin/sh -c\n"
    "  -F, --no-fork          exec COMMAND instead of waiting for it\n"
    "  -o, --close            do not let COMMAND inherit the lock descriptor\n"
    "      --nested=join|queue    under a permit of this limiter: run at once\n"
    "                         (default), or queue\n"
    "      --jobserver[=fifo|pipe]   give COMMAND (make, ninja, cargo) a jobserver\n"
    "      --hold-for PID     take the permit for process PID, print the ticket, and\n"
    "                         return\n"
    "  -v, --verbose          say how long it waited, and for whom\n"
    "  -q, --quiet            no status line, no notes, no line without a permit\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "DUR is a decimal number with ms, s (default), m, h or d.\n"
    "Exit status: COMMAND's own; 128+N when signal N ended it; 75 no permit; 76 it\n"
    "was lost (in a store); 124 run timeout (137 when it took the KILL);\n"
    "125 flocklimit failed; 126 can't execute; 127 not found.\n";

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
	case OPT_NESTED:
		o->queue_nested = strcmp(word, "queue") == 0;
		if (!o->queue_nested && strcmp(word, "join") != 0)
			return option_bad(option, word, "use join or queue");
		return OPTION_OK;
	case OPT_JOBSERVER:
		o->jobserver = true;
		o->style = word == NULL                ? JOBSERVER_BEST
			   : strcmp(word, "pipe") == 0 ? JOBSERVER_PIPE
						       : JOBSERVER_FIFO;
		if (word != NULL && strcmp(word, "pipe") != 0 && strcmp(word, "fifo") != 0)
			return option_bad(option, word, "use fifo or pipe");
		return OPTION_OK;
	case OPT_HOLD_FOR:
		if (!parse_number(word, 1, INT32_MAX, &v))
			return option_bad(option, word, "not a process id");
		o->hold_for = (pid_t)v;
		return OPTION_OK;
	default:
		return OPTION_OK;
	}
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
	case OPT_PRESERVE_STATUS:
		o->preserve_status = true;
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
		status = want_parse(&o->want, c, option, optarg);
		return status != WANT_OTHER ? status : parse_one(o, c, option, optarg);
	}
}

static int
check_together(const struct options *o)
{
	if (o->hold_for != 0 && o->command != NULL) {
		say(NULL, "--hold-for takes no command: it holds the permit for a process");
		return OPTION_BAD;
	}
	if (o->hold_for == 0 && o->command == NULL) {
		say(NULL, "no command to run: see flocklimit --help");
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
	if (o->hold_for != 0 && (o->no_fork || o->close_fd || o->want.run_timeout_ns != NEVER)) {
		say(NULL, "--hold-for runs no command: use it without --no-fork, --close and "
			  "--run-timeout");
		return OPTION_BAD;
	}
	return want_check(&o->want);
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

	*o = (struct options){ .want = WANT_DEFAULTS, .conflict_exit = 75 };
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
	o->want.limiter =
	    want_limiter(&o->want, o->command != NULL && o->line == NULL ? o->command[0] : NULL);
	if (o->want.limiter == NULL && (o->hold_for != 0 || o->line != NULL)) {
		say(NULL, "%s needs --name, --file or FLOCKLIMIT_NAME",
		    o->hold_for != 0 ? "--hold-for" : "-c");
		return OPTION_BAD;
	}
	return check_together(o);
}
