/* SPDX-License-Identifier: ISC */
/*
 * replay.c - the inputs that are committed, as tests, with whatever compiler the tree is built by.
 *
 *	NAME.t [FILE]...
 *
 * Without files: those of corpus/NAME, by which the fuzzers begin, and of found/NAME, which were
 * crashes or hangs once.  Each has a process of its own, so that one crash is one failure.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "../helpers/tap.h"

#define LONGEST 65536
#define SECONDS 60 /* an input takes milliseconds; a hang takes for ever */

static char name[40];

static size_t
read_input(const char *path, uint8_t *data)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	if (f == NULL)
		tap_bail("%s", path);
	n = fread(data, 1, LONGEST, f);
	fclose(f);
	return n;
}

/* Where a second thread is at work, no run is like another. */
static int
rounds(bool was_found)
{
	if (strcmp(name, "scribble") != 0)
		return 1;
	return was_found ? 20 : 3;
}

static void
replay(const char *path, const char *what, bool was_found)
{
	static uint8_t data[LONGEST];
	size_t n = read_input(path, data);
	int status, i;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == -1)
		tap_bail("fork");
	if (pid == 0) {
		uint8_t *exact = malloc(n > 0 ? n : 1); /* so that a read beyond it is seen */
		alarm(SECONDS);
		for (i = rounds(was_found); i > 0 && exact != NULL; i--) {
			memcpy(exact, data, n);
			LLVMFuzzerTestOneInput(exact, n);
		}
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			tap_bail("waitpid");
	ok(status == 0, "%s", what);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		tap_note("it did not end in %d s", SECONDS);
}

static int
no_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int
replay_all(const char *kind)
{
	const char *source = getenv("TESTS_SOURCE");
	struct dirent **entries;
	char dir[512], path[800];
	int i, n;

	snprintf(dir, sizeof(dir), "%s/fuzz/%s/%s", source != NULL ? source : "tests", kind, name);
	n = scandir(dir, &entries, no_dot, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		replay(path, strstr(path, kind), strcmp(kind, "found") == 0);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n;
}

int
main(int argc, char **argv)
{
	int i;

	snprintf(name, sizeof(name), "%s", basename(argv[0]));
	name[strcspn(name, ".")] = '\0';
	fuzz_dir();
	for (i = 1; i < argc; i++)
		replay(argv[i], argv[i], true);
	if (argc == 1) {
		ok(replay_all("corpus") > 0, "there are inputs to begin with");
		replay_all("found");
	}
	return tap_done();
}
