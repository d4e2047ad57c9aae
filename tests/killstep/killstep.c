/* SPDX-License-Identifier: ISC */
/*
 * killstep.c - a taker is killed after every instruction of every operation, and the one that
 * mends what it left after every instruction of that.
 *
 *	killstep.t                      a sample, bounded by time
 *	killstep.t -a                   everything, on all CPUs
 *	killstep.t -o NAME -k K [-j J] [-y STYLE]       that one kill
 *
 * -s SEED takes the sample again, -t SECONDS bounds it, -o NAME[,NAME]... is about these operations
 * only, -e N about each Nth of them, from one that the seed chooses, and -l lists them.  -1 leaves
 * the second kills out, and -n most of the first kills that leave nothing new.
 */
#include "killstep.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../helpers/common.h"
#include "futex.h"
#include "processor.h"
#include "sweep.h"

#define MOST_WORKERS    64
#define MOST_OPERATIONS 160
#define SPLIT           4 /* shares of one operation */

static struct shared {
	unsigned next;
	struct tally tally[MOST_WORKERS][MOST_OPERATIONS];
	struct left left[MOST_OPERATIONS];
} * shared;

static uint64_t seed;
static bool first_only, new_only;
static const char *only;   /* the names of those that are asked for, or NULL for all */
static unsigned every = 1; /* of so many, only one */

/* ---- workers ---- */

static bool
is_asked_for(unsigned o)
{
	return (o + seed) % every == 0 && (only == NULL || operation_is_among(o, only));
}

static void
work(unsigned me, bool all, double seconds)
{
	unsigned jobs = operations_in_all() * (all ? SPLIT : 1), i, o;
	const struct operation *op;
	uint64_t start = now_ns(), began;

	while ((i = __atomic_fetch_add(&shared->next, 1, __ATOMIC_SEQ_CST)) < jobs) {
		o = all ? i / SPLIT : i;
		op = operation(o);
		if (!is_asked_for(o) || !operation_is_possible(o))
			continue;
		random_seed(seed + o);
		began = now_ns();
		if (all)
			sweep(&shared->tally[me][o], op, first_only ? NULL : &shared->left[o],
			      new_only, i % SPLIT, SPLIT);
		else
			sample(&shared->tally[me][o], op,
			       start + (uint64_t)(seconds * 1e9 * (o + 1) / jobs));
		shared->tally[me][o].ns += now_ns() - began;
	}
}

static unsigned
cpus(void)
{
	cpu_set_t set;
	unsigned n;

	if (sched_getaffinity(0, sizeof(set), &set) == -1)
		return 1;
	n = (unsigned)CPU_COUNT(&set);
	return n < MOST_WORKERS ? n : MOST_WORKERS;
}

/*
 * A worker and its actors run in turns, so they stay on one CPU: to wake a process on another takes
 * longer than a step.
 */
static void
stay_on_cpu(unsigned which)
{
	cpu_set_t set, one;
	size_t cpu;

	if (sched_getaffinity(0, sizeof(set), &set) == -1)
		return;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set) || which-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static void
run_workers(unsigned n, bool all, double seconds)
{
	pid_t pid[MOST_WORKERS];
	unsigned i;

	for (i = 0; i < n; i++) {
		pid[i] = fork_child();
		if (pid[i] == 0) {
			stay_on_cpu(i);
			begin();
			orders_begin();
			alarm(4 * 3600);
			work(i, all, seconds);
			exit(0);
		}
	}
	for (i = 0; i < n; i++)
		ok(reap_child(pid[i]) == 0, "worker %u comes to its end", i);
}

static void
sum_up(unsigned n, bool all)
{
	struct tally sum = { .failures = 0 };
	const struct operation *op;
	unsigned i, o;

	for (o = 0; (op = operation(o)) != NULL; o++) {
		struct tally t = { .failures = 0 };
		if (!is_asked_for(o))
			continue;
		if (!operation_is_possible(o)) {
			tap_skip("a file in memory is of this boot");
			continue;
		}
		for (i = 0; i < n; i++) {
			const struct tally *w = &shared->tally[i][o];
			t.first += w->first;
			t.second += w->second;
			t.states += w->states;
			t.failures += w->failures;
			t.ns += w->ns;
			t.points = w->points > t.points ? w->points : t.points;
			t.most_second =
			    w->most_second > t.most_second ? w->most_second : t.most_second;
		}
		sum.first += t.first;
		sum.second += t.second;
		sum.failures += t.failures;
		ok(t.failures == 0 && t.first > 0,
		   "%s, %ld points: %llu kills; %llu of its mender, in %llu states, of up to %ld "
		   "points; %.1f s",
		   op->name, t.points, (unsigned long long)t.first, (unsigned long long)t.second,
		   (unsigned long long)t.states, t.most_second, (double)t.ns / 1e9);
	}
	tap_note("%s: %llu kills survived: %llu first, %llu second",
		 all ? "everything" : "a sample",
		 (unsigned long long)(sum.first + sum.second - sum.failures),
		 (unsigned long long)sum.first, (unsigned long long)sum.second);
}

/* ---- main ---- */

static int
one_kill(const char *name, long k, long j, unsigned style)
{
	const struct operation *op;
	struct tally t = { .failures = 0 };
	unsigned o;

	for (o = 0; (op = operation(o)) != NULL && strcmp(name, op->name) != 0; o++)
		;
	if (op == NULL)
		tap_bail("no such operation: %s", name);
	if (!operation_is_possible(o))
		tap_skip_all("a file in memory is of this boot");
	kill_at(&t, op, k, j, style);
	ok(t.failures == 0, "%s, killed after %ld of %ld", name, k, trace.points);
	return tap_done();
}

/* Without futex_waitv a waiter looks on a tick, so nobody ever comes to rest. */
static bool
sleeps_are_watched(void)
{
	uint32_t word = 0;
	struct futex_word words[] = { flki_futex_on(&word, 0) };

	return flki_futex_sleep_on(words, 1, 0) != -ENOSYS;
}

int
main(int argc, char **argv)
{
	bool all = false;
	long k = -1, j = -1;
	unsigned style = 0, n, o;
	double seconds = sample_seconds;
	int c;

	seed = now_ns() % 1000000;
	while ((c = getopt(argc, argv, "a1ne:o:k:j:y:s:t:l")) != -1) {
		switch (c) {
		case 'a':
			all = true;
			break;
		case '1':
			first_only = true;
			break;
		case 'n':
			new_only = true;
			break;
		case 'e':
			every = (unsigned)atol(optarg);
			break;
		case 'o':
			only = optarg;
			break;
		case 'k':
			k = atol(optarg);
			break;
		case 'j':
			j = atol(optarg);
			break;
		case 'y':
			style = (unsigned)atol(optarg);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 't':
			seconds = atof(optarg);
			break;
		case 'l':
			for (o = 0; operation(o) != NULL; o++)
				puts(operation(o)->name);
			return 0;
		default:
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!actor_possible())
		tap_skip_all("no process can be stepped here: see tests/killstep/processor.h");
	if (!sleeps_are_watched())
		tap_skip_all("no futex_waitv here");
	if (k >= 0 && only != NULL) {
		begin();
		orders_begin();
		return one_kill(only, k, j, style);
	}
	sweep_seed(seed);
	tap_note("seed %llu", (unsigned long long)seed);
	if (operations_in_all() > MOST_OPERATIONS)
		tap_bail("more operations than MOST_OPERATIONS");
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		tap_bail("mmap");
	n = cpus();
	run_workers(n, all, seconds);
	sum_up(n, all);
	return tap_done();
}
