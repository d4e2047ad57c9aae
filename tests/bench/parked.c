/* SPDX-License-Identifier: ISC */
#include "parked.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

#define PATIENCE UINT64_C(60000000000)

static size_t
slurp(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	text[0] = '\0';
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return 0;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Some kernels tell nobody where a process sleeps; then it is enough that it sleeps. */
static bool
sleeps_there(pid_t pid)
{
	char text[512];
	const char *after;

	slurp(pid, "wchan", text, sizeof(text));
	if (strstr(text, "futex") != NULL || strstr(text, "lock_") != NULL ||
	    strstr(text, "locks_") != NULL)
		return true;
	if (text[0] != '\0' && strcmp(text, "0") != 0)
		return false;
	slurp(pid, "stat", text, sizeof(text));
	after = strrchr(text, ')');
	return after != NULL && after[1] == ' ' && after[2] == 'S';
}

void
parked_cpu(pid_t pid, struct use *use)
{
	uint64_t on_cpu = 0, waited, slices = 0;
	char text[128];

	slurp(pid, "schedstat", text, sizeof(text));
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &on_cpu, &waited, &slices) == 3) {
		use->cpu_ns += on_cpu;
		use->switches += slices;
	}
}

static bool
has_ended(pid_t pid)
{
	char text[512];
	const char *after;

	slurp(pid, "stat", text, sizeof(text));
	after = strrchr(text, ')');
	return after == NULL || strncmp(after, ") Z", 3) == 0;
}

void
parked_wait(pid_t pid, const char *label)
{
	struct use before, after = { .switches = UINT64_MAX };
	uint64_t start = now_ns();

	for (;;) {
		before = after;
		after = (struct use){ 0 };
		if (sleeps_there(pid)) {
			parked_cpu(pid, &after);
			if (after.switches == before.switches && after.cpu_ns == before.cpu_ns)
				return;
		} else {
			after.switches = UINT64_MAX;
			if (has_ended(pid))
				die("%s: a waiter has ended before its turn", label);
			if (now_ns() - start > PATIENCE)
				die("%s: pid %d does not wait", label, (int)pid);
		}
		usleep(30);
	}
}

void
parked_wait_there(pid_t pid)
{
	uint64_t start = now_ns();

	while (!sleeps_there(pid))
		if (now_ns() - start > PATIENCE)
			die("thread %d does not wait", (int)pid);
}

static uint64_t
line_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line != NULL ? strtoull(line + strlen(name), NULL, 10) : 0;
}

void
parked_memory(pid_t pid, struct use *use)
{
	char text[4096];

	slurp(pid, "smaps_rollup", text, sizeof(text));
	use->pss_kb += line_of(text, "\nPss:");
	use->private_kb += line_of(text, "\nPrivate_Clean:") + line_of(text, "\nPrivate_Dirty:");
}
