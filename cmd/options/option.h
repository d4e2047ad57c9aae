/* SPDX-License-Identifier: ISC */
/*
 * option.h - a command line as a table: a row is an option, with all that is said of it.
 *
 * From the rows come what getopt(3) needs, --help, and the refusals; and, by completions/generate,
 * which reads the rows as text, what the shells offer.
 */
#ifndef OPTION_H
#define OPTION_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTION_OK  (-1) /* go on */
#define OPTION_NOT (-2) /* go on, as if it had not been given */
#define OPTION_BAD 125  /* a line was printed; the status to exit with */

struct option_row {
	const char *name;    /* the long one; NULL: the end of the rows */
	const char *letters; /* each of which means the same */
	const char *value;   /* as --help has it: "W"; "=A|B"; "[=A]", which may be left out */
	const char *help;    /* its lines; NULL: --help and the shells leave it out */
	const char *is;      /* the option that it is another name of */
	const char
	    *instead; /* the option that says the same in another way: the limits file gives way */
	bool many;    /* it may be given again, and adds to itself */

	/*
	 * The values, with spaces between them, that take_choice() knows, and that the shells offer.
	 * Then, or instead, the shells offer @files, @limiters, @ids (of sem), @lines, @command (which
	 * the value is), @signals, @processes, @users or @times.
	 */
	const char *offers;

	/*
	 * Takes WORD, which is NULL if the value was left out, of OPTION, as it was typed: OPTION_OK,
	 * OPTION_NOT or, after a line, OPTION_BAD.  NULL: there is nothing to take.
	 */
	int (*take)(const struct option_row *row, void *into, const char *option, char *word);
	size_t at;                                 /* where it goes in what INTO points to */
	uint64_t least, most;                      /* of a number */
	bool (*parse)(const char *word, void *to); /* for take_parsed() */
	unsigned setting;                          /* enum flk_setting: for take_setting() */
	const char *wrong; /* what a word is that is no such value, and what to write */

	const char *no_command; /* why no command can stand beside it */

	/* Why it is only for limiters in files, or only for those in a store. */
	const char *not_in_store;
	bool only_in_store;
};

typedef int option_take(const struct option_row *row, void *into, const char *option, char *word);

/* To `at': a bool, a char *, a uint32_t, ns in a uint64_t, and an int. */
option_take take_yes, take_text, take_number, take_time, take_choice;
option_take take_parsed; /* what parse() makes of the word */

/* What two options, or more, are to each other. */
struct option_rule {
	const char *option;
	const char *others; /* with spaces between them */
	const char *why; /* they exclude each other; NULL: the option has no effect without one */
};

struct habit;

struct command_line {
	const char *usage;                /* what --help begins with */
	const struct option_row *rows[4]; /* lists of rows; NULL: no more */
	const struct option_rule *rules;  /* up to one without an option; or NULL */
	const struct habit *habits;       /* options of other tools (see suggest.h) */

	/* What else the word may mean as a value, in another tool; NULL: nothing. */
	const char *(*other_meaning)(const struct option_row *row, const char *word);

	const char *more; /* what --help ends with */
};

#define MOST_GIVEN 64
#define MOST_OFF   8

/* Which options were given, each once; and which so that they do nothing, as -T 0. */
struct given {
	const struct option_row *row[MOST_GIVEN], *off[MOST_OFF];
	unsigned n, offs;
};

/*
 * Reads the options before the first other word, at optind then: OPTION_OK; or the status to exit with,
 * after a line, or after what --help or --version print.
 */
int options_read(const struct command_line *c, void *into, struct given *given, int argc,
		 char **argv);

/*
 * The same of words that are no command line, but for the options in `before', which had been given
 * before, or were said in another way: they are read and not taken.
 */
int options_read_words(const struct command_line *c, void *into, struct given *given,
		       const struct given *before, int argc, char **argv);

/* Whether those that were given go together: OPTION_OK, or OPTION_BAD after a line. */
int options_agree(const struct command_line *c, const struct given *given);

bool options_given(const struct given *given, const char *name);
/* As if it had not been given; what it set is the caller's to undo. */
void options_forget(struct given *given, const char *name);

/* ---- the parts, for a command line that is read in another way ---- */

#define OPTION_ROWS 80

/* As getopt(3) wants it.  The letters begin with a '+': the options end at the first other word. */
struct option_table {
	const struct option_row *row[OPTION_ROWS];
	struct option longs[OPTION_ROWS + 1];
	char letters[3 * OPTION_ROWS + 3];
	unsigned n;
};

/* Of lists of rows, up to a NULL. */
void option_table_make(struct option_table *t, const struct option_row *const rows[]);

/* What getopt(3) returned. */
const struct option_row *option_table_row(const struct option_table *t, int got);

/* Whether the option counts as given. */
void option_note(struct given *given, const struct option_row *row, bool is_given);

/* What --help says of it, with newlines; "" if nothing. */
#define OPTION_HELP 400
const char *option_help(const struct option_row *row, char room[OPTION_HELP]);

/* ---- values ---- */

int option_bad(const char *option, const char *value, const char *what);

/* Whether the word is one of those in the list, which have a space between them; and which: 0, 1, ... */
bool option_is_among(const char *list, const char *word, int *which);

/* The word is one of those that the row offers: OPTION_OK and which; or OPTION_BAD, after a line. */
int option_choice(const struct option_row *row, const char *option, const char *word, int *which);

#endif
