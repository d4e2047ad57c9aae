/*
 * guard.c - a permit that outlives its taker.
 *
 * A command inherits a descriptor on which one byte per permit, far behind the end of the file, has
 * an open-file-description lock.  The lock belongs to the description, so it ends with the last
 * process that has the description open; no process has to do anything for that.
 *
 * The command may run as another user, so the description is open for reading only: nothing can be
 * written, truncated or mapped writable through it.  Hence the lock is a read lock.  A process that
 * asks whether the guard is free asks for a conflict with a write lock, and so does the thread in
 * orphan.c that waits for it to become free.  Only descriptions of the guard's kind are ever
 * inherited; the limiter's own, file.fd, is close-on-exec and carries none.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>

#include "cancel.h"

#ifndef PATIENCE_MS /* the fuzzers have less */
#define PATIENCE_MS 2000
#endif

static struct flock
byte_lock(short type, uint32_t slot)
{
	return (struct flock){ .l_type = type, .l_start = GUARD_BASE + slot, .l_len = 1 };
}

/* The descriptor that was just opened, if it leads to the limiter; else -1, and it is closed. */
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
 * A description of its own, for reading only.  The path costs less than /proc, which needs no name:
 * the limiter may have lost its own, and a relative one may lead elsewhere by now.
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
	fd = flki_file_above_stdio(fd);
	return fd == -1 ? -errno : fd;
}

static int
lock_byte(struct flk_taker *t)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct flock lock = byte_lock(F_RDLCK, t->slot);
	int ms, error;

	/* A thread that saw an orphan's guard become free has the byte for an instant. */
	for (ms = 0; fcntl(t->guard_fd, F_OFD_SETLK, &lock) == -1; ms++) {
		if ((errno != EAGAIN && errno != EACCES) || ms >= PATIENCE_MS) {
			error = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
			flki_guard_drop(t);
			return error;
		}
		usleep(1000);
	}
	return 0;
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
flk_guard(struct flk_taker *t, int *fd)
{
	int error = may_guard(t), own;

	if (error != 0)
		return error;
	if (t->guard_fd == -1) {
		if ((own = open_guard(t->flk)) < 0)
			return own;
		t->guard_fd = own;
	}
	*fd = t->guard_fd;
	return lock_byte(t);
}

int
flk_guard_open(struct flk *f)
{
	return open_guard(f);
}

int
flk_guard_by(struct flk_taker *t, int fd)
{
	int error = may_guard(t);

	if (error != 0)
		return error;
	flki_guard_drop(t);
	t->guard_fd = fd;
	t->guard_lent = true;
	return lock_byte(t);
}

int
flk_entrust(struct flk_taker *t)
{
	struct state st;
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->guard_fd == -1 || atomic_load(&taker_slot(t)->state) != HELD)
		return -FLK_NOPERMIT;
	if ((error = flki_enter(t, &st)) != 0)
		return error;
	taker_slot(t)->role = FLK_CARRIED;
	return flki_quit(t, &st);
}

static void
close_guard(int fd)
{
	int cancel FLKI_RESTORED = flki_no_cancel();

	close(fd);
}

/* Unlocks, so that heirs of the descriptor keep nothing: the permit ends with the command. */
void
flki_guard_drop(struct flk_taker *t)
{
	struct flock lock;

	if (t->guard_fd == -1)
		return;
	lock = byte_lock(F_UNLCK, t->slot);
	fcntl(t->guard_fd, F_OFD_SETLK, &lock);
	/* What an earlier command left behind may have it open: it is for one guard only. */
	if (!t->guard_lent)
		close_guard(t->guard_fd);
	t->guard_fd = -1;
	t->guard_lent = false;
}

/*
 * A write lock in the way is that of a thread in orphan.c, which could not have it if anybody had a
 * read lock there.
 */
bool
flki_guard_is_free(const struct flk *f, uint32_t slot)
{
	struct flock lock = byte_lock(F_WRLCK, slot);
	struct stat sb;

	return flki_file_stat(&f->file, &sb) == 0 && fcntl(f->file.fd, F_OFD_GETLK, &lock) == 0 &&
	       lock.l_type != F_RDLCK;
}
