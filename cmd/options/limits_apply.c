/* SPDX-License-Identifier: ISC */
#include "limits_apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "and_option.h"
#include "option.h"
#include "say.h"
#include "taker_rows.h"

static struct limits_file files[LIMITS_FILES];

const struct limits_file *
limits_file(unsigned which)
{
	return &files[which];
}

/* ---- the files ---- */

/* ~/.config unless XDG_CONFIG_HOME says where; false if nobody says where home is. */
static bool
user_path(char path[PATH_MAX])
{
	static const char file[] = "/flocklimit/limits", config[] = "/.config";
	const char *base = getenv("XDG_CONFIG_HOME");
	bool is_set = base != NULL && *base == '/';
	char *end = path;

	if (!is_set)
		base = getenv("HOME");
	if (base == NULL || *base != '/' || strlen(base) + sizeof(config) + sizeof(file) > PATH_MAX)
		return false;
	end = stpcpy(end, base);
	if (!is_set)
		end = stpcpy(end, config);
	memcpy(end, file, sizeof(file));
	return true;
}

int
limits_read(void)
{
	const char *path = getenv("FLOCKLIMIT_LIMITS");
	char room[PATH_MAX];
	int status = OPTION_OK;

	if (path != NULL && *path == '\0')
		return OPTION_OK;
	if (path != NULL)
		return limits_file_read(&files[0], path, LIMITS_ASKED_FOR);
	if (user_path(room))
		status = limits_file_read(&files[0], room, LIMITS_OF_USER);
	return status != OPTION_OK ? status
				   : limits_file_read(&files[1], LIMITS_MACHINE, LIMITS_OF_MACHINE);
}

/* ---- lines ---- */

const struct limits_line *
limits_of_command(const struct limits_file *f, char *const *command)
{
	const struct limits_line *best = NULL;
	unsigned most = 0, n;
	size_t i;

	for (i = 0; i < f->lines; i++) {
		n = f->line[i].command ? limits_match(&f->line[i], command) : 0;
		if (n > most) {
			most = n;
			best = &f->line[i];
		}
	}
	return best;
}

const struct limits_line *
limits_of_limiter(const struct limits_file *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->lines; i++)
		if (!f->line[i].command && strcmp(f->line[i].name, name) == 0)
			return &f->line[i];
	return NULL;
}

/* ---- their options ---- */

/* All options of takers, and how flocklimit runs the command. */
static const struct command_line command_line = { .rows = { taker_rows, manner_rows } };

static const struct option_row *
row_of(const char *name)
{
	const struct option_row *row;

	for (row = taker_rows; strcmp(row->name, name) != 0; row++)
		;
	return row;
}

/*
 * What counts as said before a line.  A line of a limiter says which file a name means, and its own --name
 * is to be seen, for it is wrong; a line of a command gives way to a name.
 */
static struct given
said_before(const struct limits_line *line, const struct taker_options *w)
{
	struct given before = w->given;
	unsigned i;

	if (line->command && options_given(&before, "name"))
		option_note(&before, row_of("file"), true);
	for (i = 0; i < before.n && before.row[i] != row_of("name"); i++)
		;
	if (!line->command && i < before.n)
		before.row[i] = before.row[--before.n];
	return before;
}

static int
take_options(const struct limits_line *line, struct taker_options *w)
{
	struct given given = { .n = 0 }, before = said_before(line, w);
	int status;
	unsigned i;

	status = options_read_words(&command_line, w, &given, &before, line->words, line->word);
	if (status != OPTION_OK)
		return OPTION_BAD;
	if (!line->command && options_given(&given, "name"))
		return option_bad("--name", w->name, "the line says the name already: drop it");
	if (options_given(&given, "file") && w->file[0] != '/')
		return option_bad(
		    "--file", w->file,
		    "not an absolute path: it would mean another file in each directory");
	for (i = 0; i < given.n; i++) {
		option_note(&w->given, given.row[i], true);
		option_note(&w->declared, given.row[i], true);
	}
	return OPTION_OK;
}

const char *
limits_where(const struct limits_line *line, char room[LIMITS_WHERE])
{
	snprintf(room, LIMITS_WHERE, "%s:%u", line->file, line->number);
	return room;
}

/* That -n and -w have no effect on a joined permit is said of those alone that were typed. */
int
limits_take(const struct limits_line *line, struct taker_options *w)
{
	bool limit = w->limit_given, weight = w->weight_given;
	char where[LIMITS_WHERE];
	int status;

	if (line == NULL)
		return OPTION_OK;
	say_where = limits_where(line, where);
	status = take_options(line, w);
	say_where = NULL;
	w->limit_given = limit;
	w->weight_given = weight;
	return status;
}

int
limits_take_command(struct taker_options *w, char *const *command)
{
	const struct limits_line *line;
	int status = OPTION_OK;
	unsigned i;

	for (i = 0; i < LIMITS_FILES && status == OPTION_OK; i++) {
		line = limits_of_command(&files[i], command);
		w->ruled |= line != NULL;
		status = limits_take(line, w);
	}
	return status;
}

/* A name in a store is another limiter, unless the line says so. */
static bool
is_elsewhere(const struct limits_line *line, const struct taker_options *w)
{
	const char *store = w->store.url != NULL ? w->store.url : getenv("FLOCKLIMIT_STORE");
	int i;

	if (store == NULL || *store == '\0')
		return false;
	for (i = 1; i < line->words; i++)
		if (strncmp(line->word[i], "--store", 7) == 0)
			return false;
	return true;
}

static int
take_lines(struct taker_options *w)
{
	const struct limits_line *line;
	int status = OPTION_OK;
	unsigned i;

	for (i = 0; i < LIMITS_FILES && status == OPTION_OK; i++) {
		line = limits_of_limiter(&files[i], w->limiter);
		if (line != NULL && !is_elsewhere(line, w))
			status = limits_take(line, w);
	}
	return status;
}

int
limits_take_also(struct taker_options *w)
{
	option_note(&w->given, row_of("name"), true);
	if (w->limit_given)
		option_note(&w->given, row_of("limit"), true);
	if (w->weight_given)
		option_note(&w->given, row_of("weight"), true);
	return take_lines(w);
}

int
limits_take_limiter(struct taker_options *w)
{
	struct taker_options also;
	int status = OPTION_OK;
	unsigned i;

	if (w->limiter != NULL && !options_given(&w->given, "file"))
		status = take_lines(w);
	for (i = 0; i < w->ands.n && status == OPTION_OK; i++) {
		and_option_parse(&also,
				 w->ands.word[i]); /* it was parsed before, without an error */
		status = limits_take_also(&also);
	}
	return status;
}
