/* SPDX-License-Identifier: ISC */
/*
 * signal_holder.c - sends a signal to the process that works under a permit, and never to another.
 *
 * A pid may be another process's by the time of the kill.  So we first open a pidfd, which stays
 * with one process; then check that this process is the one that the snapshot means; then signal
 * the pidfd.
 */
#include "signal_holder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "limiter_state.h"
#include "own.h"
#include "pidfd.h"
#include "process.h"
#include "processes.h"
#include "kind.h"

static bool
still_holds(struct flk *f, const struct flk_entry *e)
{
	const struct flk_entry *now;
	struct flk_snapshot *s;
	bool holds;

	if (flk_snapshot(f, &s) != 0)
		return false;
	now = entry_of_ticket(s, e->ticket);
	holds = now != NULL && now->holds && now->pid == e->pid;
	free(s);
	return holds;
}

/* The processes that have the slot's guard open now, and whether ONE is among them. */
static size_t
heirs_of(struct flk *f, const struct flk_entry *e, pid_t pid[HEIRS], pid_t one, bool *among)
{
	size_t n = flki_heirs(f, e->slot, pid, HEIRS), i;

	*among = false;
	for (i = 0; i < n; i++)
		*among |= pid[i] == one;
	return n;
}

/*
 * Whether this process, to which we have a pidfd, is the one that the entry means: 1, 0, or -errno.
 */
static int
is_meant(struct flk *f, const struct flk_entry *e, pid_t pid)
{
	pid_t heir[HEIRS], parent;
	struct flk_permit permit;
	bool among;
	char state;

	if (e->orphan) {
		heirs_of(f, e, heir, pid, &among);
		/* Another taker may have the slot by now, and then these are its heirs. */
		return among && flk_holds(f, e->slot, e->ticket, &permit) ? 1 : 0;
	}
	if (pid != e->pid && (!process_stat(pid, &state, &parent) || parent != e->pid))
		return 0;
	if (!still_holds(f, e))
		return 0;
	return here.operating->belongs(f, e, pid);
}

/* -ENOENT: the process has ended, or is not the process that the entry means. */
static int
signal_process(struct flk *f, const struct flk_entry *e, pid_t pid, int sig)
{
	int fd = pid > 0 ? flki_pidfd_open(pid) : -1, meant, error = 0;

	if (pid <= 0 || (fd == -1 && errno == ESRCH))
		return -ENOENT;
	if (fd == -1)
		return -errno;
	if ((meant = is_meant(f, e, pid)) <= 0)
		error = meant == 0 ? -ENOENT : meant;
	else if (flki_pidfd_signal(fd, sig) == -1)
		error = errno == ESRCH ? -ENOENT : -errno;
	close(fd);
	return error;
}

/*
 * The processes that keep an orphan's permit: if --no-fork executed the command, only the command.
 */
static int
signal_heirs(struct flk *f, const struct flk_entry *e, int sig)
{
	pid_t heir[HEIRS];
	int error = -ENOENT, one;
	bool by_itself;
	size_t n, i;

	n = heirs_of(f, e, heir, e->pid, &by_itself);
	if (e->role == FLK_CARRIED && by_itself)
		return signal_process(f, e, e->pid, sig);
	for (i = 0; i < n; i++)
		if ((one = signal_process(f, e, heir[i], sig)) == 0 || error == -ENOENT)
			error = one;
	return error;
}

/*
 * The process that a taker works by: by its slot, or else among the taker's children.  These may be
 * others as well: the follower of a jobserver, say.
 */
static pid_t
worker_of(const struct flk_entry *e)
{
	struct processes *processes = e->worker == 0 ? processes_read() : NULL;
	pid_t pid = e->worker != 0 ? (pid_t)e->worker : processes_command(processes, e);

	processes_free(processes);
	return pid;
}

/* flocklimit passes on signals that it can catch; KILL and STOP must go to the command itself. */
int
signal_holder(struct flk *f, const struct flk_entry *e, int sig)
{
	bool command = e->role == FLK_WRAPPER && (sig == SIGKILL || sig == SIGSTOP);

	if (e->orphan)
		return signal_heirs(f, e, sig);
	return signal_process(f, e, command || e->role == FLK_CREW ? worker_of(e) : e->pid, sig);
}
