/* SPDX-License-Identifier: ISC */
/*
 * schedule.c - the threads of a scenario, which take turns in one thread of the system, and the
 * search: each execution is decided by a sequence of choices, and the next one differs in the last
 * choice that has another branch.  What is not the first branch costs: executions with more than so
 * many deviations are not looked at.
 */
#undef _FORTIFY_SOURCE /* it takes a longjmp to another stack for an error */
#include "weak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK      (256 * 1024)
#define CHOICES    20000
#define MOST_STEPS 20000 /* of one execution: then it is taken for endless */
#define OWN        512   /* the library's thread-local variables */

enum condition_of { READY, SPINS_NOW, SLEEPS, ENDED };

struct thread {
	ucontext_t first;
	jmp_buf at, base;
	enum condition_of is;
	bool begun, woken;
	uint64_t changes; /* when it began to spin */
	const void *const *words;
	unsigned count;
	uint64_t deadline, since;
	_Alignas(16) char own[OWN];
};

extern char __start_weak_own[], __stop_weak_own[];

unsigned now_running;
uint64_t changes;

static struct thread threads[ALL];
static char stacks[ALL][STACK] __attribute__((aligned(64)));
static const struct scenario *playing;
static struct bounds bounds, spent;
static bool exploring;
static unsigned steps;
static uint64_t sleeps;
static unsigned dying; /* the thread that was killed */

/* ---- choices ---- */

static struct {
	uint16_t chosen, of;
} choices[CHOICES];
static unsigned depth, decided; /* the first `decided' are repeated */

/* What repeats the execution: the bounds, the contended cells, and the choices but the first branches. */
static void
print_choices(char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "%u.%u/", bounds.deviations, bounds.deaths);
	unsigned i;
	bool more = false;

	memory_print_contended(text + n, size - n);
	n = strlen(text);
	for (i = 0; i < depth && n + 16 < size; i++)
		if (choices[i].chosen != 0) {
			n += (size_t)snprintf(text + n, size - n, "%s%u=%u", more ? "," : "/", i,
					      choices[i].chosen);
			more = true;
		}
}

static void
parse_choices(const char *text)
{
	unsigned at, chosen;
	int n = 0;

	memset(choices, 0, sizeof(choices));
	decided = 0;
	if (sscanf(text, "%u.%u/%n", &bounds.deviations, &bounds.deaths, &n) != 2 || n == 0)
		return;
	memory_parse_contended(text + n);
	text = strchr(text + n, '/');
	while (text != NULL && sscanf(text + 1, "%u=%u%n", &at, &chosen, &n) == 2 && at < CHOICES) {
		choices[at].chosen = (uint16_t)chosen;
		decided = at + 1;
		text += n + 1;
	}
}

void
failed(const char *words, ...)
{
	char text[512], list[2048];
	va_list args;

	va_start(args, words);
	vsnprintf(text, sizeof(text), words, args);
	va_end(args);
	print_choices(list, sizeof(list));
	report_failure(text, list);
}

unsigned
choose(unsigned n)
{
	unsigned i = depth;

	if (n <= 1 || !exploring)
		return 0;
	if (depth == CHOICES)
		failed("too many choices");
	depth++;
	if (i >= decided) {
		choices[i].chosen = 0;
		decided = depth;
	}
	choices[i].of = (uint16_t)n;
	if (choices[i].chosen >= n)
		failed("no such choice: the string is another program's");
	return choices[i].chosen;
}

unsigned
deviate(unsigned n)
{
	unsigned chosen;

	if (spent.deviations >= bounds.deviations)
		return 0;
	chosen = choose(n);
	spent.deviations += chosen != 0;
	return chosen;
}

bool
schedule_explores(void)
{
	return exploring;
}

bool
somebody_died_yet(void)
{
	return spent.deaths > 0;
}

/* ---- turns ---- */

static size_t
own_size(void)
{
	return (size_t)(__stop_weak_own - __start_weak_own);
}

static void
go_to(unsigned other)
{
	unsigned was = now_running;

	if (other == was)
		return;
	memcpy(threads[was].own, __start_weak_own, own_size());
	if (_setjmp(threads[was].at) != 0)
		return;
	now_running = other;
	memcpy(__start_weak_own, threads[other].own, own_size());
	if (threads[other].begun)
		_longjmp(threads[other].at, 1);
	threads[other].begun = true;
	setcontext(&threads[other].first);
}

/* A thread that spins sees nothing new until something was stored. */
static bool
is_ready(const struct thread *t)
{
	return t->is == READY || (t->is == SPINS_NOW && changes > t->changes);
}

static unsigned
others(unsigned *list)
{
	unsigned i, n = 0;

	for (i = 1; i <= playing->threads; i++)
		if (i != now_running && is_ready(&threads[i]))
			list[n++] = i;
	return n;
}

/* No thread is ready: one that spins goes on or, if all sleep, time passes. */
static unsigned
wait_for_time(void)
{
	unsigned i, first = 0;

	for (i = 1; i <= playing->threads; i++)
		if (threads[i].is == SPINS_NOW)
			return i;
	for (i = 1; i <= playing->threads; i++)
		if (threads[i].is == SLEEPS &&
		    (first == 0 || threads[i].deadline < threads[first].deadline))
			first = i;
	if (first == 0)
		return 0; /* all have ended */
	system_be_idle(threads[first].deadline);
	virtual_now = threads[first].deadline;
	threads[first].woken = false;
	threads[first].is = READY;
	return first;
}

/* The present thread can't go on. */
static void
give_way(void)
{
	unsigned list[ALL], n = others(list), next;

	next = n > 0 ? list[choose(n)] : wait_for_time();
	if (next != 0 && next != now_running)
		threads[next].is = READY;
	go_to(next);
	threads[now_running].is = READY;
}

static void
count_step(void)
{
	if (++steps > MOST_STEPS)
		failed("it does not end: %u steps", steps);
}

void
schedule_death(void)
{
	if (!exploring || now_running != playing->victim || spent.deaths >= bounds.deaths ||
	    dying != 0 || choose(2) == 0)
		return;
	spent.deaths++;
	dying = now_running;
	_longjmp(threads[now_running].base, 1);
}

void
schedule_point(void)
{
	unsigned list[ALL], n, k;

	if (!exploring)
		return;
	count_step();
	schedule_death();
	if (spent.deviations >= bounds.deviations)
		return;
	n = others(list);
	k = deviate(n + 1);
	if (k > 0) {
		threads[list[k - 1]].is = READY;
		go_to(list[k - 1]);
	}
}

void
weak_pause(void)
{
	unsigned list[ALL];

	if (!exploring)
		return;
	count_step();
	threads[now_running].is = SPINS_NOW;
	threads[now_running].changes = changes;
	if (others(list) > 0)
		give_way();
	threads[now_running].is = READY;
}

bool
schedule_sleep(const void *const *words, unsigned count, uint64_t deadline)
{
	struct thread *t = &threads[now_running];

	if (!exploring)
		failed("a sleep in the setup");
	t->words = words;
	t->count = count;
	t->deadline = deadline;
	t->since = ++sleeps;
	t->is = SLEEPS;
	t->woken = true;
	give_way();
	schedule_death(); /* with the wake that it was given */
	return t->woken;
}

static bool
sleeps_on(const struct thread *t, const void *word)
{
	unsigned i;

	for (i = 0; i < t->count; i++)
		if (t->words[i] == word)
			return true;
	return false;
}

/* In the order in which they went to sleep. */
void
schedule_wake(const void *word, unsigned most)
{
	struct thread *t, *first;

	for (; most > 0; most--) {
		first = NULL;
		for (t = threads + 1; t <= threads + playing->threads; t++)
			if (t->is == SLEEPS && sleeps_on(t, word) &&
			    (first == NULL || t->since < first->since))
				first = t;
		if (first == NULL)
			return;
		first->is = READY;
	}
}

/* ---- executions ---- */

/* The base of each thread's stack, in all executions. */
static void
be_thread(void)
{
	for (;;) {
		if (_setjmp(threads[now_running].base) == 0) {
			if (exploring)
				playing->body[now_running]();
			else
				playing->setup();
		} else {
			scenario_death();
			system_exit();
		}
		threads[now_running].is = ENDED;
		if (exploring)
			give_way();
		else
			go_to(0);
	}
}

static void
make_threads(void)
{
	unsigned i;

	if (own_size() > OWN)
		failed("too many thread-local variables");
	threads[0].begun = true;
	for (i = 1; i < ALL; i++) {
		getcontext(&threads[i].first);
		threads[i].first.uc_stack.ss_sp = stacks[i];
		threads[i].first.uc_stack.ss_size = STACK;
		makecontext(&threads[i].first, be_thread, 0);
	}
}

static void
play(void)
{
	unsigned i;

	memory_reset();
	system_reset();
	spent = (struct bounds){ 0 };
	depth = steps = dying = 0;
	changes = sleeps = 0;
	exploring = false;
	for (i = 0; i < ALL; i++)
		memset(threads[i].own, 0, OWN);
	for (i = 1; i <= playing->threads; i++)
		go_to(i);
	memory_join();
	exploring = true;
	for (i = 1; i <= playing->threads; i++)
		threads[i].is = READY;
	go_to(1 + choose(playing->threads));
	exploring = false;
	for (i = 1; i <= playing->threads; i++)
		if (threads[i].is != ENDED)
			failed("thread %u has not ended", i);
	exploring = true; /* for the choices of a failure */
	playing->check();
	exploring = false;
}

/* The last choice that has another branch takes it. */
static bool
next_choices(void)
{
	while (decided > 0 && choices[decided - 1].chosen + 1 >= choices[decided - 1].of)
		decided--;
	if (decided == 0)
		return false;
	choices[decided - 1].chosen++;
	return true;
}

bool
explore(const struct scenario *s, struct bounds b, const char *replay, unsigned long most,
	unsigned long *executions)
{
	unsigned long n = 0;

	playing = s;
	bounds = b;
	make_threads();
	decided = 0;
	if (replay != NULL)
		parse_choices(replay);
	for (*executions = 0; *executions < most; ++*executions) {
		memory_learned = false;
		play();
		if (replay != NULL)
			return true;
		/* Executions so far had too few points: all again.  Rare, after the first ones. */
		if (memory_learned) {
			decided = 0;
			n = 0;
			continue;
		}
		n++;
		if (!next_choices()) {
			++*executions;
			return true;
		}
	}
	return false;
}
