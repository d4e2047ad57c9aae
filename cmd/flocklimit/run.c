/* SPDX-License-Identifier: ISC */
/*
 * run.c - one loop that reads signals as messages, while all are blocked: so no signal can get lost
 * between a look and a sleep, and none is sent to a command that was reaped.
 *
 * The state is how far the run timeout has come: the command RUNS, or was ASKED to end by --signal,
 * or was KILLED.  What we do in each:
 *
 * 	event                 RUNS                    ASKED              KILLED
 * 	the deadline:         --run-timeout           --kill-after       there is none
 * 	                      send --signal: ASKED    send KILL: KILLED
 * 	                      (KILLED, if it is KILL)
 * 	the command has       exit with its status    exit with 124 (1)  exit with 137 (1);
 * 	ended                 or 128 + its signal                        124, if it was faster
 * 	the command has       stop by the same signal: see stop.h
 * 	stopped
 * 	the permit is lost    kind_look() ends the command
 * 	SIGIO, SIGURG         call the jobserver, ready.c or the store, if it is theirs; else as
 * 	                      below
 * 	another signal        pass it on, if the command has not had it; stop as well, if it stops
 * 	                      a command that has left our process group
 *
 * (1) With --preserve-status as in RUNS.
 *
 * If the command has ended when a signal comes, the end counts, and nothing is sent.
 *
 * With --tree, the end is that of the last process that the command has left behind, the status is still
 * the command's, and signals that end processes reach all of them.
 */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "flocklimit.h"
#include "jobserver.h"
#include "now.h"
#include "process.h"
#include "options.h"
#include "pin.h"
#include "ready.h"
#include "say.h"
#include "signal_pass.h"
#include "signal_wait.h"
#include "signals.h"
#include "spawn.h"
#include "stop.h"
#include "tree.h"
#include "kind.h"

enum state { RUNS, ASKED, KILLED };

struct running {
	const struct options *o;
	const struct ready *ready; /* NULL: without --until-ready */
	pid_t pid;
	enum state state;
	uint64_t deadline; /* of this state, ns; NEVER */
	const struct jobserver *jobserver;
	bool has_ended; /* the command, and what it left behind runs on: --tree */
	int status;     /* its own, of wait(2) */
};

/* By which people mean a program to end. */
static const int endings[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
#define ENDINGS (sizeof(endings) / sizeof(endings[0]))

/* ---- the command's tree ---- */

/* Returns how many there are; 0 without --tree. */
static unsigned
signal_others(const struct running *r, int sig)
{
	return r->o->want.how.tree
		   ? tree_signal(sig, r->has_ended ? 0 : r->pid, jobserver_follower(r->jobserver))
		   : 0;
}

/*
 * A signal that a process sent to us, and not to our group, was not for the command alone.  Of one to
 * our group we can't know that: what is in the group has it twice.
 */
static void
pass_to_others(const struct running *r, const siginfo_t *info)
{
	size_t i;

	for (i = 0; i < ENDINGS && endings[i] != info->si_signo; i++)
		;
	if (i < ENDINGS && info->si_code != SI_KERNEL && !process_is_below(info->si_pid, getpid()))
		signal_others(r, info->si_signo);
}

/* What has become our child, and has ended. */
static void
reap_others(const struct running *r, struct ending *end)
{
	siginfo_t info = { .si_pid = 0 };
	struct rusage usage;

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0 &&
	       (r->has_ended || info.si_pid != r->pid) &&
	       info.si_pid != jobserver_follower(r->jobserver)) {
		if (wait4(info.si_pid, NULL, 0, &usage) > 0)
			usage_add(&end->usage, &usage);
		info.si_pid = 0;
	}
}

/* ---- stopping, timeouts ---- */

/* Except where no shell would continue us together with the command. */
static void
stop_with_it(const struct running *r, bool has_stopped, int sig)
{
	/* A service that stops itself waits for its manager, which READY=1 is for. */
	if (r->o->background || (sig == SIGSTOP && ready_is_awaited(r->ready)))
		return;
	/* The deadline is near or past: to stop would only delay it. */
	if (r->deadline != NEVER && now_ns() + SECOND / 10 >= r->deadline)
		return;
	stop_with(r->pid, has_stopped, sig, r->deadline);
}

static void
end_it(struct running *r)
{
	int sig = r->state == RUNS ? r->o->want.signal : SIGKILL;

	if (!r->has_ended && kill(r->pid, sig) == -1 && errno == EPERM)
		say(r->o->want.limiter,
		    "--run-timeout: pid %d runs as another user: we may not signal it",
		    (int)r->pid);
	if (!r->has_ended)
		kill(r->pid, SIGCONT); /* a stopped command can't end */
	signal_others(r, sig);
	r->state = sig == SIGKILL ? KILLED : ASKED;
	r->deadline = r->state == KILLED || r->o->want.kill_after_ns == NEVER
			  ? NEVER
			  : now_ns() + r->o->want.kill_after_ns;
}

static int
exit_status(const struct running *r, int status)
{
	if (r->state != RUNS && !r->o->preserve_status) {
		bool by_kill = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		return r->state == KILLED && by_kill ? 128 + SIGKILL : 124;
	}
	return exit_status_of(status);
}

/*
 * A filter of system calls forbids us to wait for signals.  The signals that are meant to end a
 * program then end us, as they end flock(1); the command keeps its permit.
 */
static int
wait_deaf(const struct running *r, struct ending *end)
{
	struct rusage usage;
	sigset_t set;
	size_t i;

	say(r->o->want.limiter,
	    "cannot wait for signals: %s: none is passed on to the command, "
	    "and --run-timeout, --jobserver, --pin, --tree and --until-ready have no effect",
	    strerror(errno));
	sigemptyset(&set);
	for (i = 0; i < ENDINGS; i++)
		sigaddset(&set, endings[i]);
	signals_mask(SIG_UNBLOCK, &set, NULL);
	while (wait4(r->pid, &end->status, 0, &usage) == -1 && errno == EINTR)
		;
	usage_add(&end->usage, &usage);
	return exit_status(r, end->status);
}

/* Whether it has ended, or has stopped. */
static void
look_at_command(struct running *r, struct ending *end)
{
	struct rusage usage;
	int status;

	if (wait4(r->pid, &status, WNOHANG | WUNTRACED, &usage) != r->pid)
		return;
	if (WIFSTOPPED(status)) {
		stop_with_it(r, true, WSTOPSIG(status));
		return;
	}
	r->has_ended = true;
	r->status = status;
	usage_add(&end->usage, &usage);
}

int
run(const struct options *o, pid_t command, struct jobserver *j, struct ready *ready,
    struct pin *pin, struct ending *end)
{
	struct running r = { .o = o,
			     .ready = ready,
			     .jobserver = j,
			     .pid = command,
			     .state = RUNS,
			     .deadline = NEVER };
	uint64_t next, pinned;
	siginfo_t info;
	sigset_t all;
	bool tended;
	int sig;

	memset(&all, 0xff, sizeof(all));
	if (o->want.run_timeout_ns != NEVER)
		r.deadline = now_ns() + o->want.run_timeout_ns;
	kind_by_signal();
	for (;;) {
		next = kind_look();
		pinned = pin_look(pin, jobserver_follower(j));
		next = pinned < next ? pinned : next;
		sig = signal_wait(&all, next < r.deadline ? next : r.deadline, &info);
		if (sig == -1)
			return wait_deaf(&r, end);
		if (sig == 0) {
			if (now_ns() >= r.deadline)
				end_it(&r);
			continue;
		}
		tended = here.tending != NULL && here.tending->hears(&info);
		tended = ready_hears(ready, &info) || tended;
		if ((j != NULL && jobserver_hears(j, &info)) || tended)
			continue;
		/*
		 * Look for the command's end first: no signal may be sent to a process that is
		 * gone.
		 */
		if (!r.has_ended)
			look_at_command(&r, end);
		if (o->want.how.tree || pin_adopts(pin))
			reap_others(&r, end);
		if (r.has_ended && signal_others(&r, 0) == 0) {
			end->status = r.status | (r.state != RUNS ? FLK_TIMED_OUT : 0);
			return exit_status(&r, r.status);
		}
		if (!r.has_ended && signal_pass_on(command, &info))
			stop_with_it(&r, false, info.si_signo);
		if (o->want.how.tree)
			pass_to_others(&r, &info);
	}
}
