/*
 * guard.c - a permit that outlives its taker.
 *
 * An open-file-description lock on one byte per slot, far behind the end of the file.  It belongs
 * to the description, so a command that inherited the descriptor has it too, and it ends with
 * the last process that has it open; no process has to do anything for that.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cancel.h"

#ifndef PATIENCE_MS /* the fuzzers have less */
#define PATIENCE_MS 2000
#endif

static struct flock
byte_lock(short type, uint32_t slot)
{
	return (struct flock){ .l_type = type, .l_start = GUARD_BASE + slot, .l_len = 1 };
}

int
flki_reopen(const struct flk *f)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	char self[32];
	int fd;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->file.fd);
	fd = open(self, O_RDWR | O_CLOEXEC);
	return fd == -1 ? -errno : fd; /* cppcheck-suppress resourceLeak ; it is returned */
}

static int
lock_byte(struct flk_taker *t)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct flock lock = byte_lock(F_WRLCK, t->slot);
	int ms, error;

	/* Only one who waits for an orphan's end can have it, and only for an instant. */
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
	struct flk *f = t->flk;
	int error = may_guard(t);

	if (error != 0)
		return error;
	if (t->guard_fd == -1) {
		bool taken = atomic_exchange(&f->guard_taken, true);
		int own = taken ? flki_reopen(f) : f->file.fd;
		if (own < 0)
			return own;
		t->guard_fd = own;
	}
	*fd = t->guard_fd;
	return lock_byte(t);
}

int
flk_guard_open(struct flk *f)
{
	return flki_reopen(f);
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
	if (t->guard_fd != t->flk->file.fd && !t->guard_lent)
		close_guard(t->guard_fd);
	t->guard_fd = -1;
	t->guard_lent = false;
}

/*
 * Asks with a read lock, which one who waits in orphan.c does not stand in the way of.  A
 * description never sees its own locks, so one that carries a guard can't be asked.
 */
bool
flki_guard_is_free(struct flk *f, uint32_t slot)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct flock lock = byte_lock(F_RDLCK, slot);
	bool own = atomic_load(&f->guard_taken);
	int fd = own ? flki_reopen(f) : f->file.fd;
	bool is_free;

	if (fd < 0)
		return false;
	is_free = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
	if (own)
		close(fd);
	return is_free;
}
