/* SPDX-License-Identifier: ISC */
/*
 * stop.c - when the command has stopped, the wrapper stops by the same signal, so that the shell sees
 * one stopped job.
 *
 * A stopped wrapper would not see that the command was continued by its own pid, or killed, nor that
 * the run timeout is over: it would keep the permit.  So it leaves a watcher behind, a child that looks
 * for it, and continues it.  The watcher has none of our descriptors, of which one is the permit's guard,
 * and dies with us.  Where none can be started we do not stop.
 */
#include "stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "now.h"
#include "pidfd.h"
#include "process.h"
#include "signal_pass.h"
#include "signal_wait.h"
#include "signals.h"

#define FIRST_MS 20 /* between two looks: more and more */
#define LAST_MS  500

/* At most so many ms, and none beyond the deadline. */
static int
ms_until(uint64_t deadline, int most)
{
	uint64_t now = now_ns();

	if (deadline <= now || deadline - now > (uint64_t)most * (SECOND / 1000))
		return most;
	return (int)((deadline - now) / (SECOND / 1000)) + 1;
}

/* A CONT that comes before the wrapper has stopped has no effect: another follows. */
static _Noreturn void
watch(pid_t wrapper, pid_t command, bool has_stopped, uint64_t deadline)
{
	struct pollfd end = { .events = POLLIN };
	bool ended = false, over, seen, stops;
	int ms = FIRST_MS;
	pid_t parent;
	char state;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	process_close_from(0);
	end.fd = flki_pidfd_open(command);
	while (getppid() == wrapper) {
		ended |= poll(&end, 1, ms_until(deadline, ms)) == 1;
		/* Where /proc is missing it neither stops nor runs: only its end is seen. */
		seen = process_stat(command, &state, &parent);
		stops = seen && (state == 'T' || state == 't');
		over = ended || now_ns() >= deadline || (seen && has_stopped && !stops);
		has_stopped |= stops;
		if (over)
			kill(wrapper, SIGCONT);
		if (ended)
			end.fd = -1;
		ms = over ? FIRST_MS : ms < LAST_MS / 2 ? 2 * ms : LAST_MS;
	}
	_exit(0);
}

static bool
runs_or_ended(pid_t command)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)command, &info, WEXITED | WCONTINUED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

/* The signal is blocked, and stops us when it is unblocked; a CONT has continued us then. */
static void
stop_by(int sig)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL }, saved;
	sigset_t one, mask;

	sigemptyset(&one);
	sigaddset(&one, sig);
	if (sig != SIGSTOP)
		sigaction(sig, &by_default, &saved);
	raise(sig);
	signals_mask(SIG_UNBLOCK, &one, &mask);
	signals_mask(SIG_SETMASK, &mask, NULL);
	if (sig != SIGSTOP)
		sigaction(sig, &saved, NULL);
}

void
stop_with(pid_t command, bool has_stopped, int sig, uint64_t deadline)
{
	pid_t wrapper = getpid(), watcher;
	siginfo_t cont;
	sigset_t one;

	/* A stop of ours would come too late: run() will see what has become of the command. */
	if (runs_or_ended(command) || (watcher = fork()) == -1)
		return;
	if (watcher == 0)
		watch(wrapper, command, has_stopped, deadline);
	stop_by(sig);
	kill(watcher, SIGKILL);
	while (waitpid(watcher, NULL, 0) == -1 && errno == EINTR)
		;
	/*
	 * Pass the CONT on before we read any other signal: a SIGCHLD that says that the command
	 * stopped may be pending, and would stop us once more.  No CONT comes if the signal could
	 * not stop us.
	 */
	sigemptyset(&one);
	sigaddset(&one, SIGCONT);
	if (signal_wait(&one, now_ns() + SECOND / 1000, &cont) == SIGCONT && cont.si_pid != watcher)
		signal_pass_on(command, &cont);
}
