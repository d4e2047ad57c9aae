/* SPDX-License-Identifier: ISC */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "proc.h"

/* The same on every architecture. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define MOST_FDS   (1 << 20)
#define MOST_DEPTH 1000 /* of a chain of processes */

bool
process_stat(pid_t pid, char *state, pid_t *parent)
{
	struct proc_stat s;

	if (flki_proc_stat(pid, &s) != 0)
		return false;
	*state = s.state;
	*parent = s.parent;
	return true;
}

bool
process_is_below(pid_t pid, pid_t ancestor)
{
	char state;
	int hops;

	for (hops = 0; pid > 1 && hops < 1000; hops++) {
		if (pid == ancestor)
			return true;
		if (!process_stat(pid, &state, &pid))
			return false;
	}
	return false;
}

bool
process_has_open(pid_t pid, const struct stat *file)
{
	char path[PROC_PATH];
	DIR *fds = opendir(flki_proc_path(pid, "fd", path));
	bool found = flki_next_open(fds, file) != -1;

	if (fds != NULL)
		closedir(fds);
	return found;
}

/* How many children work, and one of them. */
static unsigned
living_children(pid_t pid, pid_t *child)
{
	char path[PROC_PATH], file[40], state;
	DIR *threads = opendir(flki_proc_path(pid, "task", path));
	pid_t candidate, parent;
	unsigned n = 0;
	FILE *children;
	int thread;

	while ((thread = flki_next_number(threads)) != -1) {
		snprintf(file, sizeof(file), "task/%d/children", thread);
		children = fopen(flki_proc_path(pid, file, path), "re");
		while (children != NULL && fscanf(children, "%d", &candidate) == 1) {
			if (!process_stat(candidate, &state, &parent) || state == 'Z')
				continue;
			n++;
			*child = candidate;
		}
		if (children != NULL)
			fclose(children);
	}
	if (threads != NULL)
		closedir(threads);
	return n;
}

bool
process_branches(pid_t pid)
{
	unsigned n, depth;

	for (depth = 0; depth < MOST_DEPTH; depth++)
		if ((n = living_children(pid, &pid)) != 1)
			return n > 1;
	return false;
}

#define COMM 15 /* letters of a process's own name */

/*
 * The first word that has the process's own name, which is the name of the file that was executed.
 * Where that was a script, the kernel has put the interpreter before it.
 */
static const char *
script_in(pid_t pid, const char *words, size_t size)
{
	const char *word, *slash;
	char path[PROC_PATH], name[COMM + 2];

	flki_read_text(flki_proc_path(pid, "comm", path), name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	for (word = words; word < words + size; word += strlen(word) + 1) {
		slash = strrchr(word, '/');
		if (strncmp(slash != NULL ? slash + 1 : word, name, COMM) == 0)
			return word;
	}
	return words;
}

const char *
process_command(pid_t pid, char *room, size_t size)
{
	char path[PROC_PATH], words[FLK_COMMAND * 2];
	int length = flki_read_text(flki_proc_path(pid, "cmdline", path), words, sizeof(words));
	size_t n = length > 0 ? (size_t)length : 0, i;
	const char *from = script_in(pid, words, n);

	n -= (size_t)(from - words);
	n = n < size ? n : size - 1;
	while (n > 0 && from[n - 1] == '\0')
		n--;
	for (i = 0; i < n; i++)
		room[i] = from[i] != '\0' ? from[i] : ' ';
	room[n] = '\0';
	return room;
}

int
process_most_fds(void)
{
	long most = sysconf(_SC_OPEN_MAX);

	return most > 0 && most < MOST_FDS ? (int)most : MOST_FDS;
}

static void
close_to_limit(int first)
{
	int fd;

	for (fd = first; fd < process_most_fds(); fd++)
		close(fd);
}

void
process_close_from(int first)
{
	DIR *fds;
	int fd;

	/* Linux has it since 5.9, and a container's filter of system calls may forbid it. */
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
	fds = opendir("/proc/self/fd");
	if (fds == NULL) {
		close_to_limit(first);
		return;
	}
	while ((fd = flki_next_number(fds)) != -1)
		if (fd >= first && fd != dirfd(fds))
			close(fd);
	closedir(fds);
}

bool
outlived(const struct flk_entry *e)
{
	/* A command that --no-fork executed has the taker's pid: it outlived nothing. */
	return e->orphan && !(e->role == FLK_CARRIED && (kill(e->pid, 0) == 0 || errno == EPERM));
}

int
exit_status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
