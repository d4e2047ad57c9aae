/* SPDX-License-Identifier: ISC */
#include "weight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conduct.h"
#include "now.h"
#include "option.h"
#include "parse.h"
#include "screen.h"
#include "shell.h"

#define WORD  64
#define BLANK " \t"

/* word: NULL: the shell line failed. */
static int
bad(const struct job *j, const char *item, const char *word)
{
	if (word == NULL)
		screen_say(NULL, "--weight-from: item %llu '%.60s': the shell line failed",
			   (unsigned long long)j->number, item);
	else
		screen_say(NULL,
			   "--weight-from: item %llu '%.60s' has weight '%s': use 1 to 1000000000",
			   (unsigned long long)j->number, item, word);
	return OPTION_BAD;
}

static void
take_field(const char *item, uint64_t field, char word[WORD])
{
	size_t n;

	item += strspn(item, BLANK);
	while (--field > 0) {
		item += strcspn(item, BLANK);
		item += strspn(item, BLANK);
	}
	n = strcspn(item, BLANK);
	snprintf(word, WORD, "%.*s", (int)(n < WORD ? n : WORD - 1), item);
}

/* Reads the shell's output until the shell ends; keeps the first line. */
static void
read_word(const struct shell *shell, int fd, char word[WORD])
{
	enum shell_news news;
	char more[512];
	size_t n = 0, part;
	ssize_t got;
	int out = fd;

	do {
		news = shell_await(shell, out, NEVER, NULL);
		got = read(fd, more, sizeof(more));
		if (got == 0)
			out = -1;
		part = got > 0 ? (size_t)got : 0;
		if (part > WORD - 1 - n)
			part = WORD - 1 - n;
		memcpy(word + n, more, part);
		n += part;
	} while (news != SHELL_ENDED);
	word[n] = '\0';
	word[strcspn(word, "\n")] = '\0';
}

/* 0, or an errno value if it could not be started. */
static int
ask_shell(const char *line, char *item, const struct job_context *ctx, char word[WORD], int *status)
{
	struct heritage h = ctx->heritage;
	struct running noted;
	struct shell shell;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return errno;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	h.stdio[0] = ctx->null_fd;
	h.stdio[1] = ends[1];
	error = shell_start(&shell, line, item, &h);
	close(ends[1]);
	if (error == 0) {
		conduct_add(&noted, shell.pidfd);
		read_word(&shell, ends[0], word);
		conduct_remove(&noted);
		*status = shell_end(&shell);
	}
	close(ends[0]);
	return error;
}

int
weight_of(const struct job *j, const char *from, const struct job_context *ctx, uint32_t *weight)
{
	uint64_t field, v, sum = 0;
	bool is_field = parse_number(from, 1, 1000, &field);
	char word[WORD];
	int error, status = 0;
	size_t i;

	for (i = 0; i < j->n; i++) {
		if (is_field) {
			take_field(j->items[i], field, word);
		} else if ((error = ask_shell(from, j->items[i], ctx, word, &status)) != 0) {
			screen_say(NULL, "--weight-from: cannot start a process: %s",
				   strerror(error));
			return OPTION_BAD;
		}
		if (conduct_is_ending() || conduct_has_sent())
			return OPTION_BAD;
		if (status != 0 || !parse_number(word, 1, FLK_MAX_UNITS, &v) ||
		    (sum += v) > FLK_MAX_UNITS)
			return bad(j, j->items[i], status != 0 ? NULL : word);
	}
	*weight = (uint32_t)sum;
	return OPTION_OK;
}
