/* SPDX-License-Identifier: ISC */
/*
 * scribble.c - a file that changes while we work: another thread writes the input's words into it,
 * between any two of our looks.
 *
 * Who goes on writing for ever can keep us busy for ever: so it writes so many words per step, and
 * then waits for the next.
 */
#include "life.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define LIES         8
#define WORDS_A_STEP 5000

struct scribbler {
	struct lie lie[LIES];
	unsigned lies;
	void *map;
	size_t size;
	_Atomic long allowed; /* words; -1: it is over */
	_Atomic long written;
	pthread_t thread;
};

static void *
scribble(void *arg)
{
	struct scribbler *s = arg;
	long allowed;
	long written = 0;
	unsigned spin;

	while ((allowed = atomic_load(&s->allowed)) != -1) {
		if (written >= allowed) {
			sched_yield();
			continue;
		}
		life_tell(s->map, s->size, &s->lie[(unsigned)written % s->lies]);
		for (spin = (unsigned)written * 7 % 31; spin > 0; spin--)
			atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&s->written, ++written, memory_order_relaxed);
	}
	return NULL;
}

static void
begin(void *ctx, void *map, size_t size)
{
	struct scribbler *s = ctx;

	s->map = map;
	s->size = size;
	require(pthread_create(&s->thread, NULL, scribble, s) == 0);
}

static void
step(void *ctx)
{
	struct scribbler *s = ctx;
	long before = atomic_load(&s->written);
	int i;

	atomic_fetch_add(&s->allowed, WORDS_A_STEP);
	/* The step begins when the writing has, as far as the scheduler lets it. */
	for (i = 0; i < 100 && atomic_load(&s->written) == before; i++)
		sched_yield();
}

static void
end(void *ctx)
{
	struct scribbler *s = ctx;

	atomic_store(&s->allowed, -1);
	pthread_join(s->thread, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	struct scribbler s = { .lies = 1 };
	struct life_watch watch = { begin, step, end, &s };
	unsigned i;

	s.lies += take8(&b) % LIES;
	for (i = 0; i < s.lies; i++)
		s.lie[i] = life_lie(&b);
	life_live(&b, &watch);
	return 0;
}
