/* SPDX-License-Identifier: ISC */
/*
 * heirs.c - which processes have the description with a permit's guard, and so keep the permit when
 * its taker is dead; and whether a process is the taker that the file says it is.  Both answers
 * come from the kernel, by /proc, and are for operators: no permit is granted or reaped by them.
 * And whether a descriptor of this process has such a lock: that is for entrust.c.
 */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"
#include "proc.h"

/*
 * "lock:	1: OFDLCK ADVISORY  READ  -1 00:1a:4711 1099511627776 1099511627779".  The kernel
 * shows the locks that one description has on neighbouring bytes as one lock.
 */
static bool
covers(const char *line, uint64_t first, uint64_t last)
{
	uint64_t from, to = UINT64_MAX;
	char end[24];

	if (sscanf(line, "lock: %*s OFDLCK %*s READ %*s %*s %" SCNu64 " %23s", &from, end) != 2)
		return false;
	if (strcmp(end, "EOF") != 0)
		to = strtoull(end, NULL, 10);
	return from <= last && first <= to;
}

/* Has this descriptor of the process a lock on one of these bytes? */
static bool
has_lock(pid_t pid, int fd, uint64_t first, uint64_t last)
{
	char path[PROC_PATH], file[24], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *lines;

	snprintf(file, sizeof(file), "fdinfo/%d", fd);
	lines = fopen(flki_proc_path(pid, file, path), "re");
	if (lines == NULL)
		return false;
	while (!found && getline(&line, &size, lines) > 0)
		found = covers(line, first, last);
	free(line);
	fclose(lines);
	return found;
}

bool
flki_guard_locks(int fd, uint32_t slot, uint32_t n)
{
	return has_lock(0, fd, (uint64_t)GUARD_BASE + slot, (uint64_t)GUARD_BASE + slot + n - 1);
}

/* 1, 0, or -errno: its descriptors can't be seen. */
static int
is_heir(pid_t pid, const struct stat *limiter, uint64_t byte)
{
	char path[PROC_PATH];
	DIR *fds = opendir(flki_proc_path(pid, "fd", path));
	bool found = false;
	int fd;

	if (fds == NULL)
		return -errno;
	while (!found && (fd = flki_next_open(fds, limiter)) != -1)
		found = has_lock(pid, fd, byte, byte);
	closedir(fds);
	return found;
}

size_t
flki_local_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	DIR *proc = opendir("/proc");
	struct stat limiter;
	size_t n = 0;
	pid_t next;

	if (flki_file_stat(&f->file, &limiter) != 0)
		room = 0;
	while (n < room && (next = flki_next_number(proc)) != -1)
		if (is_heir(next, &limiter, (uint64_t)GUARD_BASE + slot) == 1)
			pid[n++] = next;
	if (proc != NULL)
		closedir(proc);
	return n;
}

/* ---- takers ---- */

struct mapping {
	uint64_t from, to, inode;
	char access[8], device[24];
};

/* "7f0e5c000000-7f0e5e042000 rw-s 00000000 00:1a 4711    /dev/shm/flocklimit-0/x" */
static bool
parse_mapping(const char *line, struct mapping *m)
{
	return sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %23s %" SCNu64, &m->from, &m->to,
		      m->access, m->device, &m->inode) == 5;
}

/*
 * Finds a mapping of the process: with `like' NULL the mapping that has the address, else a shared
 * and writable mapping of the same file as `like'.  1, 0, or -errno.  It compares two mappings, and
 * not a mapping with what stat(2) returns, because the device numbers of the two differ on btrfs.
 */
static int
find_mapping(pid_t pid, uint64_t address, const struct mapping *like, struct mapping *m)
{
	char path[PROC_PATH], *line = NULL;
	FILE *lines = fopen(flki_proc_path(pid, "maps", path), "re");
	bool found = false;
	size_t size = 0;

	if (lines == NULL)
		return -errno;
	while (!found && getline(&line, &size, lines) > 0)
		found = parse_mapping(line, m) &&
			(like == NULL
			     ? m->from <= address && address < m->to
			     : m->access[1] == 'w' && m->access[3] == 's' &&
				   m->inode == like->inode && strcmp(m->device, like->device) == 0);
	free(line);
	fclose(lines);
	return found;
}

/* Has the process the limiter mapped for writing, and is that thread one of its own? */
static int
works_on_it(const struct flk *f, pid_t pid, pid_t tid)
{
	struct mapping ours = { .inode = 0 }, its;
	char path[PROC_PATH], task[24];
	int found = find_mapping(0, (uintptr_t)f->file.h, NULL, &ours);

	if (found == 1)
		found = find_mapping(pid, 0, &ours, &its);
	if (found != 1)
		return found;
	snprintf(task, sizeof(task), "task/%d", (int)tid);
	return tid > 0 && access(flki_proc_path(pid, task, path), F_OK) == 0;
}

int
flki_local_is_taker(struct flk *f, uint32_t slot, pid_t pid)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct stat limiter;
	int result;

	if (slot >= flki_file_slots(&f->file) || pid <= 0)
		return 0;
	if ((result = flki_file_stat(&f->file, &limiter)) != 0)
		return result;
	result = is_heir(pid, &limiter, (uint64_t)GUARD_BASE + slot);
	/* If the permit has a guard, its taker has the guard. */
	if (result == 0 && flki_guard_is_free(f, slot))
		result = works_on_it(f, pid, flki_alive_tid(&f->file.slots[slot].alive));
	return result;
}
