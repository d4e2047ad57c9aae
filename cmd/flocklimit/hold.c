/* SPDX-License-Identifier: ISC */
#include "hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "descriptor.h"
#include "flocklimit.h"
#include "now.h"
#include "pidfd.h"
#include "say.h"
#include "tend.h"

static int holder_fd; /* a pidfd of the process that the permit is for */
static int ticket_fd; /* to which the keeper writes its ticket */

static int
failed(const char *limiter, const char *what)
{
	say(limiter, "--hold-for: %s: %s", what, strerror(errno));
	return 125;
}

/* We end as the keeper did: with its status, or by the same signal. */
static int
status_of(pid_t keeper)
{
	int status;

	while (waitpid(keeper, &status, 0) == -1 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/* Until the keeper has written its ticket, it dies with us; and we give up if the process ends. */
static int
wait_for_ticket(const struct options *o, int fd, pid_t keeper)
{
	struct pollfd polls[2] = { { .fd = fd, .events = POLLIN },
				   { .fd = holder_fd, .events = POLLIN } };
	char ticket[32];
	ssize_t n;

	while (poll(polls, 2, -1) == -1 && errno == EINTR)
		;
	if (polls[0].revents == 0) {
		say(o->want.limiter, "--hold-for: process %d ended before the permit was granted",
		    (int)o->hold_for);
		return 125;
	}
	n = read(fd, ticket, sizeof(ticket));
	if (n <= 0)
		return status_of(keeper);
	return write(STDOUT_FILENO, ticket, (size_t)n) == n ? 0 : failed(o->want.limiter, "stdout");
}

int
hold_split(const struct options *o)
{
	int ends[2]; /* of the pipe for the ticket */
	pid_t keeper;

	/* Above stdio, as detach() puts /dev/null there. */
	holder_fd = flki_above_stdio(flki_pidfd_open(o->hold_for));
	if (holder_fd == -1 && errno == ESRCH) {
		say(o->want.limiter, "--hold-for: there is no process %d", (int)o->hold_for);
		return 125;
	}
	if (holder_fd == -1)
		return failed(o->want.limiter, "pidfd_open");
	if (pipe2(ends, O_CLOEXEC) == -1)
		return failed(o->want.limiter, "pipe");
	ends[0] = flki_above_stdio(ends[0]);
	ends[1] = flki_above_stdio(ends[1]);
	keeper = fork();
	if (keeper == -1)
		return failed(o->want.limiter, "fork");
	if (keeper == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		close(ends[0]);
		ticket_fd = ends[1];
		return -1;
	}
	close(ends[1]);
	return wait_for_ticket(o, ends[0], keeper);
}

/* Closes the descriptors that we inherited: these are not close-on-exec, and ours all are. */
static void
close_inherited(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name), flags = fd > 2 ? fcntl(fd, F_GETFD) : -1;
		if (flags != -1 && (flags & FD_CLOEXEC) == 0)
			close(fd);
	}
	if (dir != NULL)
		closedir(dir);
}

/* The keeper must not keep anything of the caller open or busy: no terminal, pipe or directory. */
static void
detach(void)
{
	int fd, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (fd = 0; fd <= 2 && null != -1; fd++)
		dup2(null, fd);
	close_inherited();
	tend_hush();
	if (chdir("/") == -1)
		return;
}

static _Atomic bool let_go;

static void
on_term(int sig)
{
	(void)sig;
	let_go = true;
}

/* SIGTERM is caught: the keeper releases the permit, and the history does not show it as killed. */
static void
until_it_ends(void)
{
	struct pollfd polls[2] = { { .fd = holder_fd, .events = POLLIN }, { .events = POLLIN } };
	struct sigaction handle = { .sa_handler = on_term };
	uint64_t next, now;
	struct timespec left;
	sigset_t mask;

	sigfillset(&handle.sa_mask);
	sigaction(SIGTERM, &handle, NULL);
	sigfillset(&mask);
	sigdelset(&mask, SIGTERM);
	do {
		next = tend_look();
		now = now_ns();
		next = next > now ? next - now : 0;
		left = flki_timespec(next);
		polls[0].revents = 0;
		polls[1].fd = tend_fd();
		ppoll(polls, 2, next > NEVER / 2 ? NULL : &left, &mask);
	} while (!let_go && polls[0].revents == 0);
}

int
hold_keep(const struct options *o, struct flk_taker *t)
{
	struct flk_permit permit;
	char text[32];
	int n;

	/*
	 * From here on the process that waits for the ticket may end.  If it has, the write below
	 * fails.
	 */
	prctl(PR_SET_PDEATHSIG, 0);
	if (flk_permit(t, &permit) != 0)
		return 125;
	detach();
	tend_for(t, o->hold_for, holder_fd);
	n = snprintf(text, sizeof(text), "%" PRIu64 "\n", permit.ticket);
	if (write(ticket_fd, text, (size_t)n) == n) {
		close(ticket_fd);
		until_it_ends();
	}
	flk_release(t);
	return 0;
}
