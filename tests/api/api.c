/* SPDX-License-Identifier: ISC */
/*
 * api.c - every function of flocklimit.h, by one process, its threads and its children.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"
#include "internal.h"
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "bytelock.h"

static const struct flk_request one = { .weight = 1 };

static struct flk_request
units(uint32_t weight, uint32_t limit)
{
	return (struct flk_request){ .weight = weight, .limit = limit };
}

static int
acquire(struct flk_taker *t, uint32_t weight, uint32_t limit, int ms)
{
	struct flk_request want = units(weight, limit);
	struct timespec until = in_ms(ms);

	return flk_acquire(t, &want, &until);
}

static int
enqueue(struct flk_taker *t, uint32_t weight, uint32_t limit)
{
	struct flk_request want = units(weight, limit);

	return flk_enqueue(t, &want);
}

static int
try_it(struct flk_taker *t, uint32_t weight, uint32_t limit)
{
	struct flk_request want = units(weight, limit);

	return flk_try(t, &want);
}

static int
wait_ms(struct flk_taker *t, int ms)
{
	struct timespec until = in_ms(ms);

	return flk_wait(t, &until, NULL);
}

/* ---- the file ---- */

static void
test_attach(void)
{
	const char *path = fresh_path();
	char copy[128], name[128];
	struct flk *a, *b, *c = NULL;
	struct stat sb;
	int fd;

	strcpy(copy, path);
	a = attach(copy);
	b = attach(copy);
	is(strcmp(flk_path(a), copy), 0, "flk_path() is the path");
	ok(flk_identity(a) == flk_identity(b), "two attachments of a path are one limiter");
	is(stat(copy, &sb), 0, "attaching made a file");
	is(sb.st_mode & 07777, 0600, "for its owner alone");
	is(flk_verify(a), 0, "it is in order");
	is(flk_declared(a), flk_cpus(100), "nobody has declared a limit");
	unlink(copy);
	is(flk_verify(a), -FLK_GONE, "without a name it is gone");
	c = attach(copy);
	is(flk_verify(c), 0, "and a new one takes its place");
	flk_detach(c);
	flk_detach(b);
	flk_detach(a);
	flk_detach(NULL);

	is(flk_attach(&c, "no such name!", NULL), -FLK_BADNAME, "a bad name");
	is(flk_attach(&c, "", NULL), -FLK_BADNAME, "an empty name");
	is(flk_attach(&c, ".hidden", NULL), -FLK_BADNAME, "a name with a leading dot");
	memset(name, 'x', 65);
	name[65] = '\0';
	is(flk_attach(&c, name, NULL), -FLK_BADNAME, "a name that is too long");
	is(flk_attach(&c, "/dev/null", NULL), -FLK_NOTFILE, "not a file");
	is(flk_attach(&c, "/no/such/directory", NULL), -ENOENT, "no such directory");
	strcpy(copy, fresh_path());
	fd = open(copy, O_CREAT | O_WRONLY, 0600);
	is(write(fd, "data", 4), 4, "somebody's data");
	is(flk_attach(&c, copy, NULL), -FLK_NOTLIMITER, "are no limiter");
	is(ftruncate(fd, 5000), 0, "nor when there are more");
	is(flk_attach(&c, copy, NULL), -FLK_NOTLIMITER, "of them");
	is(ftruncate(fd, 0), 0, "an empty file");
	is(flk_attach(&c, copy, NULL), 0, "becomes a limiter in place");
	flk_detach(c);
	close(fd);
	chmod(copy, 0666);
	is(flk_attach(&c, copy, NULL), -FLK_WRITABLE, "that everybody may write is not trusted");
	strcpy(name, fresh_path());
	is(symlink(copy, name), 0, "a symbolic link");
	is(flk_attach(&c, name, NULL), -FLK_SYMLINK, "is not followed");
}

/* ---- one taker ---- */

static void
test_life(void)
{
	struct flk *f = fresh(3);
	struct flk_taker *t = taker(f);
	struct flk_permit p;

	is(flk_permit(t, &p), -FLK_NOPERMIT, "at first nothing is held");
	is(flk_release(t), -FLK_NOPERMIT, "and nothing can be released");
	is(flk_release_units(t, 1), -FLK_NOPERMIT, "nor a part of it");
	is(flk_forget(t), -FLK_NOPERMIT, "nor forgotten");
	is(flk_leave(t), 0, "to leave without having come is harmless");
	is(flk_wait(t, NULL, NULL), -FLK_NOPERMIT, "one who does not stand in the line can't wait");
	is(acquire(t, 2, 3, 0), 0, "a permit for 2 of 3");
	is(flk_permit(t, &p), 0, "is held");
	ok(p.ticket == 1 && p.weight == 2 && p.limit == 3 && p.seat == 0, "as it was asked for");
	is(flk_declared(f), 3, "its limit is the latest declared");
	ok(flk_holds(f, flk_slot(t), 1, &p) && p.weight == 2, "anybody can see that it is held");
	ok(!flk_holds(f, flk_slot(t), 2, &p), "another ticket is not");
	ok(!flk_holds(f, 99999, 1, &p), "nor is it in another slot");
	is(acquire(t, 1, 3, 0), -FLK_BUSY, "one who holds can't take another");
	is(try_it(t, 1, 3), -FLK_BUSY, "nor try to");
	is(flk_wait_idle(t, NULL), -FLK_BUSY, "nor wait for itself");
	is(wait_ms(t, 0), 0, "a wait that is over is over");
	is(flk_release_units(t, 3), -FLK_OVERRELEASE, "more than is held can't be released");
	is(units_used(f), 2, "and that changes nothing");
	is(flk_release_units(t, 1), 0, "one of two");
	is(units_used(f), 1, "leaves one");
	is(flk_permit(t, &p), 0, "which is held");
	is(p.weight, 1, "as such");
	is(flk_release_units(t, 1), 0, "and the last");
	is(flk_permit(t, &p), -FLK_NOPERMIT, "ends the permit");
	is(flk_release(t), -FLK_NOPERMIT, "a second time it can't be released");
	is(acquire(t, 4, 3, 0), -FLK_HEAVY, "a weight above the limit");
	is(acquire(t, FLK_MAX_UNITS + 1, 0, 0), -EINVAL, "a weight above all limits");
	is(acquire(t, 1, FLK_MAX_UNITS + 1, 0), -EINVAL, "a limit above all limits");
	is(acquire(t, FLK_MAX_UNITS, FLK_MAX_UNITS, 0), 0, "the largest of both");
	is(flk_release(t), 0, "is released");
	is(acquire(t, 0, 1, 0), 0, "weight 0 is 1");
	is(units_used(f), 1, "unit");
	flk_taker_free(t);
	whole(f, "after a taker was freed that held");
	flk_taker_free(NULL);
	flk_detach(f);
}

/* In the place of the C library's: a machine with so many CPUs, whose kernel wants 8 KiB bits for them. */
static unsigned pretended_cpus;

int
sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	unsigned cpu;

	memset(set, 0, size);
	if (pretended_cpus == 0)
		return syscall(SYS_sched_getaffinity, pid, size, set) == -1 ? -1 : 0;
	if (size < 8192 / 8) {
		errno = EINVAL;
		return -1;
	}
	for (cpu = 0; cpu < pretended_cpus; cpu++)
		CPU_SET_S(cpu, size, set);
	return 0;
}

static void
test_many_cpus(void)
{
	pretended_cpus = 2000;
	if (flki_cpu_quota(getpid()) < 2000 * 1000)
		tap_note("a quota of the machine's allows less than 2000 CPUs");
	else
		is((int)flk_cpus(100), 2000, "more than 1,024 CPUs count");
	pretended_cpus = 0;
}

static void
test_default_limit(void)
{
	struct flk *f = attach(fresh_path());
	struct flk_taker *a = taker(f), *b = taker(f);
	uint32_t all = flk_cpus(100);
	struct flk_snapshot *s;
	struct flk_place place;
	cpu_set_t cpus, first;
	size_t cpu;

	ok(all >= 1 && flk_cpus(1) == 1 && flk_cpus(200) == 2 * all,
	   "some CPUs, and shares of them");
	is(flk_snapshot(f, &s), 0, "where nobody declared a limit");
	ok(s->set.declared == all && s->limit == all, "it is the number of CPUs");
	free(s);
	is(flk_place(a, &place), 0, "a taker");
	is((int)place.limit, (int)all, "is told so");
	is(acquire(a, all + 1, 0, 0), -FLK_HEAVY, "more than that is too much");
	is(acquire(a, all, 0, 0), 0, "all of it");
	is(try_it(b, 1, 0), -EAGAIN, "is all");
	is(flk_release(a), 0, "released");
	flk_taker_free(a);
	flk_taker_free(b);
	whole(f, "after the first limit");
	flk_detach(f);

	/* The CPUs that this thread may use, not all there are. */
	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (cpu = 0; !CPU_ISSET(cpu, &cpus); cpu++)
		;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	f = attach(fresh_path());
	a = taker(f);
	b = taker(f);
	is(sched_setaffinity(0, sizeof(first), &first), 0, "on one CPU");
	is((int)flk_declared(f), 1, "it is 1");
	is(acquire(a, 1, 0, 0), 0, "and one");
	is(sched_setaffinity(0, sizeof(cpus), &cpus), 0, "on all of them");
	is(try_it(b, 1, 0), -EAGAIN, "it is still 1: that was declared");
	is(flk_release(a), 0, "released");
	is(steer_limit(f, 2), 0, "when it is set");
	is(flk_declared(f), 2, "it is known");
	is(acquire(a, 1, 0, 0), 0, "and the one");
	is(try_it(b, 1, 0), 0, "and the other fit");
	is(steer_limit(f, 0), -EINVAL, "no limit can be 0");
	is(steer_limit(f, FLK_MAX_UNITS + 1), -EINVAL, "nor too large");
	flk_taker_free(a);
	flk_taker_free(b);
	whole(f, "after default limits");
	flk_detach(f);
}

/* ---- two takers of one thread ---- */

static void
test_line(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_request want = one;
	struct flk_place place;
	uint64_t start;

	is(acquire(a, 1, 1, 0), 0, "a holds");
	start = now_ns();
	is(acquire(b, 1, 1, 60), -ETIMEDOUT, "b gives up at its deadline");
	ok(now_ns() - start >= 60000000u, "and not before it");
	ok(stands(f, 1, 0), "and is no longer in the line");
	is(acquire(b, 1, 1, -1000), -ETIMEDOUT, "a deadline in the past");
	ok(stands(f, 1, 0), "leaves nobody in the line");
	is(try_it(b, 1, 1), -EAGAIN, "to try is in vain");
	ok(stands(f, 1, 0), "and leaves nobody in the line");
	is(enqueue(b, 1, 1), -EINPROGRESS, "b stands in the line");
	is(enqueue(b, 1, 1), -FLK_BUSY, "but once");
	is(flk_release(b), -FLK_NOPERMIT, "where it has no permit to release");
	is(wait_ms(b, 20), -ETIMEDOUT, "a wait times out");
	ok(stands(f, 1, 1), "but b still stands in the line");
	want.limit_queue = true;
	want.max_queue = 1;
	is(flk_enqueue(c, &want), -FLK_FULL, "c would not wait behind one");
	want.max_queue = 2;
	is(flk_enqueue(c, &want), -EINPROGRESS, "but behind fewer than two");
	is(flk_place(c, &place), 0, "its place");
	ok(place.ahead == 1 && place.holders == 1 && place.used == 1 && place.limit == 1,
	   "is behind one who waits and one who holds");
	ok(place.oldest.ticket == 1 && place.head.ticket != 0, "who are named");
	is(flk_leave(b), 0, "b leaves");
	is(flk_place(c, &place), 0, "then c's place");
	ok(place.ahead == 0 && place.head.ticket == 0, "is the first");
	is(flk_release(a), 0, "a releases");
	is(wait_ms(c, 0), 0, "c holds");
	is(enqueue(a, 1, 1), -EINPROGRESS, "a stands in the line");
	is(enqueue(b, 1, 1), -EINPROGRESS, "behind it b");
	is(flk_release(c), 0, "c releases");
	is(wait_ms(b, 0), -ETIMEDOUT, "and not b");
	is(wait_ms(a, 0), 0, "but a holds");
	is(flk_leave(a), 0, "to leave is to release, for one who holds");
	is(wait_ms(b, 0), 0, "and b follows");
	want = (struct flk_request){ .weight = 1, .limit_queue = true, .max_queue = 0 };
	is(flk_enqueue(a, &want), -FLK_FULL, "a would not wait at all");
	is(flk_release(b), 0, "with room");
	is(flk_enqueue(a, &want), 0, "it need not");
	flk_taker_free(a);
	flk_taker_free(b);
	flk_taker_free(c);
	whole(f, "after a line");
	flk_detach(f);
}

/* Slots are used again: what one taker declared must not be read as another's. */
static void
test_place_of_a_newcomer(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f), *eye[64];
	struct flk_place place;
	uint32_t i, wrong = 0;

	for (i = 0; i < 64; i++) {
		eye[i] = taker(f);
		acquire(eye[i], 1, i % 7 + 1, 0);
		flk_release(eye[i]);
	}
	for (i = 0; i < 64; i++)
		flk_taker_free(eye[i]);
	is(acquire(a, 1, 5, 0), 0, "one holds, and declared 5");
	for (i = 0; i < 64; i++) {
		eye[i] = taker(f);
		wrong += flk_place(eye[i], &place) != 0 || place.limit != 5;
	}
	is((int)wrong, 0,
	   "5 is what takers see that never asked, whatever their slots held before");
	is(steer_override(f, 3), 0, "an override");
	is(flk_place(eye[0], &place), 0, "a look");
	is((int)place.limit, 3, "is what they see then");
	for (i = 0; i < 64; i++)
		flk_taker_free(eye[i]);
	flk_taker_free(a);
	whole(f, "after many looks");
	flk_detach(f);
}

static void
test_withheld(void)
{
	struct flk_options options = { .limit = 4, .initial = 1 };
	struct flk_taker *a, *b;
	struct flk *f;

	is(flk_attach(&f, fresh_path(), &options), 0, "a limiter of 4 that begins with 1");
	a = taker(f);
	b = taker(f);
	is(acquire(a, 1, 4, 0), 0, "one fits");
	is(try_it(b, 1, 4), -EAGAIN, "and no other");
	is(enqueue(b, 2, 4), -EINPROGRESS, "which waits for two");
	is(steer_restore(f, 1), 0, "one more");
	is(wait_ms(b, 0), -ETIMEDOUT, "is not enough");
	is(steer_restore(f, 1), 0, "one more");
	is(wait_ms(b, 0), 0, "is");
	is(steer_restore(f, 2), -FLK_OVERRELEASE, "more than was withheld can't be restored");
	is(steer_restore(f, 1), 0, "the rest can");
	is(flk_forget(b), 0, "b forgets its two");
	is(flk_release(b), -FLK_NOPERMIT, "and has no permit then");
	is(units_used(f), 1, "which are not in use");
	is(try_it(b, 2, 4), -EAGAIN, "but not free either");
	is(try_it(b, 1, 4), 0, "the rest is");
	is(flk_release(b), 0, "it is");
	is(steer_restore(f, 2), 0, "restored");
	is(try_it(b, 3, 4), 0, "all is as it was");
	flk_taker_free(a);
	flk_taker_free(b);
	whole(f, "after withheld units");
	flk_detach(f);
}

/* ---- steering ---- */

static void
test_steering(void)
{
	struct flk *f = fresh(2);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_snapshot *s;
	struct flk_permit p;

	is(steer_pause(f), 0, "paused");
	is(try_it(a, 1, 2), -EAGAIN, "nothing starts");
	is(enqueue(a, 1, 2), -EINPROGRESS, "but waits");
	is(steer_resume(f), 0, "resumed");
	is(wait_ms(a, 0), 0, "it has started");
	is(steer_override(f, 1), 0, "an override below the declarations");
	is(try_it(b, 1, 2), -EAGAIN, "is in force");
	is(enqueue(b, 2, 2), -EINPROGRESS, "a weight above it waits");
	is(flk_release(a), 0, "until it can");
	is(wait_ms(b, 0), 0, "run alone");
	is(flk_permit(b, &p), 0, "its permit");
	is(p.limit, 1, "says under which limit");
	is(steer_override(f, 4), 0, "an override above the declarations");
	is(try_it(a, 1, 2), 0, "lets three");
	is(try_it(c, 1, 2), 0, "and four units run");
	is(steer_override(f, 0), 0, "an override of 0");
	is(flk_snapshot(f, &s), 0, "a snapshot");
	ok(s->set.override == 0 && s->used == 4 && s->limit == 0 && s->holders == 3, "shows it");
	free(s);
	is(flk_release(a), 0, "one leaves");
	is(enqueue(a, 1, 2), -EINPROGRESS, "and does not come back");
	is(flk_release(b), 0, "nor when");
	is(flk_release(c), 0, "all is empty");
	is(wait_ms(a, 0), -ETIMEDOUT, "for 0 is a pause");
	is(steer_override(f, FLK_AUTO), 0, "until it is lifted");
	is(wait_ms(a, 0), 0, "then it runs");
	is(steer_override(f, -2), -EINVAL, "no override is below 0");
	is(steer_override(f, (int64_t)FLK_MAX_UNITS + 1), -EINVAL, "or above all limits");
	is(try_it(b, 1, 1), -EAGAIN, "one who declares 1 does not run beside another");
	is(flk_release(a), 0, "only");
	is(try_it(b, 1, 1), 0, "alone");
	is(try_it(a, 1, 2), -EAGAIN, "and nobody beside it");
	flk_taker_free(a);
	flk_taker_free(b);
	flk_taker_free(c);
	whole(f, "after steering");
	flk_detach(f);
}

struct waiting {
	struct flk *f;
	struct flk_taker *_Atomic taker;
	_Atomic int code, again;
	bool twice, idle;
	pthread_t thread;
	uint64_t done_ns;
};

static void *
wait_in_thread(void *arg)
{
	struct waiting *w = arg;
	struct flk_taker *t = taker(w->f);

	w->taker = t;
	w->code = w->idle ? flk_wait_idle(t, NULL) : flk_acquire(t, &one, NULL);
	w->done_ns = now_ns();
	if (w->twice)
		w->again = flk_acquire(t, &one, NULL);
	flk_leave(t);
	return NULL;
}

/* Who may cancel must not do it to one that is freed: so it is freed here. */
static void
end_thread(struct waiting *w)
{
	pthread_join(w->thread, NULL);
	flk_taker_free(w->taker);
}

static void
start_thread(struct waiting *w, struct flk *f)
{
	w->f = f;
	if (pthread_create(&w->thread, NULL, wait_in_thread, w) != 0)
		tap_bail("pthread_create");
}

static void
test_close(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f);
	struct waiting w[3] = { { .code = 1 }, { .code = 1 }, { .code = 1 } };
	struct agent other = agent_start(flk_path(f));
	int i;

	is(acquire(a, 1, 1, 0), 0, "one holds");
	for (i = 0; i < 3; i++)
		start_thread(&w[i], f);
	agent_tell(&other, (struct order){ .kind = ACQUIRE, .ms = -1 });
	ok(stands(f, 1, 4), "three threads and a process wait");
	is(steer_close(f), 0, "closed");
	for (i = 0; i < 3; i++)
		end_thread(&w[i]);
	ok(w[0].code == -FLK_CLOSED && w[1].code == -FLK_CLOSED && w[2].code == -FLK_CLOSED,
	   "the threads are told so");
	is(agent_hear(&other).code, -FLK_CLOSED, "and the process");
	is(agent_do(&other, (struct order){ .kind = TRY }).code, -FLK_CLOSED, "and a newcomer");
	is(flk_release(a), 0, "who holds goes on and releases");
	is(try_it(a, 1, 1), -FLK_CLOSED, "closed it is");
	is(steer_open(f), 0, "until it is open");
	is(agent_do(&other, (struct order){ .kind = TRY }).code, 0, "again");
	agent_stop(&other);
	flk_taker_free(a);
	whole(f, "after it was closed");
	flk_detach(f);
}

/* A barrier is in no snapshot, but it draws a ticket. */
static void
await_ticket(struct flk *f, uint64_t ticket)
{
	struct flk_snapshot *s;
	uint64_t last = 0;

	while (last < ticket) {
		if (flk_snapshot(f, &s) != 0)
			tap_bail("flk_snapshot");
		last = s->last_ticket;
		free(s);
		usleep(200);
	}
}

static void
test_wait_idle(void)
{
	struct flk *f = fresh(2);
	struct flk_taker *t = taker(f), *second = taker(f), *late = taker(f), *b = taker(f);
	struct waiting w = { .idle = true, .code = 1 };
	struct flk_snapshot *s;

	is(flk_wait_idle(t, NULL), 0, "where nobody is, nothing is waited for");
	is(acquire(t, 2, 2, 0), 0, "one holds");
	is(enqueue(second, 1, 2), -EINPROGRESS, "another waits");
	start_thread(&w, f);
	await_ticket(f, 4);
	is(flk_snapshot(f, &s), 0, "a snapshot");
	is(s->waiters, 1, "does not count one who waits for the rest");
	free(s);
	is(enqueue(late, 1, 2), -EINPROGRESS, "a third comes later");
	is(flk_release(t), 0, "the first is done");
	is(wait_ms(second, 0), 0, "the second");
	is(wait_ms(late, 0), 0, "and the third run: nobody is held up");
	is(w.code, 1, "the second is still waited for");
	is(flk_release(late), 0, "the third is done");
	is(try_it(late, 1, 2), 0, "one who comes");
	is(flk_release(late), 0, "and goes does not matter");
	is(acquire(late, 1, 2, 0), 0, "nor one who stays");
	is(flk_release(second), 0, "when the second is done");
	end_thread(&w);
	is(w.code, 0, "the wait is over");
	ok(stands(f, 1, 0), "while the fourth holds");
	is(flk_wait_idle(b, &(struct timespec){ .tv_sec = 1 }), -ETIMEDOUT, "it has a deadline");
	is(flk_wait_idle(b, &(struct timespec){ .tv_sec = 0 }), -ETIMEDOUT, "too");
	flk_taker_free(t);
	flk_taker_free(second);
	flk_taker_free(late);
	flk_taker_free(b);
	whole(f, "after waits for the rest");
	flk_detach(f);
}

/* What waits only because of one who died must not wait behind a barrier either. */
static void
test_wait_idle_and_death(void)
{
	struct flk *f = fresh(2);
	struct flk_taker *t = taker(f), *late = taker(f);
	struct agent heavy = agent_start(flk_path(f));
	struct waiting w = { .idle = true, .code = 1 };

	is(acquire(t, 1, 2, 0), 0, "one of two is held");
	start_thread(&w, f);
	await_ticket(f, 2);
	agent_do(&heavy, (struct order){ .kind = ENQUEUE, .weight = 2, .limit = 2 });
	ok(stands(f, 1, 1), "a barrier and a weight of 2 wait");
	agent_kill(&heavy, SIGKILL);
	is(try_it(late, 1, 2), 0, "when that is dead, 1 fits at once");
	flk_release(late);
	flk_release(t);
	end_thread(&w);
	is(w.code, 0, "the barrier is over");
	flk_taker_free(t);
	flk_taker_free(late);
	whole(f, "after a death behind a barrier");
	flk_detach(f);
}

/* ---- cancelling ---- */

static struct flk_taker *_Atomic to_cancel;
static volatile sig_atomic_t handled;

static void
on_signal(int sig)
{
	(void)sig;
	handled++;
	flk_cancel(to_cancel);
}

static void
test_cancel(void)
{
	struct sigaction act = { .sa_handler =
				     on_signal }; /* no SA_RESTART: as strict as it gets */
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct waiting w = { .code = 1, .twice = true };
	sigset_t none, usr1, old;
	pid_t child, self = getpid();

	is(acquire(a, 1, 1, 0), 0, "one holds");
	flk_cancel(b);
	is(acquire(b, 1, 1, PATIENCE_MS), -FLK_CANCELLED, "cancelled before the wait");
	ok(stands(f, 1, 0), "nobody is left in the line");
	is(enqueue(b, 1, 1), -EINPROGRESS, "it stands in the line");
	flk_cancel(b);
	flk_cancel(b);
	is(wait_ms(b, PATIENCE_MS), -FLK_CANCELLED, "and is cancelled there");
	is(acquire(b, 1, 1, 10), -ETIMEDOUT, "once, not for ever");

	is(enqueue(b, 1, 1), -EINPROGRESS, "it stands in the line again");
	flk_interrupt(b);
	is(wait_ms(b, PATIENCE_MS), -EINTR, "and that wait is interrupted");
	ok(stands(f, 1, 1), "which costs it no place");
	is(wait_ms(b, 10), -ETIMEDOUT, "once, not for ever");
	is(flk_leave(b), 0, "it leaves");

	start_thread(&w, f);
	ok(stands(f, 1, 1), "a thread waits");
	flk_cancel(w.taker);
	ok(stands(f, 1, 1), "another cancels that wait");
	while (w.again == 0 && w.code == 1)
		usleep(100);
	ok(stands(f, 1, 1), "it waits again");
	flk_cancel(w.taker);
	end_thread(&w);
	is(w.code, -FLK_CANCELLED, "the wait was cancelled");
	is(w.again, -FLK_CANCELLED, "and the second");

	/* A signal that is blocked but for the sleep. */
	to_cancel = b;
	sigaction(SIGUSR1, &act, NULL);
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, &old);
	is(enqueue(b, 1, 1), -EINPROGRESS, "in the line");
	raise(SIGUSR1);
	is(handled, 0, "a blocked signal waits");
	is(flk_wait(b, NULL, &none), -FLK_CANCELLED, "until the sleep, which it ends");
	is(handled, 1, "it was handled once");
	sigprocmask(SIG_BLOCK, NULL, &none);
	ok(sigismember(&none, SIGUSR1), "and is blocked again");
	pthread_sigmask(SIG_SETMASK, &old, NULL);

	/* One from another process, to one who sleeps. */
	child = fork_child();
	if (child == 0) {
		struct flk *mine = attach(flk_path(f));
		if (!stands(mine, 1, 1))
			_exit(1);
		kill(self, SIGUSR1);
		flk_detach(mine);
		_exit(0);
	}
	is(acquire(b, 1, 1, PATIENCE_MS), -FLK_CANCELLED, "a handler cancels");
	is(reap_child(child), 0, "when a child saw the waiter");
	signal(SIGUSR1, SIG_DFL);
	flk_taker_free(a);
	flk_taker_free(b);
	whole(f, "after cancels");
	flk_detach(f);
}

/* ---- strangers ---- */

static void *
abuse(void *arg)
{
	struct flk_taker *t = arg;
	struct flk_place place;
	static int code[11]; /* one at a time */
	int fd;

	code[0] = flk_release(t);
	code[1] = flk_release_units(t, 1);
	code[2] = flk_forget(t);
	code[3] = flk_leave(t);
	code[4] = flk_enqueue(t, &one);
	code[5] = flk_try(t, &one);
	code[6] = flk_wait(t, NULL, NULL);
	code[7] = flk_wait_idle(t, NULL);
	code[8] = flk_acquire(t, &one, NULL);
	code[9] = flk_guard(t, &fd);
	code[10] = flk_place(t, &place);
	return code;
}

static bool
all_strange(const int *code)
{
	int i;

	for (i = 0; i <= 10; i++)
		if (code[i] != -FLK_STRANGER)
			tap_note("call %d gives %d", i, code[i]);
	for (i = 0; i <= 10; i++)
		if (code[i] != -FLK_STRANGER)
			return false;
	return true;
}

static void
test_strangers(void)
{
	struct flk *f = fresh(2);
	struct flk_taker *t = taker(f), *u;
	struct flk_permit p;
	pthread_t thread;
	void *codes;
	pid_t child;

	is(acquire(t, 2, 2, 0), 0, "a permit");
	pthread_create(&thread, NULL, abuse, t);
	pthread_join(thread, &codes);
	ok(all_strange(codes), "another thread can do nothing with it");
	child = fork_child();
	if (child == 0) {
		codes = abuse(t);
		flk_taker_free(t);
		_exit(all_strange(codes) ? 0 : 1);
	}
	is(reap_child(child), 0, "nor can a child");
	child = fork_child();
	if (child == 0) {
		flk_cancel(t);
		flk_detach(f);
		_exit(0);
	}
	is(reap_child(child), 0, "a child that detaches");
	is(flk_permit(t, &p), 0, "takes nothing from its parent");
	is(units_used(f), 2, "nor from the limiter");
	child = fork_child();
	if (child == 0) {
		struct flk *mine = attach(flk_path(f));
		u = taker(mine);
		if (flk_try(u, &(struct flk_request){ .weight = 1, .limit = 2 }) != -EAGAIN)
			_exit(1);
		flk_taker_free(u);
		u = taker(f); /* even the parent's mapping will do, for a taker of its own */
		if (flk_try(u, &(struct flk_request){ .weight = 1, .limit = 4 }) != -EAGAIN)
			_exit(2);
		_exit(0);
	}
	is(reap_child(child), 0, "a child takes its own part");
	is(flk_release(t), 0, "the owner can release");
	flk_taker_free(t);
	whole(f, "after strangers");
	flk_detach(f);
}

static void *
take_and_end(void *arg)
{
	struct flk_taker *t = taker(arg);

	if (acquire(t, 1, 1, 0) != 0)
		tap_bail("a thread gets no permit");
	return t;
}

static void
test_thread_end(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	pthread_t thread;
	void *left;

	pthread_create(&thread, NULL, take_and_end, f);
	pthread_join(thread, &left);
	is(acquire(t, 1, 1, PATIENCE_MS), 0, "the permit of a thread that ended goes back");
	flk_taker_free(t);
	flk_taker_free(left);
	whole(f, "after a thread's end");
	flk_detach(f);
}

/* ---- guards ---- */

static void
test_guard(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	struct flk_snapshot *s;
	int fd = -1, ends[2], up[2];
	pid_t wrapper, command;
	char byte;

	is(flk_guard(t, &fd), -FLK_NOPERMIT, "no permit, no guard");
	if (pipe(ends) == -1 || pipe(up) == -1)
		tap_bail("pipe");
	wrapper = fork_child();
	if (wrapper == 0) {
		struct flk *mine = attach(flk_path(f));
		struct flk_taker *w = taker(mine);
		if (acquire(w, 1, 1, 0) != 0 || flk_guard(w, &fd) != 0 ||
		    (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
			_exit(1);
		if (fork() == 0) { /* the command, which ends when the test says so */
			close(ends[1]);
			alarm(PATIENCE_MS / 1000);
			if (write(up[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 0)
				_exit(1);
			_exit(0);
		}
		pause();
	}
	if (read(up[0], &byte, 1) != 1)
		tap_bail("no command");
	kill(wrapper, SIGKILL);
	reap_child(wrapper);
	is(flk_snapshot(f, &s), 0, "the wrapper is dead, its command is not");
	ok(s->holders == 1 && s->entry[0].orphan, "an orphan holds the permit");
	free(s);
	is(try_it(t, 1, 1), -EAGAIN, "nobody gets it");
	if (!one_at_a_time())
		is(acquire(t, 1, 1, 250), -ETIMEDOUT, "nor by waiting");
	is(enqueue(t, 1, 1), -EINPROGRESS, "in the line");
	command = fork_child();
	if (command == 0) {
		close(ends[1]);
		_exit(0);
	}
	reap_child(command);
	close(ends[1]);
	is(wait_ms(t, PATIENCE_MS), 0, "when the command ends, it goes on");

	/* After a release the heirs of the descriptor hold nothing. */
	is(flk_guard(t, &fd), 0, "a guard");
	is(flk_guard(t, &fd), 0, "asked for twice is one");
	is(flk_release(t), 0, "a release ends it");
	is(acquire(t, 1, 1, 0), 0, "the permit is free");
	flk_taker_free(t);
	close(ends[0]);
	close(up[0]);
	close(up[1]);
	whole(f, "after guards");
	flk_detach(f);
}

/* Nothing can be written through it, wherever the limiter's name has gone. */
static bool
is_for_reading(int fd, const char *path)
{
	struct stat named, sb;

	return fd > 2 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY &&
	       (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 && fstat(fd, &sb) == 0 &&
	       (path == NULL || (stat(path, &named) == 0 && named.st_ino == sb.st_ino));
}

static void
test_guards_for_reading(void)
{
	struct flk *f = fresh(2);
	struct flk_taker *t = taker(f), *u = taker(f);
	char other[300];
	int fd = -1, common;

	ok(acquire(t, 1, 2, 0) == 0 && acquire(u, 1, 2, 0) == 0, "two permits");
	is(flk_guard(t, &fd), 0, "a guard");
	ok(is_for_reading(fd, flk_path(f)), "is for reading only");
	common = flk_guard_open(f);
	ok(is_for_reading(common, flk_path(f)), "so is one for several permits");
	ok(flk_guard_by(u, common) == 0 && flk_guard_by(t, common) == 0, "which ties them");
	snprintf(other, sizeof(other), "%s.moved", flk_path(f));
	is(rename(flk_path(f), other), 0, "the file gets another name");
	close(open(flk_path(f), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	flk_release(t);
	ok(acquire(t, 1, 2, 0) == 0 && flk_guard(t, &fd) == 0, "and a guard is had all the same");
	ok(is_for_reading(fd, other), "of that file, and not of what has its name now");
	unlink(flk_path(f));
	is(rename(other, flk_path(f)), 0, "the file gets its name back");
	flk_taker_free(t);
	flk_taker_free(u);
	close(common);
	whole(f, "after guards for reading");
	flk_detach(f);
}

/* Another process has a lock in the way. */
static void
test_entrust_in_vain(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	int fd = open(flk_path(f), O_RDONLY | O_CLOEXEC);
	int other = open(flk_path(f), O_RDWR | O_CLOEXEC);
	struct flk_snapshot *s;

	is(acquire(t, 1, 1, 0), 0, "a permit");
	is(flki_byte_lock(other, F_WRLCK, GUARD_BASE + flk_slot(t)), 0, "whose byte is locked");
	is(flk_entrust_to(t, fd, getppid()), -EBUSY, "does not go to a descriptor");
	is(flk_snapshot(f, &s), 0, "a snapshot");
	ok(s->holders == 1 && s->entry[0].pid == getpid() && s->entry[0].role != FLK_CARRIED,
	   "has it as its taker's");
	free(s);
	close(other);
	is(flk_entrust_to(t, fd, getppid()), 0, "then it goes");
	is(flk_take_back(f, fd), 0, "and comes back");
	close(fd);
	flk_taker_free(t);
	whole(f, "after an entrust in vain");
	flk_detach(f);
}

/*
 * In a child, which can only read what it has of the limiter: a store would end it.  So whoever
 * kills a process that asks leaves nothing.  The first slot has no guard, the second one has.
 */
static void
ask_and_write_nothing(struct flk *f, uint32_t slot, uint32_t guarded)
{
	pid_t child = fork_child(), pid[4];

	if (child == 0) {
		bool good = mprotect(f->file.h, MAP_BYTES, PROT_READ) == 0;
		good &= flki_is_taker(f, slot, getppid()) == 1;
		good &= flki_is_taker(f, guarded, getppid()) == 1;
		good &= flki_heirs(f, slot, pid, 4) == 0 && flki_heirs(f, guarded, pid, 4) == 2;
		_exit(good ? 0 : 1);
	}
	is(reap_child(child), 0, "a reader finds takers and heirs, and writes nothing");
}

/* One description for several permits: the kernel joins its locks on neighbouring bytes. */
static void
test_heirs(void)
{
	static const unsigned ours[] = { 0, 1, 2, 3, 5, 7, 9, 10 }; /* of twelve slots */
	struct flk *f = fresh(12);
	struct flk_taker *t[12];
	unsigned i, k = 0, wrong = 0;
	int fd = flk_guard_open(f);
	pid_t heir, pid[4];
	size_t n;

	for (i = 0; i < 12; i++) {
		t[i] = taker(f);
		if (acquire(t[i], 1, 12, 0) != 0)
			tap_bail("no permit");
		if (k < 8 && ours[k] == i && flk_guard_by(t[i], fd) == 0)
			k++;
	}
	is(k, 8, "eight permits of twelve are tied to one descriptor");
	is(flki_is_taker(f, flk_slot(t[4]), getpid()), 1, "without a guard, by its thread");
	is(flki_is_taker(f, flk_slot(t[5]), getpid()), 1, "with one, by that");
	is(flki_is_taker(f, flk_slot(t[4]), getppid()), 0, "another process is not the taker");
	is(flki_is_taker(f, UINT32_MAX, getpid()), 0, "there is no such slot");
	ask_and_write_nothing(f, flk_slot(t[4]), flk_slot(t[5]));
	heir = fork_child();
	if (heir == 0)
		for (;;)
			pause();
	is(flki_is_taker(f, flk_slot(t[4]), heir), 0, "a child has the file mapped, and no thread");
	is(flki_is_taker(f, flk_slot(t[5]), heir), 1, "but the guard it has");
	for (i = k = 0; i < 12; i++) {
		bool is_ours = k < 8 && ours[k] == i;
		n = flki_heirs(f, flk_slot(t[i]), pid, 4);
		k += is_ours;
		if (n == (is_ours ? 2 : 0) && (n == 0 || pid[0] == heir || pid[1] == heir))
			continue;
		wrong++;
		tap_note("the permit in slot %u: %zu processes have its guard", i, n);
	}
	is(wrong, 0, "both processes that have the descriptor are found for each of them, only");
	kill(heir, SIGKILL);
	reap_child(heir);
	for (i = 0; i < 12; i++)
		flk_taker_free(t[i]);
	close(fd);
	whole(f, "after many guards of one description");
	flk_detach(f);
}

/* ---- words ---- */

static void
test_strerror(void)
{
	const char *seen[FLK_MISTAKEN - FLK_BADNAME + 1];
	int code, i, same = 0, empty = 0;

	for (i = 0; i <= FLK_MISTAKEN - FLK_BADNAME; i++)
		seen[i] = "";
	for (code = FLK_BADNAME; code <= FLK_MISTAKEN; code++) {
		const char *s = flk_strerror(-code);
		empty += s == NULL || *s == '\0' || strncmp(s, "Unknown", 7) == 0;
		for (i = 0; i < code - FLK_BADNAME; i++)
			same += strcmp(seen[i], s) == 0;
		seen[code - FLK_BADNAME] = s;
		empty += s != flk_strerror(code);
	}
	is(empty, 0, "each code has a sentence");
	is(same, 0, "of its own");
	is(strcmp(flk_strerror(-ENOENT), strerror(ENOENT)), 0, "errno's have the system's");
	ok(flk_strerror(0) != NULL && flk_strerror(-99999) != NULL && flk_strerror(99999) != NULL &&
	       flk_strerror(INT_MIN) != NULL,
	   "anything has one");
}

static void
test_snapshot(void)
{
	struct flk *f = fresh(50);
	struct flk_taker *t[60];
	struct flk_snapshot *s;
	char line[300], why[8];
	struct flk_request want = { .weight = 1, .limit = 50, .command = line };
	uint64_t begun = now_ns(), before;
	bool right = true;
	uint32_t i;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	for (i = 0; i < 60; i++) {
		t[i] = taker(f);
		is(flk_enqueue(t[i], &want), i < 50 ? 0 : -EINPROGRESS, "the %uth", i + 1);
	}
	before = now_ns();
	is(flk_snapshot(f, &s), 0, "a snapshot of many");
	ok(s->holders == 50 && s->waiters == 10 && s->used == 50 && s->limit == 50, "counts them");
	for (i = 0; i < 60; i++)
		right &= s->entry[i].ticket == i + 1 && s->entry[i].holds == (i < 50) &&
			 (i >= 50 || s->entry[i].seat == i) && s->entry[i].since_ns >= begun &&
			 s->entry[i].since_ns <= before && s->entry[i].pid == getpid() &&
			 strlen(s->entry[i].command) == FLK_COMMAND - 1;
	ok(right, "in order, with what is known of each");
	free(s);
	is(flk_check(f, why, sizeof(why)), 0, "all is right");
	is(flk_check(f, NULL, 0), 0, "and no words are needed for that");
	for (i = 0; i < 60; i++)
		flk_taker_free(t[59 - i]);
	whole(f, "after many");
	flk_detach(f);
}

/* The condition that keeps the head, by its number. */
static void
test_gated(void)
{
	static const char *const gates[] = { "disk:/>900000T", "disk:/>900000T,disk:/>1",
					     "disk:/>1 disk:/>900000T" };
	uint64_t until = now_ns() + PATIENCE_MS * UINT64_C(1000000);
	struct flk_gate gate = { .patience_ns = UINT64_MAX };
	struct flk *f = fresh(1);
	struct flk_snapshot *s;
	struct agent a = agent_start(flk_path(f)); /* a gate of a disk is looked at by a thread */
	bool gated;
	unsigned i;

	is(flk_snapshot(f, &s), 0, "without a gate");
	ok(!s->gated.waits && s->gated.when[0] == '\0', "nothing is kept by one");
	free(s);
	for (i = 0; i < 3; i++) {
		strcpy(gate.when, gates[i]);
		is(steer_gate(f, &gate), 0, "a gate: %s", gates[i]);
		agent_tell(&a, (struct order){ .kind = ACQUIRE, .limit = 1, .ms = -1 });
		do {
			if (flk_snapshot(f, &s) != 0)
				tap_bail("no snapshot");
			gated = s->gated.waits && strcmp(s->gated.when, "disk:/>900000T") == 0 &&
				s->gated.value > 0 && s->gated.value != UINT64_MAX;
			free(s);
		} while (!gated && now_ns() < until);
		ok(gated, "is known by the condition that does not hold");
		gate.when[0] = '\0';
		is(steer_gate(f, &gate), 0, "and taken away");
		is(agent_hear(&a).code, 0, "lets the head in");
		is(agent_do(&a, (struct order){ .kind = RELEASE }).code, 0, "and out again");
	}
	agent_stop(&a);
	whole(f, "after gates");
	flk_detach(f);
}

/* A time_t that in nanoseconds would begin anew: it is not in the past. */
static void
test_far_deadline(void)
{
	struct timespec far = { .tv_sec = INT64_MAX / 500000000 };
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f), *b = taker(f);

	is(acquire(a, 1, 1, 0), 0, "one holds");
	flk_cancel(b);
	is(enqueue(b, 1, 1), -EINPROGRESS, "another waits");
	is(flk_wait(b, &far, NULL), -FLK_CANCELLED,
	   "until it is cancelled, not for no time at all");
	flk_taker_free(a);
	flk_taker_free(b);
	whole(f, "after a far deadline");
	flk_detach(f);
}

static void
test_dead_in_snapshot(void)
{
	struct order take = { .kind = ACQUIRE, .weight = 1, .limit = 1, .ms = -1 };
	struct order queue = { .kind = ENQUEUE, .weight = 1, .limit = 1 };
	struct flk *f = fresh(1);
	struct agent a = agent_start(flk_path(f)), b = agent_start(flk_path(f));
	struct flk_snapshot *s;

	agent_do(&a, take);
	agent_do(&b, queue);
	agent_kill(&b, SIGKILL);
	is(flk_snapshot(f, &s), 0, "the last in the line is killed");
	is(s->waiters, 0, "and not shown as one who waits");
	free(s);
	b = agent_start(flk_path(f));
	agent_do(&b, queue);
	agent_kill(&b, SIGKILL);
	agent_kill(&a, SIGKILL);
	is(flk_snapshot(f, &s), 0, "one who waits, and the one it waits for");
	ok(s->used == 0 && s->holders == 0 && s->waiters == 0, "and neither is shown");
	free(s);
	whole(f, "after that");
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_attach();
	test_life();
	test_default_limit();
	test_many_cpus();
	test_line();
	test_place_of_a_newcomer();
	test_withheld();
	test_steering();
	test_close();
	test_wait_idle();
	test_wait_idle_and_death();
	test_cancel();
	test_strangers();
	test_thread_end();
	test_guard();
	test_guards_for_reading();
	test_entrust_in_vain();
	test_heirs();
	test_strerror();
	test_snapshot();
	test_gated();
	test_far_deadline();
	test_dead_in_snapshot();
	return tap_done();
}
