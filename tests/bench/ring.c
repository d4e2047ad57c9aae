/* SPDX-License-Identifier: ISC */
#include "ring.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "parked.h"
#include "process.h"
#include "world.h"

#define STACK (64 * 1024)

/* ---- one member ---- */

struct hand {
	struct ring_member *m;
	struct flk *limiter;
	struct flk_taker *taker;
};

static void
hand_open(struct hand *h, struct ring_member *m)
{
	struct ring *r = m->ring;

	h->m = m;
	h->taker = NULL;
	h->limiter = r->limiter;
	if (r->semaphores)
		return;
	if (!r->threads && flk_attach(&h->limiter, r->path, NULL) != 0)
		die("ring: cannot attach");
	if (flk_taker_new(&h->taker, h->limiter) != 0)
		die("ring: no taker");
}

static void
hand_take(struct hand *h, bool first)
{
	struct flk_request want = { .weight = 1, .limit = 1 };
	struct ring_member *m = h->m;
	int code;

	if (m->ring->semaphores) {
		m->in_line = true;
		while (!first && sem_wait(&m->turn) != 0)
			;
		return;
	}
	code = flk_enqueue(h->taker, &want);
	m->in_line = true;
	if (code == -EINPROGRESS)
		code = flk_wait(h->taker, NULL, NULL);
	if (code != 0)
		die("ring: %s", flk_strerror(code));
}

static void
hand_give(struct hand *h)
{
	struct ring *r = h->m->ring;

	if (r->semaphores)
		sem_post(&r->member[(h->m->index + 1) % r->members].turn);
	else if (flk_release(h->taker) != 0)
		die("ring: cannot release");
}

/* Everyone but the holder is parked: only the one before may still be on its way. */
static void
await_parked(struct ring *r, int index)
{
	if (index == -1)
		return;
	while (!r->member[index].in_line)
		sched_yield();
	parked_wait_there(r->member[index].tid);
}

static void *
take_turns(void *argument)
{
	struct ring_member *m = argument;
	struct ring *r = m->ring;
	uint64_t got, given;
	struct hand h;
	int hop;

	hand_open(&h, m);
	m->tid = gettid();
	do {
		hand_take(&h, m->index == 0 && r->previous == -1);
		got = now_ns();
		while (!r->go)
			usleep(1000);
		if (r->stop)
			break;
		hop = r->hop;
		if (r->previous != -1)
			r->waited[hop++] = (double)(got - r->given);
		await_parked(r, r->previous);
		r->stop = hop == r->hops;
		r->hop = hop;
		r->previous = m->index;
		m->in_line = false;
		given = now_ns();
		r->given = given;
		hand_give(&h);
		if (hop < r->hops)
			r->giving[hop] = (double)(now_ns() - given);
	} while (!r->stop);
	if (r->stop && r->previous != m->index)
		hand_give(&h);
	if (!r->semaphores)
		flk_taker_free(h.taker);
	return NULL;
}

/* ---- all of them ---- */

static void
await_all_parked(struct ring *r)
{
	int i;

	for (i = 1; i < r->members; i++) {
		while (!r->member[i].in_line)
			usleep(100);
		parked_wait(r->member[i].tid, "ring");
	}
}

static void
run_threads(struct ring *r)
{
	static pthread_t thread[10100];
	pthread_attr_t attributes;
	int i;

	if (!r->semaphores && flk_attach(&r->limiter, r->path, NULL) != 0)
		die("ring: cannot attach");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setguardsize(&attributes, 0);
	for (i = 0; i < r->members; i++) {
		if (pthread_create(&thread[i], &attributes, take_turns, &r->member[i]) != 0)
			die("ring: no thread %d", i);
		while (i == 0 && !r->member[0].in_line)
			usleep(100);
	}
	await_all_parked(r);
	r->go = true;
	for (i = 0; i < r->members; i++)
		pthread_join(thread[i], NULL);
	if (r->limiter != NULL)
		flk_detach(r->limiter);
}

static void
run_processes(struct ring *r)
{
	pid_t pid[64];
	int i;

	for (i = 0; i < r->members && i < 64; i++) {
		if ((pid[i] = fork()) == -1)
			die("fork: %s", strerror(errno));
		if (pid[i] == 0) {
			take_turns(&r->member[i]);
			_exit(0);
		}
		while (i == 0 && !r->member[0].in_line)
			usleep(100);
	}
	await_all_parked(r);
	r->go = true;
	for (i = 0; i < r->members && i < 64; i++)
		command_finish(pid[i], "ring");
}

void
ring_measure(bool semaphores, bool threads, int waiting, int hops, struct samples *hand_over,
	     struct samples *release)
{
	size_t size = sizeof(struct ring) + (size_t)(waiting + 1) * sizeof(struct ring_member);
	struct ring *r =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	if (r == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	r->semaphores = semaphores;
	r->threads = threads;
	r->members = waiting + 1;
	r->hops = hops < RING_HOPS ? hops : RING_HOPS;
	r->previous = -1;
	world_path(r->path, "ring");
	for (i = 0; i <= waiting; i++) {
		r->member[i].ring = r;
		r->member[i].index = i;
		sem_init(&r->member[i].turn, 1, 0);
	}
	if (threads)
		run_threads(r);
	else
		run_processes(r);
	for (i = 0; i < r->hops; i++) {
		samples_add(hand_over, r->waited[i] / 1e3);
		samples_add(release, r->giving[i]);
	}
	munmap(r, size);
	unlink(r->path);
}
