/*
 * run.c - one loop, in which every signal is a message to be read: none can come between a look
 * and a sleep, and none is ever sent to a process that was reaped.
 */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>

#include "flocklimit.h"
#include "hear.h"
#include "now.h"
#include "options.h"
#include "pass.h"
#include "say.h"
#include "spawn.h"
#include "tend.h"

struct running {
	const struct options *o;
	pid_t pid;
	uint64_t deadline; /* ns; NEVER */
	bool timed_out, killed;
};

/* ---- stopping, timeouts ---- */

/* While we are stopped we can't look at the time: the kernel sends a CONT at the deadline. */
static bool
arrange_cont(uint64_t deadline, timer_t *timer)
{
	struct sigevent cont = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT };
	struct itimerspec at = { .it_value = { .tv_sec = (time_t)(deadline / SECOND),
					       .tv_nsec = (long)(deadline % SECOND) } };

	if (deadline == NEVER || timer_create(CLOCK_MONOTONIC, &cont, timer) == -1)
		return false;
	timer_settime(*timer, TIMER_ABSTIME, &at, NULL);
	return true;
}

/*
 * As the shell sees one job: it stops when its command stops, by the same signal.  But not when
 * the deadline is near or past: a CONT that comes before the stop would be lost.
 */
static void
stop_with_it(const struct running *r, int sig)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL }, saved;
	siginfo_t info = { .si_pid = 0 }, cont;
	sigset_t one, mask;
	timer_t timer;
	bool timed;

	/* It may go on again already, and a stop of ours would come after that; or have ended,
	 * which is left for run() to see. */
	if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WCONTINUED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid != 0)
		return;
	if (r->deadline != NEVER && now_ns() + SECOND / 10 >= r->deadline)
		return;
	timed = arrange_cont(r->deadline, &timer);
	sigemptyset(&one);
	sigaddset(&one, sig);
	if (sig != SIGSTOP)
		sigaction(sig, &by_default, &saved);
	raise(sig);
	signals_mask(SIG_UNBLOCK, &one, &mask);
	/* Here we are stopped, until a CONT comes. */
	signals_mask(SIG_SETMASK, &mask, NULL);
	if (sig != SIGSTOP)
		sigaction(sig, &saved, NULL);
	if (timed)
		timer_delete(timer);
	/*
	 * The CONT goes to the command before we read anything else: a stop of the command that we
	 * have not heard of yet would stop us once more.  There is none if nothing could stop us.
	 */
	sigemptyset(&one);
	sigaddset(&one, SIGCONT);
	if (hear(&one, now_ns() + SECOND / 1000, &cont) == SIGCONT)
		pass_on(r->pid, &cont);
}

static void
end_it(struct running *r)
{
	int sig = r->timed_out ? SIGKILL : r->o->want.signal;

	kill(r->pid, sig);
	kill(r->pid, SIGCONT);
	r->killed = sig == SIGKILL;
	r->timed_out = true;
	r->deadline = r->killed || r->o->want.kill_after_ns == NEVER
			  ? NEVER
			  : now_ns() + r->o->want.kill_after_ns;
}

static int
exit_status(const struct running *r, int status)
{
	if (r->timed_out && !r->o->preserve_status) {
		bool by_kill = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		return r->killed && by_kill ? 128 + SIGKILL : 124;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * A filter of system calls keeps all news of signals from us: those that mean us end us, as they end
 * flock(1), and the command keeps its permit then.
 */
static int
wait_deaf(const struct running *r, int *ended)
{
	static const int endings[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	sigset_t set;
	size_t i;

	say(r->o->want.limiter,
	    "cannot wait for signals: %s: none is passed on to the command, "
	    "and --run-timeout and --jobserver have no effect",
	    strerror(errno));
	sigemptyset(&set);
	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		sigaddset(&set, endings[i]);
	signals_mask(SIG_UNBLOCK, &set, NULL);
	while (waitpid(r->pid, ended, 0) == -1 && errno == EINTR)
		;
	return exit_status(r, *ended);
}

int
run(const struct options *o, pid_t command, struct jobserver *j, int *ended)
{
	struct running r = { .o = o, .pid = command, .deadline = NEVER };
	uint64_t tend;
	siginfo_t info;
	sigset_t all;
	bool tended;
	int status, sig;

	memset(&all, 0xff, sizeof(all));
	if (o->want.run_timeout_ns != NEVER)
		r.deadline = now_ns() + o->want.run_timeout_ns;
	tend_by_signal();
	for (;;) {
		tend = tend_look();
		sig = hear(&all, tend < r.deadline ? tend : r.deadline, &info);
		if (sig == -1)
			return wait_deaf(&r, ended);
		if (sig == 0) {
			if (now_ns() >= r.deadline)
				end_it(&r);
			continue;
		}
		tended = tend_hears(&info);
		if ((j != NULL && jobserver_hears(j, &info)) || tended)
			continue;
		/* Its end first: nothing may be sent to a process that is no more. */
		if (waitpid(command, &status, WNOHANG | WUNTRACED) == command) {
			if (!WIFSTOPPED(status)) {
				*ended = status | (r.timed_out ? FLK_TIMED_OUT : 0);
				return exit_status(&r, status);
			}
			stop_with_it(&r, WSTOPSIG(status));
		}
		if (pass_on(command, &info))
			stop_with_it(&r, info.si_signo);
	}
}
