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

static int
take_line_buffer(const struct option_row *row, void *into, const char *option, char *word)
{
	(void)row;
	(void)option;
	(void)word;
	((struct options *)into)->order = AS_LINES;
	return OPTION_OK;
}

#define TO(member)  .at = offsetof(struct options, member)
#define YES(member) .take = take_yes, TO(member)

/* clang-format off */
static const struct option_row rows[] = {
	{ .name = "command", .letters = "c", .value = "LINE", .take = take_text, TO(line), .offers = "@command",
	  .help = "run LINE with /bin/sh -c; each {} in it is quoted" },
	{ .name = "arg-file", .letters = "a", .value = "FILE", .take = take_text, TO(arg_file), .offers = "@files",
	  .help = "items are lines of FILE" },
	{ .name = "null", .letters = "0", .take = take_null, .help = "items end with a NUL" },
	{ .name = "delimiter", .letters = "d", .value = "C", .take = take_delimiter,
	  .help = "items end with C, or with \\n, \\t, \\r, \\0" },
	{ .name = "max-items", .letters = "L", .value = "K", .take = take_number, TO(per_command),
	  .least = 1, .most = 1000000, .wrong = "use 1 to 1000000",
	  .help = "at most K items per command: {1}, {2}, ... are single" },
	{ .name = "replace", .letters = "I", .value = "STR", .take = take_replace, TO(command.replace),
	  .help = "replace STR instead of {}" },
	{ .name = "weight-from", .value = "FIELD|LINE", .take = take_text, TO(weight_from),
	  .help = "take the weight from the item's FIELD, or from\n"
	          "what sh prints for LINE, in which $1 is the item" },
	{ .name = "order", .value = "input|done|none", .take = take_choice, TO(order), .offers = "input done none",
	  .help = "when to print what commands print (input)" },
	{ .name = "line-buffer", .take = take_line_buffer, .help = "print each line as soon as it is whole" },
	{ .name = "tag", YES(tag), .help = "begin each line with the item" },
	{ .name = "fail-fast", .value = "[=now]", .take = take_fail_fast, .offers = "now",
	  .help = "start no more after a failure; now: end running ones" },
	{ .name = "retries", .value = "R", .take = take_number, TO(retries), .most = 1000000,
	  .wrong = "use 0 to 1000000", .help = "retry a failed command up to R times" },
	{ .name = "results", .value = "DIR", .take = take_text, TO(results), .offers = "@folders",
	  .help = "keep what the commands print in DIR/1/stdout, ..." },
	{ .name = "joblog", .value = "FILE", .take = take_text, TO(joblog), .offers = "@files",
	  .help = "log each command that has ended to FILE" },
	{ .name = "resume", YES(resume), .help = "skip commands in FILE; exit with 123 if one failed" },
	{ .name = "resume-failed", YES(resume_failed), .help = "skip those that succeeded; run the failed again" },
	{ .name = "or-run", .take = take_yes, TO(want.how.or_run),
	  .help = "without permits, or without a limiter, say why and run\n"
	          "the commands all the same, no more than -n at once" },
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
	    "Usage: flockmap [OPTION]... COMMAND [ARG]... [::: ITEM...]...\n"
	    "Run COMMAND for each item, under a shared limiter.\n"
	    "\n"
	    "Items are lines of standard input, or the words after `:::'; of several lists,\n"
	    "each item of one with each of the others.  In COMMAND, ARG and LINE:\n"
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

/* COMMAND [ARG]... [::: ITEM...]... */
static int
parse_words(struct options *o, char **words)
{
	char **w;

	for (w = words; *w != NULL; w++) {
		if (o->lists == 0 && strncmp(*w, "::::", 4) == 0)
			return option_bad("word", *w, "for the items of a file use -a FILE");
		if (o->lists > 0 && strcmp(*w, ":::+") == 0)
			return option_bad(
			    "word", *w,
			    "each item goes with each of other lists, and not with one: use -L");
		if (strcmp(*w, ":::") != 0)
			continue;
		if (o->lists++ == 0)
			o->items = w + 1;
	}
	o->command.words = words;
	if (o->lists > 1 && o->per_command > 1) {
		say(NULL, "-L does not go with several lists: a command gets an item of each");
		return OPTION_BAD;
	}
	if (o->line == NULL && (words[0] == NULL || words + 1 == o->items)) {
		say(NULL, "no command to run: see flockmap --help");
		return OPTION_BAD;
	}
	return OPTION_OK;
}

/* LINE for a shell that all systems have: the quotes of $SHELL may be others. */
static int
use_line(struct options *o)
{
	if (o->command.words[0] != NULL && strcmp(o->command.words[0], ":::") != 0) {
		say(NULL, "-c is the whole command in one word: drop '%s', or move it into LINE",
		    o->command.words[0]);
		return OPTION_BAD;
	}
	o->shell[0] = (char *)(uintptr_t) "/bin/sh";
	o->shell[1] = (char *)(uintptr_t) "-c";
	o->shell[2] = (char *)(uintptr_t)o->line;
	o->command.words = o->shell;
	o->command.line = true;
	if (!template_has_items(&o->command))
		return option_bad("-c", o->line, "write where the item stands: {} or the like");
	if (!template_line_is_safe(&o->command))
		return option_bad(
		    "-c", o->line,
		    "an item is quoted already: write it outside of quotes, ${}, `` and << text");
	return OPTION_OK;
}

static int
check_together(struct options *o)
{
	if (o->items != NULL && o->arg_file != NULL) {
		say(NULL, "--arg-file and `:::' both give items: use one of them");
		return OPTION_BAD;
	}
	if ((o->tag || o->results != NULL) && o->order == STRAIGHT) {
		say(NULL, "--%s needs collected output: drop --order=none",
		    o->tag ? "tag" : "results");
		return OPTION_BAD;
	}
	if (options_agree(&command_line, &o->want.given) != OPTION_OK ||
	    taker_options_check(&o->want) != OPTION_OK)
		return OPTION_BAD;
	return limiter_read_gate(&o->want);
}

/* A command that is an item itself, or a line, has no name that lasts. */
static int
ask_limits(struct options *o)
{
	bool nameless = o->line != NULL || template_is_item(&o->command);
	int status;

	o->unlimited = taker_options_off();
	status = o->unlimited ? OPTION_OK : limits_read();
	if (status == OPTION_OK && !nameless)
		status = limits_take_command(&o->want, o->command.words);
	o->want.limiter =
	    taker_options_limiter(&o->want, nameless ? "flockmap" : o->command.words[0]);
	return status == OPTION_OK ? limits_take_limiter(&o->want) : status;
}

void
map_options_split(struct options *o)
{
	char **w = o->items;
	size_t i;

	for (i = 0; i < o->lists; i++) {
		w[-1] = NULL;
		while (i + 1 < o->lists && strcmp(*w++, ":::") != 0)
			;
	}
}

int
map_options_parse(struct options *o, int argc, char **argv)
{
	int status;

	*o = (struct options){ .want = TAKER_DEFAULTS,
			       .delimiter = '\n',
			       .lines = true,
			       .command.replace = "{}",
			       .per_command = 1 };
	status = options_read(&command_line, o, &o->want.given, argc, argv);
	if (status != OPTION_OK)
		return status;
	o->resume |= o->resume_failed;
	if (parse_words(o, argv + optind) != OPTION_OK ||
	    (o->line != NULL && use_line(o) != OPTION_OK))
		return OPTION_BAD;
	if (o->lists > 1)
		o->per_command = (uint32_t)o->lists;
	return ask_limits(o) == OPTION_OK ? check_together(o) : OPTION_BAD;
}
