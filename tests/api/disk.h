/* SPDX-License-Identifier: ISC */
/*
 * disk.h - a limiter file of our own for lib/copy.c, which takers change between any two of its reads,
 * while a clock runs that is ours; and memory in which a write behind the end is seen.
 *
 * Include copy.c after it.
 */
#ifndef DISK_H
#define DISK_H

#include "../helpers/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "internal.h"
#include "clock.h"
#include "copy.h"
#include "create.h"

#define N 1024 /* slots that there is room for */

/* ---- the file, and what happens to it ---- */

static struct {
	union {
		struct header h;
		char bytes[HEADER];
	};
	struct event history[EVENTS];
	struct slot slots[N];
} disk;

static off_t size_of_disk;
static nlink_t names;
static bool is_of_now, guarded;
static int stat_error, headers, histories, sleeps, searches;
static uint64_t clock_ns;
static off_t ends; /* what is behind this can't be read */
static bool dead[N];
static void (*in_a_sleep)(void), (*in_a_look)(void);

static int
fake_fstat(int fd, struct stat *sb)
{
	(void)fd;
	memset(sb, 0, sizeof(*sb));
	sb->st_size = size_of_disk;
	sb->st_nlink = names;
	errno = stat_error;
	return stat_error != 0 ? -1 : 0;
}

static ssize_t
fake_pread(int fd, void *to, size_t size, off_t at)
{
	size_t left = at < ends ? (size_t)(ends - at) : 0;

	(void)fd;
	if (left > size)
		left = size;
	if ((size_t)at + left > sizeof(disk))
		tap_bail("a read behind the end of the file");
	memcpy(to, (const char *)&disk + at, left);
	headers += at == 0;
	histories += at == (off_t)HEADER;
	if (at == (off_t)HEADER && in_a_look != NULL)
		in_a_look();
	return (ssize_t)left;
}

static int
fake_usleep(unsigned us)
{
	sleeps++;
	clock_ns += us * UINT64_C(1000);
	if (in_a_sleep != NULL)
		in_a_sleep();
	return 0;
}

static bool
fake_is_orphan(const struct flk *f, uint32_t slot)
{
	(void)f;
	(void)slot;
	searches++;
	return guarded;
}

/* ---- memory: what is written behind its end is seen ---- */

#define BEHIND 65536
#define CANARY 0xa5

static bool no_memory, overrun;
static int allocated;

struct piece {
	_Alignas(16) size_t size;
};

static void
check_piece(const struct piece *p)
{
	const unsigned char *end = (const unsigned char *)(p + 1) + p->size;
	size_t i;

	for (i = 0; i < BEHIND; i++)
		overrun |= end[i] != CANARY;
}

static void
fake_free(void *memory)
{
	struct piece *p = memory;

	if (p == NULL)
		return;
	check_piece(p - 1);
	allocated--;
	free(p - 1);
}

static void *
fake_malloc(size_t size)
{
	struct piece *p =
	    no_memory || size > sizeof(disk) + HEADER ? NULL : malloc(sizeof(*p) + size + BEHIND);

	if (p == NULL)
		return NULL;
	p->size = size;
	memset(p + 1, CANARY, size + BEHIND);
	allocated++;
	return p + 1;
}

/* The old piece keeps nothing that its user needs: it is filled anew. */
static void *
fake_realloc(void *old, size_t size)
{
	void *to = fake_malloc(size);

	if (to != NULL)
		fake_free(old);
	return to;
}

#define flki_monotonic_ns()                    (clock_ns)
#define flki_fs_kind(fd)                       ((void)(fd), FS_MEMORY)
#define flki_create_is_of_now(fd, h, kind, sb) ((void)(fd), (void)(kind), is_of_now)
#define flki_alive_is(alive)                   (!dead[(alive)->prev])
#define flki_orphan_is(f, slot)                fake_is_orphan(f, slot)
#define fstat(fd, sb)                          fake_fstat(fd, sb)
#define pread(fd, to, size, at)                fake_pread(fd, to, size, at)
#define usleep(us)                             fake_usleep(us)
#define malloc(size)                           fake_malloc(size)
#define realloc(old, size)                     fake_realloc(old, size)
#define free(memory)                           fake_free(memory)

static struct flk limiter = { .file = { .fd = 100, .dev = 7, .ino = 8 } };

/* A limiter that no taker uses. */
static void
begin_disk(uint32_t slots)
{
	uint32_t i;

	memset(&disk, 0, sizeof(disk));
	disk.h = (struct header){ .magic = MAGIC,
				  .layout = LAYOUT,
				  .header_size = HEADER,
				  .slot_size = sizeof(struct slot),
				  .byte_order = __BYTE_ORDER__,
				  .birth = 77,
				  .nslots = slots,
				  .declared = N,
				  .override = FLK_AUTO,
				  .waiting = { NIL, NIL, 0 },
				  .holders = { NIL, NIL, 0 } };
	for (i = 0; i < N; i++)
		disk.slots[i].alive.prev = i; /* whose life is asked for */
	memset(dead, 0, sizeof(dead));
	ends = size_of_disk = (off_t)(SLOTS_AT + slots * sizeof(struct slot));
	names = 1;
	is_of_now = true;
	guarded = no_memory = overrun = false;
	stat_error = headers = histories = sleeps = searches = allocated = 0;
	clock_ns = 1000 * SECOND;
	in_a_sleep = in_a_look = NULL;
}

#endif
