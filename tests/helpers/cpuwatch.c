/* SPDX-License-Identifier: ISC */
/*
 * cpuwatch - whether no two commands of flocklimit --pin run on one CPU.
 *
 *	cpuwatch DIRECTORY
 *
 * Until DIRECTORY/stop is there, every millisecond or as often as it can: looks at the CPUs of all tasks
 * below each flocklimit whose pid is in one of the .pid files in DIRECTORY.  Prints how often it has looked; fails
 * with a line if a CPU was in two of them at once.  It looks at one, at another, and at the first again:
 * a CPU that the first has both times, and the other in between, is not one that was passed on.
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 64 /* commands */

/* What has ended runs nowhere, whatever CPUs it had. */
static bool
runs(int tid)
{
	char path[64], state = 'X';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'R'; /* a name with a bracket in it */
	fclose(f);
	return state != 'Z' && state != 'X';
}

static void
add_task(int tid, cpu_set_t *to)
{
	cpu_set_t now;

	if (sched_getaffinity(tid, sizeof(now), &now) == 0 && runs(tid))
		CPU_OR(to, to, &now);
}

static void below(int pid, bool count, cpu_set_t *to);

static void /* NOLINTNEXTLINE(misc-no-recursion): a tree of processes is not deep */
children_of(int pid, int tid, cpu_set_t *to)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	if ((f = fopen(path, "re")) == NULL)
		return;
	while (fscanf(f, "%d", &child) == 1)
		below(child, true, to);
	fclose(f);
}

/* Whether a process itself counts: flocklimit does not. */
static void /* NOLINTNEXTLINE(misc-no-recursion): the same */
below(int pid, bool count, cpu_set_t *to)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if ((tasks = opendir(path)) == NULL)
		return;
	while ((entry = readdir(tasks)) != NULL) {
		int tid = atoi(entry->d_name);
		if (tid == 0)
			continue;
		if (count)
			add_task(tid, to);
		children_of(pid, tid, to);
	}
	closedir(tasks);
}

static cpu_set_t
cpus_below(int pid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	below(pid, false, &set);
	return set;
}

static int
read_pids(const char *dir, int pid[MOST])
{
	char pattern[512];
	glob_t found;
	size_t i;
	int n = 0;

	snprintf(pattern, sizeof(pattern), "%s/*.pid", dir);
	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (i = 0; i < found.gl_pathc && n < MOST; i++) {
		FILE *f = fopen(found.gl_pathv[i], "re");
		if (f != NULL && fscanf(f, "%d", &pid[n]) == 1)
			n++;
		if (f != NULL)
			fclose(f);
	}
	globfree(&found);
	return n;
}

/* The CPU, or -1. */
static int
shared(int a, int b)
{
	cpu_set_t first = cpus_below(a), other = cpus_below(b), again = cpus_below(a);
	int cpu;

	CPU_AND(&first, &first, &other);
	CPU_AND(&first, &first, &again);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &first))
			return cpu;
	return -1;
}

int
main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	int pid[MOST], n, i, k, cpu;
	unsigned long looks = 0;
	char stop[512];

	if (argc != 2)
		return 2;
	snprintf(stop, sizeof(stop), "%s/stop", argv[1]);
	for (; access(stop, F_OK) != 0; looks++) {
		n = read_pids(argv[1], pid);
		for (i = 0; i < n; i++)
			for (k = 0; k < n; k++)
				if (i != k && (cpu = shared(pid[i], pid[k])) != -1) {
					printf("CPU %d: below %d and %d\n", cpu, pid[i], pid[k]);
					return 1;
				}
		nanosleep(&pause, NULL);
	}
	printf("%lu looks\n", looks);
	return 0;
}
