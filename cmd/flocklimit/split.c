/* SPDX-License-Identifier: ISC */
#include "split.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "descriptor.h"
#include "explain.h"
#include "proc.h"
#include "process.h"
#include "say.h"
#include "kind.h"

static int null_fd = -1; /* /dev/null, for split_close() */

int
split_failed(const char *limiter, const char *option, const char *what)
{
	say(limiter, "%s: %s: %s%s", option, what, strerror(errno), remedy_for(errno));
	return 125;
}

/* The parent's end has no other user, so that the child's end shows when the parent has ended. */
static bool
is_alone(int end)
{
	struct pollfd parent = { .fd = end };

	return poll(&parent, 1, 0) == 1 && (parent.revents & POLLERR) != 0;
}

/*
 * TERM lets the child leave the line.  If the caller ignores TERM, only KILL ends the child, and the
 * next taker repairs the line.
 */
static void
end_with_parent(int end)
{
	struct sigaction term;

	sigaction(SIGTERM, NULL, &term);
	prctl(PR_SET_PDEATHSIG, term.sa_handler == SIG_IGN ? SIGKILL : SIGTERM);
	/* A parent that ended before that sends nothing. */
	if (is_alone(end))
		_exit(125);
}

static int
open_null(void)
{
	return flki_above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));
}

pid_t
split_fork(const char *limiter, const char *option, int *end)
{
	struct sigaction chld, by_default = { .sa_handler = SIG_DFL };
	int ends[2];
	pid_t child;

	/* When process 1 ends, the kernel kills all the others of its PID namespace. */
	if (getpid() == 1) {
		say(limiter,
		    "%s: process 1 cannot return, as all of its PID namespace would end: run it "
		    "from a process that stays",
		    option);
		return -1;
	}
	null_fd = open_null();
	if (null_fd == -1) {
		split_failed(limiter, option, "/dev/null");
		return -1;
	}
	if (pipe2(ends, O_CLOEXEC) == -1) {
		split_failed(limiter, option, "pipe");
		return -1;
	}
	/* Above stdio, as split_close() puts /dev/null there. */
	ends[0] = flki_above_stdio(ends[0]);
	ends[1] = flki_above_stdio(ends[1]);
	/* If the caller ignores SIGCHLD, the kernel keeps no status of a child. */
	sigaction(SIGCHLD, &by_default, &chld);
	child = fork();
	if (child == -1) {
		split_failed(limiter, option, "fork");
		return -1;
	}
	close(ends[child == 0 ? 0 : 1]);
	*end = ends[child == 0 ? 1 : 0];
	if (child == 0) {
		sigaction(SIGCHLD, &chld, NULL); /* the command finds it as we did */
		end_with_parent(*end);
	}
	return child;
}

int
split_status(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) == -1 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

bool
split_free(int end)
{
	prctl(PR_SET_PDEATHSIG, 0);
	return !is_alone(end);
}

/* Those that we inherited are not close-on-exec, and ours all are. */
static void
close_if_inherited(int fd)
{
	int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;

	if (flags != -1 && (flags & FD_CLOEXEC) == 0)
		close(fd);
}

static void
close_inherited(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int fd;

	for (fd = 0; dir == NULL && fd < process_most_fds(); fd++)
		close_if_inherited(fd);
	while ((fd = flki_next_number(dir)) != -1)
		close_if_inherited(fd);
	if (dir != NULL)
		closedir(dir);
}

void
split_close(void)
{
	int fd;

	if (null_fd == -1)
		null_fd = open_null();
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null_fd, fd);
	close(null_fd);
	close_inherited();
	if (here.tending != NULL)
		here.tending->hush();
}

void
split_detach(void)
{
	setsid();
	split_close();
	if (chdir("/") == -1)
		return;
}
