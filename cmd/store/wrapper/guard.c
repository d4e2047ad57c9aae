/* SPDX-License-Identifier: ISC */
/*
 * guard.c - a permit that outlives its taker.  The guard is a pipe, and the permit lasts until no
 * process has its write end any more.  The keeper has the read end, and so have we, to give it to
 * another keeper.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

#include "descriptor.h"
#include "close_fd.h"
#include "internal.h"
#include "pidfd.h"

/* ends[0] is the read end. */
static int
make_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC) == -1 ? -errno : pair_above_stdio(ends);
}

static void
drop(struct guard *g)
{
	if (!g->lent)
		close_fd(&g->fd);
	close_fd(&g->end);
	*g = (struct guard){ .fd = -1, .end = -1 };
}

/*
 * Makes this pipe the guard, and sends it to the keeper.  If the keeper has ended, its successor
 * gets it with all that the taker has by then.  After an error the taker has the guard that it had
 * before.
 */
static int
tie(struct store_taker *t, struct guard guard)
{
	struct talk m = { .kind = TALK_GUARD };
	struct guard was = t->guard;
	int error;

	t->guard = guard;
	error = await_send(t, &m, guard.end);
	if (error != 0) {
		t->guard = was;
		was = guard;
	}
	drop(&was);
	return error;
}

int
store_guard(struct flk_taker *taker, int *fd)
{
	struct store_taker *t = taker_of(taker);
	int error = taker_must_hold(t), ends[2];

	if (error != 0)
		return error;
	if (t->guard.fd == -1 &&
	    ((error = make_pipe(ends)) != 0 ||
	     (error = tie(t, (struct guard){ .fd = ends[1], .end = ends[0] })) != 0))
		return error;
	*fd = t->guard.fd;
	return 0;
}

int
store_guard_open(struct flk *limiter)
{
	struct store_limiter *f = (struct store_limiter *)limiter;
	struct common_guard *g = malloc(sizeof(*g));
	struct stat sb;
	int error, ends[2];

	if (g == NULL)
		return -ENOMEM;
	error = make_pipe(ends);
	if (error == 0 && fstat(ends[0], &sb) == -1) {
		error = -errno;
		close_fd(&ends[0]);
		close_fd(&ends[1]);
	}
	if (error != 0) {
		free(g);
		return error;
	}
	g->dev = sb.st_dev;
	g->ino = sb.st_ino;
	g->end = ends[0];
	pthread_mutex_lock(&f->lock);
	SLIST_INSERT_HEAD(&f->guards, g, entry);
	pthread_mutex_unlock(&f->lock);
	return ends[1];
}

static int
other_end(struct store_limiter *f, int fd)
{
	const struct common_guard *g;
	struct stat sb;
	int end = -EINVAL;

	if (fstat(fd, &sb) == -1)
		return -errno;
	pthread_mutex_lock(&f->lock);
	SLIST_FOREACH(g, &f->guards, entry)
		if (g->dev == sb.st_dev && g->ino == sb.st_ino)
			end = fcntl(g->end, F_DUPFD_CLOEXEC, 3);
	pthread_mutex_unlock(&f->lock);
	return end == -1 ? -errno : end;
}

int
store_guard_by(struct flk_taker *taker, int fd)
{
	struct store_taker *t = taker_of(taker);
	int error = taker_must_hold(t), end;

	if (error != 0)
		return error;
	if ((end = other_end(limiter_of(t), fd)) < 0)
		return end;
	return tie(t, (struct guard){ .fd = fd, .end = end, .lent = true });
}

/* store_working() reports the process to the keeper: a child can't. */
void
store_working_child(struct flk_taker *taker)
{
	(void)taker;
}

/* Takes over the pidfd. */
static int
works(struct store_taker *t, pid_t pid, int pidfd)
{
	struct talk m = { .kind = TALK_WORKING, .pid = (uint32_t)pid };

	close_fd(&t->pidfd);
	t->pidfd = flki_above_stdio(pidfd);
	if (t->pidfd == -1)
		return -errno;
	t->working = pid;
	return await_send(t, &m, t->pidfd);
}

int
store_working(struct flk_taker *taker, pid_t pid)
{
	struct store_taker *t = taker_of(taker);
	int error = taker_must_hold(t);

	return error != 0 ? error : works(t, pid, flki_pidfd_open(pid));
}

void
store_keep_for(struct flk_taker *t, pid_t pid, int pidfd)
{
	works(taker_of(t), pid, fcntl(pidfd, F_DUPFD_CLOEXEC, 3));
}

int
store_ended(struct flk_taker *taker, int status)
{
	struct store_taker *t = taker_of(taker);
	int error = taker_must_hold(t);

	if (error == 0)
		t->status = status;
	return error;
}

int
store_took(struct flk_taker *taker, uint64_t memory, uint64_t cpu_ns)
{
	struct store_taker *t = taker_of(taker);
	int error = taker_must_hold(t);

	if (error == 0) {
		t->memory = memory;
		t->cpu_ns = cpu_ns;
	}
	return error;
}

int
store_entrust(struct flk_taker *taker)
{
	struct store_taker *t = taker_of(taker);
	struct talk m = { .kind = TALK_ENTRUST, .pid = (uint32_t)getpid() };
	int error = taker_must_hold(t), self;

	if (error != 0)
		return error;
	if (t->guard.fd == -1)
		return -FLK_NOPERMIT;
	self = flki_above_stdio(flki_pidfd_open(getpid()));
	if (self == -1)
		return -errno;
	error = await_send(t, &m, self);
	close(self);
	return error;
}

void
guard_drop(struct store_taker *t)
{
	drop(&t->guard);
	close_fd(&t->pidfd);
	t->working = 0;
}
