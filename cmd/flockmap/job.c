/* SPDX-License-Identifier: ISC */
/*
 * job.c - one command: start it, collect its output, and end it when its time is over.
 *
 * A thread of its own waits for each command, by a pidfd: a signal can't reach another process that
 * got the same pid.
 */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "close_fd.h"
#include "conduct.h"
#include "environment.h"
#include "now.h"
#include "pidfd.h"
#include "process.h"
#include "screen.h"
#include "template.h"
#include "kind.h"

enum { OUT, ERR, END, TEND, FDS };

/* A command that runs: the pipes of its output, its pidfd, and kind_fd(). */
struct run {
	struct pollfd fd[FDS];
	int theirs[2]; /* the ends to which it writes */
	pid_t pid;
	uint64_t deadline;
	bool killed;
};

static int
open_pipes(struct run *r, const struct options *o)
{
	const struct pollfd none = { .fd = -1, .events = POLLIN };
	int i, ends[2];

	*r = (struct run){ .fd = { none, none, none, none }, .theirs = { -1, -1 } };
	for (i = OUT; i <= ERR && o->order != STRAIGHT; i++) {
		if (pipe2(ends, O_CLOEXEC) == -1)
			return -errno;
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		r->fd[i].fd = ends[0];
		r->theirs[i] = ends[1];
	}
	return 0;
}

static int
start(struct run *r, struct job *j, const struct job_context *ctx, struct flk_taker *taker,
      char **envp, int guard)
{
	struct heritage h = ctx->heritage;
	int room;

	h.guard_fd = guard;
	h.taker = taker;
	if (j->also != NULL)
		also_inherit(j->also, &h);
	h.stdio[0] = ctx->null_fd;
	h.stdio[1] = r->theirs[OUT];
	h.stdio[2] = r->theirs[ERR];
	/*
	 * Reserves a descriptor for the pidfd: without one, we could not wait for a started
	 * command.
	 */
	room = fcntl(ctx->null_fd, F_DUPFD_CLOEXEC, 0);
	if (room == -1)
		return -errno;
	r->pid = spawn(j->argv, envp, &h, &j->exec_error);
	close_fd(&room);
	if (r->pid == -1)
		return -errno;
	close_fd(&r->theirs[OUT]);
	close_fd(&r->theirs[ERR]);
	r->fd[END].fd = flki_pidfd_open(r->pid);
	if (r->fd[END].fd == -1) {
		int error = -errno;
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
		return error;
	}
	return 0;
}

/* Reads what is in the pipe.  Closes the pipe at its end, or if the output can't be kept. */
static void
collect(struct run *r, int which, struct capture *c)
{
	uint64_t until;
	int got, rest = 0;

	/*
	 * After the command's end read only what it left there: its descendants may write for ever.
	 */
	if (r->fd[END].revents != 0 && ioctl(r->fd[which].fd, FIONREAD, &rest) == -1)
		rest = 0;
	until = c->total + (uint64_t)rest;
	do
		got = capture_read(c, r->fd[which].fd);
	while (got == 1 && c->total < until);
	if (got == 1 || got == -EAGAIN)
		return;
	if (got < 0)
		screen_say(
		    NULL,
		    "the output of a command is lost: %s: set TMPDIR to a directory with room",
		    strerror(-got));
	close_fd(&r->fd[which].fd);
}

static void
end_it(struct run *r, struct job *j, const struct options *o)
{
	int sig = j->timed_out ? SIGKILL : o->want.signal;

	conduct_send(r->fd[END].fd, sig);
	r->killed = sig == SIGKILL;
	j->timed_out = true;
	r->deadline =
	    r->killed || o->want.kill_after_ns == NEVER ? NEVER : now_ns() + o->want.kill_after_ns;
}

static void
follow(struct run *r, struct job *j, const struct job_context *ctx)
{
	const struct options *o = ctx->o;
	struct timespec left;
	uint64_t now, next;
	int n;

	r->deadline = o->want.run_timeout_ns == NEVER ? NEVER : now_ns() + o->want.run_timeout_ns;
	do {
		now = now_ns();
		if (now >= r->deadline) {
			end_it(r, j, o);
			continue;
		}
		next = kind_look();
		next = next < r->deadline ? next : r->deadline;
		left = flki_timespec(next - now);
		r->fd[TEND] = (struct pollfd){ .fd = kind_fd(), .events = POLLIN };
		n = ppoll(r->fd, FDS, next == NEVER ? NULL : &left, NULL);
		if (n <= 0)
			continue;
		/* When the command has ended, all that it wrote is in the pipes: collect once more. */
		if (r->fd[OUT].revents != 0 || (r->fd[END].revents != 0 && r->fd[OUT].fd != -1))
			collect(r, OUT, &j->out);
		if (r->fd[ERR].revents != 0 || (r->fd[END].revents != 0 && r->fd[ERR].fd != -1))
			collect(r, ERR, &j->err);
		if (ctx->came != NULL)
			ctx->came(ctx->jobs, j);
	} while (r->fd[END].revents == 0);
}

static int
try_once(struct job *j, const struct job_context *ctx, struct flk_taker *taker, char **envp,
	 int guard)
{
	struct running noted;
	struct rusage usage;
	struct run r;
	int error;

	capture_empty(&j->out);
	capture_empty(&j->err);
	j->timed_out = false;
	error = open_pipes(&r, ctx->o);
	if (error == 0)
		error = start(&r, j, ctx, taker, envp, guard);
	if (error == 0) {
		if (taker != NULL)
			kind_working(taker, r.pid);
		conduct_add(&noted, r.fd[END].fd);
		follow(&r, j, ctx);
		conduct_remove(&noted);
		j->lost = taker != NULL && here.tending != NULL && here.tending->lost(taker);
		while (wait4(r.pid, &j->status, 0, &usage) == -1 && errno == EINTR)
			;
		if (j->exec_error == 0)
			usage_add(&j->usage, &usage);
		capture_finish(&j->out);
		capture_finish(&j->err);
	}
	close_fd(&r.fd[OUT].fd);
	close_fd(&r.fd[ERR].fd);
	close_fd(&r.fd[END].fd);
	close_fd(&r.theirs[OUT]);
	close_fd(&r.theirs[ERR]);
	return error;
}

static int
status_of(const struct job *j)
{
	return j->status | (j->timed_out ? FLK_TIMED_OUT : 0);
}

int
job_run(struct job *j, const struct job_context *ctx, struct flk_taker *taker)
{
	struct filling f = { j->items, j->n, j->number, 0 };
	struct flk_permit permit = ctx->permit;
	char links[ALSO_LINKS] = "", room[LIMITER_NAME], **envp = NULL;
	int error = 0, guard = -1;
	unsigned tries = 0;
	uint64_t began;

	if (taker != NULL) {
		if ((error = flk_permit(taker, &permit)) != 0 ||
		    (error = flk_guard(taker, &guard)) != 0)
			return error;
		environment_link(flk_limiter(taker), flk_slot(taker), permit.ticket, links);
	}
	if (j->also != NULL)
		also_links(j->also, links);
	f.seat = permit.seat;
	free(j->argv);
	j->argv = template_fill(&ctx->o->command, &f);
	envp = ctx->o->unlimited ? environ
				 : environment_make(limiter_for_command(ctx->name, room), &permit,
						    links[0] != '\0' ? links : NULL,
						    taker != NULL ? kind_key(taker) : NULL);
	j->began_ns = flki_clock_ns(CLOCK_REALTIME);
	began = now_ns();
	if (j->argv == NULL || envp == NULL)
		error = -ENOMEM;
	while (error == 0) {
		error = try_once(j, ctx, taker, envp, guard);
		if (error != 0 || job_exit(j) == 0 || j->exec_error != 0 || j->lost ||
		    tries++ == ctx->o->retries || conduct_is_ending())
			break;
	}
	j->ran_ns = now_ns() - began;
	if (taker != NULL && error == 0)
		usage_record(taker, status_of(j), &j->usage);
	if (j->also != NULL && error == 0)
		also_ended(j->also, status_of(j), &j->usage);
	if (!ctx->o->unlimited)
		free(envp);
	return error;
}

int
job_exit(const struct job *j)
{
	if (j->lost)
		return LOST_STATUS;
	if (j->timed_out)
		return WIFSIGNALED(j->status) && WTERMSIG(j->status) == SIGKILL ? 137 : 124;
	return exit_status_of(j->status);
}

const char *
job_fate(const struct job *j, char room[64])
{
	if (j->exec_error != 0)
		snprintf(room, 64, "it could not be run");
	else if (j->lost)
		snprintf(room, 64, "its permit was lost");
	else if (j->timed_out)
		snprintf(room, 64, "it ran longer than --run-timeout");
	else if (WIFEXITED(j->status))
		snprintf(room, 64, "exit %d", WEXITSTATUS(j->status));
	else
		snprintf(room, 64, "signal %d", WTERMSIG(j->status));
	return room;
}

void
job_forget_words(struct job *j, bool keeps_tag)
{
	size_t kept = keeps_tag && j->n > 0 ? 1 : 0;

	while (j->n > kept)
		free(j->items[--j->n]);
	free(j->argv);
	j->argv = NULL;
}

void
job_free(struct job *j)
{
	capture_empty(&j->out);
	capture_empty(&j->err);
	job_forget_words(j, false);
	free(j->items);
	free(j);
}
