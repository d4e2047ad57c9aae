/* SPDX-License-Identifier: ISC */
/*
 * limits.c - the verb limits: what the limits files say, and of what.
 */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "json.h"
#include "limits_apply.h"
#include "limits_text.h"
#include "option.h"
#include "say.h"
#include "taker_rows.h"

/* ---- a line ---- */

static json_t *
json_line(const struct limits_line *line)
{
	json_t *o = json_object(), *options = json_array();
	int i;

	json_put(o, "schema", json_integer(JSON_SCHEMA));
	json_put(o, "file", json_text(line->file));
	json_put(o, "line", json_integer(line->number));
	json_put(o, "limiter", line->command ? json_null() : json_text(line->name));
	json_put(o, "command", line->command ? json_text(line->name) : json_null());
	for (i = 1; i < line->words; i++)
		json_array_append_new(options, json_text(line->word[i]));
	json_put(o, "options", options);
	return o;
}

struct printed {
	json_t *array; /* NULL: lines */
	unsigned n;
};

static void
add(struct printed *p, const struct limits_line *line)
{
	if (line == NULL)
		return;
	p->n++;
	if (p->array != NULL)
		json_array_append_new(p->array, json_line(line));
	else
		limits_print(line);
}

/* ---- which lines ---- */

static void
add_all(struct printed *p)
{
	const struct limits_file *f;
	unsigned i;
	size_t k;

	for (i = 0; i < LIMITS_FILES; i++) {
		f = limits_file(i);
		for (k = 0; k < f->lines; k++)
			add(p, &f->line[k]);
	}
}

static void
add_limiter(struct printed *p, const char *name)
{
	unsigned i;

	for (i = 0; i < LIMITS_FILES; i++)
		add(p, limits_of_limiter(limits_file(i), name));
}

/* Those of a command, and then those of its limiter: the words may be the name of one as well. */
static int
add_of(struct printed *p, char *const *words, bool one)
{
	struct taker_options w = TAKER_DEFAULTS;
	unsigned i;

	for (i = 0; i < LIMITS_FILES; i++)
		add(p, limits_of_command(limits_file(i), words));
	if (limits_take_command(&w, words) != OPTION_OK)
		return FAILED;
	w.limiter = taker_options_limiter(&w, words[0]);
	if (one && strcmp(w.limiter, words[0]) != 0)
		add_limiter(p, words[0]);
	if (w.file == NULL)
		add_limiter(p, w.limiter);
	return DONE;
}

/* ---- --check ---- */

static bool
is_said_before(const struct limits_file *f, const struct limits_line *line)
{
	const struct limits_line *before;

	for (before = f->line; before < line; before++)
		if (before->command == line->command && strcmp(before->name, line->name) == 0)
			return true;
	return false;
}

static int
check_options(const struct limits_file *f, const struct limits_line *line)
{
	static const struct option_rule rules[] = { TAKER_RULES, { NULL, NULL, NULL } };
	static const struct command_line command_line = { .rows = { taker_rows }, .rules = rules };
	struct taker_options w = TAKER_DEFAULTS;
	int status = limits_take(line, &w);
	char where[LIMITS_WHERE];

	if (status != OPTION_OK)
		return status;
	say_where = limits_where(line, where);
	if (is_said_before(f, line)) {
		say(NULL, "has no effect: an earlier line has this name");
		status = OPTION_BAD;
	} else if (w.request.limit != 0 && w.request.weight > w.request.limit) {
		say(NULL, "the weight is above the limit: it could never run");
		status = OPTION_BAD;
	} else {
		status = options_agree(&command_line, &w.given);
	}
	say_where = NULL;
	return status;
}

static int
check_file(const char *path)
{
	static struct limits_file f;
	size_t k;
	int status = limits_file_read(&f, path, LIMITS_ASKED_FOR);

	for (k = 0; k < f.lines; k++)
		if (check_options(&f, &f.line[k]) != OPTION_OK)
			status = OPTION_BAD;
	if (status != OPTION_OK)
		return FAILED;
	printf("%s: %zu line%s, all right\n", path, f.lines, f.lines == 1 ? "" : "s");
	return DONE;
}

int
limits_of(const struct ctl *c)
{
	struct printed p = { .array = NULL };
	int status = DONE;

	if (c->check != NULL)
		return check_file(c->check);
	if (c->json)
		p.array = json_array();
	if (c->words == 0)
		add_all(&p);
	else
		status = add_of(&p, c->word, c->words == 1);
	if (c->json)
		json_print(p.array);
	else if (status == DONE && p.n == 0)
		say(c->words > 0 ? c->word[0] : NULL,
		    "no limits file says anything%s: see flocklimit-limits(5)",
		    c->words > 0 ? " of it" : "");
	return status == DONE && p.n == 0 && c->words > 0 ? NO : status;
}
