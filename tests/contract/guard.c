/* SPDX-License-Identifier: ISC */
/*
 * guard.c - permits that outlive their takers: guards, and what a worker is to the limiter.
 */
#include "contract.h"
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
closes_on_exec(int fd)
{
	return fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

static bool
is_for_reading(int fd)
{
	return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

/* A program of another's, which has the guard until it reads the end of its input. */
static void
become_cat(int guard, int input)
{
	fcntl(guard, F_SETFD, 0);
	dup2(input, STDIN_FILENO);
	execlp("cat", "cat", (char *)NULL);
	_exit(127);
}

static void
descriptors(void)
{
	struct flk *f = limiter(2);
	struct flk_taker *a = taker(f), *b = taker(f);
	int fd = -1, again = -1, common;
	pid_t heir;

	take(a, 1, 2);
	is(flk_guard(a, &fd), 0, "a guard");
	ok(closes_on_exec(fd), "is closed by exec");
	is(is_for_reading(fd), expected(GUARD_FOR_READING), "and for reading");
	is(flk_guard(a, &again), 0, "asked for twice");
	is(again, fd, "it is one");
	heir = fork_child();
	if (heir == 0)
		for (;;)
			pause();
	is(flk_release(a), 0, "a release ends it");
	take(a, 2, 2);
	kill(heir, SIGKILL);
	reap_child(heir);
	is(flk_release(a), 0, "whatever process has inherited the descriptor");

	common = flk_guard_open(f);
	ok(closes_on_exec(common), "a guard for several permits is closed by exec");
	take(a, 1, 2);
	take(b, 1, 2);
	is(flk_guard_by(a, common), 0, "it ties one permit");
	is(flk_guard_by(b, common), 0, "and another");
	is(flk_release(a), 0, "and both");
	is(flk_release(b), 0, "can be released");
	take(a, 2, 2);
	is(close(common), 0, "the descriptor is the caller's to close");
	done_with(f, "guards", a, b, NULL);
}

/* ---- a worker that outlives its taker ---- */

enum means { GUARD, COMMON, AGAIN, ENTRUST };

/* Takes a permit, ties it, and starts a worker, or becomes it. */
_Noreturn static void
wrap(const char *name, enum means means, int input, int said)
{
	struct flk *f = limiter_named(name, NULL);
	struct flk_taker *t = taker(f);
	int guard = -1, error;
	pid_t worker;

	take(t, 1, 1);
	if (means == COMMON)
		error = (guard = flk_guard_open(f)) < 0 ? guard : flk_guard_by(t, guard);
	else
		error = flk_guard(t, &guard);
	if (means == AGAIN && flk_guard_by(t, -1) != -EBADF)
		_exit(1);
	if (error != 0)
		_exit(1);
	if (means == ENTRUST) {
		if (flk_entrust(t) != 0 || write(said, "x", 1) != 1)
			_exit(1);
		become_cat(guard, input);
	}
	worker = fork();
	if (worker == 0)
		become_cat(guard, input);
	if (flk_working(t, worker) != 0 || write(said, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void
outlived(enum means means, const char *what)
{
	struct flk *f = limiter(1);
	const char *name = strrchr(flk_path(f), '/') + 1;
	struct flk_taker *t = taker(f);
	int input[2], said[2];
	pid_t wrapper;
	char byte;

	if (pipe(input) == -1 || pipe(said) == -1)
		tap_bail("no pipe");
	fcntl(input[1], F_SETFD, FD_CLOEXEC);
	wrapper = fork_child();
	if (wrapper == 0) {
		close(input[1]);
		wrap(name, means, input[0], said[1]);
	}
	close(input[0]);
	close(said[1]);
	if (read(said[0], &byte, 1) != 1)
		tap_bail("%s: no worker", what);
	close(said[0]);
	if (means != ENTRUST) {
		kill(wrapper, SIGKILL);
		reap_child(wrapper);
	}
	is(try_it(t, 1, 1), -EAGAIN, "%s: the permit lasts while the worker runs", what);
	queue(t, 1, 1, 1);
	is(wait_ms(t, 100), -ETIMEDOUT, "%s: also for a waiter", what);
	close(input[1]);
	is(wait_ms(t, PATIENCE_MS), 0, "%s: when the worker ends, the waiter is granted", what);
	if (means == ENTRUST)
		reap_child(wrapper);
	done_with(f, what, t, NULL);
}

/* ---- a descriptor of the caller's ---- */

static void
lent(void)
{
	struct flk *f = limiter(2);
	struct flk_taker *t = taker(f);
	int fd = open(flk_path(f), O_RDONLY | O_CLOEXEC), copy;
	struct flk_permit p, own;

	take(t, 2, 2);
	is(flk_permit(t, &own), 0, "a permit");
	is(flk_entrust_to(t, fd, getpid()), expected(ENTRUST_TO), "goes to a descriptor");
	is(flk_entrusted(f, fd, &p), expected(ENTRUSTED), "which has it then");
	is(flk_take_back(f, fd), expected(TAKE_BACK), "and gives it back");
	if (fd == -1) { /* there is no file to open */
		is(flk_release(t), 0, "what was not handed over is still the taker's");
		done_with(f, "lent", t, NULL);
		return;
	}
	ok(p.ticket == own.ticket && p.weight == 2, "it is the same permit");
	is(flk_release(t), -FLK_NOPERMIT, "the taker has none any more");
	is(flk_entrusted(f, fd, &p), -FLK_NOPERMIT, "and in the end nor has the descriptor");
	is(flk_take_back(f, fd), -FLK_NOPERMIT, "to give back");
	take(t, 2, 2);
	is(flk_entrust_to(t, -1, getpid()), -EBADF, "one that is not open is refused");
	is(flk_release(t), 0, "and the permit stays with the taker");
	take(t, 1, 2);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	is(flk_entrust_to(t, fd, getpid()), 0, "again");
	take(t, 1, 2);
	is(flk_release(t), 0, "while the taker has another");
	is(close(fd), 0, "one copy is closed");
	is(try_it(t, 2, 2), -EAGAIN, "which is not the last");
	is(close(copy), 0, "the last copy");
	take(t, 2, 2);
	is(flk_release(t), 0, "and all is free");
	done_with(f, "lent", t, NULL);
}

/* ---- who works ---- */

static void
workers(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *t = taker(f);
	struct flk_snapshot *s;
	pid_t worker, heirs[4];
	int fd;

	take(t, 1, 1);
	is(flki_is_taker(f, flk_slot(t), getpid()), expected(IS_TAKER),
	   "this process is the taker");
	is(flki_is_taker(f, flk_slot(t), getppid()), 0, "another is not");
	is(flk_guard(t, &fd), 0, "a guard");
	is((int)flki_heirs(f, flk_slot(t), heirs, 4), expected(HEIRS), "which one process has");
	worker = fork_child();
	if (worker == 0)
		for (;;)
			pause();
	is(flk_working(t, worker), 0, "a child works");
	is(flk_snapshot(f, &s), 0, "a snapshot");
	is(s->holders == 1 && s->entry[0].worker == worker, expected(WORKER), "shows the worker");
	free(s);
	kill(worker, SIGKILL);
	reap_child(worker);
	flki_working_child(t);
	is(flk_ended(t, 0), 0, "how it ended is recorded");
	is(flk_took(t, 4096, 1000000), 0, "and what it took");
	done_with(f, "workers", t, NULL);
}

void
contract_guard(void)
{
	descriptors();
	outlived(GUARD, "a guard");
	outlived(COMMON, "a common guard");
	outlived(AGAIN, "a guard that no other could replace");
	outlived(ENTRUST, "an entrusted permit");
	lent();
	workers();
}
