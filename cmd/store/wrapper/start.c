/* SPDX-License-Identifier: ISC */
#include "wrapper/start.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "host/board.h"
#include "host/deputy.h"
#include "host/meeting.h"
#include "keeper/keeper.h"
#include "now.h"
#include "wrapper/internal.h"

#define LOCKS 1000 /* tries for the lock, which is held for milliseconds */

/*
 * Forks twice, so that the keeper is no child of this process: neither the command nor its parent
 * should meet it.
 *
 * The keeper allocates memory.  After a fork in a process with threads, libc allows that; but the
 * allocator that a program brings along, such as a sanitizer's, may be locked for ever by a thread
 * that the keeper does not have.  So link_begin() forks the first keeper before there are threads.
 */
static int
fork_twice(void (*run)(void *context), void *context)
{
	pid_t between = fork(), child;
	int status;

	if (between == -1)
		return -errno;
	if (between == 0) {
		child = fork();
		if (child == 0)
			run(context);
		_exit(child == -1 ? errno : 0);
	}
	while (waitpid(between, &status, 0) == -1)
		if (errno != EINTR)
			return 0; /* another thread has reaped it */
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EAGAIN;
}

/* ---- a keeper of one's own ---- */

struct own {
	const struct start *start;
	int theirs;
};

static void
run_own(void *context)
{
	const struct own *o = context;
	const struct start *s = o->start;

	keeper_run(o->theirs, s->owner, s->life, s->again, s->hushed);
}

int
start_own(int theirs, const struct start *s)
{
	struct own own = { .start = s, .theirs = theirs };

	return fork_twice(run_own, &own);
}

/* ---- a host's ---- */

static void
run_deputy(void *host)
{
	deputy_run(host);
}

/*
 * If nobody has a record in the store by that life, another begins: the keeper need not ask what the one
 * before has left.
 */
static void
set_life(struct board *b)
{
	uint32_t i;

	for (i = 0; i < b->rows; i++)
		if (b->row[i].self[0] != '\0')
			return;
	b->keepers = b->rows = 0;
	taker_name(b->life);
}

/* With the lock. */
static int
start(const struct meeting *m, int file)
{
	struct host host = { .meeting = *m, .file = file };
	int error = host_map(file, &host.board), probe;

	if (error == -ENOENT) {
		/* A page without room on the disk would end whoever touches it. */
		if ((error = -posix_fallocate(file, 0, sizeof(struct board))) != 0)
			return error;
		error = host_map(file, &host.board);
	} else if (error == 0 && (probe = meeting_connect(m)) >= 0) {
		close(probe); /* another wrapper has started it */
		munmap(host.board, sizeof(*host.board));
		return 0;
	}
	if (error != 0)
		return error;
	set_life(host.board);
	atomic_store(&host.board->pulse_ns, now_ns());
	host.listener = meeting_listen(m);
	error = host.listener < 0 ? host.listener : fork_twice(run_deputy, &host);
	if (host.listener >= 0)
		close(host.listener);
	munmap(host.board, sizeof(*host.board));
	return error;
}

int
start_host(const struct meeting *m)
{
	int file = meeting_board(m, true), error;

	if (file < 0)
		return file;
	error = meeting_lock(m, file, LOCKS);
	if (error == 0) {
		error = start(m, file);
		flock(file, LOCK_UN); /* the deputy has the same open file */
	}
	close(file);
	return error == -ENOENT ? 0 : error; /* that keeper has ended: the caller tries again */
}
