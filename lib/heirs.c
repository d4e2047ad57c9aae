/*
 * heirs.c - which processes have the description with a permit's guard, and so keep the permit when
 * its taker is dead.  The kernel knows, and /proc tells; it is for people, and nothing is decided by it.
 */
#include "internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cancel.h"

/*
 * "lock:	1: OFDLCK ADVISORY  READ  -1 00:1a:4711 1099511627776 1099511627779": the kernel makes one
 * of locks that one description has on neighbouring bytes.
 */
static bool
covers(const char *line, uint64_t byte)
{
	uint64_t from, to = UINT64_MAX;
	char end[24];

	if (sscanf(line, "lock: %*s OFDLCK %*s READ %*s %*s %" SCNu64 " %23s", &from, end) != 2)
		return false;
	if (strcmp(end, "EOF") != 0)
		to = strtoull(end, NULL, 10);
	return from <= byte && byte <= to;
}

static bool
has_lock(int info, uint64_t byte)
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
		found = covers(line, byte);
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
	return info != -1 && has_lock(info, byte);
}

static bool
is_heir(int proc, const char *pid, const struct stat *limiter, uint64_t byte)
{
	char path[40];
	struct dirent *entry;
	bool found = false;
	DIR *fds;
	int fd;

	snprintf(path, sizeof(path), "%.20s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return false;
	fds = fdopendir(fd);
	if (fds == NULL) {
		close(fd);
		return false;
	}
	/* Of a directory that nobody else reads. */
	while (!found && (entry = readdir(fds)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		found = isdigit((unsigned char)entry->d_name[0]) &&
			is_guard(proc, pid, entry->d_name, limiter, byte);
	closedir(fds);
	return found;
}

size_t
flk_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct stat limiter;
	size_t n = 0;

	if (proc == NULL || fstat(f->file.fd, &limiter) == -1)
		room = 0;
	while (n < room && (entry = readdir(proc)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_heir(dirfd(proc), entry->d_name, &limiter, (uint64_t)GUARD_BASE + slot))
			pid[n++] = (pid_t)atoi(entry->d_name);
	if (proc != NULL)
		closedir(proc);
	return n;
}
