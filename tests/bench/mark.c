/* SPDX-License-Identifier: ISC */
/*
 * mark.c - a command that writes down when it began and when it ended.
 *
 *	mark FILE INDEX [hold]
 *
 * With `hold', it ends when it is told to.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "mark.h"

/* As in linux/futex.h, which not every C library has beside it. */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void
wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int
main(int argc, char **argv)
{
	uint64_t start = now_ns();
	const char *ticket = getenv("FLOCKLIMIT_TICKET");
	struct marks *m;
	struct mark *mine;
	int fd;

	if (argc < 3 || (fd = open(argv[1], O_RDWR | O_CLOEXEC)) == -1)
		return 2;
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		return 2;
	mine = &m->at[atoi(argv[2])];
	mine->start = start;
	mine->ticket = ticket != NULL ? strtoull(ticket, NULL, 10) : 0;
	if (argc > 3) {
		m->held = 1;
		wake(&m->held);
		while (m->release == 0)
			syscall(SYS_futex, &m->release, FUTEX_WAIT, 0, NULL, NULL, 0);
	}
	if (atomic_fetch_add(&m->done, 1) + 1 == m->all)
		wake(&m->done);
	mine->end = now_ns();
	_exit(0);
}
