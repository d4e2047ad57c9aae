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

#include "kind.h"
#include "commands.h"
#include "ctl.h"
#include "declared.h"
#include "limits_apply.h"
#include "pace.h"
#include "parse.h"
#include "say.h"
#include "suggest.h"
#include "taker_options.h"
#include "users.h"
#include "verb.h"

#define UNIT (UINT64_C(1) << 30)

/* ---- the table ---- */

static int
take_name(const struct option_row *row, void *into, const char *option, char *word)
{
	struct ctl *c = into;

	(void)row;
	(void)option;
	c->name[c->names++] = word;
	return OPTION_OK;
}

static int
take_file(const struct option_row *row, void *into, const char *option, char *word)
{
	struct ctl *c = into;

	(void)row;
	(void)option;
	c->file[c->files++] = word;
	return OPTION_OK;
}

static int
take_lines(const struct option_row *row, void *into, const char *option, char *word)
{
	struct ctl *c = into;

	return parse_number(word, 0, UINT64_C(1) << 60, &c->last)
		   ? OPTION_OK
		   : option_bad(option, word, row->wrong);
}

#define TO(member)  .at = offsetof(struct ctl, member)
#define YES(member) .take = take_yes, TO(member)

/* clang-format off */
static const struct option_row name_rows[] = {
	{ .name = "name", .letters = "N", .value = "NAME", .take = take_name, .many = true, .offers = "@limiters",
	  .help = "the same as NAME" },
	{ .name = NULL },
};

static const struct option_row file_rows[] = {
	{ .name = "file", .letters = "f", .value = "PATH", .take = take_file, .many = true, .offers = "@files",
	  .help = "the limiter kept in PATH instead of NAME (log: --file)" },
	{ .name = "follow", YES(follow), .help = "print events as they happen (log: -f)" },
	{ .name = NULL },
};

/* log -f follows, as tail -f does. */
static const struct option_row follow_rows[] = {
	{ .name = "file", .value = "PATH", .take = take_file, .many = true, .offers = "@files",
	  .help = "the limiter kept in PATH instead of NAME" },
	{ .name = "follow", .letters = "f", YES(follow), .help = "print events as they happen" },
	{ .name = NULL },
};

static const struct option_row rows[] = {
	{ .name = "store", .value = "URL", .take = take_text, TO(store),
	  .help = "limiters kept in a store, for many machines" },
	{ .name = "users", YES(users), .help = "those of all users, only to look at" },
	{ .name = "user", .value = "USER", .take = take_text, TO(user), .offers = "@users",
	  .help = "those of USER, only to look at" },
	{ .name = "all", YES(all), .help = "all limiters; for verbs that steer, new ones too" },
	{ .name = "json", YES(json), .help = "for programs" },
	{ .name = "raw", YES(raw), .help = "seconds and numbers as they are" },
	{ .name = "timeout", .letters = "t", .value = "DUR", .take = take_time, TO(timeout_ns), .offers = "@times",
	  .help = "wait no longer than DUR, then exit with 1" },
	{ .name = "signal", .letters = "s", .value = "SIG", .take = take_parsed, .parse = parse_signal, TO(signal), .offers = "@signals",
	  .wrong = "not a signal: a name such as TERM, or a number",
	  .help = "send SIG to the process of a holder" },
	{ .name = "lines", .letters = "n", .value = "K", .take = take_lines, .offers = "10 100 1000",
	  .wrong = "not a number of events", .help = "the last K events" },
	{ .name = "text", YES(text), .help = "draw in the terminal" },
	{ .name = "output", .letters = "o", .value = "FILE", .take = take_text, TO(output), .offers = "@files",
	  .help = "write the picture to FILE" },
	{ .name = "unit", .value = "SIZE", .take = take_parsed, .parse = parse_size, TO(unit), .offers = "256M 512M 1G 2G 4G", .wrong = PARSE_SIZE,
	  .help = "the memory that one unit stands for (1G)" },
	{ .name = "check", .value = "FILE", .take = take_text, TO(check), .offers = "@files",
	  .help = "whether FILE is right as a limits file" },
	{ .name = "remove", YES(remove), .help = "remove these shims" },
	{ .name = "apply", YES(apply), .help = "run it, not only print it" },
	{ .name = "repair", YES(repair), .help = "rebuild what is damaged" },
	{ .name = "idle", YES(idle), .help = "all unused limiters" },
	{ .name = "ramp-idle", .value = "DUR", .take = take_time, TO(to.pace.ramp_idle_ns), .offers = "@times",
	  .help = "begin again after nothing was held for DUR (1m)" },
	{ .name = "settle", .value = "DUR", .take = take_time, TO(to.gate.settle_ns), .offers = "0 1s 2s 5s 10s",
	  .help = "look again only DUR after the last start (2s)" },
	{ .name = "gate-patience", .value = "DUR|never", .take = take_parsed, .parse = parse_patience, TO(to.gate.patience_ns), .offers = "10s 1m 10m never",
	  .wrong = PARSE_PATIENCE, .help = "start anyway after DUR without a holder (1m)" },
	{ .name = "help", .letters = "h", .help = "this text; after a verb, the help of that verb" },
	{ .name = "version", .letters = "V", .help = "the version" },
	{ .name = NULL },
};
/* clang-format on */

/* For the options before a verb, of which none is known yet, or those behind it. */
static void
make_table(struct option_table *t, const struct verb *verb)
{
	bool follows = verb != NULL && verb_takes(verb, "follow");
	const struct option_row *const lists[] = { name_rows, follows ? follow_rows : file_rows,
						   rows, NULL };

	option_table_make(t, lists);
}

/* ---- reading ---- */

/*
 * Refuses an option that getopt(3) does not know; of several letters after one dash, that letter.
 */
static int
unknown_option(const char *word, const struct option_table *t)
{
	char letter[3] = { '-', (char)optopt, '\0' }, room[SUGGEST_TEXT];
	const char *hint = optopt == 0 ? verb_option_hint(word, t->longs, room) : "";

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

static int
help(const struct verb *verb)
{
	struct option_table t;

	make_table(&t, verb);
	verb != NULL ? verb_help(verb, &t) : verbs_help(&t);
	return DONE;
}

/*
 * Parses options up to the next word, at optind: -1, or the status to exit with.  Called once
 * before the verb is known, with a NULL `verb', and once after the verb, when names and options may
 * be mixed.
 */
static int
parse(struct ctl *c, const struct verb *verb, struct given *given, int argc, char **argv)
{
	const struct option_row *row;
	struct option_table t;
	int got, status = -1;
	char option[32];

	make_table(&t, verb);
	opterr = 0;
	while (status == -1 &&
	       (got = getopt_long(argc, argv, t.letters + (verb != NULL), t.longs, NULL)) != -1) {
		if (got == ':') {
			say(NULL, "%s: needs a value: see --help", argv[optind - 1]);
			return FAILED;
		}
		if (got == '?')
			return unknown_option(argv[optind - 1], &t);
		row = option_table_row(&t, got);
		if (strcmp(row->name, "help") == 0)
			return help(verb);
		if (strcmp(row->name, "version") == 0) {
			puts("flocklimitctl " VERSION);
			return DONE;
		}
		snprintf(option, sizeof(option), "--%s", row->name);
		status = row->take(row, c, option, optarg);
		option_note(given, row, true);
	}
	return status;
}

/* -o json is a habit from other tools; accepted where -o means nothing else. */
static bool
is_json(const struct ctl *c, const struct verb *verb, const char *option)
{
	return strcmp(option, "output") == 0 && strcmp(c->output, "json") == 0 &&
	       verb_takes(verb, "json");
}

static int
means_nothing(struct ctl *c, const struct verb *verb, const struct given *given)
{
	const char *option;
	unsigned i;

	for (i = 0; i < given->n; i++) {
		option = given->row[i]->name;
		if (verb_takes(verb, option))
			continue;
		if (is_json(c, verb, option)) {
			c->json = true;
			continue;
		}
		say(NULL, "--%s: means nothing to %s: see %s --help", option, verb->name,
		    verb->name);
		return FAILED;
	}
	return -1;
}

/* `help VERB', a habit from other tools. */
static int
help_of(const char *word)
{
	const struct verb *verb = word != NULL ? verb_find(word) : NULL;

	if (word != NULL && verb == NULL) {
		verb_unknown(word);
		return FAILED;
	}
	return help(verb);
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
	struct given given = { .n = 0 };
	int status = parse(c, NULL, &given, argc, argv);

	if (status != -1)
		return status;
	if (optind < argc && strcmp(argv[optind], "help") == 0)
		return help_of(argv[optind + 1]);
	*verb = verb_find(optind < argc ? argv[optind] : "list");
	if (*verb == NULL) {
		verb_unknown(argv[optind]);
		return FAILED;
	}
	argc -= optind;
	argv += optind;
	optind = 0; /* begin anew */
	if (argc > 0 && (status = parse(c, *verb, &given, argc, argv)) != -1)
		return status;
	join_names(c, argv + optind, argc - optind);
	return means_nothing(c, *verb, &given);
}

/* What limiters of this kind have nothing for. */
static int
refuse_here(const struct verb *verb)
{
	const char *why = !here.is_file ? verb->not_in_store : verb->only_in_store;

	if (why == NULL)
		return -1;
	say(NULL, "%s: %s", verb->name, why);
	return FAILED;
}

/* A limits file may say that a name is in a store. */
static int
choose(const struct ctl *c, char **argv)
{
	struct taker_options want = TAKER_DEFAULTS;
	struct declared declared;

	want.store.url = c->store;
	want.file = c->file[0];
	if (c->store == NULL && c->words > 0 && !c->verb->no_limiters) {
		if (declared_find(&declared, c->word[0]) != OPTION_OK)
			return FAILED;
		want.store.url = declared.want.store.url;
	}
	return here.choose(&want, argv);
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
			 .to = { .pace = { .ramp_idle_ns = PACE_IDLE_NS },
				 .gate = { .settle_ns = FLK_SETTLE_NS,
					   .patience_ns = FLK_PATIENCE_NS } },
			 .last = NEVER,
			 .signal = -1,
			 .unit = UNIT };
	const struct verb *verb = NULL;
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
	c.verb = verb;
	if (status == -1 && limits_read() != OPTION_OK)
		status = FAILED;
	if (status == -1)
		status = choose(&c, argv);
	if (status == -1)
		status = refuse_here(verb);
	if (status == -1)
		status = users_find(&c);
	if (status == -1)
		status = verb->run(&c);
out:
	free(c.user_dir);
	free(c.file);
	free(c.name);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say(NULL, "stdout: %s", strerror(errno));
		return FAILED;
	}
	return status;
}
