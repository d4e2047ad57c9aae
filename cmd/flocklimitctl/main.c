/*
 * flocklimitctl - see into limiters, and steer them.
 */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "elsewhere.h"
#include "pace.h"
#include "parse.h"
#include "say.h"
#include "suggest.h"
#include "want.h"

#define USED 32 /* letters of options */

struct verb {
	const char *name;
	int (*run)(const struct ctl *c);
	const char *options; /* those that mean something to it, beside f and h */
};

/* Capitals stand for long options: J json, R raw, F follow, X text, I idle, P repair, D ramp-idle. */
static const struct verb verbs[] = {
	{ "list", list, "JR" },    { "show", show, "JR" },     { "top", top, "" },
	{ "limit", limit, "" },    { "pause", pause_it, "" },  { "resume", resume_it, "" },
	{ "close", close_it, "" }, { "open", open_it, "" },    { "wait", wait_for, "t" },
	{ "cancel", cancel, "s" }, { "release", release, "" }, { "log", log_of, "JRFn" },
	{ "gantt", gantt, "Xo" },  { "stats", stats, "JR" },   { "check", check, "JP" },
	{ "rm", remove_it, "I" },  { "rate", rate, "" },       { "stagger", stagger, "" },
	{ "ramp", ramp, "D" },     { "break", break_it, "" },
};

static const char help[] =
    "Usage: flocklimitctl VERB [OPTION]... [NAME | -f PATH] [ARG]...\n"
    "See into limiters, and steer them.\n"
    "\n"
    "  list                  all limiters, with what they hold\n"
    "  show NAME             who holds, who waits and for how long, and why\n"
    "  top [NAME]            the same, live\n"
    "  limit NAME N|N%|auto  override every -n, until auto; 0 lets nothing start\n"
    "  rate NAME N/DUR[:BURST]|off     at most so many starts per time\n"
    "  stagger NAME DUR|off  at least so long between two starts\n"
    "  ramp NAME FROM+STEP/DUR|off     begin with FROM units, and STEP more each DUR\n"
    "  pause, resume NAME... nothing new starts; go on\n"
    "  close, open NAME...   turn waiters and newcomers away; admit again\n"
    "  wait NAME             until everything that is there now is done\n"
    "  cancel NAME TICKET... take waiters out of the line; with -s, signal a holder\n"
    "  release NAME TICKET   end a permit of flocklimit --hold-for\n"
    "  break NAME TICKET...  in a store: take a permit away from whoever holds it\n"
    "  log NAME              what happened\n"
    "  gantt NAME            what happened, as a picture (SVG)\n"
    "  stats [NAME]...       counters and histograms, as Prometheus reads them\n"
    "  check NAME            verify every invariant\n"
    "  rm NAME...            remove limiters that nobody uses\n"
    "\n"
    "  -f, --file PATH       the limiter kept in PATH instead of NAME (log: --file only)\n"
    "      --store URL       limiters kept in a store, for many machines\n"
    "      --json            for programs: list, show, log, stats, check\n"
    "      --raw             seconds and numbers as they are: list, show, log, stats\n"
    "  -t, --timeout DUR     wait: no longer than that (then exit 1)\n"
    "  -s, --signal SIG      cancel: send SIG to the process of a holder\n"
    "  -f, --follow          log: go on as things happen\n"
    "  -n, --lines K         log: the last K events\n"
    "      --text            gantt: in the terminal\n"
    "  -o, --output FILE     gantt: into FILE\n"
    "      --repair          check: rebuild what is damaged\n"
    "      --idle            rm: all that nobody uses\n"
    "      --ramp-idle DUR   ramp: anew after nothing was held for DUR (1m)\n"
    "  -h, --help            this text\n"
    "  -V, --version         the version\n"
    "\n"
    "Exit status: 0 done; 1 no (not idle, not found, check failed); 125 flocklimitctl failed.\n";

static const struct option long_options[] = {
	{ "file", required_argument, NULL, 'f' },   { "follow", no_argument, NULL, 'F' },
	{ "help", no_argument, NULL, 'h' },         { "idle", no_argument, NULL, 'I' },
	{ "json", no_argument, NULL, 'J' },         { "lines", required_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' }, { "ramp-idle", required_argument, NULL, 'D' },
	{ "raw", no_argument, NULL, 'R' },          { "repair", no_argument, NULL, 'P' },
	{ "signal", required_argument, NULL, 's' }, { "store", required_argument, NULL, 'S' },
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
unknown_verb(const char *word)
{
	const char *known[sizeof(verbs) / sizeof(verbs[0])];
	char room[SUGGEST_TEXT];
	const char *hint;
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		known[i] = verbs[i].name;
	hint = suggest(word, known, sizeof(verbs) / sizeof(verbs[0]), room);
	say(NULL, "verb '%s': unknown: %s%s", word, hint,
	    *hint != '\0' ? " See --help" : "see --help");
	return FAILED;
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
	case 'D':
		if (parse_duration(value, &c->ramp_idle_ns))
			return -1;
		return bad("--ramp-idle", value,
			   "not a duration: a decimal number with ms, s (default), m, h or d");
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
	case 'S':
		c->store = value;
		return -1;
	case 'X':
		c->text = true;
		return -1;
	case 'n':
		if (parse_number(value, 0, UINT64_C(1) << 60, &c->last))
			return -1;
		return bad("--lines", value, "not a number of events");
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

/* What getopt(3) did not know; of several letters behind one dash it tells which. */
static int
unknown_option(const char *word)
{
	char letter[3] = { '-', (char)optopt, '\0' }, room[SUGGEST_TEXT];
	const char *hint = optopt == 0 ? suggest_option(word, long_options, room) : "";

	if (optopt >= '0' && optopt <= '9')
		say(NULL, "'%s': no option, and no number here is below 0: see --help", word);
	else if (strncmp(word, "--", 2) != 0)
		say(NULL, "option '%s': unknown: see --help", optopt != 0 ? letter : word);
	else
		say(NULL, "option '%s': %s: %s%s", word, optopt != 0 ? "takes no value" : "unknown",
		    hint, *hint != '\0' ? " See --help" : "see --help");
	return FAILED;
}

/*
 * -1 to go on at optind, or what to exit with.  Before the verb it is not known what options mean
 * to it: they are remembered, and -f is --file.  `verb' is NULL there.
 */
static int
parse(struct ctl *c, const struct verb *verb, char used[USED], int argc, char **argv)
{
	/* log -f follows, as tail -f does. */
	bool follows = verb != NULL && strchr(verb->options, 'F') != NULL;
	const char *letters = verb == NULL ? "+:f:hn:o:s:t:V"
			      : follows    ? ":fhn:o:s:t:V"
					   : ":f:hn:o:s:t:V";
	int letter, status;
	size_t n = strlen(used);

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
			say(NULL, "%s: needs a value: see --help", argv[optind - 1]);
			return FAILED;
		case '?':
			return unknown_option(argv[optind - 1]);
		default:
			break;
		}
		if (letter != 'f' && letter != 'S' && strchr(used, letter) == NULL && n + 1 < USED)
			used[n++] = (char)letter;
		if ((status = take_option(c, letter, optarg)) != -1)
			return status;
	}
	return -1;
}

static int
means_nothing(const struct verb *verb, const char *used)
{
	for (; *used != '\0'; used++) {
		if (strchr(verb->options, *used) != NULL)
			continue;
		say(NULL, "--%s: means nothing to %s: see --help", long_name(*used), verb->name);
		return FAILED;
	}
	return -1;
}

/* What the words mean, or what to exit with. */
static int
take_words(struct ctl *c, const struct verb **verb, int argc, char **argv)
{
	char used[USED] = "";
	int status = parse(c, NULL, used, argc, argv);

	if (status != -1)
		return status;
	if (optind == argc) {
		say(NULL, "which verb? list, show, ...: see --help");
		return FAILED;
	}
	*verb = find_verb(argv[optind]);
	if (*verb == NULL)
		return unknown_verb(argv[optind]);
	argc -= optind;
	argv += optind;
	optind = 0; /* begin anew */
	if ((status = parse(c, *verb, used, argc, argv)) != -1)
		return status;
	c->word = argv + optind;
	c->words = argc - optind;
	return means_nothing(*verb, used);
}

/* Cut short while we look: its pages are gone. */
static void
on_bus(int sig)
{
	static const char line[] = PROGRAM ": the limiter's file was cut short while it was in "
					   "use\n";
	ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);

	(void)sig;
	(void)written;
	_exit(FAILED);
}

int
main(int argc, char **argv)
{
	struct ctl c = { .timeout_ns = NEVER, .ramp_idle_ns = PACE_IDLE_NS, .last = NEVER };
	const struct verb *verb = NULL;
	struct want want = WANT_DEFAULTS;
	int status;

	setlocale(LC_CTYPE, "");
	signal(SIGBUS, on_bus);
	c.file = calloc((size_t)argc + 1, sizeof(*c.file));
	if (c.file == NULL) {
		say(NULL, "no memory");
		return FAILED;
	}
	status = take_words(&c, &verb, argc, argv);
	if (status == -1) {
		want.store.url = c.store;
		want.file = c.file[0];
		status = elsewhere(&want, argv);
	}
	if (status == -1)
		status = verb->run(&c);
	free(c.file);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say(NULL, "stdout: %s", strerror(errno));
		return FAILED;
	}
	return status;
}
