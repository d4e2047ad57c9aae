#include "weight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/wait.h>

#include "option.h"
#include "parse.h"
#include "say.h"

#define WORD  64
#define BLANK " \t"

static int
bad(const struct job *j, const char *item, const char *word)
{
	say(NULL, "--weight-from: item %llu '%.60s' has weight '%s': use 1 to 1000000000",
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

/* The first line that it prints. */
static int
ask_shell(const char *line, char *item, const struct place *p, char word[WORD])
{
	char *argv[] = { (char *)(uintptr_t) "/bin/sh",
			 (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)line,
			 (char *)(uintptr_t) "sh",
			 item,
			 NULL };
	struct heritage h = p->heritage;
	int ends[2], error, status = 0;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return errno;
	h.fds[0] = p->null_fd;
	h.fds[1] = ends[1];
	pid = spawn(argv, environ, &h, &error);
	close(ends[1]);
	while (pid != -1 && n < WORD - 1 &&
	       ((got = read(ends[0], word + n, WORD - 1 - n)) > 0 || (got == -1 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	close(ends[0]);
	word[n] = '\0';
	word[strcspn(word, "\n")] = '\0';
	while (pid != -1 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	return pid == -1 ? EAGAIN : 0;
}

int
weight_of(const struct job *j, const char *from, const struct place *p, uint32_t *weight)
{
	uint64_t field, v, sum = 0;
	bool is_field = parse_number(from, 1, 1000, &field);
	char word[WORD];
	size_t i;

	for (i = 0; i < j->n; i++) {
		if (is_field) {
			take_field(j->items[i], field, word);
		} else if (ask_shell(from, j->items[i], p, word) != 0) {
			say(NULL, "--weight-from: cannot start a process: %s", strerror(errno));
			return OPTION_BAD;
		}
		if (!parse_number(word, 1, FLK_MAX_UNITS, &v) || (sum += v) > FLK_MAX_UNITS)
			return bad(j, j->items[i], word);
	}
	*weight = (uint32_t)sum;
	return OPTION_OK;
}
