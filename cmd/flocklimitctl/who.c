#include "who.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl.h"
#include "process.h"
#include "where.h"

struct process {
	pid_t pid, parent;
	char state;
};

struct crowd {
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
add(struct crowd *crowd, pid_t pid)
{
	struct process p = { .pid = pid }, *more;

	if (!process_stat(pid, &p.state, &p.parent))
		return true;
	if (crowd->n == crowd->room) {
		more = reallocarray(crowd->process, crowd->room * 2 + 64, sizeof(*more));
		if (more == NULL)
			return false;
		crowd->process = more;
		crowd->room = crowd->room * 2 + 64;
	}
	crowd->process[crowd->n++] = p;
	return true;
}

struct crowd *
crowd_look(void)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool ok = crowd != NULL;
	pid_t pid;

	while (ok && proc != NULL && (entry = readdir(proc)) != NULL)
		if ((pid = pid_of(entry)) != 0)
			ok = add(crowd, pid);
	if (proc != NULL)
		closedir(proc);
	if (!ok) {
		crowd_free(crowd);
		return NULL;
	}
	if (crowd->n > 0)
		qsort(crowd->process, crowd->n, sizeof(*crowd->process), by_pid);
	return crowd;
}

void
crowd_free(struct crowd *crowd)
{
	if (crowd == NULL)
		return;
	free(crowd->process);
	free(crowd);
}

static const struct process *
find(const struct crowd *crowd, pid_t pid)
{
	struct process key = { .pid = pid };

	if (crowd == NULL || crowd->n == 0)
		return NULL;
	return bsearch(&key, crowd->process, crowd->n, sizeof(key), by_pid);
}

bool
outlived(const struct flk_entry *e)
{
	/* After an exec (--no-fork) the taker is gone, and its pid is the command's own. */
	return e->orphan &&
	       !(e->role == FLK_CARRIED && (kill((pid_t)e->pid, 0) == 0 || errno == EPERM));
}

pid_t
crowd_command(const struct crowd *crowd, const struct flk_entry *e)
{
	const struct process *told;
	size_t i;

	if (e->role == FLK_KEEPER || !e->holds || e->host != NULL || outlived(e))
		return 0;
	if (e->role != FLK_WRAPPER && e->role != FLK_CREW)
		return (pid_t)e->pid;
	told = find(crowd, (pid_t)e->worker);
	if (told != NULL && told->parent == (pid_t)e->pid)
		return told->pid;
	for (i = 0; crowd != NULL && i < crowd->n; i++)
		if (crowd->process[i].parent == (pid_t)e->pid && crowd->process[i].state != 'Z' &&
		    (e->role != FLK_CREW || where_works(e, crowd->process[i].pid)))
			return crowd->process[i].pid;
	return 0;
}

bool
crowd_is_stopped(const struct crowd *crowd, const struct flk_entry *e)
{
	const struct process *taker = find(crowd, (pid_t)e->pid);
	const struct process *command = find(crowd, crowd_command(crowd, e));

	if (e->host != NULL)
		return false;
	return (taker != NULL && (taker->state == 'T' || taker->state == 't')) ||
	       (command != NULL && (command->state == 'T' || command->state == 't'));
}

const char *
command_of(pid_t pid, char *room, size_t size)
{
	char path[40];
	ssize_t n = 0, i;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		n = read(fd, room, size - 1);
		close(fd);
	}
	if (n < 0)
		n = 0;
	while (n > 0 && room[n - 1] == '\0')
		n--;
	for (i = 0; i < n; i++)
		if (room[i] == '\0')
			room[i] = ' ';
	room[n] = '\0';
	return room;
}

int
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
who_has_open(const struct stat *file, pid_t *pid, size_t room)
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
