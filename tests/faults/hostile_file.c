/* SPDX-License-Identifier: ISC */
/*
 * hostile_file.c - a limiter's file, and what is around it, with one thing wrong at a time: each has
 * its own error, and nobody is led further.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "internal.h"
#include "directory.h"

static const struct flk_request one = { .weight = 1, .limit = 3 };

/* Attaches to a limiter of which `size' bytes at `at' are these. */
static int
attach_to_lie(size_t at, uint64_t value, size_t size)
{
	struct flk *f = fresh(3), *g;
	int error;

	memcpy((char *)f->file.h + at, &value, size);
	error = flk_attach(&g, flk_path(f), NULL);
	if (error == 0)
		flk_detach(g);
	flk_detach(f);
	return error;
}

#define ATTACH(member, value)                                             \
	attach_to_lie(offsetof(struct header, member), (uint64_t)(value), \
		      sizeof(((struct header *)0)->member))

static void
test_header(void)
{
	is(ATTACH(magic, 1), -FLK_NOTLIMITER, "another magic");
	is(ATTACH(layout, 9), -FLK_VERSION, "another layout");
	is(ATTACH(header_size, 9), -FLK_VERSION, "another size of the header");
	is(ATTACH(slot_size, 9), -FLK_VERSION, "another size of the slots");
	is(ATTACH(byte_order, 9), -FLK_VERSION, "another byte order");
	is(ATTACH(damaged, 1), -FLK_DAMAGED, "known to be damaged");
	is(ATTACH(nslots, 0), -FLK_DAMAGED, "no slots");
	is(ATTACH(nslots, MAX_SLOTS + 1), -FLK_DAMAGED, "more slots than there can be");
	is(ATTACH(nslots, 64), -FLK_DAMAGED, "more slots than the file has room for");
	is(ATTACH(dead, 1), 0, "dead, and still there: it is buried, and another made");
}

/* Nobody does anything in a limiter that is damaged or dead. */
static void
test_every_door(bool dead)
{
	struct flk *f = fresh(3);
	struct flk_taker *holds = taker(f), *idle = taker(f), *waits = taker(f);
	const struct flk_request all = { .weight = 3, .limit = 3 };
	const int want = dead ? -FLK_GONE : -FLK_DAMAGED;
	const char *how = dead ? "dead" : "damaged";
	struct flk_snapshot *snapshot;
	struct flk_place place;
	char why[20];

	is(flk_try(holds, &all), 0, "one holds");
	is(flk_enqueue(waits, &one), -EINPROGRESS, "one waits");
	atomic_store(dead ? &f->file.h->dead : &f->file.h->damaged, 1);
	is(flk_try(idle, &one), want, "%s: to try", how);
	is(flk_acquire(idle, &one, NULL), want, "%s: to acquire", how);
	is(flk_wait(waits, NULL, NULL), want, "%s: to wait", how);
	is(flk_wait_idle(idle, NULL), want, "%s: to wait for all", how);
	is(flk_place(idle, &place), want, "%s: to ask for one's place", how);
	is(flk_snapshot(f, &snapshot), want, "%s: to look", how);
	is(flk_check(f, why, sizeof(why)), want, "%s: to check", how);
	is(steer_override(f, 2), want, "%s: to steer", how);
	is(flk_release_units(holds, 1), want, "%s: to give back a unit", how);
	is(flk_forget(holds), want, "%s: to forget", how);
	is(flk_release(holds), want, "%s: to release", how);
	is(flk_verify(f), dead ? -FLK_GONE : 0, "%s: to verify", how);
	flk_taker_free(waits);
	flk_taker_free(idle);
	flk_taker_free(holds);
	flk_detach(f);
}

static void
test_mended(void)
{
	struct flk *f = fresh(3);
	struct flk_taker *t = taker(f);
	struct flk_snapshot *snapshot;
	char why[100] = "";

	is(flk_try(t, &one), 0, "one holds");
	f->file.h->holders.count = 1000;
	is(flk_snapshot(f, &snapshot), 0, "a look at a list that says it is too long");
	is(snapshot->holders, 1, "mends it, and looks again");
	free(snapshot);
	f->file.h->used = 7;
	is(flk_check(f, why, sizeof(why)), -FLK_DAMAGED, "the check sees a wrong sum");
	ok(strstr(why, "sum") != NULL, "and has words for it: %s", why);
	is(flk_check(f, NULL, 0), -FLK_DAMAGED, "or needs none");
	f->file.h->used = 1;
	f->file.h->holders.head = 99;
	is(flk_snapshot(f, &snapshot), 0, "an index that leads outside");
	is(f->file.h->holders.head, flk_slot(t), "is made anew by whoever meets it");
	free(snapshot);
	is(flk_release(t), 0, "and nothing is lost");
	whole(f, "after some lies");

	is(flk_try(t, &one), 0, "one holds again");
	f->file.slots[flk_slot(t)].weight = 0;
	f->file.h->holders.head = 99;
	is(flk_snapshot(f, &snapshot), -FLK_DAMAGED,
	   "where the truth is wrong too, there is an end");
	is(flk_release(t), -FLK_DAMAGED, "for all");
	flk_taker_free(t);
	flk_detach(f);
}

/* The file has another size than it says, or says another thing than it did. */
static void
test_size(void)
{
	struct flk *f = fresh(3);
	struct flk_taker *t = taker(f);

	atomic_store(&f->file.h->nslots, MAX_SLOTS + 5);
	is(flki_file_slots(&f->file), FIRST_SLOTS, "more slots are said than there are");
	is(flk_try(t, &one), 0, "who believes only the file's size goes on");
	is(flki_file_grow(&f->file), -FLK_CROWDED, "and it does not grow beyond its end");
	atomic_store(&f->file.h->nslots, 3);
	is(flki_file_slots(&f->file), FIRST_SLOTS, "what there was is not forgotten");
	is(flki_file_grow(&f->file), -FLK_DAMAGED, "a file does not get smaller");
	atomic_store(&f->file.h->nslots, FIRST_SLOTS);
	flk_taker_free(t);
	whole(f, "with its own number");
	atomic_store(&f->file.h->magic, 5);
	is(flk_verify(f), -FLK_DAMAGED, "the magic was overwritten");
	atomic_store(&f->file.h->magic, MAGIC);
	unlink(flk_path(f));
	is(flk_verify(f), -FLK_GONE, "the file was removed");
	flk_detach(f);
}

static void
test_not_ours(void)
{
	struct flk *mine = fresh(3), *f;
	const char *path = flk_path(mine);

	if (geteuid() != 0) {
		tap_skip("only root can give files away");
		flk_detach(mine);
		return;
	}
	is(chown(path, 12345, 54321), 0, "the file is another's");
	is(flk_attach(&f, path, NULL), -FLK_FOREIGN, "and so refused");
	is(chmod(path, 0660), 0, "its group may write it");
	is(flk_attach(&f, path, NULL), -FLK_FOREIGN, "but we are not in that");
	is(chown(path, 12345, getegid()), 0, "it is our group's");
	is(flk_attach(&f, path, NULL), 0, "and we may");
	flk_detach(f);
	flk_detach(mine);
}

/* ---- the lock's word, and crowds ---- */

static void
test_lock(void)
{
	struct flk *f = fresh(3);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct timespec past = { .tv_sec = -1 }, soon = in_ms(0);
	uint64_t word;

	is(flk_wait_idle(a, NULL), 0, "one has a slot");
	is(flk_wait(a, &past, NULL), -FLK_NOPERMIT, "but does not stand in the line");
	atomic_store(&f->file.h->lock, (uint64_t)(MAX_SLOTS + 9) << 1);
	is(flk_try(b, &one), 0, "an owner that can't be is none");
	word = (uint64_t)atomic_load(&f->file.slots[flk_slot(a)].gen) << 32 |
	       (uint64_t)(flk_slot(a) + 1) << 1;
	atomic_store(&f->file.h->lock, word);
	is(flk_wait_idle(a, &soon), -ETIMEDOUT, "a taker that lives keeps everyone out");
	is(flk_stuck_pid(f), getpid(), "and is named");
	is(flk_release(b), 0, "its permit can be given back all the same");
	is(flk_release(b), -FLK_NOPERMIT, "once");
	atomic_store(&f->file.h->lock, 0);
	is(flk_try(b, &(struct flk_request){ .weight = 3, .limit = 3 }), 0, "one holds all");
	is(flk_enqueue(a, &one), -EINPROGRESS, "one waits");
	is(flk_wait(a, &past, NULL), -ETIMEDOUT, "not at all, when its time was over before");
	f->file.h->closed = 1;
	is(flk_wait(a, NULL, NULL), -FLK_CLOSED, "who closed was killed before it could say so");
	f->file.slots[flk_slot(b)].weight = 0;
	atomic_store(&f->file.h->lock, UINT64_C(1) << 32 | (uint64_t)(MAX_SLOTS + 9) << 1);
	is(flk_try(a, &one), -FLK_DAMAGED, "who inherits a contradiction stops");
	flk_taker_free(b);
	flk_taker_free(a);
	flk_detach(f);
}

static void
test_crowd(void)
{
	static struct flk_taker *many[2000];
	struct flk_request want = { .weight = 1, .limit = 1999 };
	struct flk *f = fresh(1999);
	struct flk_taker *more = taker(f);
	struct timespec soon;
	unsigned i, taken = 0;

	for (i = 0; i < 2000; i++) {
		many[i] = taker(f);
		taken += flk_try(many[i], &want) == 0;
	}
	is(taken, 1999, "a crowd, in a file that has grown");
	is(flk_try(more, &want), -FLK_CROWDED, "a thread may have 2000 slots");
	is(flk_enqueue(many[1999], &want), -EINPROGRESS, "one waits for all");
	soon = in_ms(10);
	is(flk_wait(many[1999], &soon, NULL), -ETIMEDOUT,
	   "with more to watch than there are words");
	for (i = 0; i < 2000; i++)
		flk_taker_free(many[i]);
	flk_taker_free(more);
	whole(f, "after the crowd");
	flk_detach(f);
}

/* ---- where it is kept ---- */

static void
test_place(void)
{
	char path[PATH_ROOM], dir[96], longer[2 * PATH_ROOM];
	struct flk *f;

	strcpy(dir, fresh_path());
	setenv("FLOCKLIMIT_DIR", dir, 1);
	is(flk_locate("x", path, sizeof(path)), 0, "a name has a path");
	ok(strncmp(path, dir, strlen(dir)) == 0 && access(dir, F_OK) == -1, "but nothing is made");
	is(flk_locate("x", path, 3), -ENAMETOOLONG, "it does not fit");
	is(flk_locate(".x", path, sizeof(path)), -FLK_BADNAME, "no name");
	is(flk_locate("/a/b", path, sizeof(path)), 0, "a path is its own");
	is(flk_attach(&f, ".x", NULL), -FLK_BADNAME, "no name, to attach to");

	close(open(dir, O_CREAT | O_WRONLY, 0600));
	is(flk_attach(&f, "x", NULL), -ENOTDIR, "the directory is none");
	unlink(dir);
	ok(mkdir(dir, 0777) == 0 && chmod(dir, 0777) == 0, "everybody may write there");
	is(flk_attach(&f, "x", NULL), -FLK_BADDIR, "it can't be trusted");
	chmod(dir, 01777);
	is(flk_attach(&f, "x", NULL), 0, "unless it is sticky");
	flk_detach(f);

	memset(longer, 'a', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	is(flk_attach(&f, longer, NULL), -ENAMETOOLONG, "too long a path");
	setenv("FLOCKLIMIT_DIR", longer, 1);
	is(flk_attach(&f, "x", NULL), -ENAMETOOLONG, "too long a directory");
	is(flk_locate("x", path, sizeof(path)), -ENAMETOOLONG, "nor is it located");
	setenv("FLOCKLIMIT_DIR", "", 1);
	is(flk_locate("x", path, sizeof(path)), 0, "without a directory, there is a place");
	ok(strstr(path, "/flocklimit-") != NULL, "of our own: %s", path);
	unsetenv("FLOCKLIMIT_DIR");
	is(flk_locate("x", longer, sizeof(longer)), 0, "the same");
	is(strcmp(path, longer), 0, "in both cases");
}

static void
test_words(void)
{
	static const int codes[] = { EINPROGRESS, EAGAIN, EBUSY, ETIMEDOUT };
	unsigned i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		ok(strcmp(flk_strerror(-codes[i]), strerror(codes[i])) != 0, "%s: in our own words",
		   flk_strerror(-codes[i]));
}

int
main(void)
{
	begin();
	test_header();
	test_every_door(false);
	test_every_door(true);
	test_mended();
	test_size();
	test_not_ours();
	test_lock();
	test_crowd();
	test_place();
	test_words();
	return tap_done();
}
