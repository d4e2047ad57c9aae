/* SPDX-License-Identifier: ISC */
/*
 * process.c - what threads and processes may do with a taker, and what their end does to it.
 */
#include "contract.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

/* ---- another thread ---- */

static void *
as_stranger(void *arg)
{
	struct flk_taker *t = arg;
	struct flk_request want = { .weight = 1, .limit = 1 };
	struct timespec soon = in_ms(1000);
	struct flk_place place;
	struct flk_permit p;
	int wrong = 0, fd = -1;

	wrong += flk_enqueue(t, &want) != -FLK_STRANGER;
	wrong += flk_try(t, &want) != -FLK_STRANGER;
	wrong += flk_acquire(t, &want, &soon) != -FLK_STRANGER;
	wrong += flk_acquire_for(t, &want, 1000) != -FLK_STRANGER;
	wrong += flk_wait(t, &soon, NULL) != -FLK_STRANGER;
	wrong += flk_wait_idle(t, &soon) != -FLK_STRANGER;
	wrong += flk_leave(t) != -FLK_STRANGER;
	wrong += flk_release(t) != -FLK_STRANGER;
	wrong += flk_release_units(t, 1) != -FLK_STRANGER;
	wrong += flk_forget(t) != -FLK_STRANGER;
	wrong += flk_working(t, getpid()) != -FLK_STRANGER;
	wrong += flk_ended(t, 0) != -FLK_STRANGER;
	wrong += flk_took(t, 1, 1) != -FLK_STRANGER;
	wrong += flk_permit(t, &p) != -FLK_STRANGER;
	wrong += flk_guard(t, &fd) != -FLK_STRANGER;
	wrong += flk_guard_by(t, fd) != -FLK_STRANGER;
	wrong += flk_entrust(t) != -FLK_STRANGER;
	wrong += flk_entrust_to(t, fd, 1) == 0;
	wrong += flk_place(t, &place) != -FLK_STRANGER;
	return wrong == 0 ? arg : NULL;
}

static void
threads(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	void *right = NULL;
	struct flk_permit p;
	pthread_t thread;

	take(a, 1, 1);
	if (pthread_create(&thread, NULL, as_stranger, a) != 0)
		tap_bail("no thread");
	pthread_join(thread, &right);
	ok(right == a, "each function refuses a taker of another thread");
	is(flk_permit(a, &p), 0, "which keeps its permit");
	is(try_it(b, 1, 1), -EAGAIN, "that is no other's");
	done_with(f, "a stranger", a, b, NULL);
}

static void *
take_and_end(void *f)
{
	struct flk_taker *t = taker(f);

	take(t, 1, 1);
	return t;
}

static void
thread_end(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *t = taker(f);
	pthread_t thread;
	void *left;

	if (pthread_create(&thread, NULL, take_and_end, f) != 0)
		tap_bail("no thread");
	pthread_join(thread, &left);
	is(acquire(t, 1, 1, PATIENCE_MS), 0, "the permit of a thread that ended goes back");
	flk_taker_free(left);
	ok(stands(f, 1, 0), "and its taker, which another thread frees, takes nothing along");
	done_with(f, "a thread's end", t, NULL);
}

/* ---- a child ---- */

static void
forked(void)
{
	struct flk *f = limiter(2);
	struct flk_taker *a = taker(f), *mine;
	struct flk_permit p;
	pid_t child;

	take(a, 1, 2);
	child = fork_child();
	if (child == 0) {
		if (as_stranger(a) == NULL)
			_exit(1);
		flk_taker_free(a);
		mine = taker(f);
		if (try_it(mine, 2, 2) != -EAGAIN)
			_exit(2);
		take(mine, 1, 2);
		if (flk_release(mine) != 0)
			_exit(3);
		flk_taker_free(mine);
		flk_detach(f);
		_exit(0);
	}
	is(reap_child(child), 0, "a child leaves its parent's taker alone, and makes its own");
	is(flk_permit(a, &p), 0, "the parent keeps its permit");
	is((int)units_used(f), 1, "and nothing else is held");
	done_with(f, "a child", a, NULL);
}

/* ---- death ---- */

/* A process with a taker of its own, which holds or waits; it does nothing more. */
static pid_t
another(struct flk *f, bool holds)
{
	const char *name = strrchr(flk_path(f), '/') + 1;
	struct flk_request want = { .weight = 1, .limit = 1 };
	struct flk_taker *t;
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends) == -1)
		tap_bail("no pipe");
	pid = fork_child();
	if (pid == 0) {
		close(ends[0]);
		t = taker(limiter_named(name, NULL));
		if (holds ? acquire(t, 1, 1, PATIENCE_MS) != 0
			  : flk_enqueue(t, &want) != -EINPROGRESS)
			_exit(1);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		tap_bail("another process has no %s", holds ? "permit" : "place");
	close(ends[0]);
	return pid;
}

static void
killed(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *t = taker(f);
	struct flk_permit p;
	pid_t pid = another(f, true);

	is(try_it(t, 1, 1), -EAGAIN, "another process holds");
	queue(t, 1, 1, 1);
	kill(pid, SIGKILL);
	reap_child(pid);
	is(wait_ms(t, PATIENCE_MS), 0, "when it is killed, a waiter is granted");
	pid = another(f, false);
	ok(stands(f, 1, 1), "another process waits");
	kill(pid, SIGKILL);
	reap_child(pid);
	ok(stands(f, 1, 0), "when it is killed, it has left the line");
	is(flk_permit(t, &p), 0, "a holder is not disturbed");
	done_with(f, "killed processes", t, NULL);
}

void
contract_process(void)
{
	threads();
	thread_end();
	forked();
	killed();
}
