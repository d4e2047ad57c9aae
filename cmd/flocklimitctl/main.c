/*
 * flocklimitctl - see into limiters, and steer them.
 */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "parse.h"
#include "say.h"

struct verb {
	const char *name;
	int (*run)(const struct ctl *c);
	const char *options; /* those that mean something to it, beside f and h */
};

/* Capitals stand for long options: J json, R raw, F follow, X text, I idle, P repair. */
static const struct verb verbs[] = {
	{ "list", list, "JR" },    { "show", show, "JR" },     { "top", top, "" },
	{ "limit", limit, "" },    { "pause", pause_it, "" },  { "resume", resume_it, "" },
	{ "close", close_it, "" }, { "open", open_it, "" },    { "wait", wait_for, "t" },
	{ "cancel", cancel, "s" }, { "release", release, "" }, { "log", log_of, "JRFn" },
	{ "gantt", gantt, "Xo" },  { "stats", stats, "J" },    { "check", check, "JP" },
	{ "rm", remove_it, "I" },
};

static const char help[] =
    "Usage: flocklimitctl VERB [OPTION]... [NAME | -f PATH] [ARG]...\n"
    "See into limiters, and steer them.\n"
    "\n"
    "  list                  all limiters, with what they hold\n"
    "  show NAME             who holds, who waits and for how long, and why\n"
    "  top [NAME]            the same, live\n"
    "  limit NAME N|N%|auto  override every -n, until auto; 0 lets nothing start\n"
    "  pause, resume NAME    nothing new starts; go on\n"
    "  close, open NAME      turn waiters and newcomers away; admit again\n"
    "  wait NAME             until everything that is there now is done\n"
    "  cancel NAME TICKET... take waiters out of the line; with -s, signal a holder\n"
    "  release NAME TICKET   end a permit of flocklimit --hold-for\n"
    "  log NAME              what happened\n"
    "  gantt NAME            what happened, as a picture (SVG)\n"
    "  stats [NAME]...       counters and histograms, as Prometheus reads them\n"
    "  check NAME            verify every invariant\n"
    "  rm NAME...            remove limiters that nobody uses\n"
    "\n"
    "  -f, --file PATH       the limiter kept in PATH instead of NAME (log: --file only)\n"
    "      --json            for programs: list, show, log, stats, check\n"
    "      --raw             seconds and numbers as they are: list, show, log\n"
    "  -t, --timeout DUR     wait: no longer than that (then exit 1)\n"
    "  -s, --signal SIG      cancel: send SIG to the process of a holder\n"
    "  -f, --follow          log: go on as things happen\n"
    "  -n, --lines K         log: the last K events\n"
    "      --text            gantt: in the terminal\n"
    "  -o, --output FILE     gantt: into FILE\n"
    "      --repair          check: rebuild what is damaged\n"
    "      --idle            rm: all that nobody uses\n"
    "  -h, --help            this text\n"
    "  -V, --version         the version\n"
    "\n"
    "Exit status: 0 done; 1 no (not idle, not found, check failed); 125 flocklimitctl failed.\n";

static const struct option long_options[] = {
	{ "file", required_argument, NULL, 'f' },   { "follow", no_argument, NULL, 'F' },
	{ "help", no_argument, NULL, 'h' },         { "idle", no_argument, NULL, 'I' },
	{ "json", no_argument, NULL, 'J' },         { "lines", required_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' }, { "raw", no_argument, NULL, 'R' },
	{ "repair", no_argument, NULL, 'P' },       { "signal", required_argument, NULL, 's' },
	{ "text", no_argument, NULL, 'X' },         { "timeout", required_argument, NULL, 't' },
	{ "version", no_argument, NULL, 'V' },      { NULL, 0, NULL, 0 },
};

static const struct verb *
find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static int
bad(const char *option, const char *value, const char *what)
{
	say(NULL, "%s '%s': %s", option, value, what);
	return FAILED;
}

static const char *
long_name(int letter)
{
	const struct option *o;

	for (o = long_options; o->name != NULL; o++)
		if (o->val == letter)
			return o->name;
	return "option";
}

/* -1 to go on, or what to exit with. */
static int
take_option(struct ctl *c, int letter, char *value)
{
	switch (letter) {
	case 'f':
		c->file[c->files++] = value;
		return -1;
	case 'F':
		c->follow = true;
		return -1;
	case 'I':
		c->idle = true;
		return -1;
	case 'J':
		c->json = true;
		return -1;
	case 'P':
		c->repair = true;
		return -1;
	case 'R':
		c->raw = true;
		return -1;
	case 'X':
		c->text = true;
		return -1;
	case 'n':
		if (parse_number(value, 0, FLK_HISTORY, &c->last))
			return -1;
		return bad("--lines", value, "not a number from 0 to 4096");
	case 'o':
		c->output = value;
		return -1;
	case 's':
		if (parse_signal(value, &c->signal))
			return -1;
		return bad("--signal", value, "not a signal: a name such as TERM, or a number");
	case 't':
		if (parse_duration(value, &c->timeout_ns))
			return -1;
		return bad("--timeout", value,
			   "not a duration: a decimal number with ms, s (default), m, h or d");
	default:
		return FAILED;
	}
}

static int
parse(struct ctl *c, const struct verb *verb, int argc, char **argv)
{
	/* log -f follows, as tail -f does. */
	bool follows = strchr(verb->options, 'F') != NULL;
	const char *letters = follows ? ":fhn:o:s:t:V" : ":f:hn:o:s:t:V";
	int letter, status;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		if (letter == 'f' && follows && optarg == NULL)
			letter = 'F';
		switch (letter) {
		case 'h':
			fputs(help, stdout);
			return DONE;
		case 'V':
			puts(PROGRAM " " VERSION);
			return DONE;
		case ':':
			return bad(argv[optind - 1], "", "needs a value: see --help");
		case '?':
			return bad("option", argv[optind - 1], "unknown: see --help");
		default:
			break;
		}
		if (letter != 'f' && strchr(verb->options, letter) == NULL) {
			say(NULL, "--%s: means nothing to %s: see --help", long_name(letter),
			    verb->name);
			return FAILED;
		}
		if ((status = take_option(c, letter, optarg)) != -1)
			return status;
	}
	c->word = argv + optind;
	c->words = argc - optind;
	return -1;
}

int
main(int argc, char **argv)
{
	struct ctl c = { .timeout_ns = NEVER, .last = NEVER };
	const struct verb *verb;
	int status;

	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		say(NULL, "which verb? list, show, ...: see --help");
		return FAILED;
	}
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		fputs(help, stdout);
		return DONE;
	}
	if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0) {
		puts(PROGRAM " " VERSION);
		return DONE;
	}
	verb = find_verb(argv[1]);
	if (verb == NULL)
		return bad("verb", argv[1], "unknown: see --help");
	c.file = calloc((size_t)argc, sizeof(*c.file));
	if (c.file == NULL)
		return FAILED;
	status = parse(&c, verb, argc - 1, argv + 1);
	if (status == -1)
		status = verb->run(&c);
	free(c.file);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say(NULL, "stdout: %s", strerror(errno));
		return FAILED;
	}
	return status;
}
