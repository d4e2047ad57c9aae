/* SPDX-License-Identifier: ISC */
#include "taker_options.h"

#include <stdlib.h>
#include <string.h>

#include "name.h"
#include "say.h"

/* The last part of the program's path; what a name can't hold becomes _. */
static const char *
name_after(struct taker_options *w, const char *program)
{
	const char *slash = strrchr(program, '/');
	size_t i;

	if (slash != NULL && slash[1] != '\0')
		program = slash + 1;
	for (i = 0; i < FLK_NAME_MAX && program[i] != '\0'; i++)
		w->name_room[i] = strchr(NAME_CHARACTERS, program[i]) != NULL ? program[i] : '_';
	w->name_room[i] = '\0';
	if (i == 0 || w->name_room[0] == '.' || w->name_room[0] == '-')
		w->name_room[0] = '_';
	return w->name_room;
}

const char *
taker_options_limiter(struct taker_options *w, const char *program)
{
	const char *env = getenv("FLOCKLIMIT_NAME");

	if (w->file != NULL)
		return w->file;
	if (w->name != NULL)
		return w->name;
	if (env != NULL && *env != '\0')
		return env;
	return program != NULL ? name_after(w, program) : NULL;
}

bool
taker_options_off(void)
{
	const char *env = getenv("FLOCKLIMIT");

	return env != NULL && strcmp(env, "off") == 0;
}

bool
taker_options_elastic(const struct taker_options *w)
{
	return w->weight_word != NULL && strchr(w->weight_word, '-') != NULL;
}

int
taker_options_check(const struct taker_options *w)
{
	if (w->file == NULL && w->limiter != NULL && strchr(w->limiter, '/') != NULL)
		return option_bad("FLOCKLIMIT_NAME", w->limiter,
				  "not a name: for a path use --file");
	/*
	 * Whether a command under a permit joins it is known later; -n and -w have no effect then.
	 */
	if (w->request.limit == 0 || w->request.weight <= w->request.limit ||
	    getenv("FLOCKLIMIT_HELD") != NULL)
		return OPTION_OK;
	say(w->limiter, "-w %u is above -n %u: it could never run; for flock's -w use -t",
	    w->request.weight, w->request.limit);
	return OPTION_BAD;
}
