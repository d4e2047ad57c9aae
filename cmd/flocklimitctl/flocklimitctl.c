/* SPDX-License-Identifier: ISC */
/*
 * flocklimitctl - show and steer limiters.
 */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "ctl.h"
#include "pace.h"
#include "parse.h"
#include "say.h"
#include "store_exec.h"
#include "suggest.h"
#include "taker_options.h"
#include "verb.h"

#define USED 32 /* letters of options */
#define UNIT (UINT64_C(1) << 30)

static int
bad(const char *option, const char *value, const char *what)
{
	say(NULL, "%s '%s': %s", option, value, what);
	return FAILED;
}

/* -1, or the status to exit with. */
static int
take_option(struct ctl *c, int letter, char *value)
{
	switch (letter) {
	case 'f':
		c->file[c->files++] = value;
		return -1;
	case 'A':
		c->all = true;
		return -1;
	case 'D':
		if (parse_duration(value, &c->ramp_idle_ns))
			return -1;
		return bad("--ramp-idle", value, PARSE_DURATION);
	case 'F':
		c->follow = true;
		return -1;
	case 'I':
		c->idle = true;
		return -1;
	case 'J':
		c->json = true;
		return -1;
	case 'N':
		c->name[c->names++] = value;
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
	case 'U':
		if (parse_size(value, &c->unit))
			return -1;
		return bad("--unit", value, PARSE_SIZE);
	case 'X':
		c->text = true;
		return -1;
	case 'W':
		if (parse_duration(value, &c->settle_ns))
			return -1;
		return bad("--settle", value, PARSE_DURATION);
	case 'G':
		c->gate_patience_ns = NEVER;
		if (strcmp(value, "never") == 0 || parse_duration(value, &c->gate_patience_ns))
			return -1;
		return bad("--gate-patience", value, PARSE_DURATION "; or never");
	case 'n':
		if (parse_number(value, 0, UINT64_C(1) << 60, &c->last))
			return -1;
		return bad("--lines", value, "not a number of events");
	case 'o': /* means_nothing() decides what it means to the verb */
		c->output = value;
		return -1;
	case 's':
		if (parse_signal(value, &c->signal))
			return -1;
		return bad("--signal", value, "not a signal: a name such as TERM, or a number");
	case 't':
		if (parse_duration(value, &c->timeout_ns))
			return -1;
		return bad("--timeout", value, PARSE_DURATION);
	default:
		return FAILED;
	}
}

/*
 * Refuses an option that getopt(3) does not know; of several letters after one dash, that letter.
 */
static int
unknown_option(const char *word)
{
	char letter[3] = { '-', (char)optopt, '\0' }, room[SUGGEST_TEXT];
	const char *hint = optopt == 0 ? verb_option_hint(word, room) : "";

	if (optopt >= '0' && optopt <= '9')
		say(NULL, "'%s': not an option, and no number here may be below 0: see --help",
		    word);
	else if (strncmp(word, "--", 2) != 0)
		say(NULL, "option '%s': unknown: see --help", optopt != 0 ? letter : word);
	else
		say(NULL, "option '%s': %s: %s%s", word, optopt != 0 ? "takes no value" : "unknown",
		    hint, *hint != '\0' ? " See --help" : "see --help");
	return FAILED;
}

/*
 * Parses options up to the next word, at optind: -1, or the status to exit with.  Called once
 * before the verb is known, with a NULL `verb': the options are noted, and -f is --file; and once
 * after the verb.
 */
static int
parse(struct ctl *c, const struct verb *verb, char used[USED], int argc, char **argv)
{
	/* log -f follows, as tail -f does. */
	bool follows = verb != NULL && strchr(verb->options, 'F') != NULL;
	const char *letters = verb == NULL ? "+:N:f:hn:o:s:t:V"
			      : follows    ? ":N:fhn:o:s:t:V"
					   : ":N:f:hn:o:s:t:V";
	int letter, status;
	size_t n = strlen(used);

	opterr = 0;
	while ((letter = getopt_long(argc, argv, letters, verb_options, NULL)) != -1) {
		if (letter == 'f' && follows && optarg == NULL)
			letter = 'F';
		switch (letter) {
		case 'h':
			verb != NULL ? verb_help(verb) : verbs_help();
			return DONE;
		case 'V':
			puts("flocklimitctl " VERSION);
			return DONE;
		case ':':
			say(NULL, "%s: needs a value: see --help", argv[optind - 1]);
			return FAILED;
		case '?':
			return unknown_option(argv[optind - 1]);
		default:
			break;
		}
		if (strchr("NfS", letter) == NULL && strchr(used, letter) == NULL && n + 1 < USED)
			used[n++] = (char)letter;
		if ((status = take_option(c, letter, optarg)) != -1)
			return status;
	}
	return -1;
}

/* -o json is a habit from other tools; accepted where -o means nothing else. */
static bool
is_json(const struct ctl *c, const struct verb *verb, char letter)
{
	return letter == 'o' && strcmp(c->output, "json") == 0 &&
	       strchr(verb->options, 'J') != NULL;
}

static int
means_nothing(struct ctl *c, const struct verb *verb, const char *used)
{
	for (; *used != '\0'; used++) {
		if (strchr(verb->options, *used) != NULL)
			continue;
		if (is_json(c, verb, *used)) {
			c->json = true;
			continue;
		}
		say(NULL, "--%s: means nothing to %s: see %s --help", verb_option_name(*used),
		    verb->name, verb->name);
		return FAILED;
	}
	return -1;
}

/* `help VERB', a habit from other tools. */
static int
help(const char *word)
{
	const struct verb *verb = word != NULL ? verb_find(word) : NULL;

	if (word != NULL && verb == NULL) {
		verb_unknown(word);
		return FAILED;
	}
	verb != NULL ? verb_help(verb) : verbs_help();
	return DONE;
}

/* Puts the names of --name before the words; c->name has room for all of them. */
static void
join_names(struct ctl *c, char **word, int words)
{
	memcpy(c->name + c->names, word, (size_t)words * sizeof(*word));
	c->word = c->name;
	c->words = c->names + words;
}

/* Parses the command line: -1 and the verb, or the status to exit with. */
static int
take_words(struct ctl *c, const struct verb **verb, int argc, char **argv)
{
	char used[USED] = "";
	int status = parse(c, NULL, used, argc, argv);

	if (status != -1)
		return status;
	if (optind < argc && strcmp(argv[optind], "help") == 0)
		return help(argv[optind + 1]);
	*verb = verb_find(optind < argc ? argv[optind] : "list");
	if (*verb == NULL) {
		verb_unknown(argv[optind]);
		return FAILED;
	}
	argc -= optind;
	argv += optind;
	optind = 0; /* begin anew */
	if (argc > 0 && (status = parse(c, *verb, used, argc, argv)) != -1)
		return status;
	join_names(c, argv + optind, argc - optind);
	return means_nothing(c, *verb, used);
}

/* The limiter's file was cut short under our mapping. */
static void
on_bus(int sig)
{
	static const char line[] = "flocklimitctl: the limiter's file was cut short while it was "
				   "in use\n";
	ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);

	(void)sig;
	(void)written;
	_exit(FAILED);
}

int
flocklimitctl_main(int argc, char **argv)
{
	struct ctl c = { .timeout_ns = NEVER,
			 .ramp_idle_ns = PACE_IDLE_NS,
			 .settle_ns = FLK_SETTLE_NS,
			 .gate_patience_ns = FLK_PATIENCE_NS,
			 .last = NEVER,
			 .signal = -1,
			 .unit = UNIT };
	const struct verb *verb = NULL;
	struct taker_options want = TAKER_DEFAULTS;
	int status;

	say_program = "flocklimitctl";
	setlocale(LC_CTYPE, "");
	signal(SIGBUS, on_bus);
	c.file = calloc((size_t)argc + 1, sizeof(*c.file));
	c.name = calloc((size_t)argc + 1, sizeof(*c.name));
	if (c.file == NULL || c.name == NULL) {
		say(NULL, "no memory");
		status = FAILED;
		goto out;
	}
	status = take_words(&c, &verb, argc, argv);
	if (status == -1) {
		want.store.url = c.store;
		want.file = c.file[0];
		status = store_exec(&want, argv);
	}
	if (status == -1)
		status = verb->run(&c);
out:
	free(c.file);
	free(c.name);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say(NULL, "stdout: %s", strerror(errno));
		return FAILED;
	}
	return status;
}
