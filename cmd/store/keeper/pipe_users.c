/* SPDX-License-Identifier: ISC */
#include "pipe_users.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>
#include <sys/stat.h>

#include "pidfd.h"
#include "proc.h"
#include "process.h"

/*
 * Opens a pidfd before it looks at the process: else the number could be another process's by now.
 */
static void
send_to(pid_t pid, const struct stat *pipe, int sig)
{
	int pidfd = flki_pidfd_open(pid);

	if (pidfd == -1)
		return;
	if (process_has_open(pid, pipe)) {
		flki_pidfd_signal(pidfd, sig);
		flki_pidfd_signal(pidfd, SIGCONT);
	}
	close(pidfd);
}

void
pipe_users_signal(int pipe, pid_t spared, int sig)
{
	struct stat sb;
	pid_t pid;
	DIR *proc;

	if (pipe == -1 || fstat(pipe, &sb) == -1 || (proc = opendir("/proc")) == NULL)
		return;
	while ((pid = flki_next_number(proc)) != -1)
		if (pid != spared && pid != getpid())
			send_to(pid, &sb, sig);
	closedir(proc);
}
