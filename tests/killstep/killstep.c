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
 * the second kills out.
 *
 * Two kills between which neither the file nor what the kernel was told has changed leave the same
 * behind.  So the first kill is made at every point; the second at every point too, but after
 * one first kill of those that leave the same.
 */
#include "killstep.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
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

#define MOST_WORKERS    64
#define MOST_OPERATIONS 160
#define TOLD            8 /* failures of one operation that are printed */
#define SPLIT           4 /* shares of one operation */

struct tally {
	uint64_t first, second, states, failures, ns;
	long points, most_second;
};

struct shared {
	unsigned next;
	struct tally tally[MOST_WORKERS][MOST_OPERATIONS];
};

static struct shared *shared;
static struct stage stage;
static uint64_t seed;
static bool first_only;
static const char *only;   /* the names of those that are asked for, or NULL for all */
static unsigned every = 1; /* of so many, only one */

/* ---- sweeps ---- */

static void
report(struct tally *t, const struct operation *op, long k, long j, unsigned style)
{
	if (t->failures++ >= TOLD)
		return;
	tap_note("%s: killed after %ld of %ld%s", op->name, k, trace.points,
		 j < 0 ? "" : ", and the mender:");
	if (j >= 0)
		tap_note("  after %ld of %ld", j, second_trace.points);
	tap_note("  %s", stage.why);
	if (j >= 0)
		tap_note("  again: -o '%s' -k %ld -j %ld -y %u -s %llu", op->name, k, j, style,
			 (unsigned long long)seed);
	else
		tap_note("  again: -o '%s' -k %ld -y %u -s %llu", op->name, k, style,
			 (unsigned long long)seed);
}

static void
kill_once(struct tally *t, const struct operation *op, long k, unsigned style)
{
	t->first++;
	if (!play(&stage, op, k, -1, style, false, NULL))
		report(t, op, k, -1, style);
}

static bool
kill_twice(struct tally *t, const struct operation *op, long k, long j, unsigned style)
{
	long points = 0;
	bool passed = play(&stage, op, k, j, style, false, &points);

	t->second += points >= 0;
	if (!passed)
		report(t, op, k, j, style);
	return points >= 0;
}

/* The mender's trace after a kill at k: false if nobody has anything to mend. */
static bool
rehearse_mender(struct tally *t, const struct operation *op, long k)
{
	long points = -1;

	if (!play(&stage, op, k, LONG_MAX, 0, true, &points) && points >= 0)
		report(t, op, k, points, 0);
	if (points > t->most_second)
		t->most_second = points;
	return points >= 0;
}

/* One share of everything about one operation. */
static void
sweep(struct tally *t, const struct operation *op, unsigned share, unsigned shares)
{
	long k, j, states = 0, index = -1;

	if (!rehearse(&stage, op)) {
		report(t, op, trace.points, -1, 0);
		return;
	}
	t->points = trace.points;
	for (k = 0; k <= trace.points && t->failures < TOLD; k++)
		if ((unsigned long)k % shares == share) {
			kill_once(t, op, k, 0);
			kill_once(t, op, k, BACKWARD | BY_DEATH);
		}
	if (first_only)
		return;
	for (k = 0; k <= trace.points; k++)
		states += trace.changed[k];
	for (k = 0; k <= trace.points && t->failures < TOLD; k++) {
		if (!trace.changed[k] || (unsigned long)++index % shares != share)
			continue;
		if (!rehearse_mender(t, op, k))
			continue;
		t->states++;
		for (j = 0; j <= second_trace.points && t->failures < TOLD; j++)
			if (second_trace.changed[j] || j % states == index)
				kill_twice(t, op, k, j, j % 2 ? 0 : BY_DEATH);
	}
}

/* Spread over the operation from a random offset, until the time is over. */
static void
sample(struct tally *t, const struct operation *op, uint64_t until)
{
	enum { STRIDES = 16 };
	long k, i, offset;

	if (!rehearse(&stage, op)) {
		report(t, op, trace.points, -1, 0);
		return;
	}
	t->points = trace.points;
	offset = (long)random_below((uint32_t)trace.points + 1);
	for (i = 0; i < STRIDES && t->failures < TOLD && (i < 1 || now_ns() < until); i++) {
		/* Bit-reversed, so that it is spread evenly wherever the time ends. */
		k = (i & 1) * 8 + (i & 2) * 2 + (i & 4) / 2 + (i & 8) / 8;
		k = (offset + k * trace.points / STRIDES) % (trace.points + 1);
		kill_once(t, op, k, random_below(STYLES));
		while (k > 0 && !trace.changed[k])
			k--;
		if (i % 4 != 1 || now_ns() > until || !rehearse_mender(t, op, k) ||
		    second_trace.points < 1)
			continue;
		t->states++;
		kill_twice(t, op, k, (long)random_below((uint32_t)second_trace.points),
			   random_below(2) ? 0 : BY_DEATH);
	}
}

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
			sweep(&shared->tally[me][o], op, i % SPLIT, SPLIT);
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
	if (!rehearse(&stage, op))
		report(&t, op, trace.points, -1, 0);
	else if (j < 0)
		kill_once(&t, op, k, style);
	else if (rehearse_mender(&t, op, k))
		kill_twice(&t, op, k, j, style);
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
	while ((c = getopt(argc, argv, "a1e:o:k:j:y:s:t:l")) != -1) {
		switch (c) {
		case 'a':
			all = true;
			break;
		case '1':
			first_only = true;
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
