/* SPDX-License-Identifier: ISC */
/*
 * guard.c - a permit that outlives its taker.
 *
 * A command inherits a descriptor.  On its description is an open-file-description lock of one byte
 * per permit, far behind the end of the file.  The lock belongs to the description, so it ends when
 * the last process that has the description open closes it, or dies; no process has to do more for
 * that.
 *
 * What else could show that a command runs, and why it would not do:
 *
 *	the wrapper's `alive'
 *		It ends with one thread, at its exit or exec(2), and no child inherits it.
 *	a pidfd, or the command's pid
 *		It shows one process.  Others may work under the permit: the child of a shell that
 *		has ended, say.  And a taker of another PID namespace can't find it by its number.
 *	a pipe of which the command has the writing end
 *		It, too, ends with the last process.  But only the wrapper had its reading end, and
 *		the wrapper is dead.
 *	a FIFO for each permit
 *		All takers can open it.  But it is one more file to protect and to remove, and
 *		nothing removes it when wrapper and command are killed.
 *	flock(2)
 *		It locks the whole file, so each permit would need a file of its own.
 *
 * Any process that has the description can unlock the byte, also one that has given up its rights,
 * and a program may close descriptors that it does not know.  So the worker keeps the permit, too,
 * by its pid and the time of its start: see orphan.c.
 *
 * A byte's lock is found by any taker, of whatever user or namespace, that can open the limiter:
 * one fcntl(2) asks for it, another sleeps until it ends.
 *
 * The command may run as another user, so the description is open for reading only: nothing can be
 * written, truncated or mapped writable through it.  Hence the lock is a read lock.  A taker that
 * asks whether the guard is free asks whether a write lock would conflict, and the thread in
 * orphan.c that waits until it is free takes a write lock.  Commands inherit guards only: the
 * limiter's own descriptor, file.fd, is close-on-exec and carries none.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>

#include "bytelock.h"
#include "cancel.h"
#include "clock.h"
#include "descriptor.h"

/* Returns the descriptor if it leads to the limiter's file; else closes it, and returns -1. */
static int
same_file(const struct flk *f, int fd)
{
	struct stat sb;

	if (fd != -1 && fstat(fd, &sb) == 0 && sb.st_dev == f->file.dev && sb.st_ino == f->file.ino)
		return fd;
	if (fd != -1)
		close(fd);
	return -1;
}

/*
 * Opens a new description, for reading only.  By the path, which costs less; or by /proc, if the
 * path does not lead to the file: the limiter may have lost its name, and a relative path may lead
 * elsewhere by now.
 */
static int
open_guard(const struct flk *f)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	char self[32];
	struct stat sb;
	int fd, error;

	fd = open(f->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -errno;
	fd = same_file(f, fd);
	if (fd == -1) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", f->file.fd);
		if ((error = flki_file_stat(&f->file, &sb)) != 0)
			return error;
		fd = open(self, O_RDONLY | O_CLOEXEC);
		if (fd == -1)
			return errno == ENOENT ? -FLK_GONE : -errno;
	}
	fd = flki_above_stdio(fd);
	return fd == -1 ? -errno : fd;
}

static int
lock_byte(struct flk_taker *t, int fd)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	uint64_t before = flki_boottime_ns();
	int error;

	/* A vigil of orphan.c that waited for this byte has it locked for an instant. */
	error = flki_byte_lock_patiently(fd, F_RDLCK, GUARD_BASE + t->slot);
	if (error == 0)
		t->guarded_ns = before;
	return error == -EAGAIN ? -EBUSY : error;
}

static void
close_guard(int fd)
{
	int cancel FLKI_RESTORED = flki_no_cancel();

	close(fd);
}

static int
may_guard(const struct flk_taker *t)
{
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->slot == NIL || atomic_load(&taker_slot(t)->state) != HELD)
		return -FLK_NOPERMIT;
	return 0;
}

int
flki_local_guard(struct flk_taker *t, int *fd)
{
	int error = may_guard(t), guard = t->guard_fd;

	if (error != 0)
		return error;
	if (guard == -1 && (guard = open_guard(t->flk)) < 0)
		return guard;
	error = lock_byte(t, guard);
	if (error == 0)
		*fd = t->guard_fd = guard;
	else if (guard != t->guard_fd)
		close_guard(guard);
	return error;
}

int
flki_local_guard_open(struct flk *f)
{
	return open_guard(f);
}

/* Until the new guard is locked, the permit keeps the one that it has. */
int
flki_local_guard_by(struct flk_taker *t, int fd)
{
	int error = may_guard(t);

	if (error != 0 || (error = lock_byte(t, fd)) != 0 || fd == t->guard_fd)
		return error;
	flki_guard_drop(t);
	t->guard_fd = fd;
	t->guard_lent = true;
	/* If the two descriptors have one description, the drop has unlocked the new guard, too. */
	return lock_byte(t, fd);
}

/* Unlocks it, so that processes that have inherited the descriptor keep no permit by it. */
void
flki_guard_drop(struct flk_taker *t)
{
	if (t->guard_fd == -1)
		return;
	flki_byte_unlock(t->guard_fd, GUARD_BASE + t->slot);
	/*
	 * Processes that an earlier command left behind may have it open, so it serves no second
	 * guard.
	 */
	if (!t->guard_lent)
		close_guard(t->guard_fd);
	t->guard_fd = -1;
	t->guard_lent = false;
}

/*
 * A write lock there belongs to a vigil of orphan.c.  It could not have got it while a command had
 * its read lock, so the guard is free.
 */
bool
flki_guard_is_free(const struct flk *f, uint32_t slot)
{
	struct stat sb;
	int conflict;

	if (flki_file_stat(&f->file, &sb) != 0)
		return false;
	conflict = flki_byte_conflict(f->file.fd, GUARD_BASE + slot);
	return conflict == F_UNLCK || conflict == F_WRLCK;
}
