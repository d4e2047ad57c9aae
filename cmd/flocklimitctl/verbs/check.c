/* SPDX-License-Identifier: ISC */
/*
 * check.c - the verb check: is the limiter whole?
 */
#include "ctl.h"

#include <jansson.h>
#include <stdio.h>
#include <limits.h>
#include <string.h>

#include "kind.h"
#include "json.h"
#include "limiters.h"
#include "say.h"
#include "text.h"

static void
print_failures(const char *name, char *why)
{
	char *line, shown[PATH_MAX];

	for (line = strtok(why, "\n"); line != NULL; line = strtok(NULL, "\n"))
		printf("%s: %s\n", visible(name, shown, sizeof(shown)), line);
}

static json_t *
json_check(const char *name, const char *path, char *why, bool repaired)
{
	json_t *o = json_begin(name, path), *failures = json_array();
	char *line;

	json_put(o, "whole", json_boolean(*why == '\0'));
	for (line = strtok(why, "\n"); line != NULL; line = strtok(NULL, "\n"))
		json_array_append_new(failures, json_text(line));
	json_put(o, "failures", failures);
	json_put(o, "repaired", json_boolean(repaired));
	return o;
}

static void
advise(const struct ctl *c, const char *name, bool readable)
{
	fflush(stdout); /* the failures come before the advice */
	if (!here.is_file)
		say(name,
		    "flocklimitctl break ends the permit of a holder that is gone for good; delete "
		    "invalid records with the store's own tools");
	else if (!c->repair && readable)
		say(name, "flocklimitctl check --repair repairs it");
	else
		say(name,
		    "can't be repaired: flocklimitctl rm removes it when no process has it open "
		    "any more");
}

/* A limiter that can't be opened at all can't be repaired. */
static int
check_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	char why[2000] = "", again[2000] = "";
	json_t *array = ctx; /* NULL: text */
	bool repaired = false;
	int error = v->error;

	if (v->f != NULL)
		error = flk_check(v->f, why, sizeof(why));
	else if (error == -FLK_DAMAGED)
		snprintf(why, sizeof(why), "the file is cut short, or its header makes no sense");
	if (error == -FLK_DAMAGED && v->f != NULL && c->repair) {
		error = flk_repair(v->f);
		if (error == 0)
			error = flk_check(v->f, again, sizeof(again));
		repaired = error == 0;
	}
	if (error != 0 && error != -FLK_DAMAGED)
		return error;
	if (array != NULL)
		json_array_append_new(array, json_check(v->name, v->path, why, repaired));
	else
		print_failures(v->name, why);
	if (repaired && array == NULL)
		printf("%s: repaired\n", v->name);
	if (error != 0)
		advise(c, v->name, v->f != NULL);
	return error == 0 ? DONE : NO;
}

int
check(const struct ctl *c)
{
	struct ctl mine = *c;
	json_t *array;
	int status;

	mine.even_damaged = true;
	if (!is_named(c))
		return FAILED;
	array = c->json ? json_array() : NULL;
	status = for_each(&mine, check_one, array);
	if (c->json)
		json_print_each(array, is_many(c));
	return status;
}
