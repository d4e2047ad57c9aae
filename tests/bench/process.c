/* SPDX-License-Identifier: ISC */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "world.h"

static char *
find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char text[PATH_SIZE];

	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == 0 ? strdup(name) : NULL;
	for (; path != NULL && *path != '\0'; path = *end == ':' ? end + 1 : end) {
		end = path + strcspn(path, ":");
		snprintf(text, sizeof(text), "%.*s/%s", (int)(end - path), path, name);
		if (access(text, X_OK) == 0)
			return strdup(text);
	}
	return NULL;
}

void
command_add(struct command *c, const char *word)
{
	if (c->words >= COMMAND_WORDS - 1 || (c->word[c->words++] = strdup(word)) == NULL)
		die("%s: too many words", c->label);
	c->word[c->words] = NULL;
}

void
command_make(struct command *c, const char *label, const char *program, ...)
{
	const char *word;
	va_list words;

	memset(c, 0, sizeof(*c));
	c->label = label;
	if ((c->word[0] = find(program)) == NULL)
		return;
	c->words = 1;
	va_start(words, program);
	while ((word = va_arg(words, const char *)) != NULL)
		command_add(c, word);
	va_end(words);
}

bool
command_is_there(const struct command *c)
{
	return c->word[0] != NULL;
}

void
command_free(struct command *c)
{
	while (c->words > 0)
		free(c->word[--c->words]);
	c->word[0] = NULL;
}

pid_t
command_start(const struct command *c, const char *input)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&files);
	if (input != NULL)
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input, O_RDONLY, 0);
	error = posix_spawn(&pid, c->word[0], &files, NULL, c->word, environ);
	posix_spawn_file_actions_destroy(&files);
	if (error != 0)
		die("%s: cannot start %s: %s", c->label, c->word[0], strerror(error));
	return pid;
}

void
command_finish(pid_t pid, const char *label)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			die("%s: wait: %s", label, strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("%s: failed, wait status %#x", label, (unsigned)status);
}

uint64_t
command_time(const struct command *c)
{
	uint64_t start = now_ns();

	command_finish(command_start(c, NULL), c->label);
	return now_ns() - start;
}
