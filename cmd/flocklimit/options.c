#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flocklimit.h"
#include "parse.h"
#include "say.h"

#define BAD 125

enum { OPT_MODE = 256, OPT_NONBLOCK, OPT_MAX_QUEUE, OPT_NESTED, OPT_HOLD_FOR };

static const char short_options[] = "+:E:FN:T:Vc:f:hj:k:n:oqs:t:vw:";

static const struct option long_options[] = {
	{ "close", no_argument, NULL, 'o' },
	{ "command", required_argument, NULL, 'c' },
	{ "conflict-exit-code", required_argument, NULL, 'E' },
	{ "file", required_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "hold-for", required_argument, NULL, OPT_HOLD_FOR },
	{ "kill-after", required_argument, NULL, 'k' },
	{ "limit", required_argument, NULL, 'n' },
	{ "max-queue", required_argument, NULL, OPT_MAX_QUEUE },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "name", required_argument, NULL, 'N' },
	{ "nested", required_argument, NULL, OPT_NESTED },
	{ "no-fork", no_argument, NULL, 'F' },
	{ "nonblock", no_argument, NULL, OPT_NONBLOCK },
	{ "quiet", no_argument, NULL, 'q' },
	{ "run-timeout", required_argument, NULL, 'T' },
	{ "signal", required_argument, NULL, 's' },
	{ "timeout", required_argument, NULL, 't' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ "weight", required_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
    "Usage: flocklimit [OPTION]... [--] COMMAND [ARG]...\n"
    "Run COMMAND when a limiter of this machine has room for it; first come, first served.\n"
    "\n"
    "  -N, --name NAME        the limiter (default: $FLOCKLIMIT_NAME, or COMMAND's last part)\n"
    "  -f, --file PATH        the limiter kept in PATH\n"
    "      --mode OCTAL       permissions of a new limiter file, 0660 to share with a group\n"
    "  -n, -j, --limit N|N%   at most N units at once, or per cent of the CPUs\n"
    "  -w, --weight W         units that COMMAND takes (1)\n"
    "  -t, --timeout DUR      give up waiting after DUR; 0: do not wait\n"
    "      --nonblock         the same as -t 0\n"
    "      --max-queue M      give up at once rather than wait behind M others\n"
    "  -E, --conflict-exit-code C   exit status when there was no permit (75)\n"
    "  -T, --run-timeout DUR  end COMMAND when it has run for DUR,\n"
    "  -s, --signal SIG       with SIG (TERM),\n"
    "  -k, --kill-after DUR   and with KILL after another DUR\n"
    "  -c, --command LINE     run LINE with $SHELL -c, or /bin/sh -c\n"
    "  -F, --no-fork          exec COMMAND instead of waiting for it\n"
    "  -o, --close            do not let COMMAND inherit the lock descriptor\n"
    "      --nested=join|queue   under a permit of this limiter: run at once (default), or queue\n"
    "      --hold-for PID     take the permit for process PID, print the ticket, and return\n"
    "  -v, --verbose          say how long it waited, and for whom\n"
    "  -q, --quiet            no status line, and no line when there was no permit\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "DUR is a decimal number with ms, s (default), m, h or d.\n"
    "Exit status: COMMAND's own; 128+N when signal N ended it; 75 no permit; 124 run timeout\n"
    "(137 when it took the KILL); 125 flocklimit failed; 126 can't execute; 127 not found.\n";

static int
bad(const char *option, const char *value, const char *what)
{
	say(NULL, "%s '%s': %s", option, value, what);
	return BAD;
}

/* As it was typed: --opt, or -o. */
static const char *
option_name(int c, char room[32])
{
	const struct option *o;

	if (c < 256 && c > ' ') {
		snprintf(room, 32, "-%c", c);
		return room;
	}
	for (o = long_options; o->name != NULL; o++) {
		if (o->val == c) {
			snprintf(room, 32, "--%s", o->name);
			return room;
		}
	}
	return "option";
}

/* What getopt stumbled over, as it was typed.  It may be in the middle of a word. */
static const char *
culprit(char **argv, char room[32])
{
	const char *word = argv[optind - 1];
	const struct option *o;

	/* A missing value may have taken optind beyond the end. */
	for (o = long_options; o->name != NULL && optopt != 0 && word != NULL; o++)
		if (o->val == optopt && strncmp(word, "--", 2) == 0 &&
		    strncmp(word + 2, o->name, strcspn(word + 2, "=")) == 0)
			return word;
	return optopt != 0 ? option_name(optopt, room) : argv[optind - 1];
}

static int
parse_limit(struct options *o, const char *option, char *word)
{
	size_t n = strlen(word);
	uint64_t v;

	if (n > 1 && word[n - 1] == '%') {
		char digits[16];
		if (n > sizeof(digits) || (memcpy(digits, word, n), digits[n - 1] = '\0',
					   !parse_number(digits, 1, 100000, &v)))
			return bad(option, word, "not a percentage: use 1% to 100000%");
		o->percent = (uint32_t)v;
		o->limit = 0;
		return -1;
	}
	if (!parse_number(word, 1, FLK_MAX_UNITS, &v)) {
		if (*word == '-' || (*word >= '0' && *word <= '9'))
			return bad(option, word, "not a limit: use 1 to 1000000000, or N%");
		return bad(option, word,
			   "not a number: -n takes the limit; for flock's -n use --nonblock");
	}
	o->limit = (uint32_t)v;
	o->percent = 0;
	return -1;
}

static int
parse_time(const char *option, const char *word, uint64_t *ns)
{
	if (!parse_duration(word, ns))
		return bad(option, word, "not a duration: use a number with ms, s, m, h or d");
	return -1;
}

static int
parse_one(struct options *o, int c, const char *option, char *word)
{
	uint64_t v;
	uint32_t mode;

	switch (c) {
	case 'N':
		if (*word == '\0' || strchr(word, '/') != NULL)
			return bad(option, word, "not a name: for a path use --file");
		o->name = word;
		return -1;
	case 'w':
		if (!parse_number(word, 1, FLK_MAX_UNITS, &v))
			return bad(option, word, "not a weight: use 1 to 1000000000");
		o->weight = (uint32_t)v;
		return -1;
	case OPT_MODE:
		if (!parse_octal(word, 0777, &mode) || (mode & 0600) != 0600 || (mode & 02) != 0)
			return bad(option, word, "not a mode: use 0600 to 0775, say 0660");
		o->mode = (mode_t)mode;
		return -1;
	case OPT_MAX_QUEUE:
		if (!parse_number(word, 0, FLK_MAX_UNITS, &v))
			return bad(option, word, "not a number of takers: use 0 or more");
		o->limit_queue = true;
		o->max_queue = (uint32_t)v;
		return -1;
	case 'E':
		if (!parse_number(word, 0, 255, &v))
			return bad(option, word, "not an exit status: use 0 to 255");
		o->conflict_exit = (int)v;
		return -1;
	case 's':
		if (!parse_signal(word, &o->signal))
			return bad(option, word, "not a signal: use a name or a number");
		return -1;
	case OPT_NESTED:
		o->queue_nested = strcmp(word, "queue") == 0;
		if (!o->queue_nested && strcmp(word, "join") != 0)
			return bad(option, word, "use join or queue");
		return -1;
	case OPT_HOLD_FOR:
		if (!parse_number(word, 1, INT32_MAX, &v))
			return bad(option, word, "not a process id");
		o->hold_for = (pid_t)v;
		return -1;
	default:
		return -1;
	}
}

static int
parse_option(struct options *o, int c, char **argv)
{
	char room[32];
	const char *option = option_name(c, room);

	switch (c) {
	case 'n':
	case 'j':
		return parse_limit(o, option, optarg);
	case 't':
		return parse_time(option, optarg, &o->timeout_ns);
	case OPT_NONBLOCK:
		o->timeout_ns = 0;
		return -1;
	case 'T':
		c = parse_time(option, optarg, &o->run_timeout_ns);
		if (o->run_timeout_ns == 0)
			o->run_timeout_ns = NEVER; /* as timeout(1) has it */
		return c;
	case 'k':
		c = parse_time(option, optarg, &o->kill_after_ns);
		if (o->kill_after_ns == 0)
			o->kill_after_ns = NEVER;
		return c;
	case 'f':
		if (*optarg == '\0')
			return bad(option, optarg, "not a path");
		o->file = optarg;
		return -1;
	case 'c':
		o->line = optarg;
		return -1;
	case 'F':
		o->no_fork = true;
		return -1;
	case 'o':
		o->close_fd = true;
		return -1;
	case 'v':
		o->verbose = true;
		return -1;
	case 'q':
		o->quiet = true;
		return -1;
	case ':':
		say(NULL, "%s needs a value: see flocklimit --help", culprit(argv, room));
		return BAD;
	case '?':
		say(NULL, "%s is no option, or takes no value: see flocklimit --help",
		    culprit(argv, room));
		return BAD;
	default:
		return parse_one(o, c, option, optarg);
	}
}

/* The last part of the program's path; what a name can't hold becomes _. */
static const char *
name_after(struct options *o, const char *program)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._+@%:-";
	const char *slash = strrchr(program, '/');
	size_t i;

	if (slash != NULL && slash[1] != '\0')
		program = slash + 1;
	for (i = 0; i < FLK_NAME_MAX && program[i] != '\0'; i++)
		o->name_room[i] = strchr(good, program[i]) != NULL ? program[i] : '_';
	o->name_room[i] = '\0';
	if (i == 0 || o->name_room[0] == '.')
		o->name_room[0] = '_';
	return o->name_room;
}

static int
print(const char *text)
{
	size_t n = strlen(text);

	if (write(STDOUT_FILENO, text, n) == (ssize_t)n)
		return 0;
	say(NULL, "stdout: %s", strerror(errno));
	return BAD;
}

static int
check_together(const struct options *o)
{
	if (o->hold_for != 0 && o->command != NULL) {
		say(NULL, "--hold-for takes no command: it holds the permit for a process");
		return BAD;
	}
	if (o->hold_for == 0 && o->command == NULL) {
		say(NULL, "no command to run: see flocklimit --help");
		return BAD;
	}
	if (o->no_fork && o->close_fd) {
		say(NULL, "--no-fork needs what --close gives up: use one of them");
		return BAD;
	}
	if (o->no_fork && o->run_timeout_ns != NEVER) {
		say(NULL, "--no-fork leaves nobody to end the command: use it without "
			  "--run-timeout");
		return BAD;
	}
	if (o->hold_for != 0 && (o->no_fork || o->close_fd || o->run_timeout_ns != NEVER)) {
		say(NULL, "--hold-for runs no command: use it without --no-fork, --close and "
			  "--run-timeout");
		return BAD;
	}
	if (o->limit != 0 && o->weight > o->limit) {
		say(o->limiter, "-w %u is above -n %u: it could never run", o->weight, o->limit);
		return BAD;
	}
	return -1;
}

static const char *
choose_limiter(struct options *o)
{
	const char *env = getenv("FLOCKLIMIT_NAME");

	if (o->file != NULL)
		return o->file;
	if (o->name != NULL)
		return o->name;
	if (env != NULL && *env != '\0') {
		if (strchr(env, '/') != NULL)
			o->file = env; /* a nested command finds its limiter again */
		return env;
	}
	return o->command != NULL ? name_after(o, o->command[0]) : NULL;
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

	*o = (struct options){ .weight = 1,
			       .timeout_ns = NEVER,
			       .conflict_exit = 75,
			       .run_timeout_ns = NEVER,
			       .kill_after_ns = NEVER,
			       .signal = SIGTERM };
	opterr = 0;
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		if (c == 'h')
			return print(help);
		if (c == 'V')
			return print("flocklimit " VERSION "\n");
		if ((status = parse_option(o, c, argv)) != -1)
			return status;
	}
	if (optind < argc)
		o->command = argv + optind;
	if (o->line != NULL) {
		if (o->command != NULL) {
			say(NULL, "'%s' is left over: -c takes the whole command in one word",
			    o->command[0]);
			return BAD;
		}
		use_shell(o);
	}
	o->limiter = choose_limiter(o);
	if (o->limiter == NULL && o->hold_for != 0) {
		say(NULL, "--hold-for needs --name or --file");
		return BAD;
	}
	return check_together(o);
}
