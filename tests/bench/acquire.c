/* SPDX-License-Identifier: ISC */
/*
 * acquire.c - what the library asks for a permit that is free, beside what else there is.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>
#include <sys/file.h>

#include "internal.h" /* what a caller can't see: the history alone, and without it */
#include "report.h"
#include "samples.h"

#define TURNS 1000 /* between two looks at the clock */

enum { LIBRARY, MUTE, EVENT, SEMAPHORE, FLOCK, PEERS };

static struct flk *limiter;
static struct flk_taker *me;
static sem_t *semaphore;
static int file;

static void
turns_of_library(void)
{
	struct flk_request want = { .weight = 1, .limit = 4, .command = "cc -O2 -c main.c" };
	int i;

	for (i = 0; i < TURNS; i++)
		if (flk_acquire(me, &want, NULL) != 0 || flk_release(me) != 0)
			die("libflocklimit: acquire and release failed");
}

/* As where there is no disk space for a history. */
static void
turns_of_mute(void)
{
	struct event *history = limiter->file.history;

	limiter->file.history = NULL;
	turns_of_library();
	limiter->file.history = history;
}

/* Of the slot that the others have filled in.  Nobody else has the limiter. */
static void
turns_of_event(void)
{
	struct file *f = &limiter->file;
	struct state st = { .h = f->h, .slots = f->slots, .history = f->history, .n = 1, .me = 0 };
	int i;

	for (i = 0; i < TURNS; i++) {
		st.now_ns++;
		flki_state_note(&st, FLK_EV_GRANTED, 0, 0);
	}
}

static void
turns_of_semaphore(void)
{
	int i;

	for (i = 0; i < TURNS; i++)
		if (sem_wait(semaphore) != 0 || sem_post(semaphore) != 0)
			die("semaphore: %s", strerror(errno));
}

static void
turns_of_flock(void)
{
	int i;

	for (i = 0; i < TURNS; i++)
		if (flock(file, LOCK_EX) != 0 || flock(file, LOCK_UN) != 0)
			die("flock: %s", strerror(errno));
}

static const struct {
	const char *label;
	void (*turns)(void);
	double goal_ns;
} peer[PEERS] = {
	{ "flk_acquire, flk_release: two events", turns_of_library, 150 },
	{ "the same, with no room for a history", turns_of_mute, 0 },
	{ "one event, and nothing else", turns_of_event, 100 },
	{ "sem_wait, sem_post (named semaphore)", turns_of_semaphore, 0 },
	{ "flock LOCK_EX, LOCK_UN", turns_of_flock, 0 },
};

static void
set_up(void)
{
	char path[PATH_SIZE], name[64];

	snprintf(name, sizeof(name), "/flocklimit-bench-%d", (int)getpid());
	if (flk_attach(&limiter, world_path(path, "acquire"), NULL) != 0 ||
	    flk_taker_new(&me, limiter) != 0)
		die("%s: cannot attach", path);
	semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 4);
	if (semaphore == SEM_FAILED)
		die("sem_open: %s", strerror(errno));
	sem_unlink(name);
	file = open(world_path(path, "acquire-flock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file == -1)
		die("%s: %s", path, strerror(errno));
}

void
acquire(const struct bench *b)
{
	struct samples time[PEERS] = { 0 };
	int rounds = b->quick ? 100 : 1000, round, i, k;
	uint64_t start;
	double ns;

	set_up();
	/* The first three rounds make room for a whole lap of the history. */
	for (round = -3; round < rounds; round++) {
		if (round == 0 && atomic_load(&limiter->file.h->event_room) != EVENTS)
			die("there is no room for the history");
		for (i = 0; i < PEERS; i++) {
			k = (i + round + PEERS) % PEERS;
			start = now_ns();
			peer[k].turns();
			if (round >= 0)
				samples_add(&time[k], (double)(now_ns() - start) / TURNS);
		}
	}
	fprintf(report, "\n### 6a. The library, with room: acquire and release\n");
	report_head("calls|median, ns|quartiles|batches of 1,000|goal, below|met");
	for (i = 0; i < PEERS; i++) {
		ns = samples_median(&time[i]);
		fprintf(report, "| %s | %.0f | %.0f to %.0f | %zu | ", peer[i].label, ns,
			samples_quantile(&time[i], 0.25), samples_quantile(&time[i], 0.75),
			time[i].count);
		if (peer[i].goal_ns > 0)
			fprintf(report, "%.0f | %s |\n", peer[i].goal_ns,
				ns < peer[i].goal_ns ? "yes" : "no");
		else
			fprintf(report, "- | - |\n");
		samples_free(&time[i]);
	}
	flk_taker_free(me);
	flk_detach(limiter);
	sem_close(semaphore);
	close(file);
}
