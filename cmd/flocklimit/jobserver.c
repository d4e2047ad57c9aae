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
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include "descriptor.h"
#include "explain.h"
#include "follower.h"
#include "makeflags.h"
#include "now.h"
#include "say.h"
#include "kind.h"
#include "tokens.h"

#define HIGH_FD     60
#define MOST_TOKENS 1024 /* a thread may have 2000 takers */
#define STACK       (256 * 1024)
#define LENT_SOON   (SECOND / 2) /* the command does not wait longer for its first tokens */

struct jobserver {
	struct tokens tokens; /* the lender's */
	int in, out;          /* the command's */
	int notify;
	pid_t follower;
	bool quiet; /* about a command that ignores the jobserver */
	pthread_t lender;
	bool lends; /* there is a lender */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t change;
	struct flk_taker *asleep; /* the lender sleeps in the line */
	bool woken, ending, looked;
	bool news;  /* it must look at pipe and limiter, and not only tend its takers */
	bool lost;  /* the lender sleeps in a file that was cut short: nothing can wake it */
	int failed; /* why the lender could not begin; else 0 */
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
	j->tokens.pipe = flki_above_stdio(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
	if (j->tokens.pipe == -1)
		return errno;
	j->notify = flki_above_stdio(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
	if (j->notify == -1 || inotify_add_watch(j->notify, path, IN_ACCESS | IN_MODIFY) == -1 ||
	    fcntl(j->notify, F_SETOWN, getpid()) == -1 ||
	    fcntl(j->notify, F_SETFL, O_NONBLOCK | O_ASYNC) == -1)
		return errno;
	return 0;
}

/* ---- the lender ---- */

static void
wake_lender(struct jobserver *j, bool news)
{
	sigjmp_buf cut;

	pthread_mutex_lock(&j->lock);
	j->woken = true;
	j->news |= news;
	fault_jump = &cut;
	if (sigsetjmp(cut, 1) != 0)
		j->lost = true;
	else if (j->asleep != NULL && !j->lost)
		flk_interrupt(j->asleep);
	fault_jump = NULL;
	pthread_cond_broadcast(&j->change);
	pthread_mutex_unlock(&j->lock);
}

/* Sleeps until the lender is woken, or has a permit, or the time has come.  False at the end. */
static bool
sleep_until(struct jobserver *j, uint64_t due)
{
	struct flk_taker *asking = tokens_asking(&j->tokens);
	struct timespec at = flki_timespec(due);
	bool going;
	int code;

	pthread_mutex_lock(&j->lock);
	j->looked = true;
	pthread_cond_broadcast(&j->change);
	if (asking != NULL && !j->woken && !j->ending) {
		j->asleep = asking;
		pthread_mutex_unlock(&j->lock);
		code = flk_wait(asking, due == NEVER ? NULL : &at, NULL);
		tokens_heard(&j->tokens, code);
		pthread_mutex_lock(&j->lock);
		j->asleep = NULL;
		j->news |= code != -EINTR;
	} else {
		while (!j->woken && !j->ending)
			if (due == NEVER)
				pthread_cond_wait(&j->change, &j->lock);
			else if (pthread_cond_timedwait(&j->change, &j->lock, &at) == ETIMEDOUT)
				break;
	}
	j->woken = false;
	going = !j->ending;
	pthread_mutex_unlock(&j->lock);
	return going;
}

static bool
take_news(struct jobserver *j)
{
	bool news;

	pthread_mutex_lock(&j->lock);
	news = j->news;
	j->news = false;
	pthread_mutex_unlock(&j->lock);
	return news;
}

/* The lender lends no more, or has not begun: then that is why, unless it is 0. */
static void
stop_lending(struct jobserver *j, int error)
{
	pthread_mutex_lock(&j->lock);
	j->asleep = NULL;
	j->failed = error;
	j->looked = true;
	pthread_cond_broadcast(&j->change);
	pthread_mutex_unlock(&j->lock);
}

static void
lend_to_end(struct jobserver *j)
{
	uint64_t due = 0, tend;
	char events[4096];
	int error;

	kind_by_signal();
	if ((error = tokens_begin(&j->tokens)) != 0) {
		stop_lending(j, error);
	} else {
		do {
			if (take_news(j) || now_ns() >= due) {
				while (read(j->notify, events, sizeof(events)) > 0)
					;
				due = tokens_look(&j->tokens);
			}
			tend = kind_look();
		} while (sleep_until(j, due < tend ? due : tend));
	}
	tokens_end(&j->tokens);
}

static void *
lend_tokens(void *jobserver)
{
	struct jobserver *j = jobserver;
	sigjmp_buf cut;

	fault_jump = &cut;
	if (sigsetjmp(cut, 1) == 0) {
		lend_to_end(j);
	} else {
		fault_say();
		stop_lending(j, 0);
	}
	return NULL;
}

/*
 * Returns when the lender has lent what is free, so that the command finds it; or failed to begin.
 */
static int
start_lender(struct jobserver *j)
{
	struct timespec until = flki_timespec(now_ns() + LENT_SOON);
	pthread_condattr_t clock;
	pthread_attr_t small;
	int error;

	pthread_mutex_init(&j->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&j->change, &clock);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	error = pthread_create(&j->lender, &small, lend_tokens, j);
	pthread_attr_destroy(&small);
	pthread_condattr_destroy(&clock);
	if (error != 0)
		return -error;
	j->lends = true;
	pthread_mutex_lock(&j->lock);
	while (!j->looked && pthread_cond_timedwait(&j->change, &j->lock, &until) != ETIMEDOUT)
		;
	error = j->failed;
	pthread_mutex_unlock(&j->lock);
	return error;
}

/* ---- signals ---- */

bool
jobserver_hears(struct jobserver *j, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD && j->follower > 0 &&
	    waitpid(j->follower, NULL, WNOHANG) == j->follower)
		j->follower = follower_start(j->tokens.limiter, j);
	if (info->si_signo == SIGURG)
		wake_lender(j, false); /* in a store: its takers must be tended */
	if (info->si_signo != SIGIO)
		return false;
	/*
	 * Whichever process sent it: if one was pending, a SIGIO of ours was merged with that one.
	 */
	wake_lender(j, true);
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
	if ((error = makeflags_set(j->tokens.most + 1, fifo, j->in, j->out)) != 0)
		return error;
	j->tokens.guard = flk_guard_open(j->tokens.limiter);
	if (j->tokens.guard < 0)
		return -j->tokens.guard;
	if ((j->tokens.guard = raise_fd(j->tokens.guard)) == -1)
		return errno;
	heritage->inherit[0] = j->tokens.guard;
	heritage->inherit[1] = fifo ? -1 : j->in;
	heritage->inherit[2] = fifo ? -1 : j->out;
	j->follower = follower_start(j->tokens.limiter, j);
	return -start_lender(j);
}

struct jobserver *
jobserver_open(const struct jobserver_plan *plan, struct heritage *heritage)
{
	uint32_t tokens = plan->jobs - 1 < MOST_TOKENS ? plan->jobs - 1 : MOST_TOKENS;
	struct jobserver *j = calloc(1, sizeof(*j));
	int error = ENOMEM;
	bool fifo;

	if (j != NULL) {
		j->tokens.limiter = plan->limiter;
		j->tokens.name = plan->limiter_name;
		j->tokens.want = plan->want;
		j->tokens.most = tokens;
		j->in = j->out = j->notify = j->tokens.pipe = j->tokens.guard = -1;
		j->tokens.program = plan->command[0];
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
		j->tokens.command = command;
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
	if (j->lends) {
		pthread_mutex_lock(&j->lock);
		j->ending = true;
		pthread_mutex_unlock(&j->lock);
		wake_lender(j, false);
		if (j->lost)
			return; /* the thread ends with us */
		pthread_join(j->lender, NULL);
		if (!j->quiet && tokens_ignored(&j->tokens))
			say(j->tokens.name,
			    "--jobserver: '%s' took no token, and ran several processes at once: "
			    "if they were jobs, nothing limited them; see flocklimit(1) for "
			    "programs that use it",
			    j->tokens.program);
	}
	free(j);
}
