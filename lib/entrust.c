/* SPDX-License-Identifier: ISC */
/*
 * entrust.c - permits without a taker.  A permit is handed over to an open file description, and
 * lasts as long as any process has that open.
 *
 *	flk_entrust()		to the guard, which the command inherits that this process becomes
 *				by exec(3)
 *	flk_entrust_to()	to a description of the caller's, for instance of a shell that has
 *				said `exec 9<limiter'
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
 * description finds none.  Where it finds one, too, a reader may have locked the byte as well.
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
#include "proc.h"

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
	if (flki_life_of(0, &start) == RUNS)
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

/*
 * The descriptor has the lock of this permit.  Where a stranger has one there, too, the kernel's
 * answer to a third description does not say whose it is: then /proc is asked.
 */
static bool
has_lock(const struct flk *f, int fd, uint32_t slot, bool by_proc)
{
	off_t byte = GUARD_BASE + slot;

	return flki_byte_conflict(f->file.fd, byte) == F_RDLCK &&
	       (by_proc ? flki_guard_locks(fd, slot, 1) : flki_byte_conflict(fd, byte) == F_UNLCK);
}

static uint32_t
look_for_permit(struct flk *f, int fd, uint32_t slot, bool carried, bool by_proc)
{
	uint32_t n = flki_file_slots(&f->file);
	const struct slot *s;

	for (; slot < n; slot++) {
		s = &f->file.slots[slot];
		if (atomic_load(&s->state) == HELD &&
		    (!carried || __atomic_load_n(&s->role, __ATOMIC_RELAXED) == FLK_CARRIED) &&
		    has_lock(f, fd, slot, by_proc))
			return slot;
	}
	return NIL;
}

/* The first slot, from `slot' on, whose permit the descriptor has; NIL: none.  CARRIED: no taker has it. */
static uint32_t
next_permit(struct flk *f, int fd, uint32_t slot, bool carried)
{
	uint32_t found = look_for_permit(f, fd, slot, carried, false);

	if (found == NIL && flki_guard_locks(fd, slot, MAX_SLOTS))
		found = look_for_permit(f, fd, slot, carried, true);
	return found;
}

static bool
copy_permit(struct flk *f, int fd, bool carried, struct flk_permit *permit)
{
	uint32_t slot = next_permit(f, fd, 0, carried);

	return slot != NIL &&
	       flki_local_holds(
		   f, slot, __atomic_load_n(&f->file.slots[slot].ticket, __ATOMIC_RELAXED), permit);
}

/* A descriptor that this process has opened itself is no other process's, and has no permit. */
static bool
search_descriptors(struct flk *f, struct flk_permit *permit)
{
	DIR *fds = opendir("/proc/self/fd");
	bool found = false;
	int fd;

	while (!found && (fd = flki_next_number(fds)) != -1)
		found = fd != f->file.fd && check_descriptor(f, fd) == 0 &&
			copy_permit(f, fd, true, permit);
	if (fds != NULL)
		closedir(fds);
	return found;
}

/*
 * All takers may ask this before they join the line.  To look at all descriptors must cost nothing
 * where none has `lent'.  A descriptor that is named may also be the guard of a taker's permit, which
 * a command inherits.
 */
int
flki_local_entrusted(struct flk *f, int fd, struct flk_permit *permit)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	bool found;
	int error;

	if (fd != -1 && (error = check_descriptor(f, fd)) != 0)
		return error;
	if (fd != -1)
		found = copy_permit(f, fd, false, permit);
	else
		found = atomic_load(&f->file.h->lent) != 0 && search_descriptors(f, permit);
	return found ? 0 : -FLK_NOPERMIT;
}

/*
 * If the taker is killed after the unlock, or kept out, the permit is reaped; unless a reader locks
 * its byte.
 */
static int
end_permit(struct flk_taker *me, int fd, uint32_t slot)
{
	struct slot *s = &me->flk->file.slots[slot];
	uint64_t ticket = __atomic_load_n(&s->ticket, __ATOMIC_RELAXED);
	struct state st;
	int error;

	flki_byte_unlock(fd, GUARD_BASE + slot);
	if ((error = flki_enter(me, &st)) != 0)
		return error;
	if (atomic_load(&s->state) == HELD && s->ticket == ticket && s->role == FLK_CARRIED &&
	    !flki_alive_is(&s->alive))
		flki_state_release(&st, slot);
	return flki_quit(me, &st);
}

int
flki_local_take_back(struct flk *f, int fd)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct flk_taker me = { .flk = f, .slot = NIL, .guard_fd = -1 };
	uint32_t slot;
	int error = check_descriptor(f, fd);

	if (error != 0)
		return error;
	slot = next_permit(f, fd, 0, true);
	if (slot == NIL)
		return -FLK_NOPERMIT;
	for (; error == 0 && slot != NIL; slot = next_permit(f, fd, slot + 1, true))
		error = end_permit(&me, fd, slot);
	flki_slot_drop(&me);
	return error;
}
