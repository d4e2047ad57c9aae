/* SPDX-License-Identifier: ISC */
/*
 * sizes.c - a limiter's file cut to every size that there is, zeros of every size, and an
 * old one of another boot in every size: it begins anew or is refused, and is never half used.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "filesystem.h"
#include "internal.h"

#define WHOLE ((uint32_t)SLOTS_AT + FIRST_SLOTS * (uint32_t)sizeof(struct slot))

static char image[WHOLE];

static void
write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	/* Not by O_TRUNC, after which some file systems write all to the disk at once. */
	if (fd == -1 || pwrite(fd, data, size, 0) != (ssize_t)size ||
	    ftruncate(fd, (off_t)size) == -1 || close(fd) == -1)
		tap_bail("%s", path);
}

static bool
is_unchanged(const char *path, const char *data, size_t size)
{
	static char now[WHOLE + 1];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd == -1 ? -1 : read(fd, now, sizeof(now));

	close(fd);
	return n == (ssize_t)size && memcmp(now, data, size) == 0;
}

/* The image is to be of this file: a copy of a limiter begins anew. */
static void
bind_image(const char *path)
{
	struct header *h = (void *)image;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat sb;

	if (fd == -1 || fstat(fd, &sb) == -1)
		tap_bail("%s", path);
	h->bound = flki_fs_bound(fd, flki_fs_kind(fd), &sb);
	close(fd);
}

/* What came of the file; if it is a limiter, it must be one that works. */
static int
outcome(const char *path)
{
	struct flk *f;
	struct flk_taker *t;
	int error = flk_attach(&f, path, NULL);

	if (error != 0)
		return error;
	t = taker(f);
	error = flk_try(t, &(struct flk_request){ .limit = 1 });
	if (error == 0 && (flki_file_slots(&f->file) != FIRST_SLOTS || flk_check(f, NULL, 0) != 0))
		error = 1;
	flk_taker_free(t);
	flk_detach(f);
	return error;
}

static int
expected_when_cut(size_t size)
{
	return size == 0 || size == WHOLE ? 0 : size < HEADER ? -FLK_NOTLIMITER : -FLK_DAMAGED;
}

static int
expected_of_zeros(size_t size)
{
	return size == 0 || size == HEADER || size == WHOLE ? 0 : -FLK_NOTLIMITER;
}

/* A limiter of another boot serves nobody, so what is left of it from the header on will do. */
static int
expected_of_another_boot(size_t size)
{
	return size == 0 || size >= HEADER ? 0 : -FLK_NOTLIMITER;
}

/* In the history, which lies between, one size is like another. */
static size_t
next_size(size_t size)
{
	return size > HEADER + 300 && size < SLOTS_AT - 2000 ? size + 997 : size + 1;
}

static void
every_size(const char *path, const char *what, int (*expected)(size_t))
{
	int wrong = 0, changed = 0, good = 0, refusals = 0, got;
	size_t size;

	for (size = 0; size <= WHOLE; size = next_size(size)) {
		write_file(path, image, size);
		got = outcome(path);
		good += got == 0;
		refusals += got != 0;
		if (got != expected(size) && wrong++ < 5)
			tap_note("%s, size %zu: %d, not %d", what, size, got, expected(size));
		changed += got != 0 && !is_unchanged(path, image, size);
	}
	is(wrong, 0, "%s, of sizes from 0 to %u: %d are limiters, %d are refused", what, WHOLE,
	   good, refusals);
	is(changed, 0, "and what is refused is not changed");
}

int
main(void)
{
	struct flk *f;
	struct header *h = (void *)image;
	struct statfs fs;
	char other[200];
	const char *path;
	int fd;

	begin();
	f = fresh(1);
	path = flk_path(f);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1 || read(fd, image, WHOLE) != WHOLE)
		tap_bail("%s", path);
	close(fd);
	snprintf(other, sizeof(other), "%s", fresh_path());
	path = other;
	write_file(path, image, WHOLE);
	bind_image(path);
	every_size(path, "a limiter that was cut", expected_when_cut);
	if (statfs(path, &fs) == 0 && fs.f_type != 0x01021994) {
		memset(h->boot, 'x', sizeof(h->boot));
		h->holders = (struct list){ 3, 3, 1 };
		h->used = 1;
		every_size(path, "another boot's", expected_of_another_boot);
	} else {
		tap_skip("what is in memory has no other boot");
	}
	memset(image, 0, sizeof(image));
	every_size(path, "zeros", expected_of_zeros);
	flk_detach(f);
	return tap_done();
}
