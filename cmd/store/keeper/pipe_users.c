/* SPDX-License-Identifier: ISC */
#include "pidfd.h"
#include "pipe_users.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

static bool
has_it(int proc, const char *pid, const struct stat *pipe)
{
	char path[40];
	struct dirent *entry;
	struct stat sb;
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
	while (!found && (entry = readdir(fds)) != NULL)
		found = isdigit((unsigned char)entry->d_name[0]) &&
			fstatat(fd, entry->d_name, &sb, 0) == 0 && sb.st_dev == pipe->st_dev &&
			sb.st_ino == pipe->st_ino;
	closedir(fds);
	return found;
}

/*
 * Opens a pidfd before it looks at the process: else the number could be another process's by now.
 */
static void
send_to(int proc, const char *name, const struct stat *pipe, int sig)
{
	int pidfd = flki_pidfd_open((pid_t)atoi(name));

	if (pidfd == -1)
		return;
	if (has_it(proc, name, pipe)) {
		flki_pidfd_signal(pidfd, sig);
		flki_pidfd_signal(pidfd, SIGCONT);
	}
	close(pidfd);
}

void
pipe_users_signal(int pipe, pid_t spared, int sig)
{
	struct dirent *entry;
	struct stat sb;
	DIR *proc;

	if (pipe == -1 || fstat(pipe, &sb) == -1 || (proc = opendir("/proc")) == NULL)
		return;
	while ((entry = readdir(proc)) != NULL) {
		pid_t pid =
		    isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
		if (pid > 0 && pid != spared && pid != getpid())
			send_to(dirfd(proc), entry->d_name, &sb, sig);
	}
	closedir(proc);
}
