/* SPDX-License-Identifier: ISC */
/*
 * damage.c - a file that lies.  Whatever stands in it, nobody crashes, hangs, or reads beyond
 * its end: an error at worst.
 *
 *	damage.t [ROUNDS [SEED]]
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "internal.h"

/* Where a word of the header or of one of the first slots begins; not who lives, nor the lock. */
static uint32_t *
some_word(struct flk *f)
{
	char *base = (char *)f->file.h;
	uint32_t at;

	if (random_below(2) == 0) {
		at = (uint32_t)offsetof(struct header, nslots) / 4;
		at += random_below((uint32_t)sizeof(struct header) / 4 - at);
	} else {
		at = (uint32_t)(SLOTS_AT + random_below(8) * sizeof(struct slot)) / 4;
		at += 10 + random_below(32);
	}
	return (uint32_t *)(void *)(base + at * 4);
}

static uint32_t
some_value(void)
{
	static const uint32_t values[] = { 0,          1,         2,          3,       4,
					   5,          6,         7,          15,      16,
					   17,         63,        64,         131071,  131072,
					   1000000001, INT32_MAX, 0x80000000, NIL - 1, NIL };
	const uint32_t n = sizeof(values) / sizeof(values[0]);
	uint32_t i = random_below(n + 4);

	return i < n ? values[i] : random_below(UINT32_MAX);
}

/* A child's life among lies; only a signal or a hang is wrong. */
static void
live_with_it(const char *path, uint64_t seed)
{
	struct flk_options options = { .limit = 3 };
	struct flk_request want = { .limit = 3 };
	struct flk_taker *t[4];
	struct flk_snapshot *s;
	struct flk_place place;
	struct flk_permit p;
	struct timespec soon;
	struct flk *f, *g;
	char why[100];
	int i, k;

	random_seed(seed);
	alarm(300); /* the lock may be kept for 2 s */
	if (flk_attach(&f, path, &options) != 0)
		_exit(1);
	for (i = 0; i < 4; i++)
		t[i] = taker(f);
	for (k = 0; k < 40; k++) {
		if (random_below(3) == 0)
			__atomic_store_n(some_word(f), some_value(), __ATOMIC_RELAXED);
		i = (int)random_below(4);
		want.weight = 1 + random_below(3);
		switch (random_below(14)) {
		case 0:
		case 1:
		case 2:
			flk_try(t[i], &want);
			break;
		case 3:
		case 4:
		case 5:
			flk_enqueue(t[i], &want);
			break;
		case 6:
			soon = in_ms(0);
			flk_wait(t[i], &soon, NULL);
			break;
		case 7:
			flk_leave(t[i]);
			break;
		case 8:
			flk_release_units(t[i], 1);
			break;
		case 9:
			if (flk_snapshot(f, &s) == 0)
				free(s);
			break;
		case 10:
			flk_check(f, why, sizeof(why));
			break;
		case 11:
			flk_place(t[i], &place);
			flk_holds(f, random_below(200000), 1, &p);
			break;
		case 12:
			steer_override(f, (int64_t)random_below(5) - 1);
			break;
		default:
			if (flk_attach(&g, path, &options) == 0)
				flk_detach(g);
			break;
		}
	}
	for (i = 0; i < 4; i++)
		flk_taker_free(t[i]);
	flk_detach(f);
	_exit(0);
}

static void
test_lies(int rounds, uint64_t seed)
{
	int i, status, killed = 0;

	for (i = 0; i < rounds; i++) {
		const char *path = fresh_path();
		pid_t pid = fork_child();
		if (pid == 0)
			live_with_it(path, seed + (uint64_t)i);
		status = reap_child(pid);
		unlink(path);
		if (!WIFEXITED(status) && killed++ < 5)
			tap_note("signal %d: damage.t 1 %llu", WTERMSIG(status),
				 (unsigned long long)(seed + (uint64_t)i));
	}
	is(killed, 0, "%d lives among lies, and none ends by a signal", rounds);
}

static void
test_cut(void)
{
	static struct flk *f, *g;
	static struct flk_taker *t, *waits;
	struct flk_request one = { .limit = 1 };
	int i;

	f = fresh(1);
	t = taker(f);
	waits = taker(f);

	is(flk_try(t, &one), 0, "one holds");
	is(flk_enqueue(waits, &one), -EINPROGRESS, "one waits");
	is(flk_verify(f), 0, "the file is in order");
	is(truncate(flk_path(f), 4096), 0, "its end is cut off");
	is(flk_verify(f), -FLK_DAMAGED, "and that is seen");
	is(flk_attach(&g, flk_path(f), NULL), -FLK_DAMAGED, "by a newcomer too");
	is(truncate(flk_path(f), 100), 0, "nearly all is cut off");
	is(flk_attach(&g, flk_path(f), NULL), -FLK_NOTLIMITER, "it is no limiter any more");
	/* To free these takers would be SIGBUS now: they are left. */
	for (i = 0; i < 2; i++)
		is(flk_verify(f), -FLK_DAMAGED, "damaged it stays");
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1500;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : now_ns();

	begin();
	if (argc > 1)
		alarm(3600);
	test_lies(rounds, seed);
	test_cut();
	return tap_done();
}
