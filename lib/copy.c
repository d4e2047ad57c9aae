/* SPDX-License-Identifier: ISC */
/*
 * copy.c - a copy in memory of a limiter that its readers do not map, and the state in it.
 *
 * It is made once more while it may be torn.  Then the dead are taken out of it, and its index is rebuilt
 * from the slots, as a taker does with the file that a dead one has left.  In the copy nothing starts: it
 * is paused meanwhile.
 *
 * No number of the file is believed: the functions that look at the copy are those that look at a file
 * that any taker may have scribbled on.
 */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "copy.h"
#include "create.h"
#include "filesystem.h"

#define PATIENCE_NS (100 * MS) /* to get a copy that is not torn, of a limiter that is busy */
#define PAUSE_US    1000
#define MOST_DEAD   1000 /* holders whose commands are looked for: of more, some are not shown */

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

int
flki_copy_header(const struct flk *f, union flki_page *page)
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
copy_rest(struct flk *f, const union flki_page *page)
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
	union flki_page before, after;
	bool is_late;
	int error;

	for (;;) {
		is_late = flki_monotonic_ns() >= until;
		if ((error = flki_copy_header(f, &before)) != 0)
			return error;
		if (atomic_load(&before.h.lock) == 0 || is_late) {
			if ((error = copy_rest(f, &before)) != 0 ||
			    (error = flki_copy_header(f, &after)) != 0)
				return error;
			*torn = atomic_load(&before.h.lock) != 0 ||
				memcmp(before.bytes, after.bytes, HEADER) != 0;
			if (!*torn || is_late)
				return 0;
		}
		usleep(PAUSE_US);
	}
}

int
flki_copy(const struct flk *f, struct flk *look, bool *torn)
{
	int error;

	*look =
	    (struct flk){ .file = { .fd = f->file.fd, .dev = f->file.dev, .ino = f->file.ino } };
	atomic_store(&look->ahead_ns, INT64_MIN);
	if ((error = copy_file(look, torn)) != 0)
		free(look->file.h);
	return error;
}

void
flki_copy_free(struct flk *look)
{
	free(look->file.h);
}

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

int
flki_copy_enter(struct flk *f, struct state *st)
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
