/* SPDX-License-Identifier: ISC */
/*
 * admission.c - how much of a limiter is used: by elastic weights, and where heavy takers yield.
 *
 * A job is a thread that takes a permit and sleeps.  With W units it sleeps for its work divided by
 * W, as a build does that divides its work well.
 */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "flocklimit.h"
#include "report.h"
#include "samples.h"

#define MS 1000000.0 /* ns */

static struct flk *limiter;

static void
sleep_ms(double ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)fmod(ms * MS, 1e9) };

	nanosleep(&t, NULL);
}

static void
attach(const char *name)
{
	char path[PATH_SIZE];

	if (flk_attach(&limiter, world_path(path, name), NULL) != 0)
		die("%s: cannot attach", path);
}

static pthread_t
begin(void *(*work)(void *), void *job)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, job) != 0)
		die("cannot make a thread");
	return thread;
}

/* ---- ten builds that arrive at random ---- */

#define BUILDS_EACH 10
#define CPUS        8

struct plan {
	double arrives_ms[BUILDS_EACH], work[BUILDS_EACH]; /* work: ms of one CPU */
};

struct build_job {
	double arrives_ms, work;
	uint32_t least, most;
};

/* Most builds are short and few are long: lengths between 1 and 30, and as many below 5 as above. */
static void
make_plan(struct plan *p, unsigned seed, double mean_ms)
{
	double sum = 0;
	int i;

	for (i = 0; i < BUILDS_EACH; i++)
		sum += p->work[i] = exp(rand_r(&seed) / (double)RAND_MAX * log(30));
	for (i = 0; i < BUILDS_EACH; i++) {
		p->work[i] *= mean_ms * BUILDS_EACH * CPUS / sum;
		p->arrives_ms[i] = rand_r(&seed) / (double)RAND_MAX * mean_ms * BUILDS_EACH / 2;
	}
}

/*
 * No schedule ends earlier than one that divides all CPUs among the builds that are there at each
 * moment: it knows all lengths, and never leaves a CPU idle.
 */
static double
oracle_ms(const struct plan *p)
{
	double end = 0, left, now, next;
	bool done[BUILDS_EACH] = { false };
	int k, i, first;

	for (k = 0, left = 0, now = 0; k < BUILDS_EACH; k++) {
		for (first = -1, i = 0; i < BUILDS_EACH; i++)
			if (!done[i] && (first == -1 || p->arrives_ms[i] < p->arrives_ms[first]))
				first = i;
		next = p->arrives_ms[first];
		left -= (next - now) * CPUS;
		left = (left > 0 ? left : 0) + p->work[first];
		now = next;
		done[first] = true;
		end = now + left / CPUS;
	}
	return end;
}

static void *
build(void *context)
{
	const struct build_job *job = context;
	struct flk_request want = { .weight = job->least, .most = job->most, .limit = CPUS };
	struct flk_permit permit;
	struct flk_taker *t;

	sleep_ms(job->arrives_ms);
	if (flk_taker_new(&t, limiter) != 0 || flk_acquire(t, &want, NULL) != 0 ||
	    flk_permit(t, &permit) != 0)
		die("admission: no permit");
	sleep_ms(job->work / permit.weight);
	flk_taker_free(t);
	return NULL;
}

static double
makespan_ms(const struct plan *p, uint32_t least, uint32_t most)
{
	struct build_job job[BUILDS_EACH];
	pthread_t thread[BUILDS_EACH];
	uint64_t start = now_ns();
	int i;

	for (i = 0; i < BUILDS_EACH; i++) {
		job[i] = (struct build_job){ p->arrives_ms[i], p->work[i], least, most };
		thread[i] = begin(build, &job[i]);
	}
	for (i = 0; i < BUILDS_EACH; i++)
		pthread_join(thread[i], NULL);
	return (double)(now_ns() - start) / MS;
}

static void
elastic(const struct bench *b)
{
	int rounds = b->quick ? 2 : 9, round;
	struct samples oracle = { 0 }, fixed = { 0 }, whole = { 0 }, two_eight = { 0 };
	struct plan p;

	attach("builds");
	for (round = 0; round < rounds; round++) {
		make_plan(&p, (unsigned)round + 1, b->quick ? 20 : 100);
		double best = oracle_ms(&p);
		samples_add(&whole, best);
		samples_add(&fixed, makespan_ms(&p, 4, 4));
		samples_add(&two_eight, makespan_ms(&p, 2, 8));
		samples_add(&oracle, two_eight.value[round] / best);
	}
	flk_detach(limiter);
	fprintf(report, "\n### 8. Ten builds that arrive at random, on %d CPUs\n", CPUS);
	report_head("builds|until the last ends, median, ms|plans|of|goal, at most|met");
	fprintf(report, "| an oracle that knows all lengths | %.0f | %d | - | - | - |\n",
		samples_median(&whole), rounds);
	fprintf(report, "| -w 4 | %.0f | %d | - | - | - |\n", samples_median(&fixed), rounds);
	fprintf(report, "| -w 2-8, beside the oracle | %.0f | %d | %s |\n",
		samples_median(&two_eight), rounds, report_goal(samples_median(&oracle), 1.1));
	fprintf(report, "| -w 2-8, beside -w 4 | %.0f | %d | %s |\n", samples_median(&two_eight),
		rounds, report_goal(samples_median(&two_eight) / samples_median(&fixed), 0.8));
	samples_free(&oracle);
	samples_free(&fixed);
	samples_free(&whole);
	samples_free(&two_eight);
}

/* ---- heavy jobs that yield ---- */

#define UNITS 5

static _Atomic bool over;
static _Atomic uint64_t used_ns; /* units times the time for which they were held */

struct client {
	struct flk_request want;
	double job_ms;
};

/* One job after the other, as each of the processes of xargs -P has. */
static void *
go_on(void *context)
{
	const struct client *c = context;
	struct flk_taker *t;
	uint64_t start;

	if (flk_taker_new(&t, limiter) != 0)
		die("admission: no taker");
	while (!atomic_load(&over)) {
		if (flk_acquire(t, &c->want, NULL) != 0)
			die("admission: no permit");
		start = now_ns();
		sleep_ms(c->job_ms);
		atomic_fetch_add(&used_ns, (now_ns() - start) * c->want.weight);
		if (flk_release(t) != 0)
			die("admission: no release");
	}
	flk_taker_free(t);
	return NULL;
}

/* Two clients with jobs of three units, and two with jobs of one unit, a fifth as long. */
static double
idle_share(uint32_t yield, double job_ms, double ms)
{
	struct client heavy = { { .weight = 3, .limit = UNITS, .yield = yield }, job_ms };
	struct client light = { { .weight = 1, .limit = UNITS }, job_ms / 5 };
	pthread_t thread[4];
	uint64_t start = now_ns();
	int i;

	atomic_store(&over, false);
	atomic_store(&used_ns, 0);
	for (i = 0; i < 4; i++)
		thread[i] = begin(go_on, i < 2 ? &heavy : &light);
	sleep_ms(ms);
	atomic_store(&over, true);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 1 - (double)atomic_load(&used_ns) / ((double)(now_ns() - start) * UNITS);
}

static void
consent(const struct bench *b)
{
	int rounds = b->quick ? 1 : 5, round;
	double job_ms = b->quick ? 100 : 250;
	struct samples strict = { 0 }, kind = { 0 };

	attach("mixed");
	for (round = 0; round < rounds; round++) {
		samples_add(&strict, idle_share(0, job_ms, 8 * job_ms));
		samples_add(&kind, idle_share(10, job_ms, 8 * job_ms));
	}
	flk_detach(limiter);
	fprintf(report,
		"\n### 9. Two clients with jobs of 3 units, two with short ones of 1, -n %d\n",
		UNITS);
	report_head("the heavy ones|idle share of the units, median|rounds|idle|goal, at most|met");
	fprintf(report, "| strict order | %.2f | %d | - | - | - |\n", samples_median(&strict),
		rounds);
	fprintf(report, "| --yield 10 | %.2f | %d | %s |\n", samples_median(&kind), rounds,
		report_goal(samples_median(&kind), 0.05));
	samples_free(&strict);
	samples_free(&kind);
}

void
admission(const struct bench *b)
{
	elastic(b);
	consent(b);
}
