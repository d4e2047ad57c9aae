/* SPDX-License-Identifier: ISC */
/*
 * bytelock.h - locks on the bytes that are only ever locked, far behind the end of the file.
 *
 *	byte		lock	held by
 *	INIT_BYTE	write	the maker of a limiter, until it is done: create.c; an operator that
 *				removes a limiter; an opener that takes away a dead one's name
 *	GUARD_BASE + i	read	the command that runs under the permit in slot i, by a descriptor
 *				that it has inherited: guard.c
 *			write	for an instant, a vigil that has waited for that command's end:
 *				orphan.c
 *
 * A lock belongs to the open file description.  It ends with the last descriptor of that, in
 * whatever process; and two descriptions are in each other's way, also within one process.  The
 * older kind of fcntl(2) locks belongs to a process: no child inherits it, and it ends when the
 * process closes any descriptor of the file.
 *
 * A process that may only read the file can have read locks.  Such a lock on INIT_BYTE keeps makers
 * away, and one on a slot's byte looks like a guard: see Security in flocklimit(7).
 */
#ifndef FLKI_BYTELOCK_H
#define FLKI_BYTELOCK_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/types.h>

#ifndef PATIENCE_MS /* the fuzzers have less */
#define PATIENCE_MS 2000
#endif

_Static_assert(sizeof(off_t) == 8, "the bytes are behind the first 2^32");

/* -EAGAIN if another description has a lock that is in the way. */
static inline int
flki_byte_lock(int fd, short type, off_t byte)
{
	struct flock lock = { .l_type = type, .l_start = byte, .l_len = 1 };

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

/*
 * The same, but -EAGAIN only after PATIENCE_MS.  It polls, because F_OFD_SETLKW has no deadline: a
 * thread in that call waits for a process that is stopped as long as that is stopped, unless a
 * signal's handler ends the call, and this library installs none.  Its caller is no cancellation
 * point: see cancel.h.
 */
static inline int
flki_byte_lock_patiently(int fd, short type, off_t byte)
{
	int ms, error;

	for (ms = 0; (error = flki_byte_lock(fd, type, byte)) == -EAGAIN && ms < PATIENCE_MS; ms++)
		usleep(1000);
	return error;
}

static inline void
flki_byte_unlock(int fd, off_t byte)
{
	struct flock lock = { .l_type = F_UNLCK, .l_start = byte, .l_len = 1 };

	fcntl(fd, F_OFD_SETLK, &lock);
}

/* Sleeps until no other description has a lock on the byte, by locking it for an instant. */
static inline int
flki_byte_await(int fd, off_t byte)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = byte, .l_len = 1 };
	int error;

	while ((error = fcntl(fd, F_OFD_SETLKW, &lock)) == -1 && errno == EINTR)
		;
	if (error == -1)
		return -errno;
	flki_byte_unlock(fd, byte);
	return 0;
}

/* Which lock of another description would be in the way of a write lock: F_UNLCK if none. */
static inline int
flki_byte_conflict(int fd, off_t byte)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = byte, .l_len = 1 };

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 ? lock.l_type : -errno;
}

#endif
