/*
 * make.c - born whole.  A new limiter is made in a file without a name, all but `magic', and then
 * linked: a maker that dies before that leaves nothing, and one that dies before it has stored
 * `magic' leaves a file of which the next process makes the limiter.  Where the file is there
 * already (mktemp, touch, a file from before the reboot, a copy of a limiter), or its file system has no nameless
 * files, it is made in place, by whoever has the lock on INIT_BYTE; `magic' is stored last.
 */
#include "make.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cancel.h"
#include "file.h"
#include "orders.h"

#ifndef PATIENCE_MS /* the fuzzers have less */
#define PATIENCE_MS 2000
#endif
#define FIRST_SIZE ((off_t)(SLOTS_AT + FIRST_SLOTS * sizeof(struct slot)))

/*
 * This boot's id, once boot_known.  There is no mutex: a child that is forked while another thread
 * holds one would wait for it for ever.  Threads that read the id at the same time store the same.
 */
static _Atomic uint64_t boot_id[2];
static _Atomic bool boot_known;

static int
read_boot_id(unsigned char id[16])
{
	unsigned char text[64];
	int fd, digit = 0;
	ssize_t i, n;

	memset(id, 0, 16);
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return errno == EMFILE || errno == ENFILE ? -errno : -FLK_NOBOOT;
	n = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < n && digit < 32; i++) {
		int c = text[i], v;
		if (c >= '0' && c <= '9')
			v = c - '0';
		else if (c >= 'a' && c <= 'f')
			v = c - 'a' + 10;
		else
			continue;
		id[digit / 2] = (unsigned char)(id[digit / 2] << 4 | v);
		digit++;
	}
	return digit == 32 ? 0 : -FLK_NOBOOT;
}

/* What failed is tried again the next time: a lack of descriptors may pass. */
int
flki_make_learn_boot(void)
{
	unsigned char id[16];
	uint64_t half[2];
	int error;

	if (atomic_load(&boot_known))
		return 0;
	if ((error = read_boot_id(id)) != 0)
		return error;
	memcpy(half, id, sizeof(half));
	atomic_store(&boot_id[0], half[0]);
	atomic_store(&boot_id[1], half[1]);
	atomic_store(&boot_known, true);
	return 0;
}

void
flki_make_boot(unsigned char id[16])
{
	uint64_t half[2] = { atomic_load(&boot_id[0]), atomic_load(&boot_id[1]) };

	memcpy(id, half, sizeof(half));
}

static bool
is_this_boot(const unsigned char id[16])
{
	unsigned char ours[16];

	if (flki_make_learn_boot() != 0)
		return false;
	flki_make_boot(ours);
	return memcmp(ours, id, sizeof(ours)) == 0;
}

bool
flki_make_is_of_now(int fd, const struct header *h, enum fs_kind kind, const struct stat *sb)
{
	struct bound here = flki_fs_bound(fd, kind, sb);

	if (flki_fs_is_lasting(kind) && !is_this_boot(h->boot))
		return false;
	return flki_fs_is_same(&h->bound, &here);
}

/*
 * A file that was only zeros so far, or one with all of our signature but the magic, which is
 * taken away first when another boot's limiter is made anew, and stored last in either case.
 */
bool
flki_make_is_unborn(const struct header *h, off_t size)
{
	size_t from = h->layout == LAYOUT ? sizeof(*h) : 0;
	const char *p = (const char *)h + from;

	if (atomic_load(&h->magic) != 0)
		return false;
	if (header_is_ours(h))
		return true;
	if (size != (off_t)HEADER && size != FIRST_SIZE)
		return false;
	/* Each byte as the one before it, and the first a zero. */
	return *p == 0 && memcmp(p, p + 1, (size_t)size - from - 1) == 0;
}

/*
 * Not every file system can reserve space, and not every C library then writes zeros itself.  One
 * zero for each page is enough, and in its last byte it is in nobody's way: others may have made
 * room as well by now, and use it, but that byte is never anything else.
 */
static int
write_zeros(int fd, off_t from, off_t to)
{
	off_t at;

	for (at = from / HEADER * HEADER + HEADER - 1; at < to; at += HEADER)
		while (pwrite(fd, "", 1, at) != 1)
			if (errno != EINTR)
				return -errno;
	return 0;
}

/* The kernel ends by SIGXFSZ a program that makes a file larger than that. */
static bool
is_beyond_limit(off_t to)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       (rlim_t)to > limit.rlim_cur;
}

int
flki_make_reserve(int fd, off_t from, off_t to)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	uint64_t all = UINT64_MAX, saved;
	struct stat sb;
	int error;

	if (is_beyond_limit(to) && (fstat(fd, &sb) == -1 || to > sb.st_size))
		return -EFBIG;
	/*
	 * A signal would end it with EINTR, and all that was reserved be undone: a frequent one for
	 * ever.  What comes meanwhile comes right after.  Not by the C library, which does not give
	 * back the mask of its own signals as it was.
	 */
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &saved, sizeof(all));
	do
		error = posix_fallocate(fd, from, to - from);
	while (error == EINTR);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &saved, NULL, sizeof(saved));
	if (error == EOPNOTSUPP || error == EINVAL || error == ENOSYS)
		return write_zeros(fd, from, to);
	return -error;
}

static int
reserve_first(int fd)
{
	int error = flki_make_reserve(fd, 0, HEADER);

	return error != 0 ? error : flki_make_reserve(fd, (off_t)SLOTS_AT, FIRST_SIZE);
}

/* Tells this limiter from another that has its name, and maybe its inode, after it. */
static uint64_t
birth_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* All but `magic' and what the orders of the directory say. */
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
	if (flki_make_learn_boot() == 0)
		flki_make_boot(h->boot);
	h->birth = birth_time();
	h->bound = *bound;
	atomic_store(&h->nslots, FIRST_SLOTS);
	h->override = FLK_AUTO;
	h->declared = limit;
	h->withheld = initial > 0 && initial < limit ? limit - initial : 0;
	h->waiting = h->holders = (struct list){ NIL, NIL, 0 };
}

/* The last step: it is a limiter from now on, and as the orders want it.  See orders.c. */
static int
finish(struct header *h, int dirfd)
{
	struct flk_orders orders;
	int error = flki_orders_read(dirfd, &orders);

	if (error != 0)
		return error;
	h->paused = orders.paused;
	h->closed = orders.closed;
	h->override = orders.override;
	atomic_store_explicit(&h->magic, MAGIC, memory_order_release);
	return 0;
}

/* Zeros, and the file does not get shorter meanwhile: a mapping of it must not break. */
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
 * The file is empty, or a limiter that is of no use: its size is 0, or HEADER at least.  Under the
 * lock on INIT_BYTE.  BASE is the name that the file gets; NULL: it has its name.
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

	if (slash != NULL) { /* too much for a small stack */
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
flki_make_new(int dirfd, const char *base, const struct flk_options *options)
{
	mode_t mode = options != NULL && options->mode != 0 ? options->mode : 0600;
	struct stat sb;
	int fd, error;

	/* Nothing is made that would have to be made anew. */
	if ((error = flki_make_learn_boot()) != 0 && error != -FLK_NOBOOT)
		return error;
	fd = open_nameless(dirfd, base, mode);
	if (fd >= 0) {
		error =
		    fchmod(fd, mode) == -1 || fstat(fd, &sb) == -1 ? -errno : flki_make_lock(fd);
		if (error == 0)
			error = init(fd, dirfd, base, &sb, options);
		flki_make_unlock(
		    fd); /* a child that was forked meanwhile has the descriptor, too */
		close(fd);
		/* without /proc there is no way to give it a name */
		if (error != -ENOENT)
			return error;
	} else if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -EINVAL) {
		return fd;
	}
	fd = openat(dirfd, base, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd == -1)
		return -errno;
	error = fchmod(fd, mode) == -1 ? -errno : 0;
	close(fd);
	return error; /* it is empty, and the next open makes a limiter of it */
}

/*
 * Waits for the lock on INIT_BYTE; a process that dies with it loses it.  Only processes that may
 * write the file can have it, but others can keep it from us by a read lock: -EBUSY.
 */
int
flki_make_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = INIT_BYTE, .l_len = 1 };
	int ms;

	for (ms = 0; ms < PATIENCE_MS; ms++) {
		if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
		usleep(1000);
	}
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_RDLCK ? -EBUSY : -FLK_STUCK;
}

/*
 * Under the lock: 0 if somebody else has made it meanwhile, UNBORN if it is to be made, and if by
 * now it is anybody's data, -FLK_NOTLIMITER.
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
		result = kind == FS_UNKNOWN || flki_make_is_of_now(fd, h, kind, sb) ? 0 : UNBORN;
	else
		result = flki_make_is_unborn(h, size) ? UNBORN : -FLK_NOTLIMITER;
	munmap(h, (size_t)size);
	return result;
}

void
flki_make_unlock(int fd)
{
	struct flock unlock = { .l_type = F_UNLCK, .l_start = INIT_BYTE, .l_len = 1 };

	fcntl(fd, F_OFD_SETLK, &unlock);
}

int
flki_make_in_place(int fd, int dirfd, enum fs_kind kind, const struct flk_options *options)
{
	struct stat sb;
	int error;

	do /* while another maker is stopped */
		error = flki_make_lock(fd);
	while (error == -FLK_STUCK && options != NULL && options->stuck != NULL &&
	       options->stuck(options->context, 0));
	if (error != 0)
		return error;
	error = fstat(fd, &sb) == -1 ? -errno : look_again(fd, kind, &sb);
	if (error == UNBORN)
		error = options != NULL && options->existing ? -ENOENT
							     : init(fd, dirfd, NULL, &sb, options);
	flki_make_unlock(fd);
	return error;
}
