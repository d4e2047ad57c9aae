/* SPDX-License-Identifier: ISC */
/*
 * options.c - a command line, and the environment that it is read with.  The input's first lines
 * are FLOCKLIMIT_NAME and SHELL, if they are not empty; then come the words.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/condition.h"
#include "name.h"
#include "pace.h"

/* What --help and --version print goes nowhere. */
static ssize_t
swallow(int fd, const void *text, size_t size)
{
	require(fd == STDOUT_FILENO && memchr(text, '\0', size) == NULL);
	return (ssize_t)size;
}

#define write swallow
#include "cmd/options/option.c"
#include "cmd/options/option_value.c"
#include "cmd/options/taker_options.c"
#include "cmd/flocklimit/options.c"
#undef write

#define WORDS 40

const char *say_program = "flocklimit", *say_where, *say_tail;

static unsigned said;

void
say(const char *limiter, const char *format, ...)
{
	char line[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	require(limiter == NULL || strlen(limiter) < SIZE_MAX);
	said++;
}

const char *
say_duration(double s, char room[32])
{
	snprintf(room, 32, "%g s", s);
	return room;
}

/* The words of --when, as the library reads them. */
int
limiter_read_gate(struct taker_options *w)
{
	const char *text = w->when != NULL ? w->when : "";
	char wrong[CONDITION_TEXT];
	struct condition c;
	int got;

	while ((got = flki_condition_next(&text, &c, wrong)) == 1)
		require(c.length > 0 && c.word + c.length == text && c.path_length < c.length);
	if (got < 0)
		say(NULL, "--when %s", wrong);
	return got < 0 ? OPTION_BAD : OPTION_OK;
}

static void
set(const char *name, const char *value)
{
	if (value != NULL && *value != '\0')
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void
check_result(const struct options *o, char **argv, bool name_given)
{
	char text[PACE_TEXT];

	require(o->want.request.weight >= 1 && o->want.request.weight <= FLK_MAX_UNITS);
	require(o->want.request.limit == 0 || o->want.request.weight <= o->want.request.limit);
	require(o->want.request.limit <= FLK_MAX_UNITS && o->want.percent <= 100000);
	require(o->want.request.limit == 0 || o->want.percent == 0);
	require(o->want.conflict_exit >= 0 && o->want.conflict_exit <= 255);
	require(o->want.signal >= 0 && o->want.signal <= 64);
	require((o->want.mode & ~0775u) == 0);
	require((o->command == NULL) == (o->hold_for != 0 || o->fd != -1));
	/* --fd has the limiter of its descriptor. */
	require(o->fd != -1 || (o->want.limiter != NULL && *o->want.limiter != '\0'));
	require(o->command == NULL || o->command[0] != NULL);
	require((o->want.which & ~(unsigned)(FLK_SET_PACE | FLK_SET_FAIR)) == 0);
	require(o->want.to.pace.burst <= 65535);
	require(*pace_text(&o->want.to.pace, o->want.which, text) != '\0' ||
		(o->want.which & FLK_SET_PACE) == 0);
	require(o->want.run_timeout_ns != 0 && o->want.kill_after_ns != 0);
	require(o->line == NULL || (o->command == (char *const *)o->shell_argv));
	require(o->line != NULL || o->command == NULL || o->command > argv);
	/* The default is always a name, whatever the command is called. */
	if (!name_given && o->want.file == NULL && o->want.name == NULL && o->fd == -1)
		require(flki_is_name(o->want.limiter));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	char *given[WORDS + 1], **argv, *name = take_line(&b), *shell = take_line(&b);
	struct options o;
	int argc = 0, i, status;

	setenv("FLOCKLIMIT_LIMITS", "", 1);
	set("FLOCKLIMIT_NAME", name);
	set("SHELL", shell);
	/* Even no word at all, not even the program's. */
	while (argc <= WORDS && (given[argc] = take_line(&b)) != NULL)
		argc++;
	argv = calloc((size_t)argc + 1, sizeof(*argv));
	require(argv != NULL);
	memcpy(argv, given, (size_t)argc * sizeof(*argv)); /* getopt moves them around */
	optind = argc > 0 ? 0 : 1;                         /* 0: glibc begins anew */
	said = 0;
	status = options_parse(&o, argc, argv);
	if (status == -1)
		check_result(&o, argv, name != NULL && *name != '\0');
	else
		require(status == 0 || (status == 125 && said == 1));
	for (i = 0; i < argc; i++)
		free(given[i]);
	free(argv);
	free(name);
	free(shell);
	return 0;
}
