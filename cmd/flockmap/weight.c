/* SPDX-License-Identifier: ISC */
#include "weight.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "conduct.h"
#include "option.h"
#include "parse.h"
#include "pidfd.h"
#include "screen.h"

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

/*
 * Reads the shell's output until the shell ends, though its children may live; keeps the first
 * line.
 */
static void
read_word(int fd, int pidfd, char word[WORD])
{
	struct pollfd ready[] = { { .fd = fd, .events = POLLIN },
				  { .fd = pidfd, .events = POLLIN } };
	char more[512];
	size_t n = 0, part;
	ssize_t got;

	do {
		if (poll(ready, 2, -1) == -1)
			continue;
		got = read(fd, more, sizeof(more));
		if (got == 0)
			ready[0].fd = -1;
		part = got > 0 ? (size_t)got : 0;
		if (part > WORD - 1 - n)
			part = WORD - 1 - n;
		memcpy(word + n, more, part);
		n += part;
	} while (ready[1].revents == 0);
	word[n] = '\0';
	word[strcspn(word, "\n")] = '\0';
}

static int
ask_started(pid_t pid, int fd, char word[WORD], int *status)
{
	int pidfd = flki_pidfd_open(pid), error = pidfd == -1 ? errno : 0;
	struct running noted;

	if (pidfd == -1) {
		kill(pid, SIGKILL);
	} else {
		conduct_add(&noted, pidfd);
		read_word(fd, pidfd, word);
		conduct_remove(&noted);
		close(pidfd);
	}
	while (waitpid(pid, status, 0) == -1 && errno == EINTR)
		;
	return error;
}

/* 0, or an errno value if it could not be started. */
static int
ask_shell(const char *line, char *item, const struct job_context *ctx, char word[WORD], int *status)
{
	char *argv[] = { (char *)(uintptr_t) "/bin/sh",
			 (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)line,
			 (char *)(uintptr_t) "sh",
			 item,
			 NULL };
	struct heritage h = ctx->heritage;
	int ends[2], error, exec_error;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return errno;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	h.stdio[0] = ctx->null_fd;
	h.stdio[1] = ends[1];
	pid = spawn(argv, environ, &h, &exec_error);
	error = pid == -1 ? errno : 0;
	close(ends[1]);
	if (pid != -1)
		error = ask_started(pid, ends[0], word, status);
	close(ends[0]);
	return error != 0 ? error : exec_error;
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
