/*
 * heirs.c - who keeps the permit of a dead taker: the processes that have the description with
 * its guard.  The kernel knows, and /proc tells; it is for people, and nothing is decided by it.
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

/* "lock:	1: OFDLCK ADVISORY  READ  -1 00:1a:4711 1099511627776 1099511627776" */
static bool
has_lock(const char *text, uint64_t byte)
{
	const char *line = text, *number;

	while ((line = strstr(line, "lock:\t")) != NULL) {
		const char *end = strchrnul(line, '\n');
		if (memmem(line, (size_t)(end - line), " OFDLCK ", 8) != NULL &&
		    memmem(line, (size_t)(end - line), " READ ", 6) != NULL) {
			for (number = end; number > line && number[-1] != ' '; number--)
				;
			if (strtoull(number, NULL, 10) == byte)
				return true;
		}
		line = end;
	}
	return false;
}

/* Does this descriptor lead to the limiter, and carry the lock on that byte? */
static bool
is_guard(int proc, const char *pid, const char *fd, const struct stat *limiter, uint64_t byte)
{
	char path[80], text[4096];
	struct stat sb;
	ssize_t n;
	int info;

	snprintf(path, sizeof(path), "%.20s/fd/%.20s", pid, fd);
	if (fstatat(proc, path, &sb, 0) == -1 || sb.st_dev != limiter->st_dev ||
	    sb.st_ino != limiter->st_ino)
		return false;
	snprintf(path, sizeof(path), "%.20s/fdinfo/%.20s", pid, fd);
	info = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (info == -1)
		return false;
	n = read(info, text, sizeof(text) - 1);
	close(info);
	text[n > 0 ? n : 0] = '\0';
	return has_lock(text, byte);
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
