/* SPDX-License-Identifier: ISC */
/*
 * file.c - opens a limiter file.  A file that another user could have planted, that is half made,
 * or that is left from another boot, is never used.  create.c makes new ones.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>

#include "boot.h"
#include "cancel.h"
#include "create.h"
#include "descriptor.h"
#include "filesystem.h"
#include "space.h"

#define TRIES    64   /* against a process that removes the file as often as we make it */
#define LEASE_MS 1000 /* flk_discard() has a lease for a few system calls */

/*
 * 1, 0 or an error.  A process can be in 65536 groups: too many for a small stack.  If another
 * thread adds groups between the two calls, the second fails with EINVAL.
 */
static int
in_group(gid_t gid)
{
	gid_t *groups = NULL;
	int i, n, found;

	if (gid == getegid())
		return 1;
	do {
		free(groups);
		if ((n = getgroups(0, NULL)) <= 0)
			return n == -1 ? -errno : 0;
		if ((groups = malloc((size_t)n * sizeof(*groups))) == NULL)
			return -ENOMEM;
		n = getgroups(n, groups);
	} while (n == -1 && errno == EINVAL);
	found = n == -1 ? -errno : 0;
	for (i = 0; i < n && found == 0; i++)
		found = groups[i] == gid;
	free(groups);
	return found;
}

int
flki_file_trusted(const struct stat *sb)
{
	int member;

	if (!S_ISREG(sb->st_mode))
		return -FLK_NOTFILE;
	if (sb->st_mode & S_IWOTH)
		return -FLK_WRITABLE;
	if (sb->st_uid == 0 || sb->st_uid == geteuid())
		return 0;
	/* Its owner may share it with a group that we are in. */
	member = (sb->st_mode & S_IWGRP) != 0 ? in_group(sb->st_gid) : 0;
	return member < 0 ? member : member ? 0 : -FLK_FOREIGN;
}

static off_t
slots_end(uint32_t n)
{
	return (off_t)(SLOTS_AT + (uint64_t)n * sizeof(struct slot));
}

/*
 * 0: a limiter that we may use, with that many slots.  UNBORN: not yet a limiter of this boot and
 * of this file; it is to be made in place.  `sb' is from an fstat() before the file was mapped.
 */
static int
check_header(int fd, const struct header *h, enum fs_kind kind, struct stat *sb, bool even_damaged,
	     uint32_t *slots)
{
	uint64_t magic = atomic_load_explicit(&h->magic, memory_order_acquire);
	uint32_t n;

	if (magic == 0) {
		if (fstat(fd, sb) == -1)
			return -errno;
		if (flki_create_is_unborn(h, sb->st_size))
			return UNBORN;
	}
	/* A maker may have stored the magic since the load above. */
	if (magic != MAGIC && atomic_load(&h->magic) != MAGIC)
		return -FLK_NOTLIMITER;
	if (!header_is_ours(h))
		return -FLK_VERSION;
	if (!flki_create_is_of_now(fd, h, kind, sb))
		return kind == FS_UNKNOWN ? -FLK_ELSEWHERE : UNBORN;
	/*
	 * The magic that we saw may have been that of another boot's limiter.  A maker may have
	 * cleared it since, and have filled in this boot's id.  Pairing: with the fence in init().
	 */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load(&h->magic) != MAGIC)
		return UNBORN;
	n = atomic_load(&h->nslots);
	if ((atomic_load(&h->damaged) && !even_damaged) || n < FIRST_SLOTS || n > MAX_SLOTS)
		return -FLK_DAMAGED;
	/* It may have grown since the fstat(). */
	if (slots_end(n) > sb->st_size && fstat(fd, sb) == -1)
		return -errno;
	if (slots_end(n) > sb->st_size)
		return -FLK_DAMAGED;
	*slots = n; /* the number that was checked; the file's may have changed since */
	return 0;
}

static int
map(struct file *f)
{
	void *p = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);

	if (p == MAP_FAILED)
		return errno == EAGAIN ? -ENOMEM : -errno; /* EAGAIN: too much memory is locked */
	f->h = p;
	f->history = (void *)((char *)p + HEADER);
	f->slots = (void *)((char *)p + SLOTS_AT);
	return 0;
}

static int
open_once(struct file *f, int dirfd, const char *base, const struct flk_options *options)
{
	bool damaged = options != NULL && options->damaged;
	struct stat sb;
	enum fs_kind kind;
	uint32_t slots = 0;
	int error;

	/* NONBLOCK, so that the open of a FIFO does not wait. */
	f->fd = flki_above_stdio(
	    openat(dirfd, base, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	if (f->fd == -1)
		return errno == ELOOP                                         ? -FLK_SYMLINK
		       : errno == EWOULDBLOCK                                 ? -FLK_LEASED
		       : errno == EISDIR || errno == ENXIO || errno == ENODEV ? -FLK_NOTFILE
									      : -errno;
	if (fstat(f->fd, &sb) == -1)
		return -errno;
	if ((error = flki_file_trusted(&sb)) != 0)
		return error;
	if ((kind = flki_fs_kind(f->fd)) == FS_NETWORK)
		return -FLK_NETWORK;
	if (sb.st_nlink == 0)
		return -ENOENT; /* removed since the open */
	if (flki_fs_is_lasting(kind) && (error = flki_boot_learn()) != 0)
		return error;
	if (sb.st_size == 0) {
		if ((error = flki_create_in_place(f->fd, dirfd, kind, options)) != 0)
			return error;
	} else if (sb.st_size < (off_t)HEADER) {
		return -FLK_NOTLIMITER;
	}
	if ((error = map(f)) != 0)
		return error;
	error = check_header(f->fd, f->h, kind, &sb, damaged, &slots);
	if (error == UNBORN) {
		if ((error = flki_create_in_place(f->fd, dirfd, kind, options)) != 0)
			return error;
		error = check_header(f->fd, f->h, kind, &sb, damaged, &slots);
	}
	if (error == 0) {
		atomic_store(&f->backed, slots);
		f->birth = f->h->birth;
		f->dev = sb.st_dev;
		f->ino = sb.st_ino;
	}
	return error;
}

int
flki_file_open(struct file *f, int dirfd, const char *base, const struct flk_options *options)
{
	int tries = 0, ms = 0, error = -ENOENT;

	while ((error == -ENOENT && tries++ < TRIES) || (error == -FLK_LEASED && ms++ < LEASE_MS)) {
		*f = (struct file){ .fd = -1 };
		error = open_once(f, dirfd, base, options);
		if (error == 0 && atomic_load(&f->h->dead) &&
		    (error = flki_file_bury(f, dirfd, base)) == 0)
			error = -ENOENT;
		if (error == 0)
			return 0;
		flki_file_close(f);
		if (error == -FLK_LEASED) {
			usleep(1000);
			continue;
		}
		if (error == -ENOENT && options != NULL && options->existing)
			return error;
		if (error == -ENOENT) {
			int made = flki_create_new(dirfd, base, options);
			if (made != 0 && made != -EEXIST)
				return made;
		}
	}
	return error == UNBORN ? -FLK_DAMAGED : error;
}

void
flki_file_close(struct file *f)
{
	int cancel FLKI_RESTORED = flki_no_cancel();

	if (f->h != NULL)
		munmap(f->h, MAP_BYTES);
	if (f->fd != -1)
		close(f->fd);
	f->h = NULL;
	f->fd = -1;
}

int
flki_file_is_named(int fd, int dirfd, const char *base)
{
	struct stat mine, named;

	if (fstat(fd, &mine) == -1)
		return -errno;
	if (fstatat(dirfd, base, &named, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : -errno;
	return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

/*
 * Every process that unlinks a dead limiter has its INIT_BYTE locked.  So no other process can
 * unlink it, and let a new limiter have its name, between the look and the unlink.
 */
int
flki_file_bury(const struct file *f, int dirfd, const char *base)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	int error = flki_create_lock(f->fd);

	if (error != 0)
		return error;
	error = flki_file_is_named(f->fd, dirfd, base);
	if (error > 0)
		error = unlinkat(dirfd, base, 0) == -1 && errno != ENOENT ? -errno : 0;
	flki_create_unlock(f->fd);
	return error;
}

/*
 * A program that closes all descriptors closes ours as well, and the next file that it opens gets
 * the number.  We must not lock or extend that file, nor believe what it says.
 */
int
flki_file_stat(const struct file *f, struct stat *sb)
{
	if (fstat(f->fd, sb) == -1)
		return -errno;
	return sb->st_dev == f->dev && sb->st_ino == f->ino ? 0 : -EBADF;
}

static uint32_t
slots_within(off_t size)
{
	return size <= (off_t)SLOTS_AT
		   ? 0
		   : (uint32_t)(((uint64_t)size - SLOTS_AT) / sizeof(struct slot));
}

/*
 * Other processes write nslots; the size of the file comes from the kernel.  The size is asked for
 * only if nslots has grown.
 */
uint32_t
flki_file_slots(struct file *f)
{
	uint32_t n = atomic_load(&f->h->nslots), seen = atomic_load(&f->backed);
	struct stat sb;

	if (n <= seen)
		return seen;
	if (n > MAX_SLOTS)
		n = MAX_SLOTS;
	if (flki_file_stat(f, &sb) != 0)
		return seen;
	if (n > slots_within(sb.st_size))
		n = slots_within(sb.st_size);
	atomic_store(&f->backed, n);
	return n;
}

int
flki_file_grow(struct file *f)
{
	uint32_t n = atomic_load(&f->h->nslots), more;
	struct stat sb;
	int error;

	if (n < FIRST_SLOTS || n < atomic_load(&f->backed))
		return -FLK_DAMAGED;
	if (n >= MAX_SLOTS)
		return -FLK_CROWDED;
	more = n < MAX_SLOTS / 2 ? 2 * n : MAX_SLOTS;
	if ((error = flki_file_stat(f, &sb)) != 0)
		return error;
	if ((error = flki_space_reserve(f->fd, slots_end(n), slots_end(more))) != 0)
		return error;
	while (n < more && !atomic_compare_exchange_weak(&f->h->nslots, &n, more))
		;
	atomic_store(&f->backed, more);
	return 0;
}

/* Without the lock, so a hint: an event that finds no room is lost. */
void
flki_file_extend_history(struct file *f)
{
	uint64_t next = atomic_load_explicit(&f->h->events, memory_order_relaxed);
	uint32_t room = atomic_load(&f->h->event_room), more = room == 0 ? 128 : 2 * room;
	struct stat sb;

	/* Room for twice as many as were written: a close writes one event for each waiter. */
	if (room >= EVENTS || 2 * next + 64 <= room || atomic_load(&f->no_history))
		return;
	if (more > EVENTS)
		more = EVENTS;
	if (flki_file_stat(f, &sb) != 0 ||
	    flki_space_reserve(f->fd, (off_t)(HEADER + room * sizeof(struct event)),
			       (off_t)(HEADER + more * sizeof(struct event))) != 0) {
		atomic_store(&f->no_history, true);
		return;
	}
	atomic_compare_exchange_strong(&f->h->event_room, &room, more);
}

int
flki_file_verify(const struct file *f)
{
	struct stat sb;
	int error;

	if ((error = flki_file_stat(f, &sb)) != 0)
		return error;
	if (sb.st_size < slots_end(atomic_load(&f->backed)))
		return -FLK_DAMAGED;
	if (atomic_load(&f->h->magic) != MAGIC)
		return -FLK_DAMAGED;
	/*
	 * If it was emptied, it may be another limiter by now, in which our slot is another
	 * taker's.
	 */
	return sb.st_nlink == 0 || atomic_load(&f->h->dead) || f->h->birth != f->birth ? -FLK_GONE
										       : 0;
}
