/* SPDX-License-Identifier: ISC */
/*
 * foreign.c - the library inside programs that do what they like: fork behind the C library's back,
 * load it more than once, and unload it.
 */
#include "../helpers/common.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "internal.h"

static const struct flk_request one = { .weight = 1, .limit = 1 };

/* As a shell has it. */
static int
end_of(pid_t pid)
{
	int status = reap_child(pid);

	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- children that no handler of the C library's knows of ---- */

static pid_t
raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static pid_t
fork_into_namespace(void)
{
	return unshare(CLONE_NEWPID) == -1 ? -1 : fork();
}

static bool
is_stranger_to(struct flk_taker *t)
{
	struct flk_permit permit;
	struct timespec now = in_ms(0);
	int fd;

	return flk_permit(t, &permit) == -FLK_STRANGER && flk_release(t) == -FLK_STRANGER &&
	       flk_leave(t) == -FLK_STRANGER && flk_forget(t) == -FLK_STRANGER &&
	       flk_try(t, &one) == -FLK_STRANGER && flk_guard(t, &fd) == -FLK_STRANGER &&
	       flk_wait(t, &now, NULL) == -FLK_STRANGER && flk_working(t, 1) == -FLK_STRANGER;
}

/* Two permits, one of them with a guard; the child tries for a third, which is `expected' of it. */
static void
test_fork(const char *how, pid_t (*make_child)(void), int expected)
{
	struct flk *f = fresh(2);
	struct flk_taker *plain = taker(f), *guarded = taker(f);
	struct flk_request want = { .weight = 1, .limit = 2 };
	int fd = -1;
	pid_t child;

	if (flk_try(plain, &want) != 0 || flk_try(guarded, &want) != 0 ||
	    flk_guard(guarded, &fd) != 0)
		tap_bail("no permit");
	child = make_child();
	if (child == 0) {
		bool strange = is_stranger_to(plain) && is_stranger_to(guarded);
		flk_taker_free(plain);
		flk_taker_free(guarded);
		_exit(!strange ? 1 : flk_try(taker(f), &want) != expected ? 2 : 0);
	}
	if (child == -1) {
		tap_skip("this child can't be made here");
	} else {
		is(end_of(child), 0,
		   "%s: the child is a stranger to its parent's takers, not to the limiter", how);
		is(units_used(f), 2, "and what it frees, its parent keeps");
		ok(!flki_guard_is_free(f, flk_slot(guarded)), "with the guard");
		is(flk_release(plain), 0, "the parent can release");
		is(flk_release(guarded), 0, "both");
	}
	flk_taker_free(plain);
	flk_taker_free(guarded);
	whole(f, how);
	flk_detach(f);
}

/* The parent and its child are each process 1, thread 1, of a namespace. */
static int
be_process_one(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	int status;
	pid_t child;

	if (getpid() != 1 || flk_try(t, &one) != 0 || unshare(CLONE_NEWPID) == -1)
		return 2;
	child = fork();
	if (child == 0) {
		bool strange = getpid() == 1 && is_stranger_to(t);
		flk_taker_free(t);
		_exit(strange ? 0 : 1);
	}
	if (child == -1 || waitpid(child, &status, 0) != child || status != 0)
		return 3;
	return flk_release(t) == 0 ? 0 : 4;
}

static void
test_same_ids(void)
{
	pid_t child = fork_child();

	if (child == 0) {
		pid_t inner = fork_into_namespace();
		if (inner == 0)
			_exit(be_process_one());
		_exit(inner == -1 ? 77 : end_of(inner));
	}
	child = end_of(child);
	if (child == 77)
		tap_skip("may not make PID namespaces");
	else
		is(child, 0, "process 1, and its child, process 1 of another namespace: strangers");
}

/* A permit whose taker is dead; it ends when nobody has the end of the pipe any more. */
static int
leave_orphan(struct flk *f)
{
	int end_it[2], fd;
	pid_t wrapper;

	if (pipe2(end_it, O_CLOEXEC) == -1)
		tap_bail("pipe");
	wrapper = fork_child();
	if (wrapper == 0) {
		struct flk *mine = attach(flk_path(f));
		struct flk_taker *dead = taker(mine);
		char c;
		close(end_it[1]);
		if (flk_try(dead, &one) != 0 || flk_guard(dead, &fd) != 0)
			_exit(1);
		_exit(fork() == 0 ? (int)read(end_it[0], &c, 1) : 0);
	}
	close(end_it[0]);
	if (end_of(wrapper) != 0)
		tap_bail("no orphan");
	return end_it[1];
}

/* A thread waits for the orphan, in this process; its child waits when the thread is gone. */
static void
wait_and_fork(struct flk *f, int end_it, int answer)
{
	struct timespec soon = in_ms(20), late = in_ms(PATIENCE_MS);
	struct flk_taker *t = taker(f);
	pid_t self = getpid(), child;
	int code = flk_acquire(t, &one, &soon);

	if (code != -ETIMEDOUT)
		_exit(1);
	child = fork();
	if (child != 0)
		_exit(child == -1);
	while (getppid() == self)
		sched_yield();
	close(end_it);
	t = taker(f);
	code = flk_acquire(t, &one, &late);
	flk_taker_free(t);
	_exit(write(answer, &code, sizeof(code)) != sizeof(code));
}

static void
test_vigil_of_the_parent(void)
{
	struct flk *f = fresh(1);
	int end_it = leave_orphan(f), answer[2], code = 1;
	uint64_t start;
	pid_t parent;

	if (pipe2(answer, O_CLOEXEC) == -1)
		tap_bail("pipe");
	parent = fork_child();
	if (parent == 0)
		wait_and_fork(f, end_it, answer[1]);
	close(answer[1]);
	is(end_of(parent), 0, "one waits for an orphan, in a thread, and leaves a child");
	stands(f, 1, 1);
	start = now_ns();
	close(end_it);
	ok(read(answer[0], &code, sizeof(code)) == sizeof(code) && code == 0,
	   "which waits in the same limiter");
	ok(now_ns() - start < UINT64_C(30000000000), "and hears of the end at once");
	close(answer[0]);
	whole(f, "after the orphan");
	flk_detach(f);
}

/* ---- more than one copy ---- */

#define COPIES 3
#define EACH   6 /* takers of a copy, and mutexes of the C library's */

struct copy {
	int (*attach)(struct flk **, const char *, const struct flk_options *);
	int (*taker_new)(struct flk_taker **, struct flk *);
	void (*taker_free)(struct flk_taker *);
	int (*take)(struct flk_taker *, const struct flk_request *);
	int (*acquire)(struct flk_taker *, const struct flk_request *, const struct timespec *);
	void *handle;
	struct flk *flk;
};

static void *
symbol(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	if (found == NULL)
		tap_bail("%s: %s", name, dlerror());
	return found;
}

static bool
load(struct copy *c, long namespace, const char *path)
{
	const char *build = getenv("TESTS_BUILD");
	char so[4096];

	snprintf(so, sizeof(so), "%s/../.libs/libflocklimit.so", build != NULL ? build : "tests");
	c->handle = dlmopen(namespace, so, RTLD_NOW | RTLD_LOCAL);
	if (c->handle == NULL) {
		tap_note("%s", dlerror());
		return false;
	}
	*(void **)&c->attach = symbol(c->handle, "flk_attach");
	*(void **)&c->taker_new = symbol(c->handle, "flk_taker_new");
	*(void **)&c->taker_free = symbol(c->handle, "flk_taker_free");
	*(void **)&c->take = symbol(c->handle, "flk_try");
	*(void **)&c->acquire = symbol(c->handle, "flk_acquire");
	return c->attach(&c->flk, path, NULL) == 0;
}

/* The copy that this program is linked with, one that it loads, and one beside a C library. */
static bool
load_all(struct copy c[COPIES], const char *path)
{
	c[0] = (struct copy){ .attach = flk_attach,
			      .taker_new = flk_taker_new,
			      .taker_free = flk_taker_free,
			      .take = flk_try,
			      .acquire = flk_acquire };
	return c[0].attach(&c[0].flk, path, NULL) == 0 && load(&c[1], LM_ID_BASE, path) &&
	       load(&c[2], LM_ID_NEWLM, path);
}

struct shared {
	pthread_mutex_t mutex[EACH];
	bool locked[EACH];
};

/* Takes and gives back with each of them, and locks of the C library's; then it is killed. */
static void
live_and_die(struct copy c[COPIES], struct shared *shared, unsigned seed)
{
	struct flk_taker *t[COPIES][EACH] = { 0 };
	struct flk_request want = { .weight = 1, .limit = COPIES * EACH };
	unsigned steps = 1 + seed % 60, k, i;

	random_seed(seed);
	while (steps-- > 0) {
		k = random_below(COPIES + 1);
		i = random_below(EACH);
		if (k == COPIES && shared->locked[i]) {
			pthread_mutex_unlock(&shared->mutex[i]);
			shared->locked[i] = false;
		} else if (k == COPIES) {
			shared->locked[i] = pthread_mutex_lock(&shared->mutex[i]) == 0;
		} else if (t[k][i] != NULL) {
			c[k].taker_free(t[k][i]);
			t[k][i] = NULL;
		} else if (c[k].taker_new(&t[k][i], c[k].flk) != 0 ||
			   c[k].take(t[k][i], &want) != 0) {
			_exit(1);
		}
	}
	raise(SIGKILL);
}

static struct shared *
new_mutexes(void)
{
	struct shared *shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	unsigned i;

	if (shared == MAP_FAILED)
		tap_bail("mmap");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	for (i = 0; i < EACH; i++) {
		/* Both kinds of links that the C library makes. */
		pthread_mutexattr_setprotocol(&attr,
					      i % 2 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
		pthread_mutex_init(&shared->mutex[i], &attr);
	}
	return shared;
}

/* Each mutex that the dead one had is told to be a dead one's, and the others are free. */
static bool
mutexes_agree(struct shared *shared)
{
	unsigned i;
	int got;

	for (i = 0; i < EACH; i++) {
		got = pthread_mutex_trylock(&shared->mutex[i]);
		if (got != (shared->locked[i] ? EOWNERDEAD : 0))
			return false;
		if (got == EOWNERDEAD)
			pthread_mutex_consistent(&shared->mutex[i]);
		pthread_mutex_unlock(&shared->mutex[i]);
		shared->locked[i] = false;
	}
	return true;
}

static void
test_copies(unsigned stories)
{
	struct flk *f = fresh(COPIES * EACH);
	struct shared *shared = new_mutexes();
	struct copy c[COPIES];
	unsigned i, killed = 0;
	uint64_t left = 0;
	bool agree = true;

	if (!load_all(c, flk_path(f))) {
		tap_skip("there is no shared library to load");
		return;
	}
	for (i = 0; i < stories && left == 0 && agree; i++) {
		pid_t child = fork_child();
		if (child == 0)
			live_and_die(c, shared, i + 1);
		killed += end_of(child) == 128 + SIGKILL;
		left = units_used(f);
		agree = mutexes_agree(shared);
	}
	is(killed, i, "%u programs with three copies are killed, and end by that", i);
	is(left, 0, "the dead hold nothing");
	ok(agree, "and the C library's mutexes know of the death");
	if (left != 0 || !agree)
		tap_note("story %u", i);
	munmap(shared, sizeof(*shared));
	whole(f, "after three copies");
	flk_detach(f);
}

/* The kernel follows no more than so many entries of a thread, whoever made them. */
static void
test_many(void)
{
	struct flk *f = fresh(4000);
	struct flk_request want = { .weight = 1, .limit = 4000 };
	pid_t child = fork_child();

	if (child == 0) {
		struct copy c[COPIES];
		struct flk_taker *t;
		int error = 0, i;
		if (!load_all(c, flk_path(f)))
			_exit(77);
		for (i = 0; i < 3000 && error == 0; i++)
			if ((error = c[i % COPIES].taker_new(&t, c[i % COPIES].flk)) == 0)
				error = c[i % COPIES].take(t, &want);
		_exit(error == -FLK_CROWDED && i > 1900 ? 0 : 1);
	}
	child = end_of(child);
	if (child == 77) {
		tap_skip("there is no shared library to load");
	} else {
		is(child, 0, "three copies have as many takers in one thread as one has");
		is(units_used(f), 0, "and the kernel knows them all");
	}
	flk_detach(f);
}

/* ---- unloaded ---- */

static unsigned
threads(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n - 2;
}

static void *
take_and_end(void *arg)
{
	struct copy *c = arg;
	struct flk_taker *t;

	if (c->taker_new(&t, c->flk) != 0 || c->take(t, &one) != 0)
		return c;
	dlclose(c->handle);
	return NULL;
}

/* In a child: a thread of the library's sleeps, and one of the program's has a permit. */
static int
unload(const char *held, const char *other, int end_it)
{
	struct copy c, d;
	struct flk_taker *t;
	struct timespec soon;
	pthread_t thread;
	void *failed;
	int tries = 0;

	if (!load(&c, LM_ID_BASE, held))
		return 77;
	if (c.taker_new(&t, c.flk) != 0)
		return 1;
	/* On a busy machine a taker may find the orphan, and start the thread, in a later try. */
	do {
		soon = in_ms(20);
		if (c.acquire(t, &one, &soon) != -ETIMEDOUT)
			return 3;
	} while (threads() != 2 && tries++ < 1000);
	if (threads() != 2)
		return 4;
	c.taker_free(t);
	if (!load(&d, LM_ID_BASE, other) || pthread_create(&thread, NULL, take_and_end, &d) != 0 ||
	    pthread_join(thread, &failed) != 0 || failed != NULL)
		return 2;
	dlclose(c.handle);
	close(end_it);
	while (threads() > 1)
		usleep(1000);
	return 0;
}

static void
test_unload(void)
{
	struct flk *f = fresh(1), *other = fresh(1);
	int end_it = leave_orphan(f), end;
	pid_t child = fork_child();

	if (child == 0)
		_exit(unload(flk_path(f), flk_path(other), end_it));
	close(end_it);
	end = end_of(child);
	if (end == 77)
		tap_skip("there is no shared library to load");
	else
		is(end, 0, "a program unloads the library under a thread that waits for an orphan");
	whole(other, "a thread ended with a permit of a library that was unloaded");
	flk_detach(other);
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_unload(); /* before others load it */
	test_fork("fork", fork, -EAGAIN);
#if __GLIBC_PREREQ(2, 34)
	test_fork("_Fork", _Fork, -EAGAIN);
#endif
	/* The C library has told the kernel of no list there. */
	test_fork("clone", raw_fork, -FLK_NOROBUST);
	test_same_ids();
	test_vigil_of_the_parent();
	test_copies(400);
	test_many();
	return tap_done();
}
