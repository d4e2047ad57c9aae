/* SPDX-License-Identifier: ISC */
/*
 * races.c - a permit is granted at the very moment in which its taker gives up.  Whatever comes
 * of it, the capacity is whole afterwards.
 *
 *	races.t [ROUNDS]
 */
#include "../helpers/common.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const struct flk_request one = { .weight = 1, .limit = 1 };

enum race { BY_SIGNAL, BY_TIMEOUT, BY_CANCEL, BY_LEAVE, RACES };

static const char *const names[] = { "a signal", "a timeout", "a cancel", "a leave" };

/* Shared by both sides, be they threads or processes. */
struct arena {
	pthread_barrier_t lines;          /* both come here before each round, and after it */
	struct flk_taker *_Atomic waiter; /* threads only */
	_Atomic int granted, given_up, wrong;
	char path[100];
	enum race race;
	int rounds;
	pid_t waiter_pid;
	pthread_t waiter_thread;
	bool processes;
};

static struct flk_taker *_Atomic mine;

static void
on_signal(int sig)
{
	struct flk_taker *t = mine;

	(void)sig;
	if (t != NULL)
		flk_cancel(t);
}

static void
meet(struct arena *a)
{
	pthread_barrier_wait(&a->lines);
}

static void
count(struct arena *a, struct flk_taker *t, int code)
{
	if (code == 0) {
		a->granted++;
		a->wrong += flk_release(t) != 0;
	} else if (code == -FLK_CANCELLED || code == -ETIMEDOUT) {
		a->given_up++;
	} else {
		a->wrong++;
	}
}

static void
spin(uint32_t ns)
{
	uint64_t until = now_ns() + ns;

	while (now_ns() < until)
		;
}

/*
 * Enters the line while the other holds, and gives up at about the time of its release.  They
 * meet when one holds, when the other stands in the line, when both are done, and when all was
 * looked at.
 */
static void
wait_side(struct arena *a)
{
	struct flk *f = attach(a->path);
	struct flk_taker *t = taker(f);
	struct timespec until;
	int i, code;

	random_seed(now_ns());
	a->waiter = mine = t;
	a->waiter_pid = getpid();
	a->waiter_thread = pthread_self();
	for (i = 0; i < a->rounds; i++) {
		meet(a);
		a->wrong += flk_enqueue(t, &one) != -EINPROGRESS;
		meet(a);
		if (a->race == BY_LEAVE) {
			spin(random_below(20000));
			a->wrong += flk_leave(t) != 0;
			a->given_up++;
		} else if (a->race == BY_TIMEOUT) {
			uint64_t at = now_ns() + 20000 + random_below(100000);
			until.tv_sec = (time_t)(at / 1000000000u);
			until.tv_nsec = (long)(at % 1000000000u);
			code = flk_wait(t, &until, NULL);
			if (code == -ETIMEDOUT)
				a->wrong += flk_leave(t) != 0;
			count(a, t, code);
		} else {
			count(a, t, flk_wait(t, NULL, NULL));
		}
		meet(a);
		if (a->race == BY_SIGNAL || a->race == BY_CANCEL) {
			/* A cancel that came too late would end the next wait. */
			mine = NULL;
			flk_taker_free(t);
			a->waiter = mine = t = taker(f);
		}
		meet(a);
	}
	mine = NULL;
	flk_taker_free(t);
	flk_detach(f);
}

static void
strike(struct arena *a)
{
	if (a->race == BY_CANCEL && !a->processes)
		flk_cancel(a->waiter);
	else if (a->processes)
		kill(a->waiter_pid, SIGUSR1);
	else
		pthread_kill(a->waiter_thread, SIGUSR1);
}

static void
release_side(struct arena *a)
{
	struct flk *f = attach(a->path);
	struct flk_taker *t = taker(f);
	bool strikes = a->race == BY_SIGNAL || a->race == BY_CANCEL, first;
	int i;

	for (i = 0; i < a->rounds; i++) {
		a->wrong += flk_acquire(t, &one, NULL) != 0;
		meet(a);
		meet(a);
		first = random_below(2);
		spin(random_below(60000));
		if (strikes && first)
			strike(a);
		a->wrong += flk_release(t) != 0;
		if (strikes && !first)
			strike(a);
		meet(a);
		a->wrong += flk_check(f, NULL, 0) != 0 || units_used(f) != 0;
		meet(a);
	}
	flk_taker_free(t);
	flk_detach(f);
}

static void *
wait_thread(void *arg)
{
	wait_side(arg);
	return NULL;
}

static void
run(enum race race, bool processes, int rounds)
{
	struct arena *a =
	    mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct flk *f = fresh(1);
	pthread_barrierattr_t shared;
	pthread_t thread;
	pid_t pid;

	if (a == MAP_FAILED)
		tap_bail("mmap");
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&a->lines, &shared, 2);
	for (unsigned i = 0; flk_path(f)[i] != '\0'; i++)
		a->path[i] = flk_path(f)[i];
	a->race = race;
	a->rounds = rounds;
	a->processes = processes;
	if (processes) {
		pid = fork_child();
		if (pid == 0) {
			wait_side(a);
			_exit(0);
		}
		release_side(a);
		is(reap_child(pid), 0, "%d grants and %s of a process, at once", rounds,
		   names[race]);
	} else {
		if (pthread_create(&thread, NULL, wait_thread, a) != 0)
			tap_bail("pthread_create");
		release_side(a);
		is(pthread_join(thread, NULL), 0, "%d grants and %s of a thread, at once", rounds,
		   names[race]);
	}
	is(a->wrong, 0, "each ends in one of the two");
	is(a->granted + a->given_up, rounds, "and only in one");
	tap_note("%d were granted, %d gave up", a->granted, a->given_up);
	whole(f, "after the race");
	flk_detach(f);
	munmap(a, sizeof(*a));
}

/* A crowd of threads that come, give up, try, cancel one another, and go. */
struct crowd {
	struct flk *f;
	struct flk_taker *_Atomic taker;
	_Atomic bool done;
	uint32_t seed;
	int rounds, wrong;
	pthread_t thread;
};

#define CROWD 6
#define ROOM  3
static struct crowd crowd[CROWD];
static _Atomic int running;

static void
run_a_little(struct crowd *c, struct flk_taker *t, uint32_t weight)
{
	if (atomic_fetch_add(&running, (int)weight) + (int)weight > ROOM)
		c->wrong++;
	sched_yield();
	atomic_fetch_sub(&running, (int)weight);
	if (flk_release(t) != 0)
		c->wrong++;
}

static void *
mill_about(void *arg)
{
	struct crowd *c = arg;
	struct flk_taker *t = taker(c->f);
	uint32_t x = c->seed;
	struct timespec until;
	int i, code;

	c->taker = t;
	for (i = 0; i < c->rounds; i++) {
		struct flk_request want = { .limit = ROOM };
		x = x * 1664525u + 1013904223u;
		want.weight = 1 + (x >> 16) % ROOM;
		until = in_ms((int)(x >> 20) % 2);
		switch ((x >> 24) % 4) {
		case 0:
			code = flk_try(t, &want);
			break;
		case 1:
			code = flk_acquire(t, &want, &until);
			break;
		default:
			code = flk_acquire(t, &want, NULL);
			break;
		}
		if (code == 0)
			run_a_little(c, t, want.weight);
		else if (code != -EAGAIN && code != -ETIMEDOUT && code != -FLK_CANCELLED)
			c->wrong++;
		if ((x >> 28) % 4 == 0 && crowd[(x >> 10) % CROWD].taker != NULL)
			flk_cancel(crowd[(x >> 10) % CROWD].taker);
	}
	c->done = true;
	return t;
}

static void
run_crowd(int rounds)
{
	struct flk *f = fresh(ROOM);
	void *left[CROWD];
	int i, wrong = 0;

	for (i = 0; i < CROWD; i++) {
		crowd[i].f = f;
		crowd[i].rounds = rounds;
		crowd[i].seed = random_below(UINT32_MAX);
		if (pthread_create(&crowd[i].thread, NULL, mill_about, &crowd[i]) != 0)
			tap_bail("pthread_create");
	}
	for (i = 0; i < CROWD; i++) {
		pthread_join(crowd[i].thread, &left[i]);
		wrong += crowd[i].wrong;
	}
	for (i = 0; i < CROWD; i++)
		flk_taker_free(left[i]);
	is(wrong, 0, "%d threads come and go, cancelled at any time", CROWD);
	whole(f, "after the crowd");
	flk_detach(f);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	enum race race;

	begin();
	if (argc > 1)
		alarm(3600);
	random_seed(now_ns());
	/* With SA_RESTART: the cancel must not depend on EINTR. */
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART },
		  NULL);
	for (race = 0; race < RACES; race++) {
		run(race, false, rounds);
		run(race, true, rounds);
	}
	run_crowd(rounds);
	return tap_done();
}
