/* SPDX-License-Identifier: ISC */
/*
 * reader.c - a limiter that is only read: another user's, which may change, cut, or forge it meanwhile.
 *
 * A reader never maps the file, takes no lock and writes nothing, so it costs the limiter's takers
 * nothing, whatever becomes of it; and nothing that they do to the file can fault.  It keeps the header
 * that it found when it opened the file, and makes a copy of the file for each look.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "cancel.h"
#include "clock.h"
#include "copy.h"
#include "descriptor.h"
#include "filesystem.h"
#include "own.h"
#include "reader.h"

#define FOLLOW_US (100 * 1000)

/* ---- what it does ---- */

static void
reader_close(struct flk *f)
{
	free(f->file.h);
	if (f->file.fd != -1)
		close(f->file.fd);
	free(f);
}

static int
reader_verify(const struct flk *f)
{
	struct stat sb;

	if (fstat(f->file.fd, &sb) == -1)
		return -errno;
	return sb.st_nlink == 0 ? -FLK_GONE : 0;
}

static int
reader_snapshot(struct flk *f, struct flk_snapshot **snapshot)
{
	int cancel FLKI_RESTORED = flki_no_cancel(), error;
	struct state st;
	struct flk look;
	bool torn;

	if ((error = flki_copy(f, &look, &torn)) != 0)
		return error;
	error = flki_copy_enter(&look, &st);
	if (error == 0)
		error = flki_snapshot_of(&st, snapshot, flki_local_declared(&look));
	flki_copy_free(&look);
	return error == -FLK_DAMAGED && torn ? -EAGAIN : error;
}

static int
reader_get(struct flk *f, struct flk_settings *s)
{
	int cancel FLKI_RESTORED = flki_no_cancel(), error;
	struct flk look;
	bool torn;

	if ((error = flki_copy(f, &look, &torn)) != 0)
		return error;
	error = flki_local_get(&look, s);
	flki_copy_free(&look);
	return error;
}

static size_t
reader_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct flk look;
	bool torn;
	size_t n;

	if (flki_copy(f, &look, &torn) != 0)
		return 0;
	n = flki_local_history(&look, number, event, room);
	flki_copy_free(&look);
	return n;
}

/* Takers wake a follower that says in the file that it is one; this one says nothing there. */
static int
reader_follow(struct flk *f, uint64_t number, const struct timespec *deadline)
{
	uint64_t until = flki_deadline_ns(deadline);
	union flki_page page;
	int error;

	while ((error = flki_copy_header(f, &page)) == 0 && atomic_load(&page.h.events) <= number) {
		if (flki_monotonic_ns() >= until)
			return -ETIMEDOUT;
		usleep(FOLLOW_US);
	}
	return error == -ENOENT ? -FLK_GONE : error;
}

/* That a process maps the file can't be told by a reader, who does not map it. */
static int
reader_is_taker(struct flk *f, uint32_t slot, pid_t pid)
{
	(void)f;
	(void)slot;
	(void)pid;
	return 0;
}

/* ---- what it does not do ---- */

static int
no_guard_open(struct flk *f)
{
	(void)f;
	return -EACCES;
}

static bool
holds_nothing(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit)
{
	(void)f;
	(void)slot;
	(void)ticket;
	(void)permit;
	return false;
}

static int
no_evict(struct flk *f, uint64_t ticket)
{
	(void)f;
	(void)ticket;
	return -EACCES;
}

static int
no_units(struct flk *f, uint64_t ticket, uint32_t units)
{
	(void)f;
	(void)ticket;
	(void)units;
	return -EACCES;
}

static int
no_check(struct flk *f, char *why, size_t size)
{
	(void)f;
	if (size > 0)
		*why = '\0';
	return -EACCES;
}

static int
no_taker(struct flk_taker **taker, struct flk *f)
{
	(void)taker;
	(void)f;
	return -EACCES;
}

static int
no_set(struct flk *f, unsigned which, const struct flk_settings *to)
{
	(void)f;
	(void)which;
	(void)to;
	return -EACCES;
}

static int
no_remove(struct flk *f, bool steered_too)
{
	(void)f;
	(void)steered_too;
	return -EACCES;
}

static const struct flk_ops reader_ops = {
	.path = flki_local_path,
	.identity = flki_local_identity,
	.verify = reader_verify,
	.stuck_pid = flki_local_stuck_pid,
	.declared = flki_local_declared,
	.guard_open = no_guard_open,
	.holds = holds_nothing,
	.get = reader_get,
	.evict = no_evict,
	.shrink = no_units,
	.grow = no_units,
	.snapshot = reader_snapshot,
	.check = no_check,
	.repair = no_guard_open,
	.history = reader_history,
	.follow = reader_follow,
	.heirs = flki_local_heirs,
	.is_taker = reader_is_taker,
	.close = reader_close,
	.taker_new = no_taker,
	.set = no_set,
	.remove = no_remove,
};

bool
flki_is_reader(const struct flk *f)
{
	return f->base.ops == &reader_ops;
}

/* ---- opening ---- */

/*
 * First without opening it: to open a device or a FIFO may do something, and its owner may put one there
 * at any time.
 */
static int
open_for_reading(int dirfd, const char *base, struct stat *sb)
{
	int at = openat(dirfd, base, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd;
	char self[32];

	if (at == -1)
		return -errno;
	fd = fstat(at, sb) == -1              ? -errno
	     : S_ISLNK(sb->st_mode)           ? -FLK_SYMLINK
	     : !S_ISREG(sb->st_mode)          ? -FLK_NOTFILE
	     : flki_fs_kind(at) == FS_NETWORK ? -FLK_NETWORK
					      : 0;
	if (fd == 0) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
		fd = flki_above_stdio(open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
		fd = fd != -1 ? fd : errno == EWOULDBLOCK ? -FLK_LEASED : -errno;
	}
	close(at);
	return fd;
}

static int
keep_header(struct flk *f)
{
	union flki_page *page = malloc(sizeof(*page));
	int error;

	if (page == NULL)
		return -ENOMEM;
	if ((error = flki_copy_header(f, page)) != 0) {
		free(page);
		return error;
	}
	f->file.h = &page->h;
	f->file.birth = page->h.birth;
	return 0;
}

int
flki_reader_open(struct flk *f, int dirfd, const char *base)
{
	struct stat sb = { .st_dev = 0 };
	int fd, error = flki_boot_learn();

	if (error != 0 && error != -FLK_NOBOOT)
		return error;
	f->base.ops = &reader_ops;
	f->file = (struct file){ .fd = -1 };
	if ((fd = open_for_reading(dirfd, base, &sb)) < 0)
		return fd;
	f->file.fd = fd;
	f->file.dev = sb.st_dev;
	f->file.ino = sb.st_ino;
	if ((error = keep_header(f)) != 0)
		close(fd);
	return error;
}
