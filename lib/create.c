/* SPDX-License-Identifier: ISC */
/*
 * create.c - how a limiter file is created, so that no process ever uses half of one.
 *
 * The maker writes a new limiter into a file without a name, all but `magic'; then it links the
 * file to its name; then it stores `magic'.
 *
 * The limiter is made in place, in a file that has its name already, if there is such a file (made
 * by mktemp or touch, left from before the reboot, a copy of a limiter), or if the file system has
 * no files without a name.
 *
 * A maker has the lock on INIT_BYTE from before its first step until after its last.  The steps of
 * init(), and what the next opener finds if the maker was killed after one of them:
 *
 *			no name yet	an empty file	an old limiter
 *	the lock	no file		empty		old
 *	reserve_first	no file		zeros		old
 *	magic = 0	no file		zeros		no magic
 *	wipe_slots	no file		zeros		no magic
 *	fill_header	no file		no magic	no magic
 *	publish		no magic	-		-
 *	finish		a limiter	a limiter	a limiter
 *
 * Where there is no file, the opener makes one.  In each other case but a limiter it waits for
 * INIT_BYTE, looks again, and makes the limiter in place, from the first step.
 * flki_create_is_unborn() knows what is left: zeros, all of our signature but the magic, and what
 * is between the two, as a kill within fill_header leaves it.
 *
 * The magic is cleared first and stored last, because it alone is believed by an opener that does
 * not have INIT_BYTE.  With the old magic in its place, a file with the new boot's id and half of
 * the old limiter would look like a limiter of this boot.  An opener may have seen the magic before
 * it was cleared and the boot's id after it was filled in, so it looks at the magic once more then.
 */
#include "create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "boot.h"
#include "bytelock.h"
#include "clock.h"
#include "orders.h"
#include "space.h"

#define FIRST_SIZE ((off_t)(SLOTS_AT + FIRST_SLOTS * sizeof(struct slot)))

bool
flki_create_is_of_now(int fd, const struct header *h, enum fs_kind kind, const struct stat *sb)
{
	struct bound here = flki_fs_bound(fd, kind, sb);

	if (flki_fs_is_lasting(kind) && !flki_boot_is_this(h->boot))
		return false;
	return flki_fs_is_same(&h->bound, &here);
}

/*
 * True of a file that has all of our signature but the magic; and of zeros, also behind a header of
 * which `layout' is filled in at least.  Zeros count only in the sizes that reserve_first() makes,
 * because other programs' files have zeros, too.
 */
bool
flki_create_is_unborn(const struct header *h, off_t size)
{
	size_t from = h->layout == LAYOUT ? sizeof(*h) : 0;
	const char *p = (const char *)h + from;

	if (atomic_load(&h->magic) != 0)
		return false;
	if (header_is_ours(h))
		return true;
	if (size != (off_t)HEADER && size != FIRST_SIZE)
		return false;
	/* The first byte is a zero, and each other byte equals the byte before it. */
	return *p == 0 && memcmp(p, p + 1, (size_t)size - from - 1) == 0;
}

static int
reserve_first(int fd)
{
	int error = flki_space_reserve(fd, 0, HEADER);

	return error != 0 ? error : flki_space_reserve(fd, (off_t)SLOTS_AT, FIRST_SIZE);
}

/* Distinguishes this limiter from a later one with the same name, and maybe the same inode. */
static uint64_t
birth_time(void)
{
	return flki_clock_ns(CLOCK_REALTIME);
}

/*
 * Fills in all but `magic' and what the orders of the directory decide.  `layout' is stored first:
 * without it, a header that is half filled in is not known as a maker's.
 */
static void
fill_header(struct header *h, const struct bound *bound, const struct flk_options *options)
{
	uint32_t limit = options != NULL ? options->limit : 0;
	uint32_t initial = options != NULL ? options->initial : 0;

	h->layout = LAYOUT;
	atomic_signal_fence(memory_order_seq_cst);
	h->header_size = HEADER;
	h->slot_size = sizeof(struct slot);
	h->byte_order = __BYTE_ORDER__;
	memset(h->boot, 0, sizeof(*h) - offsetof(struct header, boot));
	if (flki_boot_learn() == 0)
		flki_boot_id(h->boot);
	h->birth = birth_time();
	h->bound = *bound;
	atomic_store(&h->nslots, FIRST_SLOTS);
	h->override = FLK_AUTO;
	h->declared = limit;
	h->withheld = initial > 0 && initial < limit ? limit - initial : 0;
	h->waiting = h->holders = (struct list){ NIL, NIL, 0 };
}

/* The last step: it becomes a limiter, in the state that the orders ask for.  See orders.c. */
static int
finish(struct header *h, int dirfd)
{
	struct flk_settings orders;
	int error = flki_orders_read(dirfd, &orders);

	if (error != 0)
		return error;
	h->paused = orders.paused;
	h->closed = orders.closed;
	h->override = orders.override;
	atomic_store_explicit(&h->magic, MAGIC, memory_order_release);
	return 0;
}

/*
 * Makes all behind the header zeros.  The file never gets shorter, because another process may map
 * it.
 */
static int
wipe_slots(int fd, off_t size)
{
	void *p;

	if (size <= (off_t)HEADER || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					       HEADER, size - (off_t)HEADER) == 0)
		return 0;
	p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return errno == EAGAIN ? -ENOMEM : -errno;
	memset((char *)p + HEADER, 0, (size_t)size - HEADER);
	munmap(p, (size_t)size);
	return 0;
}

static int
publish(int fd, int dirfd, const char *base)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, dirfd, base, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	return -errno;
}

/*
 * Makes a limiter in a file that is empty or has one that is of no use: its size is 0, or HEADER at
 * least.  The caller has the lock on INIT_BYTE.  BASE is the name that the file gets; NULL: it has
 * one.
 */
static int
init(int fd, int dirfd, const char *base, const struct stat *sb, const struct flk_options *options)
{
	enum fs_kind kind = flki_fs_kind(fd);
	struct bound bound = flki_fs_bound(fd, kind, sb);
	off_t old_size = sb->st_size;
	struct header *h;
	int error;

	if (old_size == 0 && (error = reserve_first(fd)) != 0)
		return ftruncate(fd, 0) == -1 ? -errno : error;
	h = mmap(NULL, HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		return errno == EAGAIN ? -ENOMEM : -errno;
	atomic_store(&h->magic, 0);
	atomic_thread_fence(memory_order_release); /* pairs with the one in check_header() */
	error = wipe_slots(fd, old_size);
	if (error == 0)
		error = reserve_first(fd);
	if (error == 0)
		fill_header(h, &bound, options);
	if (error == 0 && base != NULL)
		error = publish(fd, dirfd, base);
	if (error == 0)
		error = finish(h, dirfd);
	munmap(h, HEADER);
	return error;
}

/* A file without a name, in the directory of BASE; or an error. */
static int
open_nameless(int dirfd, const char *base, mode_t mode)
{
	const char *slash = strrchr(base, '/');
	size_t n = slash != NULL ? (size_t)(slash - base) + 1 : 0;
	char *dir = NULL;
	int fd;

	if (slash != NULL) { /* a path may be too long for a small stack */
		if ((dir = malloc(n + 1)) == NULL)
			return -ENOMEM;
		memcpy(dir, base, n);
		dir[n] = '\0';
	}
	fd = openat(dirfd, dir != NULL ? dir : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (fd == -1)
		fd = -errno;
	free(dir);
	return fd;
}

int
flki_create_new(int dirfd, const char *base, const struct flk_options *options)
{
	mode_t mode = options != NULL && options->mode != 0 ? options->mode : 0600;
	int fd, error, boot = flki_boot_learn();
	bool lasting;
	struct stat sb;

	if (boot != 0 && boot != -FLK_NOBOOT)
		return boot;
	fd = open_nameless(dirfd, base, mode);
	if (fd >= 0) {
		lasting = boot != 0 && flki_fs_is_lasting(flki_fs_kind(fd));
		error =
		    fchmod(fd, mode) == -1 || fstat(fd, &sb) == -1 ? -errno : flki_create_lock(fd);
		if (error == 0)
			error = init(fd, dirfd, base, &sb, options);
		/* A child that was forked meanwhile has the descriptor, too. */
		flki_create_unlock(fd);
		close(fd);
		/* Without /proc it can't be given a name. */
		if (error != -ENOENT)
			return error;
		/* Without the boot's id, a limiter on a disk would be of no use. */
		if (lasting)
			return boot;
	} else if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -EINVAL) {
		return fd;
	}
	fd = openat(dirfd, base, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd == -1)
		return -errno;
	error = fchmod(fd, mode) == -1 ? -errno : 0;
	close(fd);
	return error; /* it is empty: the caller opens it again, and makes a limiter of it */
}

/*
 * Waits for the lock on INIT_BYTE, which the kernel takes from a process that dies.  A maker has it
 * for less than a millisecond, so no wait is worth more than a poll.  But a maker may be stopped:
 * after 2 s the caller gets -FLK_STUCK and may ask its program whether to wait on, which it could
 * not do in a call that sleeps until the lock is free.  Only a process that may write the file can
 * get the lock, but one that may read it can keep it from us by a read lock: -EBUSY.
 */
int
flki_create_lock(int fd)
{
	int error = flki_byte_lock_patiently(fd, F_WRLCK, INIT_BYTE);

	if (error != -EAGAIN)
		return error;
	return flki_byte_conflict(fd, INIT_BYTE) == F_RDLCK ? -EBUSY : -FLK_STUCK;
}

/*
 * Under the lock: 0 if another maker has made the limiter meanwhile, UNBORN if it is still to be
 * made, and -FLK_NOTLIMITER if by now the file has other data.
 */
static int
look_again(int fd, enum fs_kind kind, const struct stat *sb)
{
	off_t size = sb->st_size;
	struct header *h;
	uint64_t magic;
	int result;

	if (size == 0)
		return UNBORN;
	if (size < (off_t)HEADER)
		return -FLK_NOTLIMITER;
	h = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	if (h == MAP_FAILED)
		return errno == EAGAIN ? -ENOMEM : -errno;
	magic = atomic_load(&h->magic);
	if (magic == MAGIC && h->layout == LAYOUT)
		result = kind == FS_UNKNOWN || flki_create_is_of_now(fd, h, kind, sb) ? 0 : UNBORN;
	else
		result = flki_create_is_unborn(h, size) ? UNBORN : -FLK_NOTLIMITER;
	munmap(h, (size_t)size);
	return result;
}

void
flki_create_unlock(int fd)
{
	flki_byte_unlock(fd, INIT_BYTE);
}

int
flki_create_in_place(int fd, int dirfd, enum fs_kind kind, const struct flk_options *options)
{
	struct stat sb;
	int error;

	do /* while another maker is stopped */
		error = flki_create_lock(fd);
	while (error == -FLK_STUCK && options != NULL && options->stuck != NULL &&
	       options->stuck(options->context, 0));
	if (error != 0)
		return error;
	error = fstat(fd, &sb) == -1 ? -errno : look_again(fd, kind, &sb);
	if (error == UNBORN)
		error = options != NULL && options->existing ? -ENOENT
							     : init(fd, dirfd, NULL, &sb, options);
	flki_create_unlock(fd);
	return error;
}
