/* SPDX-License-Identifier: ISC */
/*
 * crowd.c - as many takers as a limiter promises room for, all in one line.
 *
 *	crowd.t [TAKERS [COMMANDS]]
 *
 * A thread can have some 2,000 takers, so the crowd is spread over processes, and within each
 * over its line.  A witness outside of the file counts who is inside and whose turn it is.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "internal.h"

#define EACH 1900 /* below the 2,000 of a thread */

static struct {
	_Atomic uint32_t queued, inside, served, wrong;
	_Atomic uint64_t last; /* the ticket that was served last */
} * witness;

/* One process's part of the crowd: all queue, and then each is waited for in its turn. */
static void
queue_and_serve(const char *path, int n)
{
	struct flk *f = attach(path);
	struct flk_taker **t = calloc((size_t)n, sizeof(*t));
	struct flk_request one = { .limit = 1 };
	struct flk_permit p;
	int i, error;

	alarm(1800);
	for (i = 0; i < n; i++) {
		t[i] = taker(f);
		if ((error = flk_enqueue(t[i], &one)) != -EINPROGRESS) {
			atomic_fetch_add(&witness->wrong, 1);
			tap_note("taker %d of a process: %d, %s", i, error, flk_strerror(error));
		}
		atomic_fetch_add(&witness->queued, 1);
	}
	for (i = 0; i < n; i++) {
		if (flk_wait(t[i], NULL, NULL) != 0 || flk_permit(t[i], &p) != 0)
			_exit(1);
		if (atomic_fetch_add(&witness->inside, 1) != 0 ||
		    atomic_exchange(&witness->last, p.ticket) != p.ticket - 1)
			atomic_fetch_add(&witness->wrong, 1);
		atomic_fetch_add(&witness->served, 1);
		atomic_fetch_sub(&witness->inside, 1);
		if (flk_release(t[i]) != 0)
			_exit(2);
		flk_taker_free(t[i]);
	}
	flk_detach(f);
	_exit(0);
}

static void
test_room(struct flk *f, int takers)
{
	struct stat sb;
	uint32_t slots = flki_file_slots(&f->file);

	if (stat(flk_path(f), &sb) == -1)
		tap_bail("stat");
	ok(slots > (uint32_t)takers && slots <= MAX_SLOTS && slots < 3 * (uint32_t)takers,
	   "the file grew to %u slots, as many as it needs", slots);
	is(sb.st_size, (off_t)SLOTS_AT + (off_t)slots * (off_t)sizeof(struct slot),
	   "and is so long");
	ok(sb.st_blocks * 512 <= sb.st_size + (1 << 20), "with no more space than that behind it");
	tap_note("%lld KiB", (long long)sb.st_blocks / 2);
}

static void
test_crowd(int takers)
{
	struct flk *f = fresh(1);
	struct flk_taker *first = taker(f), *late = taker(f), *more[16];
	struct flk_request one = { .limit = 1 };
	int n = (takers + EACH - 1) / EACH, i, failed = 0;
	pid_t *pid = calloc((size_t)n, sizeof(*pid));
	uint64_t start = now_ns(), queued, mended;
	struct flk_place place;
	uint32_t limit = (uint32_t)takers;

	memset(witness, 0, sizeof(*witness));
	is(flk_acquire(first, &one, NULL), 0, "one holds");
	atomic_store(&witness->last, 1);
	for (i = 0; i < n; i++) {
		int part = takers / n + (i < takers % n);
		pid[i] = fork_child();
		if (pid[i] == 0)
			queue_and_serve(flk_path(f), part);
	}
	while (atomic_load(&witness->queued) < limit && now_ns() - start < UINT64_C(1000000000000))
		usleep(1000);
	queued = now_ns();
	is(atomic_load(&witness->queued), takers, "%d takers queue, of %d processes", takers, n);
	is(atomic_load(&witness->wrong), 0, "each of them waits");
	is(flk_enqueue(late, &one), -EINPROGRESS, "one more than that has room");
	is(flk_place(late, &place), 0, "it asks for its place");
	is(place.ahead, takers, "which is the last");
	for (i = 0; i < 16; i++) {
		more[i] = taker(f);
		failed += flk_enqueue(more[i], &one) != -EINPROGRESS;
	}
	is(failed, 0, "and so have 16 more: the promise is `at least'");
	for (i = 0; i < 16; i++)
		flk_taker_free(more[i]);
	is(flk_try(more[0] = taker(f), &one), -EAGAIN, "nobody comes before them");
	flk_taker_free(more[0]);
	test_room(f, takers);
	is(flk_check(f, NULL, 0), 0, "no invariant is broken");
	mended = now_ns();
	is(flk_release(first), 0, "the holder releases");
	is(flk_wait(late, NULL, NULL), 0, "until the last has its turn");
	is(atomic_load(&witness->served), takers, "all were served before it");
	is(atomic_load(&witness->wrong), 0, "one at a time, each in its turn");
	tap_note("%.2f s to queue, %.2f s to serve", (double)(queued - start) / 1e9,
		 (double)(now_ns() - mended) / 1e9);
	for (i = 0; i < n; i++)
		failed += reap_child(pid[i]) != 0;
	is(failed, 0, "nobody met an error");
	flk_taker_free(late);
	flk_taker_free(first);
	whole(f, "after the crowd");
	flk_detach(f);
	free(pid);
}

/* The end of the file's room, which is above the promise: a clear error, and only for him. */
static void
test_full_house(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f), *late = taker(f);
	struct flk_request one = { .limit = 1 };
	uint32_t i;

	is(flk_acquire(t, &one, NULL), 0, "one holds");
	while (flki_file_slots(&f->file) < MAX_SLOTS)
		if (flki_file_grow(&f->file) != 0)
			tap_bail("flki_file_grow");
	/* Everyone else's slot is somebody's: thread 1 lives. */
	for (i = 0; i < MAX_SLOTS; i++)
		if (!flki_alive_is(&f->file.slots[i].alive))
			atomic_store(&f->file.slots[i].alive.word, 1);
	is(flk_enqueue(late, &one), -FLK_CROWDED, "all slots are taken: no room for another");
	is(flk_release(t), 0, "who is in is not concerned");
	is(flk_acquire(t, &one, NULL), 0, "and comes again");
	atomic_store(&f->file.slots[MAX_SLOTS - 1].alive.word, 0);
	is(flk_enqueue(late, &one), -EINPROGRESS, "one slot, the very last, is free: it is found");
	is(flk_slot(late), MAX_SLOTS - 1, "that one");
	is(flk_release(t), 0, "the holder releases");
	is(flk_wait(late, NULL, NULL), 0, "and the last slot's taker runs");
	flk_taker_free(late);
	flk_taker_free(t);
	flk_detach(f);
}

/* Real commands, each with a process of its own, that say their ticket. */
static void
test_commands(const char *program, int commands)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	pid_t *pid = calloc((size_t)commands, sizeof(*pid));
	char log[200];
	unsigned long long ticket, before = 1;
	uint64_t start = now_ns(), queued;
	int i, failed = 0, lines = 0;
	FILE *in;

	snprintf(log, sizeof(log), "%s", fresh_path());
	flk_acquire(t, &(struct flk_request){ .limit = 1 }, NULL);
	for (i = 0; i < commands; i++) {
		pid[i] = fork_child();
		if (pid[i] == 0) {
			execl(program, program, "-f", flk_path(f), "-n", "1", "sh", "-c",
			      "echo $FLOCKLIMIT_TICKET >>\"$1\"", "sh", log, (char *)NULL);
			_exit(99);
		}
	}
	ok(stands(f, 1, commands), "%d commands wait", commands);
	queued = now_ns();
	flk_release(t);
	for (i = 0; i < commands; i++)
		failed += reap_child(pid[i]) != 0;
	is(failed, 0, "each ends well");
	tap_note("%.2f s to start, %.2f s to run", (double)(queued - start) / 1e9,
		 (double)(now_ns() - queued) / 1e9);
	in = fopen(log, "r");
	for (; in != NULL && fscanf(in, "%llu", &ticket) == 1; before = ticket, lines++)
		failed += ticket <= before;
	if (in != NULL)
		fclose(in);
	is(lines, commands, "each ran");
	is(failed, 0, "in the order of their tickets");
	flk_taker_free(t);
	whole(f, "after so many commands");
	flk_detach(f);
	free(pid);
}

int
main(int argc, char **argv)
{
	int takers = argc > 1 ? atoi(argv[1]) : (int)FLK_MAX_TAKERS;
	int commands = argc > 2 ? atoi(argv[2]) : 1000;
	const char *program = getenv("FLOCKLIMIT");

	begin();
	if (argc > 1)
		alarm(600);
	witness =
	    mmap(NULL, sizeof(*witness), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (witness == MAP_FAILED)
		tap_bail("mmap");
	test_crowd(takers);
	test_full_house();
	if (program != NULL)
		test_commands(program, commands);
	else
		tap_skip("FLOCKLIMIT does not name the program");
	return tap_done();
}
