/* SPDX-License-Identifier: ISC */
/*
 * exiting.c - does a command that has no guard any more still run, or is it in the middle of its exit?
 *
 * A process that is killed closes its descriptors one after another, in practice the highest first,
 * and the guard is somewhere among them.  When the guard is free, the process may still have a
 * device, a listening socket or a file lock.  The next command must not start before it has closed
 * those, too.  A wrapper that lives waits for the whole exit.  If the wrapper is dead, the taker
 * that would reap its permit asks here.
 *
 * A command that runs may have closed the guard, or a descendant may have unlocked it.
 *
 * The answer is in /proc.  Where /proc is missing, in another PID namespace than the dead taker's,
 * where its number is another process's, or where the times of /proc are those of another time
 * namespace, the permit ends with the guard.  If the pid was reused, little harm is done: the other
 * process is hardly ever in its exit, and if it is, it is soon gone.  Another user can make a process
 * that stays in its exit (a thread that outlives the first thread is enough): then the bound in
 * orphan.c ends the wait.
 */
#include "exiting.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <sys/stat.h>

#include "cancel.h"
#include "clock.h"
#include "pidfd.h"
#include "proc.h"

#define PF_EXITING 0x4   /* of the flags in /proc/PID/stat; see proc(5) */
#define TICK_US    10000 /* without pidfd_open(2) */
#define TICK_NS    (SECOND / (uint64_t)sysconf(_SC_CLK_TCK)) /* of the times in /proc */

/* No descriptor or memory for the look: then the process counts as exiting while it is there. */
static bool
cannot_look(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/*
 * A zombie's first thread is done, but if another thread is counted beside it, that may be the last
 * one that has the descriptors.
 *
 * It is called inside the lock, and does not sleep: the process gave back its memory before it
 * closed its descriptors, so this look can't be the last user of the memory that has to free it.
 */
enum flki_life
flki_life_of(pid_t pid, uint64_t *start_ns)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct proc_stat s;
	int error = flki_proc_stat(pid, &s);

	*start_ns = 0;
	if (error != 0)
		return cannot_look(-error) && (kill(pid, 0) == 0 || errno == EPERM) ? EXITS : ENDED;
	*start_ns = (uint64_t)s.start * TICK_NS;
	if ((s.flags & PF_EXITING) == 0)
		return RUNS;
	return (s.state != 'Z' && s.state != 'X') || s.threads > 1 ? EXITS : ENDED;
}

bool
flki_runs_since(pid_t pid, uint64_t after_ns, uint64_t before_ns)
{
	uint64_t start;

	return before_ns != 0 && flki_life_of(pid, &start) == RUNS && start + TICK_NS > after_ns &&
	       start <= before_ns;
}

/* The namespace's number is that of its inode, which a live namespace shares with no other. */
uint32_t
flki_pid_namespace(void)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct stat sb;

	return stat("/proc/self/ns/pid", &sb) == 0 ? (uint32_t)sb.st_ino : 0;
}

/* Sleeps for MS at most, -1: for ever.  True if the process of the pidfd has ended. */
static bool
sleep_until_end(struct pollfd *end, int ms)
{
	int n = end->fd != -1 ? poll(end, 1, ms) : -1;

	/* Without a pidfd, or where poll(2) is refused: RLIMIT_NOFILE may be 0 by now. */
	if (n == -1)
		usleep(TICK_US);
	return n == 1;
}

void
flki_await_exit(pid_t pid, uint64_t until_ns)
{
	struct pollfd end = { .fd = flki_pidfd_open(pid), .events = POLLIN };
	uint64_t now;

	/* Once the process that the pidfd names has ended, its number may be another's. */
	while ((now = flki_monotonic_ns()) < until_ns && flki_is_exiting(pid) &&
	       !sleep_until_end(&end, (int)((until_ns - now) / MS) + 1))
		;
	if (end.fd != -1)
		close(end.fd);
}

void
flki_await_end(pid_t pid, uint64_t after_ns, uint64_t before_ns)
{
	struct pollfd end = { .fd = flki_pidfd_open(pid), .events = POLLIN };

	while (flki_runs_since(pid, after_ns, before_ns) && !sleep_until_end(&end, -1))
		;
	if (end.fd != -1)
		close(end.fd);
}
