/* SPDX-License-Identifier: ISC */
/*
 * turns.c - what each key gets of a fair limiter, beside the same in order of arrival.
 *
 * Each job is a thread's sleep, so the processors have no say.
 */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "flocklimit.h"
#include "report.h"

#define KEYS    8
#define LIMIT   4
#define HOLD_NS 2000000
#define MOST    400
#define SECONDS 16

static struct flk *limiter;
static _Atomic bool stopped;
static uint64_t began_ns;
static _Atomic uint32_t served[KEYS][SECONDS]; /* units, in each second */

struct worker {
	pthread_t thread;
	int key;
	uint32_t share;
	_Atomic bool waits;
	uint64_t granted_ns; /* the first time */
};

static void
work(void)
{
	struct timespec span = { .tv_nsec = HOLD_NS };

	nanosleep(&span, NULL);
}

static void *
take_and_take_again(void *worker)
{
	struct worker *w = worker;
	char key[2] = { (char)('a' + w->key), '\0' };
	struct flk_request want = { .weight = 1, .limit = LIMIT, .key = key, .share = w->share };
	struct flk_taker *t;
	uint64_t second;

	if (flk_taker_new(&t, limiter) != 0)
		die("no taker");
	while (!stopped) {
		w->waits = true;
		if (flk_acquire(t, &want, NULL) != 0)
			die("no permit");
		if (w->granted_ns == 0)
			w->granted_ns = now_ns();
		work();
		second = (now_ns() - began_ns) / UINT64_C(1000000000);
		if (second < SECONDS)
			served[w->key][second]++;
		flk_release(t);
	}
	flk_taker_free(t);
	return NULL;
}

static void
start(struct worker *w, int key, uint32_t share)
{
	*w = (struct worker){ .key = key, .share = share };
	if (pthread_create(&w->thread, NULL, take_and_take_again, w) != 0)
		die("no thread");
}

static void
begin(bool fair)
{
	struct flk_settings to = { .fair = fair ? FLK_FAIR_KEY : FLK_FAIR_OFF };
	char path[PATH_SIZE];
	int k, s;

	if (flk_attach(&limiter, world_path(path, "turns"), NULL) != 0 ||
	    flk_set(limiter, FLK_SET_FAIR, &to) != 0)
		die("no limiter");
	stopped = false;
	for (k = 0; k < KEYS; k++)
		for (s = 0; s < SECONDS; s++)
			served[k][s] = 0;
	began_ns = now_ns();
}

static void
end(struct worker *w, int n)
{
	int i;

	stopped = true;
	for (i = 0; i < n; i++)
		pthread_join(w[i].thread, NULL);
	flk_remove(limiter);
	flk_detach(limiter);
}

/* Of n equal shares it is 1; if one has all, 1/n. */
static double
jain(int second)
{
	double sum = 0, squares = 0;
	int k;

	for (k = 0; k < KEYS; k++) {
		sum += served[k][second];
		squares += (double)served[k][second] * served[k][second];
	}
	return squares > 0 ? sum * sum / (KEYS * squares) : 0;
}

static void
pass_seconds(int n)
{
	struct timespec span = { .tv_sec = n };

	nanosleep(&span, NULL);
}

/* One key asks for forty at once, each other key for one after the other; the least of all seconds. */
static double
unequal_demand(bool fair, int seconds)
{
	static struct worker w[MOST];
	double least = 1, now;
	int i, n = 0;

	begin(fair);
	for (i = 0; i < 40; i++)
		start(&w[n++], 0, 1);
	for (i = 1; i < KEYS; i++)
		start(&w[n++], i, 1);
	pass_seconds(seconds + 1);
	end(w, n);
	for (i = 1; i < seconds; i++)
		least = (now = jain(i)) < least ? now : least;
	return least;
}

/* Eight keys that always have work, of which one has seven shares: its part of all. */
static double
seven_shares(int seconds)
{
	static struct worker w[MOST];
	double mine = 0, all = 0;
	int i, k, n = 0;

	begin(true);
	for (k = 0; k < KEYS; k++)
		for (i = 0; i < 2 * LIMIT; i++)
			start(&w[n++], k, k == 0 ? 7 : 1);
	pass_seconds(seconds + 1);
	end(w, n);
	for (i = 1; i < seconds; i++)
		for (k = 0; k < KEYS; k++) {
			mine += k == 0 ? served[k][i] : 0;
			all += served[k][i];
		}
	return mine / all;
}

/* How many permits go to others before the first of a new key, behind 200 waiters of another. */
static double
newcomer(bool fair)
{
	static struct worker w[MOST];
	double before = 0;
	int i, n = 0;
	uint64_t came;

	begin(fair);
	for (i = 0; i < 200; i++)
		start(&w[n++], 0, 1);
	pass_seconds(1);
	came = now_ns();
	start(&w[n++], 1, 1);
	while (w[n - 1].granted_ns == 0)
		work();
	before = (double)(w[n - 1].granted_ns - came) / HOLD_NS * LIMIT;
	end(w, n);
	return before;
}

static void
row(const char *what, double plain, double fair, const char *goal, bool met)
{
	fprintf(report, "| %s | %.2f | %.2f | %s | %s |\n", what, plain, fair, goal,
		met ? "yes" : "no");
}

void
turns(const struct bench *b)
{
	int seconds = b->quick ? 4 : 10;
	double plain, fair;

	fprintf(report, "\n### 10. Turns: eight keys, limit %d, jobs of 2 ms\n", LIMIT);
	report_head("what|in order of arrival|fair|goal|met");
	plain = unequal_demand(false, seconds);
	fair = unequal_demand(true, seconds);
	row("Jain's index, one key asks for forty at once: the least of all seconds", plain, fair,
	    "0.95 at least", fair >= 0.95);
	plain = newcomer(false);
	fair = newcomer(true);
	row("permits to others before the first of a new key, behind 200 waiters", plain, fair,
	    "4 at most", fair <= LIMIT);
	fair = seven_shares(seconds);
	row("the part of a key with seven shares, beside seven with one", 1.0 / KEYS, fair,
	    "0.45 to 0.55", fair >= 0.45 && fair <= 0.55);
}
