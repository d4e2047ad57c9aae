/*
 * make.c - born whole.  A new limiter is made in a file without a name and then linked, so that
 * nobody ever sees half of one and a maker's death leaves nothing.  Where the file is there
 * already (mktemp, touch, a file from before the reboot), or its file system has no nameless
 * files, it is made in place, by whoever has the lock on INIT_BYTE; `magic' is stored last.
 */
#include "make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "file.h"

#define PATIENCE_MS 2000

void
flki_file_boot_id(unsigned char id[16])
{
	char text[64];
	int fd, digit = 0;
	ssize_t i, n = 0;

	memset(id, 0, 16);
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
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
}

/*
 * Zeros, or a header whose maker died: never anything that could be somebody's data.  The layout
 * is stored first and the magic last, so without a layout nothing else is there.
 */
bool
flki_make_is_unborn(const struct header *h, off_t size)
{
	const unsigned char *p = (const unsigned char *)h;
	off_t i, from = h->layout == LAYOUT ? (off_t)sizeof(*h) : 0;

	if (size != (off_t)HEADER && size != (off_t)(HEADER + FIRST_SLOTS * sizeof(struct slot)))
		return false;
	for (i = from; i < size; i++)
		if (p[i] != 0)
			return false;
	return true;
}

/* Not every file system can reserve space, and not every C library then writes zeros itself. */
static int
write_zeros(int fd, off_t size)
{
	static const char zeros[HEADER];
	struct stat sb;
	off_t at;

	if (fstat(fd, &sb) == -1)
		return -errno;
	for (at = sb.st_size; at < size; at += (off_t)sizeof(zeros)) {
		ssize_t n = pwrite(fd, zeros, sizeof(zeros), at);
		if (n != (ssize_t)sizeof(zeros))
			return n == -1 ? -errno : -ENOSPC;
	}
	return 0;
}

int
flki_make_reserve(int fd, uint32_t slots)
{
	off_t size = (off_t)(HEADER + (uint64_t)slots * sizeof(struct slot));
	int error = posix_fallocate(fd, 0, size);

	if (error == EOPNOTSUPP || error == EINVAL || error == ENOSYS)
		return write_zeros(fd, size);
	return -error;
}

static void
fill_header(struct header *h, const struct flk_options *options)
{
	uint32_t limit = options != NULL ? options->limit : 0;
	uint32_t initial = options != NULL ? options->initial : 0;

	h->layout = LAYOUT;
	atomic_signal_fence(memory_order_seq_cst);
	h->header_size = HEADER;
	h->slot_size = sizeof(struct slot);
	h->byte_order = __BYTE_ORDER__;
	flki_file_boot_id(h->boot);
	atomic_store(&h->nslots, FIRST_SLOTS);
	h->override = FLK_AUTO;
	h->declared = limit;
	h->withheld = initial > 0 && initial < limit ? limit - initial : 0;
	h->waiting = h->holders = (struct list){ NIL, NIL, 0 };
	atomic_store_explicit(&h->magic, MAGIC, memory_order_release);
}

/* Zeros, and the file does not get shorter meanwhile: a mapping of it must not break. */
static int
wipe(int fd, off_t size)
{
	void *p;

	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size) == 0)
		return 0;
	p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	memset(p, 0, (size_t)size);
	munmap(p, (size_t)size);
	return 0;
}

static int
init(int fd, off_t old_size, const struct flk_options *options)
{
	void *p;
	int error;

	if (old_size > 0 && (error = wipe(fd, old_size)) != 0)
		return error;
	if ((error = flki_make_reserve(fd, FIRST_SLOTS)) != 0) {
		if (old_size == 0 && ftruncate(fd, 0) == -1)
			error = -errno;
		return error;
	}
	p = mmap(NULL, HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	fill_header(p, options);
	munmap(p, HEADER);
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

int
flki_make_new(int dirfd, const char *base, const struct flk_options *options)
{
	mode_t mode = options != NULL && options->mode != 0 ? options->mode : 0600;
	char dir[4096];
	const char *slash = strrchr(base, '/');
	int fd, error;

	if (slash == NULL)
		strcpy(dir, ".");
	else if ((size_t)(slash - base) + 2 > sizeof(dir))
		return -ENAMETOOLONG;
	else
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - base) + 1, base);

	fd = openat(dirfd, dir, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (fd != -1) {
		error = fchmod(fd, mode) == -1 ? -errno : init(fd, 0, options);
		if (error == 0)
			error = publish(fd, dirfd, base);
		close(fd);
		/* without /proc there is no way to give it a name */
		if (error != -ENOENT)
			return error;
	} else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
		return -errno;
	}
	fd = openat(dirfd, base, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd == -1)
		return -errno;
	error = fchmod(fd, mode) == -1 ? -errno : 0;
	close(fd);
	return error; /* it is empty, and the next open makes a limiter of it */
}

/* Waits for the lock on INIT_BYTE; whoever dies with it loses it. */
static int
init_lock(int fd)
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
	return -FLK_STUCK;
}

/* Somebody else may have made it while we waited for the lock. */
static bool
is_made(int fd, off_t size, bool persistent)
{
	static const unsigned char unknown[16];
	unsigned char boot[16];
	struct {
		uint64_t magic;
		uint32_t inner[4];
		unsigned char boot[16];
	} head;

	if (size < (off_t)HEADER || pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.magic != MAGIC)
		return false;
	if (!persistent)
		return true;
	flki_file_boot_id(boot);
	return memcmp(boot, unknown, sizeof(boot)) == 0 ||
	       memcmp(boot, head.boot, sizeof(boot)) == 0;
}

int
flki_make_in_place(int fd, bool persistent, const struct flk_options *options)
{
	struct flock unlock = { .l_type = F_UNLCK, .l_start = INIT_BYTE, .l_len = 1 };
	struct stat sb;
	int error = init_lock(fd);

	if (error != 0)
		return error;
	if (fstat(fd, &sb) == -1)
		error = -errno;
	else if (!is_made(fd, sb.st_size, persistent))
		error = init(fd, sb.st_size, options);
	fcntl(fd, F_OFD_SETLK, &unlock);
	return error;
}
