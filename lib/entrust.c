/* SPDX-License-Identifier: ISC */
/*
 * entrust.c - permits without a taker.  A permit is handed over to an open file description, and
 * lasts as long as any process has that open.
 *
 *	flk_entrust()		to the guard, which the command inherits that this process becomes
 *				by exec(3)
 *	flk_entrust_to()	to a description of the caller's, for instance of a shell that has
 *				said `exec 9<>limiter'
 *
 * To the limiter, such a holder is a dead taker whose slot's byte is locked, as a command is that has
 * outlived its wrapper: guard.c and orphan.c do the rest.  Only its role differs, so that its end is
 * a release in the history, and `pid', which is that of a process with the description.
 *
 * flk_entrust_to() commits with the lock on the byte.  If the taker is killed before, its permit is
 * reaped; if it is killed after, the permit is the description's.
 *
 * Which permits a description has, no word of the file says: the kernel knows.  A read lock on a
 * slot's byte conflicts with a write lock of any other description, and not with one of its own.
 * So the lock belongs to a description if the limiter's own descriptor finds a conflict and that
 * description finds none.
 */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "bytelock.h"
#include "cancel.h"
#include "exiting.h"

/* The caller holds the permit, and is to hold it no longer. */
static int
hand_over(struct flk_taker *t, pid_t pid)
{
	struct state st;
	int error = flki_enter(t, &st);

	if (error != 0)
		return error;
	taker_slot(t)->role = FLK_CARRIED;
	if (pid != 0)
		taker_slot(t)->pid = (uint32_t)pid;
	return flki_quit(t, &st);
}

/* This process becomes the command. */
int
flki_local_entrust(struct flk_taker *t)
{
	uint64_t start;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->guard_fd == -1 || atomic_load(&taker_slot(t)->state) != HELD)
		return -FLK_NOPERMIT;
	if (flki_life_of(getpid(), &start) == RUNS)
		flki_note_start(taker_slot(t), start, start);
	return hand_over(t, 0);
}

/* 0 if the descriptor is open for reading on the limiter's file. */
static int
check_descriptor(const struct flk *f, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat sb;

	if (flags == -1)
		return -EBADF;
	if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	if (fstat(fd, &sb) == -1)
		return -errno;
	return sb.st_dev == f->file.dev && sb.st_ino == f->file.ino ? 0 : -FLK_NOTFILE;
}

/*
 * `lent' is stored before the lock, so that a process which finds the permit by its descriptor has
 * looked for it: see flki_local_entrusted().
 */
int
flki_local_entrust_to(struct flk_taker *t, int fd, pid_t pid)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	uint32_t role, own;
	struct slot *s;
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->slot == NIL || atomic_load(&taker_slot(t)->state) != HELD)
		return -FLK_NOPERMIT;
	s = taker_slot(t);
	role = s->role;
	own = s->pid;
	if ((error = check_descriptor(t->flk, fd)) != 0 || (error = hand_over(t, pid)) != 0)
		return error;
	atomic_store(&t->flk->file.h->lent, 1);
	/* A vigil of orphan.c that waited for this byte has it locked for an instant. */
	error = flki_byte_lock_patiently(fd, F_RDLCK, GUARD_BASE + t->slot);
	if (error != 0) {
		__atomic_store_n(&s->role, role, __ATOMIC_RELAXED);
		__atomic_store_n(&s->pid, own, __ATOMIC_RELAXED);
		return error == -EAGAIN ? -EBUSY : error;
	}
	flki_guard_drop(t);
	flki_slot_abandon(t);
	return 0;
}

static bool
has_permit(const struct flk *f, int fd, uint32_t slot)
{
	const struct slot *s = &f->file.slots[slot];

	return atomic_load(&s->state) == HELD &&
	       __atomic_load_n(&s->role, __ATOMIC_RELAXED) == FLK_CARRIED &&
	       flki_byte_conflict(f->file.fd, GUARD_BASE + slot) == F_RDLCK &&
	       flki_byte_conflict(fd, GUARD_BASE + slot) == F_UNLCK;
}

/* The first slot, from `slot' on, whose permit the descriptor has; NIL: none. */
static uint32_t
next_permit(struct flk *f, int fd, uint32_t slot)
{
	uint32_t n = flki_file_slots(&f->file);

	while (slot < n && !has_permit(f, fd, slot))
		slot++;
	return slot < n ? slot : NIL;
}

static bool
copy_permit(struct flk *f, int fd, struct flk_permit *permit)
{
	uint32_t slot = next_permit(f, fd, 0);

	return slot != NIL &&
	       flki_local_holds(
		   f, slot, __atomic_load_n(&f->file.slots[slot].ticket, __ATOMIC_RELAXED), permit);
}

/* A descriptor that this process has opened itself is no other process's, and has no permit. */
static bool
search_descriptors(struct flk *f, struct flk_permit *permit)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;
	bool found = false;
	int fd;

	/* No other thread reads this directory. */
	while (fds != NULL && !found &&
	       (entry = readdir(fds)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		found = (fd = atoi(entry->d_name)) != f->file.fd && entry->d_name[0] != '.' &&
			check_descriptor(f, fd) == 0 && copy_permit(f, fd, permit);
	if (fds != NULL)
		closedir(fds);
	return found;
}

/* All takers may ask this before they join the line, so it must cost nothing where none has `lent'. */
int
flki_local_entrusted(struct flk *f, int fd, struct flk_permit *permit)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	int error;

	if (fd != -1 && (error = check_descriptor(f, fd)) != 0)
		return error;
	if (atomic_load(&f->file.h->lent) == 0)
		return -FLK_NOPERMIT;
	return (fd != -1 ? copy_permit(f, fd, permit) : search_descriptors(f, permit))
		   ? 0
		   : -FLK_NOPERMIT;
}

int
flki_local_take_back(struct flk *f, int fd)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	struct state st;
	uint32_t slot;
	int error = check_descriptor(f, fd);

	if (error != 0)
		return error;
	slot = next_permit(f, fd, 0);
	if (slot == NIL)
		return -FLK_NOPERMIT;
	for (; slot != NIL; slot = next_permit(f, fd, slot + 1))
		flki_byte_unlock(fd, GUARD_BASE + slot);
	/* The head is woken by its vigil; if there is none, nobody else would look. */
	if ((error = flki_enter(&me, &st)) == 0) {
		flki_state_sweep_holders(&st);
		error = flki_quit(&me, &st);
	}
	flki_slot_drop(&me);
	return error;
}
