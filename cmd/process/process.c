/* SPDX-License-Identifier: ISC */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The same on every architecture. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define MOST_FDS   (1 << 20)
#define MOST_DEPTH 1000 /* of a chain of processes */

/* The name, in which every byte may be, ends with the last ')' of /proc/PID/stat. */
bool
process_stat(pid_t pid, char *state, pid_t *parent)
{
	char path[40], text[512], *p;
	int fd, number = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p + 1, " %c %d", state, &number) != 2)
		return false;
	*parent = (pid_t)number;
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

/* How many children work, and one of them. */
static unsigned
living_children(pid_t pid, pid_t *child)
{
	char path[80], state;
	struct dirent *thread;
	pid_t candidate, parent;
	unsigned n = 0;
	FILE *children;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	while (threads != NULL && (thread = readdir(threads)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid,
			 thread->d_name);
		children = fopen(path, "re");
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

/* The text of a file of /proc that belongs to the process; how many bytes were read. */
static size_t
read_proc(pid_t pid, const char *name, char *room, size_t size)
{
	char path[40];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		n = read(fd, room, size - 1);
		close(fd);
	}
	n = n > 0 ? n : 0;
	room[n] = '\0';
	return (size_t)n;
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
	char name[COMM + 2];

	read_proc(pid, "comm", name, sizeof(name));
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
	char words[FLK_COMMAND * 2];
	size_t n = read_proc(pid, "cmdline", words, sizeof(words)), i;
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
	struct dirent *entry;
	DIR *fds;

	/* Linux has it since 5.9, and a container's filter of system calls may forbid it. */
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
	fds = opendir("/proc/self/fd");
	if (fds == NULL) {
		close_to_limit(first);
		return;
	}
	while ((entry = readdir(fds)) != NULL) {
		int fd = entry->d_name[0] == '.' ? -1 : atoi(entry->d_name);
		if (fd >= first && fd != dirfd(fds))
			close(fd);
	}
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
