/* SPDX-License-Identifier: ISC */
/*
 * reader.c - a limiter that is only read: another user's, which may change, cut, or forge it meanwhile.
 *
 * A reader never maps the file, takes no lock and writes nothing, so it costs the limiter's takers
 * nothing, whatever becomes of it; and nothing that they do to the file can fault.  Each look copies the
 * file into memory of its own, once more while the copy may be torn, takes the dead out of the copy, and
 * rebuilds the index from the slots, as a taker does with the file that a dead one has left.  In the copy
 * nothing starts: it is paused meanwhile.
 *
 * No number of the file is believed: the functions that look at the copy are those that look at a file
 * that any taker may have scribbled on.
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
#include "create.h"
#include "descriptor.h"
#include "filesystem.h"
#include "own.h"
#include "reader.h"

#define PATIENCE_NS (100 * MS) /* to get a copy that is not torn, of a limiter that is busy */
#define PAUSE_US    1000
#define FOLLOW_US   (100 * 1000)
#define MOST_DEAD   1000 /* holders whose commands are looked for: of more, some are not shown */

/* ---- the copy ---- */

static bool
copy_part(int fd, void *to, size_t size, size_t at)
{
	return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

static int
check_header(int fd, const struct header *h, const struct stat *sb)
{
	uint32_t n = atomic_load(&h->nslots);

	/* Only the header is in memory, and all of it is. */
	if (atomic_load(&h->magic) == 0 && flki_create_is_unborn(h, HEADER))
		return -ENOENT;
	if (atomic_load(&h->magic) != MAGIC)
		return -FLK_NOTLIMITER;
	if (!header_is_ours(h))
		return -FLK_VERSION;
	if (!flki_create_is_of_now(fd, h, flki_fs_kind(fd), sb) || atomic_load(&h->dead))
		return -ENOENT;
	if (n < FIRST_SLOTS || n > MAX_SLOTS || atomic_load(&h->damaged) ||
	    sb->st_size < (off_t)(SLOTS_AT + (size_t)n * sizeof(struct slot)))
		return -FLK_DAMAGED;
	return 0;
}

/* Room for so many slots, behind the header and the history. */
static int
make_room(struct flk *f, uint32_t n)
{
	void *room = realloc(f->file.h, SLOTS_AT + (size_t)n * sizeof(struct slot));

	if (room == NULL)
		return -ENOMEM;
	f->file.h = room;
	f->file.history = (void *)((char *)room + HEADER);
	f->file.slots = (void *)((char *)room + SLOTS_AT);
	atomic_store(&f->file.backed, n);
	return 0;
}

union page {
	struct header h;
	char bytes[HEADER];
};

static int
copy_header(const struct flk *f, union page *page)
{
	bool whole = copy_part(f->file.fd, page->bytes, HEADER, 0);
	struct stat sb;

	/* Afterwards: takers make the file longer before its header says so. */
	if (fstat(f->file.fd, &sb) == -1)
		return -errno;
	if (sb.st_nlink == 0)
		return -FLK_GONE;
	if (sb.st_size < (off_t)SLOTS_AT)
		return sb.st_size == 0 ? -ENOENT : -FLK_NOTLIMITER;
	if (!whole)
		return -FLK_DAMAGED;
	return check_header(f->file.fd, &page->h, &sb);
}

/* What is behind this header. */
static int
copy_rest(struct flk *f, const union page *page)
{
	static const size_t history = EVENTS * sizeof(struct event);
	uint32_t n = atomic_load(&page->h.nslots);
	int error;

	if ((error = make_room(f, n)) != 0)
		return error;
	memcpy(f->file.h, page->bytes, HEADER);
	f->file.birth = page->h.birth;
	return copy_part(f->file.fd, f->file.history, history, HEADER) &&
		       copy_part(f->file.fd, f->file.slots, n * sizeof(struct slot), SLOTS_AT)
		   ? 0
		   : -FLK_DAMAGED;
}

/*
 * A change begins and ends with the lock, and the header tells each: by tickets, fences or events.  So a
 * copy between two equal headers with a free lock is whole.  Of a limiter that is always busy, or whose
 * lock a dead taker has, the last copy must do: it may be torn.
 */
static int
copy_file(struct flk *f, bool *torn)
{
	uint64_t until = flki_monotonic_ns() + PATIENCE_NS;
	union page before, after;
	bool is_late;
	int error;

	for (;;) {
		is_late = flki_monotonic_ns() >= until;
		if ((error = copy_header(f, &before)) != 0)
			return error;
		if (atomic_load(&before.h.lock) == 0 || is_late) {
			if ((error = copy_rest(f, &before)) != 0 ||
			    (error = copy_header(f, &after)) != 0)
				return error;
			*torn = atomic_load(&before.h.lock) != 0 ||
				memcmp(before.bytes, after.bytes, HEADER) != 0;
			if (!*torn || is_late)
				return 0;
		}
		usleep(PAUSE_US);
	}
}

/* One look at f.  Threads that share f do not share the copy. */
static int
begin_look(const struct flk *f, struct flk *look, bool *torn)
{
	int error;

	*look =
	    (struct flk){ .file = { .fd = f->file.fd, .dev = f->file.dev, .ino = f->file.ino } };
	atomic_store(&look->ahead_ns, INT64_MIN);
	if ((error = copy_file(look, torn)) != 0)
		free(look->file.h);
	return error;
}

static void
end_look(struct flk *look)
{
	free(look->file.h);
}

/* ---- the state in it ---- */

/* Before the rebuild: to reap them one by one would cost a forged file's reader hours. */
static void
drop_dead(struct flk *f)
{
	uint32_t n = atomic_load(&f->file.backed), i, state, asked = 0;

	for (i = 0; i < n; i++) {
		struct slot *s = &f->file.slots[i];
		state = atomic_load(&s->state);
		s->orphan = 0;
		if ((state != HELD && state != WAITING) || flki_alive_is(&s->alive))
			continue;
		s->orphan = state == HELD && asked++ < MOST_DEAD && flki_orphan_is(f, i);
		if (!s->orphan)
			atomic_store(&s->state, FREE);
	}
}

/* They were dropped. */
static enum fate
lives(void *ctx, uint32_t i)
{
	const struct flk *f = ctx;

	return f->file.slots[i].orphan ? ORPHAN : LIVES;
}

static void
wake_nobody(void *ctx, uint32_t i)
{
	(void)ctx;
	(void)i;
}

/* As a taker would find it, but that nothing starts, and nothing is counted. */
static int
enter_copy(struct flk *f, struct state *st)
{
	struct header *h = f->file.h;
	uint64_t repaired = h->repaired, waiter = h->gate.waiter;
	uint32_t paused = h->paused, closed = h->closed;
	bool right;

	*st = (struct state){ .h = h,
			      .slots = f->file.slots,
			      .n = atomic_load(&f->file.backed),
			      .me = NIL,
			      .now_ns = flki_monotonic_ns(),
			      .ahead_ns = flki_clock_ahead(f),
			      .world = { .fate = lives, .wake = wake_nobody, .ctx = f } };
	drop_dead(f);
	h->paused = 1;
	h->closed = 0; /* nobody is put out of the line */
	right = flki_state_rebuild(st);
	h->paused = paused;
	h->closed = closed;
	h->repaired = repaired;
	h->gate.waiter = waiter;
	return right && !st->bad ? 0 : -FLK_DAMAGED;
}

/* ---- the operations ---- */

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

	if ((error = begin_look(f, &look, &torn)) != 0)
		return error;
	error = enter_copy(&look, &st);
	if (error == 0)
		error = flki_snapshot_of(&st, snapshot, flki_local_declared(&look));
	end_look(&look);
	return error == -FLK_DAMAGED && torn ? -EAGAIN : error;
}

static int
reader_get(struct flk *f, struct flk_settings *s)
{
	int cancel FLKI_RESTORED = flki_no_cancel(), error;
	struct flk look;
	bool torn;

	if ((error = begin_look(f, &look, &torn)) != 0)
		return error;
	error = flki_local_get(&look, s);
	end_look(&look);
	return error;
}

static size_t
reader_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct flk look;
	bool torn;
	size_t n;

	if (begin_look(f, &look, &torn) != 0)
		return 0;
	n = flki_local_history(&look, number, event, room);
	end_look(&look);
	return n;
}

/* Takers wake a follower that says in the file that it is one; this one says nothing there. */
static int
reader_follow(struct flk *f, uint64_t number, const struct timespec *deadline)
{
	uint64_t until = flki_deadline_ns(deadline);
	union page page;
	int error;

	while ((error = copy_header(f, &page)) == 0 && atomic_load(&page.h.events) <= number) {
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

int
flki_reader_open(struct flk *f, int dirfd, const char *base)
{
	bool torn;
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
	if ((error = copy_file(f, &torn)) != 0) {
		free(f->file.h);
		close(fd);
	}
	return error;
}
