/*
 * check.c - is it whole, and is it of use?
 */
#include "ctl.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "say.h"

static void
print_failures(const char *name, char *why)
{
	char *line;

	for (line = strtok(why, "\n"); line != NULL; line = strtok(NULL, "\n"))
		printf("%s: %s\n", name, line);
}

static void
print_json(const char *name, const char *path, char *why, bool repaired)
{
	json_t *o = json_object(), *failures = json_array();
	char *line;

	json_put(o, "name", json_text(name));
	json_put(o, "path", json_text(path));
	json_put(o, "whole", json_boolean(*why == '\0'));
	for (line = strtok(why, "\n"); line != NULL; line = strtok(NULL, "\n"))
		json_array_append_new(failures, json_text(line));
	json_put(o, "failures", failures);
	json_put(o, "repaired", json_boolean(repaired));
	json_print(o);
}

int
check(const struct ctl *c)
{
	struct ctl mine = *c;
	char why[2000] = "", again[2000] = "";
	bool repaired = false;
	struct flk *f;
	int status, error;

	mine.even_damaged = true;
	if ((f = open_only(&mine, &status)) == NULL)
		return status;
	error = flk_check(f, why, sizeof(why));
	if (error == -FLK_DAMAGED && c->repair) {
		error = flk_repair(f);
		if (error == 0)
			error = flk_check(f, again, sizeof(again));
		repaired = error == 0;
	}
	if (error != 0 && error != -FLK_DAMAGED) {
		status = refuse(name_of(c), flk_path(f), f, error);
	} else {
		status = error == 0 ? DONE : NO;
		if (c->json)
			print_json(name_of(c), flk_path(f), why, repaired);
		else
			print_failures(name_of(c), why);
		if (repaired && !c->json)
			printf("%s: repaired\n", name_of(c));
		else if (status == NO)
			say(name_of(c), c->repair ? "can't be repaired: flocklimitctl rm it when "
						    "nothing runs under it"
						  : "flocklimitctl check --repair mends it");
	}
	flk_detach(f);
	return status;
}

/* ---- rm ---- */

static int
remove_one(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	   void *ctx)
{
	(void)ctx;
	if (error == 0)
		error = flk_remove(f);
	if (error == 0)
		return DONE;
	if (c->idle && (error == -FLK_BUSY || error == -ENOENT || error == -FLK_GONE))
		return DONE;
	if (error == -FLK_BUSY) {
		say(name, "somebody holds or waits: flocklimitctl show %s", name);
		return NO;
	}
	return refuse(name, path, f, error);
}

int
remove_it(const struct ctl *c)
{
	if (!c->idle && c->words + c->files == 0) {
		say(NULL, "rm: which limiters? NAME..., or --idle for all that nobody uses");
		return FAILED;
	}
	return for_each(c, remove_one, NULL);
}
