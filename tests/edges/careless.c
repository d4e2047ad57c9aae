/* SPDX-License-Identifier: ISC */
/*
 * careless.c - the library inside programs that take away what it needs: its descriptor, the thread
 * that took a permit, and the right to make files larger.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "internal.h"

#define CROWD 200 /* takers: more than a new limiter has room for */

static const struct flk_request one = { .weight = 1, .limit = 1 };
static const struct flk_request many = { .weight = 1, .limit = 1000 };

static int
in_child(int (*act)(struct flk *f, struct flk *another))
{
	struct flk *f = fresh(0), *another = fresh(1);
	pid_t pid = fork_child();
	int status;

	if (pid == 0)
		_exit(act(f, another));
	status = reap_child(pid);
	flk_detach(another);
	flk_detach(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the limiter's descriptor is another file's by now ---- */

/* It is done when the returned descriptor is closed. */
static int
leave_orphan(struct flk *f)
{
	int ends[2], fd;
	pid_t pid;

	if (pipe(ends) == -1)
		tap_bail("no pipe");
	pid = fork_child();
	if (pid == 0) {
		struct flk_taker *t = taker(attach(flk_path(f)));
		char end;

		close(ends[1]);
		if (flk_acquire(t, &one, NULL) != 0 || flk_guard(t, &fd) != 0)
			_exit(1);
		if (fork() == 0) {
			while (read(ends[0], &end, 1) == -1 && errno == EINTR)
				;
			_exit(0);
		}
		_exit(0);
	}
	close(ends[0]);
	if (reap_child(pid) != 0)
		tap_bail("no orphan");
	return ends[1];
}

static int
lose_descriptor(struct flk *f, struct flk *kept)
{
	static const char text[] = "the program's own data";
	int orphan = leave_orphan(kept), fd, error = 0, i;
	const char *path = fresh_path();
	struct timespec soon = in_ms(300);
	struct flk_taker *t = taker(kept);
	struct stat sb;

	if ((fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600)) == -1 ||
	    dup2(fd, f->file.fd) == -1 || dup2(fd, kept->file.fd) == -1 ||
	    write(fd, text, sizeof(text)) != (ssize_t)sizeof(text))
		return 1;
	if (flk_acquire(t, &one, &soon) != -ETIMEDOUT)
		return 2; /* an orphan keeps the only permit */
	for (i = 0; i < CROWD && error == 0; i++)
		error = flk_acquire(taker(f), &many, NULL);
	if (error != -EBADF || i < 2)
		return 3;
	if (fstat(fd, &sb) == -1 || sb.st_size != (off_t)sizeof(text))
		return 4; /* the file was made larger */
	if (flk_verify(f) != -EBADF)
		return 5;
	close(orphan);
	unlink(path);
	return 0;
}

/* ---- the file can't grow ---- */

static int
limit_size(struct flk *f, struct flk *another)
{
	const struct rlimit none = { 0, 0 };
	int error = 0, i;

	if (setrlimit(RLIMIT_FSIZE, &none) == -1 || signal(SIGXFSZ, SIG_DFL) == SIG_ERR)
		return 1;
	for (i = 0; i < CROWD && error == 0; i++)
		error = flk_acquire(taker(f), &many, NULL);
	if (error != -EFBIG || i < 2)
		return 2;
	if (flk_attach(&f, flk_path(another), NULL) != 0)
		return 3; /* it needs no room */
	return flk_attach(&f, fresh_path(), NULL) == -EFBIG ? 0 : 4;
}

/* ---- a taker outlives its thread ---- */

static void *
take_with_guard(void *taker)
{
	int fd;

	return flk_acquire(taker, &one, NULL) == 0 && flk_guard(taker, &fd) == 0 ? taker : NULL;
}

static int
lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd; /* cppcheck-suppress deallocret ; its number is what counts */
}

static void
test_thread_ends(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *gone = taker(f), *next = taker(f);
	struct timespec soon;
	int free_before = lowest_free();
	pthread_t thread;
	void *took;

	if (pthread_create(&thread, NULL, take_with_guard, gone) != 0 ||
	    pthread_join(thread, &took) != 0 || took == NULL)
		tap_bail("no permit in a thread");
	is(flk_try(next, &one), -EAGAIN, "a guard keeps the permit of a thread that has ended");
	is(flk_release(gone), -FLK_STRANGER, "which another thread can't release");
	flk_taker_free(gone);
	soon = in_ms(5000);
	is(flk_acquire(next, &one, &soon), 0, "it goes back when another thread frees the taker");
	is(lowest_free(), free_before, "and the guard's descriptor is closed");
	flk_taker_free(next);
	whole(f, "a taker outlived its thread");
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_thread_ends();
	is(in_child(lose_descriptor), 0,
	   "a file that has the limiter's descriptor by now is let be");
	is(in_child(limit_size), 0, "a limit of file sizes is an error, and no signal");
	return tap_done();
}
