/* SPDX-License-Identifier: ISC */
/*
 * jobserver.c - the life of a jobserver: the pipe that the command takes tokens from, and a thread
 * of ours that lends them (tokens.c), while the first thread waits for signals.
 *
 * The pipe has no name in any directory: a client that wants a FIFO opens /proc/PID/fd/N.
 *
 * Two things wake the lender: inotify, at reads and writes of the pipe, and a child that follows
 * the limiter's history.  Both send SIGIO, which the first thread receives and passes on.  SIGIO is
 * not queued: while we are stopped one signal is pending, and not a thousand, which would use up
 * all the signals that the user may have queued.  While a taker of ours waits in the line, the
 * lender sleeps in that wait.
 *
 * Each permit is tied to a descriptor that the command inherits: if we are killed, the permits last
 * until every process that the command started has ended.
 *
 * The lender, the first thread and the child may find that the limiter's file was cut short.  That
 * ends the lending, and not the command: each sets fault_jump before it looks at the file.
 */
#include "jobserver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include "descriptor.h"
#include "explain.h"
#include "follower.h"
#include "lender.h"
#include "makeflags.h"
#include "say.h"

#define HIGH_FD     60
#define MOST_TOKENS 1024 /* a thread may have 2000 takers */

struct jobserver {
	struct lender lender;
	int in, out; /* the command's */
	pid_t follower;
	bool quiet; /* about a command that ignores the jobserver */
};

/* ---- the pipe ---- */

/* To a number that scripts do not use; or any, where the limit of descriptors has no such number. */
static int
raise_fd(int fd)
{
	int high = fd != -1 ? fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD) : -1;

	if (high == -1)
		return flki_above_stdio(fd);
	close(fd);
	return high;
}

static int
open_pipe(struct jobserver *j)
{
	char path[32];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) == -1)
		return errno;
	j->in = raise_fd(ends[0]);
	j->out = raise_fd(ends[1]);
	if (j->in == -1 || j->out == -1)
		return errno;
	/* Opened anew: O_NONBLOCK is then ours alone, and the command's ends stay blocking. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", j->in);
	j->lender.tokens.pipe = flki_above_stdio(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
	if (j->lender.tokens.pipe == -1)
		return errno;
	j->lender.notify = flki_above_stdio(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
	if (j->lender.notify == -1 ||
	    inotify_add_watch(j->lender.notify, path, IN_ACCESS | IN_MODIFY) == -1 ||
	    fcntl(j->lender.notify, F_SETOWN, getpid()) == -1 ||
	    fcntl(j->lender.notify, F_SETFL, O_NONBLOCK | O_ASYNC) == -1)
		return errno;
	return 0;
}

pid_t
jobserver_follower(const struct jobserver *j)
{
	return j != NULL && j->follower > 0 ? j->follower : 0;
}

/* ---- signals ---- */

bool
jobserver_hears(struct jobserver *j, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD && j->follower > 0 &&
	    waitpid(j->follower, NULL, WNOHANG) == j->follower)
		j->follower = follower_start(j->lender.tokens.limiter, j);
	if (info->si_signo == SIGURG)
		lender_wake(&j->lender, false); /* in a store: its takers must be tended */
	if (info->si_signo != SIGIO)
		return false;
	/*
	 * Whichever process sent it: if one was pending, a SIGIO of ours was merged with that one.
	 */
	lender_wake(&j->lender, true);
	/*
	 * True if the kernel sent it, or a follower, also an earlier one; or its sender is not
	 * known.
	 */
	return info->si_code > 0 || info->si_pid == 0 ||
	       (info->si_code == SI_QUEUE && info->si_value.sival_ptr == j);
}

/* ---- its life ---- */

static int
prepare(struct jobserver *j, bool fifo, struct heritage *heritage)
{
	int error = open_pipe(j);

	if (error != 0)
		return error;
	if ((error = makeflags_set(j->lender.tokens.most + 1, fifo, j->in, j->out)) != 0)
		return error;
	j->lender.tokens.guard = flk_guard_open(j->lender.tokens.limiter);
	if (j->lender.tokens.guard < 0)
		return -j->lender.tokens.guard;
	if ((j->lender.tokens.guard = raise_fd(j->lender.tokens.guard)) == -1)
		return errno;
	heritage->inherit[0] = j->lender.tokens.guard;
	heritage->inherit[1] = fifo ? -1 : j->in;
	heritage->inherit[2] = fifo ? -1 : j->out;
	j->follower = follower_start(j->lender.tokens.limiter, j);
	return -lender_start(&j->lender);
}

struct jobserver *
jobserver_open(const struct jobserver_plan *plan, struct heritage *heritage)
{
	uint32_t tokens = plan->jobs - 1 < MOST_TOKENS ? plan->jobs - 1 : MOST_TOKENS;
	struct jobserver *j = calloc(1, sizeof(*j));
	int error = ENOMEM;
	bool fifo;

	if (j != NULL) {
		j->lender.tokens.limiter = plan->limiter;
		j->lender.tokens.name = plan->limiter_name;
		j->lender.tokens.want = plan->want;
		j->lender.tokens.most = tokens;
		j->in = j->out = j->lender.notify = j->lender.tokens.pipe = j->lender.tokens.guard =
		    -1;
		j->lender.tokens.program = plan->command[0];
		j->quiet = plan->quiet;
		fifo = clients_know_fifo(plan->command, plan->style, heritage, plan->limiter_name,
					 &j->quiet);
		error = prepare(j, fifo, heritage);
	}
	if (error == 0)
		return j;
	if (error == ENOENT && access("/proc/self/fd", F_OK) == -1)
		say(plan->limiter_name, "--jobserver needs /proc: mount it");
	else
		say(plan->limiter_name, "--jobserver: %s%s",
		    error == EAGAIN ? strerror(error) : explain(-error), remedy_for(error));
	jobserver_close(j);
	return NULL;
}

void
jobserver_from(struct jobserver *j, pid_t command)
{
	if (j != NULL)
		j->lender.tokens.command = command;
}

void
jobserver_close(struct jobserver *j)
{
	if (j == NULL)
		return;
	if (j->follower > 0) {
		kill(j->follower, SIGKILL);
		waitpid(j->follower, NULL, 0);
	}
	if (lender_end(&j->lender) && !j->quiet && tokens_ignored(&j->lender.tokens))
		say(j->lender.tokens.name,
		    "--jobserver: '%s' took no token, and ran several processes at once: "
		    "if they were jobs, nothing limited them; see flocklimit(1) for "
		    "programs that use it",
		    j->lender.tokens.program);
	if (!j->lender.lost)
		free(j); /* else the thread, which ends with us, has it */
}
