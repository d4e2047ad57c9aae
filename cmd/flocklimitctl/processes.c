/* SPDX-License-Identifier: ISC */
#include "processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process.h"
#include "suspended.h"
#include "kind.h"

struct process {
	pid_t pid, parent;
	char state;
};

struct processes {
	size_t n, room;
	struct process *process; /* by pid */
};

static int
by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static pid_t
pid_of(const struct dirent *entry)
{
	return isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
}

static bool
add(struct processes *all, pid_t pid)
{
	struct process p = { .pid = pid }, *more;

	if (!process_stat(pid, &p.state, &p.parent))
		return true;
	if (all->n == all->room) {
		more = reallocarray(all->process, all->room * 2 + 64, sizeof(*more));
		if (more == NULL)
			return false;
		all->process = more;
		all->room = all->room * 2 + 64;
	}
	all->process[all->n++] = p;
	return true;
}

struct processes *
processes_read(void)
{
	struct processes *all = calloc(1, sizeof(*all));
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool ok = all != NULL;
	pid_t pid;

	while (ok && proc != NULL && (entry = readdir(proc)) != NULL)
		if ((pid = pid_of(entry)) != 0)
			ok = add(all, pid);
	if (proc != NULL)
		closedir(proc);
	if (!ok) {
		processes_free(all);
		return NULL;
	}
	if (all->n > 0)
		qsort(all->process, all->n, sizeof(*all->process), by_pid);
	return all;
}

void
processes_free(struct processes *all)
{
	if (all == NULL)
		return;
	free(all->process);
	free(all);
}

static const struct process *
find(const struct processes *all, pid_t pid)
{
	struct process key = { .pid = pid };

	if (all == NULL || all->n == 0)
		return NULL;
	return bsearch(&key, all->process, all->n, sizeof(key), by_pid);
}

pid_t
processes_command(const struct processes *all, const struct flk_entry *e)
{
	const struct process *worker;
	size_t i;

	if (e->role == FLK_KEEPER || !e->holds || e->host != NULL || outlived(e))
		return 0;
	if (e->role != FLK_WRAPPER && e->role != FLK_CREW)
		return e->pid;
	worker = find(all, (pid_t)e->worker);
	if (worker != NULL && worker->parent == e->pid)
		return worker->pid;
	for (i = 0; all != NULL && i < all->n; i++)
		if (all->process[i].parent == e->pid && all->process[i].state != 'Z' &&
		    (e->role != FLK_CREW || here.operating->works(e, all->process[i].pid)))
			return all->process[i].pid;
	return 0;
}

const char *
processes_suspended(const struct processes *all, const struct flk_entry *e)
{
	char remedy[REMEDY_TEXT];
	const char *how;

	if (e->host != NULL)
		return NULL;
	how = process_suspended(e->pid, remedy);
	return how != NULL ? how : process_suspended(processes_command(all, e), remedy);
}

static int
has_open(pid_t pid, const struct stat *file)
{
	char path[40];
	struct dirent *entry;
	struct stat sb;
	int found = 0;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	if (fds == NULL)
		return -errno;
	while (found == 0 && (entry = readdir(fds)) != NULL)
		found = isdigit((unsigned char)entry->d_name[0]) &&
			fstatat(dirfd(fds), entry->d_name, &sb, 0) == 0 &&
			sb.st_dev == file->st_dev && sb.st_ino == file->st_ino;
	closedir(fds);
	return found;
}

size_t
processes_with_open(const struct stat *file, pid_t *pid, size_t room)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;
	pid_t p;

	while (proc != NULL && n < room && (entry = readdir(proc)) != NULL)
		if ((p = pid_of(entry)) != 0 && p != getpid() && has_open(p, file) == 1)
			pid[n++] = p;
	if (proc != NULL)
		closedir(proc);
	return n;
}
