/* SPDX-License-Identifier: ISC */
/*
 * reading.c - a limiter that is only read: it says what there is, changes nothing, and comes to an end
 * whatever is in the file.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "layout.h"

#define BYTES (SLOTS_AT + FIRST_SLOTS * sizeof(struct slot))

static const struct flk_options reading = { .existing = true, .reading = true };

static unsigned char before[BYTES], now[BYTES];

static void
copy_file(const char *path, unsigned char to[BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || pread(fd, to, BYTES, 0) != (ssize_t)BYTES)
		tap_bail("%s", path);
	close(fd);
}

static void
test_look(void)
{
	struct flk *f = fresh(3), *r;
	struct flk_taker *t = taker(f), *u = taker(f);
	const struct flk_request want = { .weight = 2, .limit = 3, .command = "held" };
	struct flk_event e[4];
	struct flk_settings set;
	struct flk_snapshot *s;

	is(flk_acquire(t, &want, NULL), 0, "one holds");
	is(flk_enqueue(u, &want), -EINPROGRESS, "and one waits");
	copy_file(flk_path(f), before);
	is(flk_attach(&r, flk_path(f), &reading), 0, "the limiter is opened for reading");
	is(flk_snapshot(r, &s), 0, "a snapshot");
	ok(s->holders == 1 && s->waiters == 1 && s->used == 2 && s->limit == 3 &&
	       strcmp(s->entry[0].command, "held") == 0 && s->entry[1].weight == 2 &&
	       !s->set.paused,
	   "says what there is");
	free(s);
	is(flk_get(r, &set), 0, "settings");
	is((int)set.declared, 3, "are as they are");
	is((int)flk_history(r, 0, e, 4), 2, "the history has two events");
	is(flk_verify(r), 0, "it is still there");
	copy_file(flk_path(f), now);
	ok(memcmp(before, now, BYTES) == 0, "and nothing of that is left in the file");
	is(flk_release(t), 0, "the holder releases");
	is(flk_snapshot(r, &s), 0, "the next snapshot");
	ok(s->holders == 1 && s->waiters == 0 && s->entry[0].ticket == 2, "is of now");
	free(s);
	flk_taker_free(t);
	flk_taker_free(u);
	is(flk_remove(f), 0, "it is removed");
	is(flk_verify(r), -FLK_GONE, "and the reader learns that");
	is(flk_snapshot(r, &s), -FLK_GONE, "also by a look");
	flk_detach(r);
	flk_detach(f);
}

static void
test_refusals(void)
{
	struct flk *f = fresh(1), *r;
	const struct flk_settings to = { .paused = true };
	struct flk_taker *t;
	char why[100];

	is(flk_attach(&r, flk_path(f), &reading), 0, "another one");
	is(flk_taker_new(&t, r), -EACCES, "has no takers");
	is(flk_set(r, FLK_SET_PAUSED, &to), -EACCES, "is not steered");
	is(flk_evict(r, 1), -EACCES, "nobody is put out of its line");
	is(flk_shrink(r, 1, 1), -EACCES, "no permit shrinks");
	is(flk_grow(r, 1, 1), -EACCES, "or grows");
	is(flk_check(r, why, sizeof(why)), -EACCES, "it is not checked");
	is(flk_repair(r), -EACCES, "nor repaired");
	is(flk_remove(r), -EACCES, "nor removed");
	is(flk_guard_open(r), -EACCES, "and has no guards");
	flk_detach(r);
	flk_detach(f);
}

static void
test_follow(void)
{
	struct flk *f = fresh(1), *r;
	struct timespec soon = in_ms(20);
	struct flk_taker *t = taker(f);
	struct flk_event e[8];
	pid_t child;
	size_t n;

	is(flk_attach(&r, flk_path(f), &reading), 0, "one that follows");
	n = flk_history(r, 0, e, 8);
	is(flk_follow(r, n > 0 ? e[n - 1].number : 0, &soon), -ETIMEDOUT, "waits for what comes");
	if ((child = fork()) == 0) {
		usleep(50000);
		_exit(flk_set(f, FLK_SET_PAUSED, &(struct flk_settings){ .paused = true }));
	}
	is(flk_follow(r, n > 0 ? e[n - 1].number : 0, NULL), 0, "and hears of it");
	waitpid(child, NULL, 0);
	n = flk_history(r, 0, e, 8);
	ok(n > 0 && e[n - 1].kind == FLK_EV_PAUSED, "which is a pause");
	is(flk_follow(r, 0, NULL), 0, "and of what is past at once");
	flk_taker_free(t);
	unlink(flk_path(f));
	is(flk_follow(r, e[n - 1].number, NULL), -FLK_GONE, "until it is removed");
	flk_detach(r);
	flk_detach(f);
}

static void
test_no_limiter(void)
{
	const char *path = fresh_path();
	struct flk *r;

	is(flk_attach(&r, path, &reading), -ENOENT, "no file");
	is(mkfifo(path, 0600), 0, "a FIFO is there");
	is(flk_attach(&r, path, &reading), -FLK_NOTFILE, "and nobody waits for its writer");
	unlink(path);
	is(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0, "a file");
	is(truncate(path, (off_t)(SLOTS_AT + FIRST_SLOTS * sizeof(struct slot))), 0, "of zeros");
	is(flk_attach(&r, path, &reading), -ENOENT, "as one that its maker did not finish");
	unlink(path);
	is(symlink("/dev/zero", path), 0, "a link");
	is(flk_attach(&r, path, &reading), -FLK_SYMLINK, "which is not followed");
	unlink(path);
}

/* The dead one is not there any more, and its room is; who waited waits until it looks itself. */
static void
test_the_dead(void)
{
	const struct flk_request want = { .weight = 1, .limit = 1 };
	struct flk *f = fresh(1), *r;
	struct agent a = agent_start(flk_path(f));
	struct flk_taker *t = taker(f);
	struct flk_snapshot *s;

	is(agent_do(&a, (struct order){ ACQUIRE, 1, 1, 0 }).code, 0, "one holds");
	is(flk_enqueue(t, &want), -EINPROGRESS, "another one waits");
	is(flk_attach(&r, flk_path(f), &reading), 0, "a reader comes");
	agent_kill(&a, SIGKILL);
	is(flk_snapshot(r, &s), 0, "and looks when the holder is dead");
	ok(s->holders == 0 && s->used == 0 && s->granted == 1, "it is not there any more");
	ok(s->waiters == 1 && s->entry[0].ticket == 2, "and the other one waits still");
	free(s);
	flk_taker_free(t);
	flk_detach(r);
	flk_detach(f);
}

static void *
look_often(void *reader)
{
	struct flk_snapshot *s;
	struct flk_settings set;
	struct flk_event e[8];
	uintptr_t bad = 0;
	int i;

	for (i = 0; i < 200; i++) {
		if (flk_snapshot(reader, &s) == 0) {
			bad += s->holders > 1;
			free(s);
		} else {
			bad++;
		}
		bad += flk_get(reader, &set) != 0;
		flk_history(reader, 0, e, 8);
	}
	return (void *)bad;
}

/* They share a reader while the limiter grows. */
static void
test_threads(void)
{
	struct flk *f = fresh(1), *r;
	struct flk_taker *t[FIRST_SLOTS + 1];
	pthread_t thread[2];
	void *bad[2];
	size_t i;

	is(flk_attach(&r, flk_path(f), &reading), 0, "a reader");
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, look_often, r) != 0)
			tap_bail("no thread");
	for (i = 0; i <= FIRST_SLOTS; i++) {
		const struct flk_request want = { .weight = 1, .limit = 1 };
		t[i] = taker(f);
		flk_enqueue(t[i], &want);
	}
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], &bad[i]);
	ok(bad[0] == NULL && bad[1] == NULL, "two threads look through it, and see what is there");
	for (i = FIRST_SLOTS + 1; i > 0; i--)
		flk_taker_free(t[i - 1]);
	flk_detach(r);
	flk_detach(f);
}

/* Whatever is written there, a look comes to an end; under a sanitizer, without a crime. */
static void
test_forgeries(void)
{
	struct flk *f = fresh(3), *r;
	struct flk_taker *t = taker(f), *u = taker(f);
	int fd = open(flk_path(f), O_RDWR | O_CLOEXEC), i, k, good = 0, bad = 0;
	const struct flk_request want = { .weight = 2, .limit = 3 };
	struct flk_event e[64];
	struct flk_snapshot *s;

	if (flk_acquire(t, &want, NULL) != 0 || flk_enqueue(u, &want) != -EINPROGRESS || fd == -1)
		tap_bail("no limiter to forge");
	copy_file(flk_path(f), before);
	if (flk_attach(&r, flk_path(f), &reading) != 0)
		tap_bail("no reader");
	for (i = 0; i < 2000; i++) {
		memcpy(now, before, BYTES);
		for (k = 0; k < 1 + i % 9; k++)
			now[8 + random_below(i % 2 ? HEADER - 8 : BYTES - 8)] =
			    (unsigned char)random_below(256);
		/* A lock that somebody seems to have makes each look a tenth of a second long. */
		memset(now + offsetof(struct header, lock), 0, sizeof(uint64_t));
		if (pwrite(fd, now, BYTES, 0) != (ssize_t)BYTES)
			tap_bail("no forgery");
		if (flk_snapshot(r, &s) == 0) {
			good++;
			free(s);
		} else {
			bad++;
		}
		flk_history(r, 0, e, 64);
	}
	ok(good > 0 && bad > 0, "2000 forgeries: %d were looked at, %d refused", good, bad);
	is((int)pwrite(fd, before, BYTES, 0), (int)BYTES, "what was forged is made good");
	close(fd);
	flk_detach(r);
	flk_taker_free(t);
	flk_taker_free(u);
	whole(f, "after that");
	flk_detach(f);
}

static void
test_cut(void)
{
	struct flk *f = fresh(1), *r;
	const char *path = strdup(flk_path(f));
	struct flk_snapshot *s;

	flk_detach(f);
	is(flk_attach(&r, path, &reading), 0, "a file");
	is(truncate(path, 5000), 0, "that is cut short");
	is(flk_snapshot(r, &s), -FLK_NOTLIMITER, "is no limiter any more");
	is(truncate(path, 0), 0, "cut to nothing");
	is(flk_snapshot(r, &s), -ENOENT, "there is none");
	flk_detach(r);
	free((void *)(uintptr_t)path);
}

int
main(void)
{
	begin();
	test_look();
	test_refusals();
	test_follow();
	test_no_limiter();
	test_the_dead();
	test_threads();
	test_forgeries();
	test_cut();
	return tap_done();
}
