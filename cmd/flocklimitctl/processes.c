/* SPDX-License-Identifier: ISC */
#include "processes.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "proc.h"
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
	bool ok = all != NULL;
	pid_t pid;

	while (ok && (pid = flki_next_number(proc)) != -1)
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

size_t
processes_with_open(const struct stat *file, pid_t *pid, size_t room)
{
	DIR *proc = opendir("/proc");
	size_t n = 0;
	pid_t p;

	while (n < room && (p = flki_next_number(proc)) != -1)
		if (p != getpid() && process_has_open(p, file))
			pid[n++] = p;
	if (proc != NULL)
		closedir(proc);
	return n;
}
