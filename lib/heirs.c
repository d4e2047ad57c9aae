/* SPDX-License-Identifier: ISC */
/*
 * heirs.c - which processes have the description with a permit's guard, and so keep the permit when
 * its taker is dead; and whether a process is the taker that the file says it is.  Both answers
 * come from the kernel, by /proc, and are for operators: no permit is granted or reaped by them.
 * And whether a descriptor of this process has such a lock: that is for entrust.c.
 */
#include "internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"

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

/* On one of these bytes. */
static bool
has_lock(int info, uint64_t first, uint64_t last)
{
	FILE *lines = fdopen(info, "re");
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	if (lines == NULL) {
		close(info);
		return false;
	}
	while (!found && getline(&line, &size, lines) > 0)
		found = covers(line, first, last);
	free(line);
	fclose(lines);
	return found;
}

/* Does this descriptor lead to the limiter, and carry the lock on that byte? */
static bool
is_guard(int proc, const char *pid, const char *fd, const struct stat *limiter, uint64_t byte)
{
	char path[80];
	struct stat sb;
	int info;

	snprintf(path, sizeof(path), "%.20s/fd/%.20s", pid, fd);
	if (fstatat(proc, path, &sb, 0) == -1 || sb.st_dev != limiter->st_dev ||
	    sb.st_ino != limiter->st_ino)
		return false;
	snprintf(path, sizeof(path), "%.20s/fdinfo/%.20s", pid, fd);
	info = openat(proc, path, O_RDONLY | O_CLOEXEC);
	return info != -1 && has_lock(info, byte, byte);
}

bool
flki_guard_locks(int fd, uint32_t slot, uint32_t n)
{
	char path[40];
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	return info != -1 &&
	       has_lock(info, (uint64_t)GUARD_BASE + slot, (uint64_t)GUARD_BASE + slot + n - 1);
}

/* 1, 0, or -errno: its descriptors can't be seen. */
static int
is_heir(int proc, const char *pid, const struct stat *limiter, uint64_t byte)
{
	char path[40];
	struct dirent *entry;
	bool found = false;
	int fd, error;
	DIR *fds;

	snprintf(path, sizeof(path), "%.20s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return -errno;
	fds = fdopendir(fd);
	if (fds == NULL) {
		error = -errno;
		close(fd);
		return error;
	}
	/* No other thread reads this directory. */
	while (!found && (entry = readdir(fds)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		found = isdigit((unsigned char)entry->d_name[0]) &&
			is_guard(proc, pid, entry->d_name, limiter, byte);
	closedir(fds);
	return found;
}

size_t
flki_local_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct stat limiter;
	size_t n = 0;

	if (proc == NULL || flki_file_stat(&f->file, &limiter) != 0)
		room = 0;
	while (n < room && (entry = readdir(proc)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_heir(dirfd(proc), entry->d_name, &limiter, (uint64_t)GUARD_BASE + slot) == 1)
			pid[n++] = (pid_t)atoi(entry->d_name);
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
find_mapping(int proc, const char *pid, uint64_t address, const struct mapping *like,
	     struct mapping *m)
{
	char path[40], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *lines;
	int fd, error;

	snprintf(path, sizeof(path), "%.20s/maps", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	lines = fd != -1 ? fdopen(fd, "re") : NULL;
	if (lines == NULL) {
		error = -errno;
		if (fd != -1)
			close(fd);
		return error;
	}
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
works_on_it(const struct flk *f, int proc, const char *pid, pid_t tid)
{
	struct mapping ours = { .inode = 0 }, its;
	char path[60];
	int found = find_mapping(proc, "self", (uintptr_t)f->file.h, NULL, &ours);

	if (found == 1)
		found = find_mapping(proc, pid, 0, &ours, &its);
	if (found != 1)
		return found;
	snprintf(path, sizeof(path), "%.20s/task/%d", pid, (int)tid);
	return tid > 0 && faccessat(proc, path, F_OK, 0) == 0;
}

int
flki_local_is_taker(struct flk *f, uint32_t slot, pid_t pid)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct stat limiter;
	char name[24];
	int proc, result;

	if (slot >= flki_file_slots(&f->file) || pid <= 0)
		return 0;
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc == -1) {
		result = -errno;
	} else if ((result = flki_file_stat(&f->file, &limiter)) == 0) {
		snprintf(name, sizeof(name), "%d", (int)pid);
		result = is_heir(proc, name, &limiter, (uint64_t)GUARD_BASE + slot);
		/* If the permit has a guard, its taker has the guard. */
		if (result == 0 && flki_guard_is_free(f, slot))
			result =
			    works_on_it(f, proc, name, flki_alive_tid(&f->file.slots[slot].alive));
	}
	if (proc != -1)
		close(proc);
	return result;
}
