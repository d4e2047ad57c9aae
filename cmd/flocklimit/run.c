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
#include "now.h"
#include "options.h"
#include "process.h"
#include "spawn.h"
#include "tend.h"

struct running {
	const struct options *o;
	pid_t pid;
	uint64_t deadline; /* ns; NEVER */
	bool timed_out, killed;
};

/* ---- whose signal is it? ---- */

static bool
is_below(pid_t pid, pid_t command)
{
	char state;
	int hops;

	for (hops = 0; pid > 1 && hops < 1000; hops++) {
		if (pid == command)
			return true;
		if (!process_stat(pid, &state, &pid))
			return false;
	}
	return false;
}

/*
 * The command is in our process group.  What the terminal sent, it sent to the whole group, and
 * what came from the command or from below it was a kill(0): in both cases the command has had it.
 */
static bool
had_it_already(const struct running *r, const siginfo_t *info)
{
	switch (info->si_signo) {
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGHUP:
	case SIGCONT:
	case SIGWINCH:
		if (info->si_code == SI_KERNEL)
			return true;
		break;
	default:
		break;
	}
	return (info->si_code == SI_USER || info->si_code == SI_QUEUE ||
		info->si_code == SI_TKILL) &&
	       info->si_pid > 0 && is_below(info->si_pid, r->pid);
}

static void
hand_on(const struct running *r, const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD || had_it_already(r, info))
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(r->pid, info->si_signo, info->si_value);
	else
		kill(r->pid, info->si_signo);
	if (info->si_signo == SIGTERM)
		kill(r->pid, SIGCONT); /* who is stopped can't end */
}

/* ---- stopping, timeouts ---- */

/* Who is stopped can't look at the time: a CONT at the deadline, from the kernel. */
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
	siginfo_t info = { .si_pid = 0 };
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
	/* Here we are stopped; the CONT that ends it is read, and handed on, like any signal. */
	signals_mask(SIG_SETMASK, &mask, NULL);
	if (sig != SIGSTOP)
		sigaction(sig, &saved, NULL);
	if (timed)
		timer_delete(timer);
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

/* The next signal, or 0 when the deadline has come. */
static int
next_signal(uint64_t deadline, siginfo_t *info)
{
	struct timespec left;
	sigset_t all;
	uint64_t now;
	int sig;

	memset(&all, 0xff, sizeof(all));
	do {
		if (deadline == NEVER) {
			sig = sigwaitinfo(&all, info);
		} else {
			now = now_ns();
			if (now >= deadline)
				return 0;
			left.tv_sec = (time_t)((deadline - now) / SECOND);
			left.tv_nsec = (long)((deadline - now) % SECOND);
			sig = sigtimedwait(&all, info, &left);
		}
	} while (sig == -1 && errno == EINTR);
	return sig == -1 ? 0 : sig;
}

static int
exit_status(const struct running *r, int status)
{
	if (r->timed_out) {
		bool by_kill = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		return r->killed && by_kill ? 128 + SIGKILL : 124;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static uint64_t
soonest(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

int
run(const struct options *o, pid_t command, struct jobserver *j, int *ended)
{
	struct running r = { .o = o, .pid = command, .deadline = NEVER };
	uint64_t due, tend;
	siginfo_t info;
	bool tended;
	int status;

	if (o->want.run_timeout_ns != NEVER)
		r.deadline = now_ns() + o->want.run_timeout_ns;
	tend_by_signal();
	if (j != NULL)
		jobserver_look(j);
	for (;;) {
		due = j != NULL ? jobserver_due(j) : NEVER;
		tend = tend_look();
		if (next_signal(soonest(due, tend, r.deadline), &info) == 0) {
			if (due < r.deadline)
				jobserver_look(j);
			else if (now_ns() >= r.deadline)
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
		hand_on(&r, &info);
	}
}
