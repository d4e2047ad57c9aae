/*
 * exiting.c - is a command, whose guard is free, still on its way out?
 *
 * A process that is killed closes its descriptors one after another, in practice the highest first,
 * and the guard is somewhere among them.  After the guard is free, the process may still have a
 * device, a listening socket or a file lock.  The next command must not start before it has closed
 * those, too.  A wrapper that lives waits for all of that; after a dead one the repairer asks here.
 *
 * /proc tells; where it does not, or shows another PID namespace, nobody waits.  A pid that is
 * another process's by now does little harm: that process is hardly ever on its way out, and soon
 * gone.  Where another user makes one that stays so, for which a thread suffices that outlives the
 * first one, the bound in orphan.c ends the wait.
 */
#include "exiting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "cancel.h"
#include "futex.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* the same on every architecture */
#endif

#define PF_EXITING 0x4 /* of the flags in /proc/PID/stat; see proc(5) */
#define NS_PER_MS  UINT64_C(1000000)
#define TICK_MS    10 /* without pidfd_open(2) */

/* For want of a descriptor or of memory: then it may be so for as long as the process is there. */
static bool
cannot_look(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/*
 * A zombie's first thread is done, but a thread that is counted beside it may be the last that has
 * the descriptors.  Called inside the lock, too.  It sleeps for nothing: the process's memory, which
 * a look could be left to give back, was gone before the descriptors.
 */
bool
flki_is_exiting(pid_t pid)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	unsigned flags = 0, threads = 0;
	char path[32], text[512], *p, state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return cannot_look(errno) && (kill(pid, 0) == 0 || errno == EPERM);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The name, which may hold anything, is in the last pair of parentheses. */
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p + 1,
				" %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
				" %u",
				&state, &flags, &threads) != 3)
		return false;
	return (flags & PF_EXITING) != 0 && ((state != 'Z' && state != 'X') || threads > 1);
}

void
flki_await_exit(pid_t pid, uint64_t until_ns)
{
	uint64_t now = flki_monotonic_ns();
	struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int ms, ended = 0;

	/* Once the process that we pinned is no more, the number may be another's. */
	while (ended != 1 && now < until_ns && flki_is_exiting(pid)) {
		ms = (int)((until_ns - now) / NS_PER_MS) + 1;
		ended = poll(&end, 1, end.fd == -1 ? TICK_MS : ms);
		now = flki_monotonic_ns();
	}
	if (end.fd != -1)
		close(end.fd);
}
