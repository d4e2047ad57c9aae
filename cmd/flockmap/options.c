/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "habits.h"
#include "limiter.h"
#include "option.h"
#include "parse.h"
#include "say.h"
#include "template.h"

enum {
	OPT_AND = 256,
	OPT_DRY_RUN,
	OPT_FAIL_FAST,
	OPT_JOBLOG,
	OPT_NESTED,
	OPT_ORDER,
	OPT_RESUME,
	OPT_RESUME_FAILED,
	OPT_RETRIES,
	OPT_TAG,
	OPT_WEIGHT_FROM
};

static const char short_options[] = "+:0E:I:L:Va:d:hq" TAKER_SHORT;

static const struct option long_options[] = {
	TAKER_LONG,
	{ "and", required_argument, NULL, OPT_AND },
	{ "arg-file", required_argument, NULL, 'a' },
	{ "conflict-exit-code", required_argument, NULL, 'E' },
	{ "delimiter", required_argument, NULL, 'd' },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "fail-fast", optional_argument, NULL, OPT_FAIL_FAST },
	{ "help", no_argument, NULL, 'h' },
	{ "joblog", required_argument, NULL, OPT_JOBLOG },
	{ "max-items", required_argument, NULL, 'L' },
	{ "nested", required_argument, NULL, OPT_NESTED },
	{ "null", no_argument, NULL, '0' },
	{ "order", required_argument, NULL, OPT_ORDER },
	{ "quiet", no_argument, NULL, 'q' },
	{ "replace", required_argument, NULL, 'I' },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "resume-failed", no_argument, NULL, OPT_RESUME_FAILED },
	{ "retries", required_argument, NULL, OPT_RETRIES },
	{ "tag", no_argument, NULL, OPT_TAG },
	{ "version", no_argument, NULL, 'V' },
	{ "weight-from", required_argument, NULL, OPT_WEIGHT_FROM },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
    "Usage: flockmap [OPTION]... COMMAND [ARG]... [::: ITEM...]\n"
    "Run COMMAND for each item, under a shared limiter.\n"
    "\n"
    "Items are lines of standard input, or the words after `:::'.\n"
    "In COMMAND and ARG:\n"
    "  {} the item (appended if absent)   {#} its number   {%} the seat\n"
    "  {.} without its extension   {/} its last part   {//} its directory   {/.} both\n"
    "\n"
    "  -a, --arg-file FILE    items are lines of FILE\n"
    "  -0, --null             items end with a NUL\n"
    "  -d, --delimiter C      items end with C, or with \\n, \\t, \\r, \\0\n"
    "  -L, --max-items K      K items per command: {1}, {2}, ... are single ones\n"
    "  -I, --replace STR      replace STR instead of {}\n"
    "  -N, --name NAME        the limiter (default: $FLOCKLIMIT_NAME, or the last\n"
    "                         part of COMMAND's path)\n"
    "  -f, --file PATH        the limiter kept in PATH\n"
    "      --mode OCTAL       permissions of a new limiter file (0600)\n"
    "  -n, -j, --limit N|N%   at most N units at once, or per cent of the CPUs\n"
    "      --jobs N|N%        the same\n"
    "  -w, --weight W         each command takes W units (1); MIN-MAX: what is free\n"
    "      --weight-from FIELD|LINE   take the weight from the item's FIELD, or from\n"
    "                         what sh prints for LINE, in which $1 is the item\n"
    "      --and NAME[=W[/N]]     take W units (1) of this limiter, too; repeatable\n"
    "  -t, --timeout DUR      give up if an item waits longer than DUR (its run: -T)\n"
    "      --nonblock         the same as -t 0\n"
    "      --max-queue M      give up rather than wait behind M others\n"
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
    "      --when-run LINE    start an item only when sh -c LINE exits with 0\n"
    "      --store URL        keep the limiter in a store, for many machines:\n"
    "                         see flocklimit-store(7)\n"
    "      --ttl DUR          store: a taker is dead after DUR without contact (10s)\n"
    "      --grace DUR        store: then keep its permit for DUR (the shortest safe)\n"
    "      --on-lost=kill|warn    store: when a command loses its permit (kill)\n"
    "      --reclaim=auto|manual  store: a dead taker's permit passes on by itself\n"
    "                         (default), or when an operator breaks it\n"
    "      --local N          store: also at most N units on this machine\n"
    "  -E, --conflict-exit-code C   exit status when there is no permit (75)\n"
    "  -T, --run-timeout DUR  end a command when it has run for DUR,\n"
    "  -s, --signal SIG       with SIG (TERM),\n"
    "  -k, --kill-after DUR   and with KILL after another DUR\n"
    "      --order input|done|none   when to print what commands print (input)\n"
    "      --tag              begin each line with the item\n"
    "      --fail-fast[=now]  start no more after a failure; now: end running ones\n"
    "      --retries R        retry a failed command up to R times\n"
    "      --joblog FILE      log each command that has ended to FILE\n"
    "      --resume-failed    skip commands that succeeded according to FILE\n"
    "      --resume           skip failed commands as well; exit with 123 then\n"
    "      --nested=join|queue   under a permit of this limiter: join it and run one\n"
    "                         command at a time (default), or queue for others\n"
    "      --dry-run          print the commands and run nothing\n"
    "  -q, --quiet            print nothing about progress, waits and failures\n"
    "  -h, --help             print this help\n"
    "  -V, --version          print the version\n"
    "\n"
    "DUR is in seconds, or has units: us, ms, s, m (min), h, d, as 1.5h or 1h30m.\n"
    "Exit status: 0 all succeeded; 123 a command failed; 75 no permit;\n"
    "125 flockmap failed; 126 COMMAND cannot be executed; 127 COMMAND not found.\n";

static int
parse_delimiter(struct options *o, const char *option, const char *word)
{
	static const char from[] = "ntr0\\", to[] = "\n\t\r\0\\";
	const char *p;

	o->lines = false;
	o->delimiter = word[0];
	if (word[0] != '\0' && word[1] == '\0')
		return OPTION_OK;
	if (word[0] == '\\' && word[1] != '\0' && word[2] == '\0' &&
	    (p = strchr(from, word[1])) != NULL) {
		o->delimiter = to[p - from];
		return OPTION_OK;
	}
	return option_bad(option, word, "use one character, or \\n, \\t, \\r, \\0");
}

static int
parse_choice(const char *option, const char *word, const char *const names[], int *choice)
{
	char what[80];
	int i;

	for (i = 0; names[i] != NULL; i++) {
		if (strcmp(word, names[i]) == 0) {
			*choice = i;
			return OPTION_OK;
		}
	}
	snprintf(what, sizeof(what), "use %s%s%s%s%s", names[0], names[2] != NULL ? ", " : " or ",
		 names[1], names[2] != NULL ? " or " : "", names[2] != NULL ? names[2] : "");
	return option_bad(option, word, what);
}

static int
parse_count(const char *option, const char *word, uint64_t least, unsigned *count)
{
	uint64_t v;

	if (!parse_number(word, least, 1000000, &v))
		return option_bad(option, word,
				  least > 0 ? "use 1 to 1000000" : "use 0 to 1000000");
	*count = (unsigned)v;
	return OPTION_OK;
}

/* -k or -t, and a word that can't be a duration: the user may mean the option of another tool. */
static const char *
other_meaning(int c, const char *word)
{
	if (c != 'k' && c != 't')
		return NULL;
	if (strspn(word, ".0123456789") > 0 && word[strlen(word) - 1] != '%')
		return NULL;
	return c == 'k' ? "not a duration: for parallel's -k drop the option, as output is in order"
			: "not a duration: for parallel's --timeout use -T DUR; for xargs' -t "
			  "--dry-run";
}

/* Options with a fixed list of values, or a value of a kind of its own. */
static int
parse_value(struct options *o, int c, const char *option, char *word)
{
	static const char *const orders[] = { "input", "done", "none", NULL };
	static const char *const nestings[] = { "join", "queue", NULL };
	const char *other;
	int choice = 0, status;
	uint64_t v;

	switch (c) {
	case 'E':
		if (!parse_number(word, 0, 255, &v))
			return option_bad(option, word, "not an exit status: use 0 to 255");
		o->conflict_exit = (int)v;
		return OPTION_OK;
	case 'I':
		if (*word == '\0')
			return option_bad(option, word, "nothing to replace: use {} or the like");
		o->replace = word;
		return OPTION_OK;
	case OPT_ORDER:
		status = parse_choice(option, word, orders, &choice);
		o->order = (enum order)choice;
		return status;
	case OPT_NESTED:
		status = parse_choice(option, word, nestings, &choice);
		o->queue_nested = choice == 1;
		return status;
	default:
		if ((other = other_meaning(c, word)) != NULL)
			return option_bad(option, word, other);
		return taker_options_parse(&o->want, c, option, word);
	}
}

static int
parse_option(struct options *o, int c, char **argv)
{
	char room[32];
	const char *option = option_name(c, long_options, room);
	static const char *const now[] = { "now", NULL };

	switch (c) {
	case OPT_FAIL_FAST:
		if (optarg != NULL && strcmp(optarg, "now") != 0)
			return option_bad(option, optarg, "use --fail-fast or --fail-fast=now");
		o->fail_fast = optarg != NULL ? END_ALL : START_NO_MORE;
		return optarg != NULL ? OPTION_OK : option_apart(option, argv[optind], now);
	case '0':
		o->lines = false;
		o->delimiter = '\0';
		return OPTION_OK;
	case 'd':
		return parse_delimiter(o, option, optarg);
	case 'a':
		o->arg_file = optarg;
		return OPTION_OK;
	case 'L':
		return parse_count(option, optarg, 1, &o->per_command);
	case OPT_RETRIES:
		return parse_count(option, optarg, 0, &o->retries);
	case OPT_WEIGHT_FROM:
		o->weight_from = optarg;
		return OPTION_OK;
	case OPT_AND:
		return and_option_add(&o->ands, optarg);
	case OPT_TAG:
		o->tag = true;
		return OPTION_OK;
	case OPT_JOBLOG:
		o->joblog = optarg;
		return OPTION_OK;
	case OPT_RESUME_FAILED:
		o->resume_failed = true;
		o->resume = true;
		return OPTION_OK;
	case OPT_RESUME:
		o->resume = true;
		return OPTION_OK;
	case OPT_DRY_RUN:
		o->dry_run = true;
		return OPTION_OK;
	case 'q':
		o->quiet = true;
		return OPTION_OK;
	case ':':
	case '?':
		return option_refuse(c, argv, long_options, map_habits);
	default:
		return parse_value(o, c, option, optarg);
	}
}

/* COMMAND [ARG]... [::: ITEM...] */
static int
parse_words(struct options *o, char **words)
{
	char **w;

	o->command = words;
	for (w = words; *w != NULL; w++) {
		if (o->items == NULL && strncmp(*w, "::::", 4) == 0)
			return option_bad("word", *w, "for the items of a file use -a FILE");
		if (strcmp(*w, ":::") != 0)
			continue;
		if (o->items != NULL) {
			say(NULL, "a second `:::': only one list of items is allowed");
			return OPTION_BAD;
		}
		o->items = w + 1;
	}
	if (o->command[0] == NULL || o->command + 1 == o->items) {
		say(NULL, "no command to run: see flockmap --help");
		return OPTION_BAD;
	}
	return OPTION_OK;
}

static int
check_together(const struct options *o)
{
	if (o->items != NULL && o->arg_file != NULL) {
		say(NULL, "--arg-file and `:::' both give items: use one of them");
		return OPTION_BAD;
	}
	if (o->tag && o->order == STRAIGHT) {
		say(NULL, "--tag needs collected output: use it with --order input or done");
		return OPTION_BAD;
	}
	if (o->resume && o->joblog == NULL) {
		say(NULL, "--resume needs --joblog, the log of the commands that have ended");
		return OPTION_BAD;
	}
	if (taker_options_check(&o->want) != OPTION_OK)
		return OPTION_BAD;
	return limiter_check_gate(&o->want);
}

void
map_options_split(struct options *o)
{
	if (o->items != NULL)
		o->items[-1] = NULL;
}

int
map_options_parse(struct options *o, int argc, char **argv)
{
	int c, status;

	*o = (struct options){ .want = TAKER_DEFAULTS,
			       .conflict_exit = 75,
			       .delimiter = '\n',
			       .lines = true,
			       .replace = "{}",
			       .per_command = 1 };
	opterr = 0;
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		if (c == 'h')
			return option_print(help);
		if (c == 'V')
			return option_print("flockmap " VERSION "\n");
		if ((status = parse_option(o, c, argv)) != OPTION_OK)
			return status;
	}
	if ((status = parse_words(o, argv + optind)) != OPTION_OK)
		return status;
	/* A command that is an item itself has no name that lasts. */
	o->want.limiter = taker_options_limiter(
	    &o->want, template_has_item(o, o->command[0]) ? "flockmap" : o->command[0]);
	return check_together(o);
}
