/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "habits.h"
#include "limiter.h"
#include "limits_apply.h"
#include "say.h"
#include "template.h"
#include "taker_rows.h"

/* ---- the table ---- */

static int
take_null(const struct option_row *row, void *into, const char *option, char *word)
{
	struct options *o = into;

	(void)row;
	(void)option;
	(void)word;
	o->lines = false;
	o->delimiter = '\0';
	return OPTION_OK;
}

static int
take_delimiter(const struct option_row *row, void *into, const char *option, char *word)
{
	struct options *o = into;
	static const char from[] = "ntr0\\", to[] = "\n\t\r\0\\";
	const char *p;

	(void)row;
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
take_replace(const struct option_row *row, void *into, const char *option, char *word)
{
	return *word == '\0' ? option_bad(option, word, "nothing to replace: use {} or the like")
			     : take_text(row, into, option, word);
}

static int
take_fail_fast(const struct option_row *row, void *into, const char *option, char *word)
{
	int which;

	((struct options *)into)->fail_fast = word != NULL ? END_ALL : START_NO_MORE;
	return word != NULL ? option_choice(row, option, word, &which) : OPTION_OK;
}

/* -k or -t, and a word that can't be a duration: the user may mean the option of another tool. */
static const char *
other_meaning(const struct option_row *row, const char *word)
{
	bool k = strcmp(row->name, "kill-after") == 0;

	if (!k && strcmp(row->name, "timeout") != 0)
		return NULL;
	if (strspn(word, ".0123456789") > 0 && word[strlen(word) - 1] != '%')
		return NULL;
	return k ? "not a duration: for parallel's -k drop the option, as output is in order"
		 : "not a duration: for parallel's --timeout use -T DUR; for xargs' -t "
		   "--dry-run";
}

#define TO(member)  .at = offsetof(struct options, member)
#define YES(member) .take = take_yes, TO(member)

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "arg-file", .letters = "a", .value = "FILE", .take = take_text, TO(arg_file), .offers = "@files",
	  .help = "items are lines of FILE" },
	{ .name = "null", .letters = "0", .take = take_null, .help = "items end with a NUL" },
	{ .name = "delimiter", .letters = "d", .value = "C", .take = take_delimiter,
	  .help = "items end with C, or with \\n, \\t, \\r, \\0" },
	{ .name = "max-items", .letters = "L", .value = "K", .take = take_number, TO(per_command),
	  .least = 1, .most = 1000000, .wrong = "use 1 to 1000000",
	  .help = "K items per command: {1}, {2}, ... are single ones" },
	{ .name = "replace", .letters = "I", .value = "STR", .take = take_replace, TO(replace),
	  .help = "replace STR instead of {}" },
	{ .name = "weight-from", .value = "FIELD|LINE", .take = take_text, TO(weight_from),
	  .help = "take the weight from the item's FIELD, or from\n"
	          "what sh prints for LINE, in which $1 is the item" },
	{ .name = "order", .value = "input|done|none", .take = take_choice, TO(order), .offers = "input done none",
	  .help = "when to print what commands print (input)" },
	{ .name = "tag", YES(tag), .help = "begin each line with the item" },
	{ .name = "fail-fast", .value = "[=now]", .take = take_fail_fast, .offers = "now",
	  .help = "start no more after a failure; now: end running ones" },
	{ .name = "retries", .value = "R", .take = take_number, TO(retries), .most = 1000000,
	  .wrong = "use 0 to 1000000", .help = "retry a failed command up to R times" },
	{ .name = "joblog", .value = "FILE", .take = take_text, TO(joblog), .offers = "@files",
	  .help = "log each command that has ended to FILE" },
	{ .name = "resume", YES(resume), .help = "skip commands in FILE; exit with 123 if one failed" },
	{ .name = "resume-failed", YES(resume_failed), .help = "skip those that succeeded; run the failed again" },
	{ .name = "dry-run", YES(dry_run), .help = "print the commands and run nothing" },
	{ .name = "quiet", .letters = "q", YES(quiet), .help = "print nothing about progress, waits and failures" },
	{ .name = "help", .letters = "h", .help = "print this help" },
	{ .name = "version", .letters = "V", .help = "print the version" },
	{ .name = NULL },
};
/* clang-format on */

static const struct option_rule rules[] = {
	TAKER_RULES,
	{ "resume", "joblog", NULL },
	{ "resume-failed", "joblog", NULL },
	{ NULL, NULL, NULL },
};

static const struct command_line command_line = {
	.usage =
	    "Usage: flockmap [OPTION]... COMMAND [ARG]... [::: ITEM...]\n"
	    "Run COMMAND for each item, under a shared limiter.\n"
	    "\n"
	    "Items are lines of standard input, or the words after `:::'.\n"
	    "In COMMAND and ARG:\n"
	    "  {} the item (appended if absent)   {#} its number   {%} the seat\n"
	    "  {.} without its extension   {/} its last part   {//} its directory   {/.} both\n",
	.rows = { taker_rows, rows },
	.rules = rules,
	.habits = map_habits,
	.other_meaning = other_meaning,
	.more = "DUR is in seconds, or has units: us, ms, s, m (min), h, d, as 1.5h or 1h30m.\n"
		"Exit status: 0 all succeeded; 123 a command failed; 75 no permit;\n"
		"125 flockmap failed; 126 COMMAND cannot be executed; 127 COMMAND not found.\n",
};

/* ---- the words ---- */

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
check_together(struct options *o)
{
	if (o->items != NULL && o->arg_file != NULL) {
		say(NULL, "--arg-file and `:::' both give items: use one of them");
		return OPTION_BAD;
	}
	if (o->tag && o->order == STRAIGHT) {
		say(NULL, "--tag needs collected output: use it with --order input or done");
		return OPTION_BAD;
	}
	if (options_agree(&command_line, &o->want.given) != OPTION_OK ||
	    taker_options_check(&o->want) != OPTION_OK)
		return OPTION_BAD;
	return limiter_read_gate(&o->want);
}

/* A command that is an item itself has no name that lasts. */
static int
ask_limits(struct options *o)
{
	bool is_item = template_has_item(o->replace, o->command[0]);
	int status;

	o->unlimited = taker_options_off();
	status = o->unlimited ? OPTION_OK : limits_read();
	if (status == OPTION_OK && !is_item)
		status = limits_take_command(&o->want, o->command);
	o->want.limiter = taker_options_limiter(&o->want, is_item ? "flockmap" : o->command[0]);
	return status == OPTION_OK ? limits_take_limiter(&o->want) : status;
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
	int status;

	*o = (struct options){ .want = TAKER_DEFAULTS,
			       .delimiter = '\n',
			       .lines = true,
			       .replace = "{}",
			       .per_command = 1 };
	status = options_read(&command_line, o, &o->want.given, argc, argv);
	if (status != OPTION_OK)
		return status;
	o->resume |= o->resume_failed;
	if ((status = parse_words(o, argv + optind)) != OPTION_OK)
		return status;
	return ask_limits(o) == OPTION_OK ? check_together(o) : OPTION_BAD;
}
