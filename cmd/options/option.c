/* SPDX-License-Identifier: ISC */
#include "option.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say.h"
#include "suggest.h"

#define FIRST  256 /* the value by which getopt(3) knows the first row; below are letters */
#define HELP   8192
#define MARGIN 25 /* of what --help says of an option */

/* ---- the table, as getopt(3) wants it ---- */

static unsigned
find(const struct option_table *t, const char *name)
{
	unsigned i;

	for (i = 0; i < t->n && strcmp(t->row[i]->name, name) != 0; i++)
		;
	return i;
}

static int
has_value(const struct option_row *row)
{
	return row->value == NULL     ? no_argument
	       : row->value[0] == '[' ? optional_argument
				      : required_argument;
}

void
option_table_make(struct option_table *t, const struct option_row *const rows[])
{
	const struct option_row *const *list, *row;
	const char *p;
	char *letter = t->letters;
	unsigned i;

	t->n = 0;
	for (list = rows; *list != NULL; list++)
		for (row = *list; row->name != NULL; row++)
			t->row[t->n++] = row;
	letter = stpcpy(letter, "+:");
	for (i = 0; i < t->n; i++) {
		row = t->row[i];
		t->longs[i] =
		    (struct option){ row->name, has_value(row), NULL,
				     FIRST + (int)(row->is != NULL ? find(t, row->is) : i) };
		for (p = row->letters; p != NULL && *p != '\0'; p++) {
			*letter++ = *p;
			if (row->value != NULL)
				*letter++ = ':';
		}
	}
	*letter = '\0';
	t->longs[t->n] = (struct option){ NULL, 0, NULL, 0 };
}

const struct option_row *
option_table_row(const struct option_table *t, int c)
{
	unsigned i;

	if (c >= FIRST)
		return t->row[c - FIRST];
	for (i = 0; t->row[i]->letters == NULL || strchr(t->row[i]->letters, c) == NULL; i++)
		;
	return t->row[i]->is != NULL ? t->row[find(t, t->row[i]->is)] : t->row[i];
}

/* ---- what is wrong with a word ---- */

/* A value that may be left out needs the equals sign. */
static int
refuse_apart(const struct option_row *row, const char *option, const char *next)
{
	int at;

	if (next == NULL || row->offers == NULL || !option_is_among(row->offers, next, &at))
		return OPTION_OK;
	say(NULL, "%s %s: write %s=%s", option, next, option, next);
	return OPTION_BAD;
}

/*
 * The option that getopt(3) refused, as it was typed; or its letter, if it is amid others in a
 * word.  A missing value may have taken optind beyond the end.
 */
static const char *
culprit(char **argv, const struct option_table *t, char room[32])
{
	const char *word = argv[optind - 1];

	if (word != NULL && strncmp(word, "--", 2) == 0 && (optopt == 0 || optopt >= FIRST))
		return word;
	if (optopt >= FIRST)
		snprintf(room, 32, "--%s", option_table_row(t, optopt)->name);
	else if (optopt > ' ' && optopt < 0x7f)
		snprintf(room, 32, "-%c", optopt);
	else
		snprintf(room, 32, "%.31s", word != NULL ? word : "option");
	return room;
}

/* getopt(3) returned ':' or '?'. */
static int
refuse(int c, char **argv, const struct option_table *t, const struct habit *habits)
{
	char room[32], typed[64], text[SUGGEST_TEXT];
	const char *word = culprit(argv, t, room), *hint;

	if (c == ':') {
		say(NULL, "%s needs a value: see %s --help", word, say_program);
		return OPTION_BAD;
	}
	if (optopt != 0 && strncmp(word, "--", 2) == 0) {
		say(NULL, "option '%s': takes no value: see %s --help", word, say_program);
		return OPTION_BAD;
	}
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
	hint = habits != NULL ? suggest_habit(typed, habits) : NULL;
	if (hint != NULL) {
		say(NULL, "option '%s': unknown: %s", word, hint);
		return OPTION_BAD;
	}
	hint = optopt == 0 ? suggest_option(word, t->longs, text) : "";
	/* A hint with "or" in it lists the options that begin with the word. */
	say(NULL, "option '%s': %s: %s%ssee %s --help", word,
	    strstr(hint, " or ") != NULL ? "ambiguous" : "unknown", hint, *hint != '\0' ? " " : "",
	    say_program);
	return OPTION_BAD;
}

/* ---- --help and --version ---- */

static int
print(const char *text)
{
	size_t n = strlen(text);

	if (write(STDOUT_FILENO, text, n) == (ssize_t)n)
		return 0;
	say(NULL, "stdout: %s", strerror(errno));
	return OPTION_BAD;
}

struct text {
	char *room;
	size_t size, n;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->room + t->n, t->size - t->n, format, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < t->size - t->n)
		t->n += (size_t)n;
}

/* What is said begins at the margin; behind a long option four columns later, or three behind it. */
static void
add_row(struct text *t, const struct option_row *row)
{
	const char *p = row->letters, *line = row->help, *end;
	size_t from = t->n, width;

	if (row->help == NULL)
		return;

	add(t, "  ");
	for (; p != NULL && *p != '\0'; p++)
		add(t, "-%c, ", *p);
	if (row->letters == NULL)
		add(t, "    ");
	add(t, "--%s", row->name);
	if (row->value != NULL)
		add(t, "%s%s", row->value[0] == '[' || row->value[0] == '=' ? "" : " ", row->value);
	width = t->n - from;
	width = width < MARGIN - 1 ? MARGIN - width : width < MARGIN + 2 ? MARGIN + 4 - width : 3;
	for (;; line = end + 1) {
		end = strchrnul(line, '\n');
		add(t, "%*s%.*s\n", (int)width, "", (int)(end - line), line);
		if (*end == '\0')
			break;
		width = MARGIN;
	}
}

const char *
option_help(const struct option_row *row, char room[OPTION_HELP])
{
	struct text text = { room, OPTION_HELP, 0 };

	room[0] = '\0';
	add_row(&text, row);
	return room;
}

static int
print_help(const struct command_line *c, const struct option_table *t)
{
	char room[HELP];
	struct text text = { room, sizeof(room), 0 };
	unsigned i;

	add(&text, "%s\n", c->usage);
	for (i = 0; i < t->n; i++)
		add_row(&text, t->row[i]);
	add(&text, "\n%s", c->more);
	return print(room);
}

static int
print_version(void)
{
	char room[HELP];
	struct text text = { room, sizeof(room), 0 };

	add(&text, "%s " VERSION "\n", say_program);
	return print(room);
}

/* ---- reading ---- */

/* The row is to be in the list, or not to be. */
static void
put(const struct option_row **list, unsigned *n, unsigned most, const struct option_row *row,
    bool in)
{
	unsigned i;

	for (i = 0; i < *n && list[i] != row; i++)
		;
	if (in && i == *n && i < most)
		list[(*n)++] = row;
	else if (!in && i < *n)
		list[i] = list[--*n];
}

void
option_note(struct given *given, const struct option_row *row, bool is_given)
{
	put(given->row, &given->n, MOST_GIVEN, row, is_given);
	put(given->off, &given->offs, MOST_OFF, row, !is_given);
}

static int
take(const struct command_line *c, const struct option_row *row, void *into, const char *option,
     const char *next)
{
	const char *other;

	if (row->value != NULL && optarg == NULL && refuse_apart(row, option, next) != OPTION_OK)
		return OPTION_BAD;
	if (optarg != NULL && c->other_meaning != NULL &&
	    (other = c->other_meaning(row, optarg)) != NULL)
		return option_bad(option, optarg, other);
	return row->take != NULL ? row->take(row, into, option, optarg) : OPTION_OK;
}

static bool
was_said(const struct given *before, const struct option_row *row)
{
	unsigned i;

	if (before == NULL)
		return false;
	for (i = 0; i < before->offs; i++)
		if (before->off[i] == row)
			return true;
	return options_given(before, row->name) ||
	       (row->instead != NULL && options_given(before, row->instead));
}

static int
take_it(const struct command_line *c, const struct option_table *t, int got, int at, void *into,
	struct given *given, const struct given *before, char **argv)
{
	const struct option_row *row = option_table_row(t, got);
	char option[40];
	int status;

	if (was_said(before, row))
		return OPTION_OK;
	if (at >= 0)
		snprintf(option, sizeof(option), "--%s", t->longs[at].name);
	else
		snprintf(option, sizeof(option), "-%c", got);
	status = take(c, row, into, option, argv[optind]);
	option_note(given, row, status == OPTION_OK);
	return status == OPTION_NOT ? OPTION_OK : status;
}

static int
read_options(const struct command_line *c, void *into, struct given *given,
	     const struct given *before, int argc, char **argv)
{
	int got, at = -1, status = OPTION_OK;
	struct option_table t;

	option_table_make(&t, c->rows);
	opterr = 0;
	for (;
	     status == OPTION_OK && (got = getopt_long(argc, argv, t.letters, t.longs, &at)) != -1;
	     at = -1) {
		if (got == ':' || got == '?')
			status = refuse(got, argv, &t, c->habits);
		else if (strcmp(option_table_row(&t, got)->name, "help") == 0)
			status = print_help(c, &t);
		else if (strcmp(option_table_row(&t, got)->name, "version") == 0)
			status = print_version();
		else
			status = take_it(c, &t, got, at, into, given, before, argv);
	}
	return status;
}

int
options_read(const struct command_line *c, void *into, struct given *given, int argc, char **argv)
{
	return read_options(c, into, given, NULL, argc, argv);
}

int
options_read_words(const struct command_line *c, void *into, struct given *given,
		   const struct given *before, int argc, char **argv)
{
	int at = optind, status;

	optind = 0; /* begin anew */
	status = read_options(c, into, given, before, argc, argv);
	if (status == OPTION_OK && optind < argc)
		status = option_bad("word", argv[optind], "unexpected: here are only options");
	optind = at;
	return status;
}

/* ---- what goes together ---- */

bool
options_given(const struct given *given, const char *name)
{
	unsigned i;

	for (i = 0; i < given->n; i++)
		if (strcmp(given->row[i]->name, name) == 0)
			return true;
	return false;
}

void
options_forget(struct given *given, const char *name)
{
	unsigned i, n = 0;

	for (i = 0; i < given->n; i++)
		if (strcmp(given->row[i]->name, name) != 0)
			given->row[n++] = given->row[i];
	given->n = n;
}

/* One of those in the list that was given; NULL: none. */
static const char *
one_given(const struct given *given, const char *list)
{
	unsigned i;
	int at;

	for (i = 0; i < given->n; i++)
		if (option_is_among(list, given->row[i]->name, &at))
			return given->row[i]->name;
	return NULL;
}

/* "--when or --when-run"; or one alone, by its letter if it has one. */
static const char *
name_all(const struct command_line *c, const char *list, bool short_one, char room[100])
{
	const struct option_row *const *rows, *row;
	size_t n = 0, length;

	for (rows = c->rows; short_one && *rows != NULL; rows++) {
		for (row = *rows; row->name != NULL; row++) {
			if (row->letters == NULL || strcmp(row->name, list) != 0)
				continue;
			snprintf(room, 100, "-%c", row->letters[0]);
			return room;
		}
	}
	for (; *list != '\0' && n < 100; list += length + (list[length] == ' ')) {
		length = strcspn(list, " ");
		n += (size_t)snprintf(room + n, 100 - n, "%s--%.*s", n > 0 ? " or " : "",
				      (int)length, list);
	}
	return room;
}

int
options_agree(const struct command_line *c, const struct given *given)
{
	const struct option_rule *r;
	const char *other;
	char names[100], give[100];

	for (r = c->rules; r != NULL && r->option != NULL; r++) {
		if (!options_given(given, r->option))
			continue;
		other = one_given(given, r->others);
		if (r->why != NULL && other != NULL) {
			say(NULL, "--%s and --%s cannot be combined: %s: drop --%s", r->option,
			    other, r->why, other);
			return OPTION_BAD;
		}
		if (r->why == NULL && other == NULL) {
			say(NULL, "--%s has no effect without %s: give %s, or drop it", r->option,
			    name_all(c, r->others, false, names),
			    strchr(r->others, ' ') != NULL ? "one"
							   : name_all(c, r->others, true, give));
			return OPTION_BAD;
		}
	}
	return OPTION_OK;
}
