/* SPDX-License-Identifier: ISC */
/*
 * names.c - opening a limiter: names, options, what is known of it without a taker; and sentences.
 */
#include "contract.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
names(void)
{
	static const char *const bad[] = { "", "no such name!", ".hidden", "-n" };
	char name[FLK_NAME_MAX + 2], path[4096];
	struct flk *f;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is(side.attach(&f, bad[i], NULL), -FLK_BADNAME, "'%s' is no name", bad[i]);
		is(side.locate(bad[i], path, sizeof(path)), -FLK_BADNAME, "nor to locate");
	}
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	is(side.attach(&f, name, NULL), -FLK_BADNAME, "nor are 65 characters");
	name[sizeof(name) - 2] = '\0';
	is(side.attach(&f, name, NULL), 0, "64 are one");
	is(side.locate(name, path, sizeof(path)), 0, "and can be located");
	is(strcmp(path, flk_path(f)), 0, "where the limiter says that it is");
	is(side.locate(name, path, strlen(flk_path(f))), -ENAMETOOLONG, "a short buffer");
	is(side.locate(name, path, strlen(flk_path(f)) + 1), 0, "and one that suffices");
	flk_detach(f);
	is(side.attach(&f, fresh_path(), NULL), expected(PATH_FOR_A_NAME), "a path for a name");
	if (expected(PATH_FOR_A_NAME) == 0)
		flk_detach(f);
}

static void
one_limiter(void)
{
	struct flk *f = limiter(7), *again, *other = limiter(1);
	const char *name = strrchr(flk_path(f), '/') + 1;
	struct flk_taker *a = taker(f), *b;

	again = limiter_named(name, NULL);
	b = taker(again);
	ok(flk_limiter(a) == f && flk_limiter(b) == again, "a taker knows its limiter");
	ok(flk_identity(f) == flk_identity(again), "two attachments of a name are one limiter");
	ok(flk_identity(f) != flk_identity(other), "another name is another limiter");
	is(flk_verify(f), 0, "it is in order");
	is(flk_stuck_pid(f), 0, "and its lock is not kept");
	is((int)flk_declared(f), 7, "a new limiter's limit is that of its options");
	take(a, 1, 1);
	is(try_it(b, 1, 1), -EAGAIN, "both attachments share the permits");
	flk_taker_free(b);
	flk_detach(again);
	flk_detach(other);
	done_with(f, "one limiter", a, NULL);
}

static void
existing(void)
{
	struct flk_options only_old = { .existing = true };
	struct flk_snapshot *s;
	struct flk_taker *t;
	struct flk *f;
	char name[FLK_NAME_MAX + 1];

	strcpy(name, new_name());
	is(side.attach(&f, name, &only_old), expected(ATTACH_EXISTING_TO_NONE),
	   "attach to a limiter that does not exist");
	if (expected(ATTACH_EXISTING_TO_NONE) == 0) {
		is(flk_snapshot(f, &s), -ENOENT, "has nothing to show");
		flk_detach(f);
	}
	f = limiter_named(name, NULL);
	t = taker(f);
	take(t, 1, 1);
	flk_detach(limiter_named(name, &only_old));
	done_with(f, "an existing limiter", t, NULL);
}

/* Where no taker declares a limit, it is that of the options, and else the number of CPUs. */
static void
declared(void)
{
	struct flk_options three = { .limit = 3 };
	struct flk *f = limiter_named(new_name(), &three);
	struct flk_taker *a = taker(f), *b = taker(f);

	ok(flk_cpus(100) >= 1 && flk_cpus(1) >= 1 && flk_cpus(200) >= flk_cpus(100),
	   "some CPUs, and shares of them");
	take(a, 3, 0);
	is(try_it(b, 1, 0), -EAGAIN, "the limit of the options is in force");
	is(flk_release(a), 0, "released");
	is(acquire(a, 4, 0, PATIENCE_MS), -FLK_HEAVY, "and no weight may exceed it");
	take(a, 2, 2);
	is(flk_release(a), 0, "a taker declared 2");
	is(acquire(a, 3, 0, PATIENCE_MS), -FLK_HEAVY, "which is in force for the next");
	is(steer_limit(f, 5), 0, "until it is set");
	take(a, 5, 0);
	done_with(f, "a declared limit", a, b, NULL);

	f = limiter_named(new_name(), NULL);
	a = taker(f);
	is((int)flk_declared(f), (int)flk_cpus(100), "without any, it is the number of CPUs");
	take(a, flk_cpus(100), 0);
	is(flk_release(a), 0, "released");
	is(acquire(a, flk_cpus(100) + 1, 0, PATIENCE_MS), -FLK_HEAVY, "and no more");
	done_with(f, "a limit of CPUs", a, NULL);
}

static void
removed(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct flk_options only_old = { .existing = true };
	char name[FLK_NAME_MAX + 1];
	struct flk *anew;

	strcpy(name, strrchr(flk_path(f), '/') + 1);
	take(a, 1, 1);
	is(flk_remove(f), -FLK_BUSY, "a limiter with a holder is not removed");
	is(flk_remove_unused(f), -FLK_BUSY, "in neither way");
	queue(b, 1, 1, 1);
	is(flk_leave(a), 0, "the holder goes");
	is(wait_ms(b, PATIENCE_MS), 0, "a waiter follows");
	is(flk_remove(f), -FLK_BUSY, "and keeps the limiter");
	is(flk_leave(b), 0, "it goes");
	is(steer_pause(f), 0, "an operator pauses it");
	is(flk_remove_unused(f), -FLK_BUSY, "so it is not unused");
	is(steer_resume(f), 0, "resumed");
	is(steer_override(f, 4), 0, "overridden");
	is(flk_remove_unused(f), -FLK_BUSY, "nor is it then");
	is(steer_override(f, FLK_AUTO), 0, "not any more");
	is(steer_close(f), 0, "closed");
	is(flk_remove_unused(f), -FLK_BUSY, "nor is it then");
	is(steer_open(f), 0, "opened");
	is(flk_remove_unused(f), 0, "an unused limiter goes");
	is(flk_verify(f), expected(VERIFY_REMOVED), "what a process hears that has it open");
	is(acquire(a, 1, 1, PATIENCE_MS), expected(ACQUIRE_REMOVED), "and what its taker gets");
	flk_taker_free(a);
	flk_taker_free(b);
	flk_detach(f);
	anew = limiter_named(name, NULL);
	a = taker(anew);
	take(a, 1, 1);
	is(flk_release(a), 0, "a newcomer makes it anew");
	is(steer_pause(anew), 0, "paused");
	is(flk_remove(anew), 0, "flk_remove() minds no operator");
	flk_taker_free(a);
	flk_detach(anew);
	is(side.attach(&f, name, &only_old), expected(ATTACH_EXISTING_TO_NONE), "it is gone");
	if (expected(ATTACH_EXISTING_TO_NONE) == 0)
		flk_detach(f);
}

static void
sentences(void)
{
	const char *s, *other;
	int code, wrong = 0;

	for (code = FLK_BADNAME; code <= FLK_ASK; code++) {
		s = side.strerror(-code);
		other = flk_strerror(code);
		wrong += s == NULL || *s == '\0' || strncmp(s, "Unknown", 7) == 0 ||
			 strcmp(s, other) != 0;
	}
	is(wrong, 0, "each code has a sentence, with either sign");
	is(strcmp(side.strerror(-ENOENT), strerror(ENOENT)), 0, "errno's have the system's");
	ok(side.strerror(0) != NULL && side.strerror(-99999) != NULL &&
	       side.strerror(99999) != NULL && side.strerror(INT_MIN) != NULL,
	   "anything has one");
}

void
contract_names(void)
{
	names();
	one_limiter();
	existing();
	declared();
	removed();
	sentences();
}
