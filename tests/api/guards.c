/* SPDX-License-Identifier: ISC */
/*
 * guards.c - what lib/heirs.c makes of /proc: of lines about locks and mappings, of processes that end
 * while it looks, and of a /proc that is closed.
 */
#include "../helpers/common.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *fake_proc; /* a directory of ours in the place of /proc, or NULL */

static const char *
where(const char *path)
{
	static char room[200];

	if (fake_proc == NULL || strncmp(path, "/proc", 5) != 0)
		return path;
	snprintf(room, sizeof(room), "%s%s", fake_proc, path + 5);
	return room;
}

static const char *there; /* the path that access() finds */

static int
fake_access(const char *path)
{
	return there != NULL && strcmp(path, there) == 0 ? 0 : -1;
}

#include "internal.h"
#include "own.h"
#define access(path, mode) fake_access(path)
#define opendir(path)      opendir(where(path))
#define fopen(path, mode)  fopen(where(path), mode)
#include "heirs.c"
#undef access
#undef opendir
#undef fopen

#define LOCK(range) "lock:\t1: OFDLCK ADVISORY  READ  -1 00:1a:4711 " range "\n"

static void
test_locks(void)
{
	ok(covers(LOCK("1000 1000"), 1000, 1000), "a lock of one byte");
	ok(!covers(LOCK("1000 1000"), 999, 999), "is on no byte before it");
	ok(!covers(LOCK("1000 1000"), 1001, 1001), "nor after it");
	ok(covers(LOCK("1000 1003"), 1003, 1003), "a lock of several is on the last");
	ok(covers(LOCK("1000 1003"), 990, 1000), "one of many bytes is its first");
	ok(covers(LOCK("1000 1003"), 1003, 2000), "or its last");
	ok(!covers(LOCK("1000 1003"), 990, 999), "all before it are not");
	ok(!covers(LOCK("1000 1003"), 1004, 2000), "nor all behind it");
	ok(covers(LOCK("1000 EOF"), UINT64_C(1) << 40, UINT64_C(1) << 40), "a lock without an end");
	ok(!covers("lock:\t1: OFDLCK ADVISORY  WRITE -1 00:1a:4711 1000 1000\n", 1000, 1000),
	   "a lock for writing is no guard");
	ok(!covers("lock:\t1: POSIX  ADVISORY  READ  12 00:1a:4711 1000 1000\n", 1000, 1000),
	   "nor is one of the older kind");
	ok(!covers("flags:\t0100000\n", 1000, 1000), "nor what is no lock");
	ok(!covers(LOCK("1000"), 1000, 1000), "nor half a line");
}

static void
test_mappings(void)
{
	struct mapping m;

	ok(parse_mapping("7f00-7fff rw-s 00000000 00:1a 4711    /dev/shm/x\n", &m), "a mapping");
	ok(m.from == 0x7f00 && m.to == 0x7fff && m.inode == 4711 &&
	       strcmp(m.device, "00:1a") == 0 && strcmp(m.access, "rw-s") == 0,
	   "is read");
	ok(!parse_mapping("7f00-7fff rw-s 00000000 00:1a\n", &m), "and half a one is not");
}

/* The limiter is mapped here; PID is asked for. */
static void
test_takers(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	const struct flk_request one = { .weight = 1, .limit = 1 };
	pid_t ended = fork_child();
	struct mapping ours, m;
	int fd;

	if (ended == 0)
		_exit(0);
	reap_child(ended);
	flk_try(t, &one);
	there = "/proc/self/task/1";
	is(works_on_it(f, 0, 1), 1, "a thread may have the number 1");
	is(works_on_it(f, 0, 2), 0, "but not any");
	is(works_on_it(f, 0, 0), 0, "and none has 0");
	is(flki_local_is_taker(f, flk_slot(t), ended), -ENOENT, "of a process that has ended");
	is(works_on_it(f, ended, 1), -ENOENT, "nothing is known");
	is(flki_local_is_taker(f, flk_slot(t), 0), 0, "no process has the number 0");
	is(flki_local_is_taker(f, FIRST_SLOTS, getpid()), 0, "there is no such slot");
	is(find_mapping(0, (uintptr_t)f->file.h, NULL, &ours), 1, "it is mapped");
	ok(ours.from <= (uintptr_t)f->file.h && (uintptr_t)f->file.h < ours.to, "where it is");
	is(find_mapping(0, (uintptr_t)f->file.h, NULL, &m), 1, "at its first byte");
	is(find_mapping(0, ours.to - 1, NULL, &m), 1, "and its last");
	ok(m.from == ours.from, "is the same mapping");
	is(find_mapping(0, 0, NULL, &m), 0, "nothing is mapped at 0");
	ours.inode++;
	is(find_mapping(0, 0, &ours, &m), 0, "another file is not");
	ours.inode--;
	strcpy(ours.device, "ff:ff");
	is(find_mapping(0, 0, &ours, &m), 0, "nor one on another device");
	fake_proc = "/nowhere";
	is(find_mapping(0, 0, NULL, &m), -ENOENT, "without /proc nothing is known");
	fake_proc = NULL;
	if (flk_guard(t, &fd) != 0)
		tap_bail("no guard");
	is(flki_local_is_taker(f, flk_slot(t), getpid()), 1, "its taker has the guard");
	is(flki_local_is_taker(f, flk_slot(t), getppid()), 0, "and another process has not");
	is(flki_local_is_taker(f, flk_slot(t), ended), -ENOENT, "one that has ended is not known");
	flk_taker_free(t);
	flk_detach(f);
}

/* A process of our own /proc, which has the limiter open as descriptor 3. */
static void
put_process(const char *pid, const struct flk *f, const char *locks)
{
	char path[200];
	FILE *info;

	snprintf(path, sizeof(path), "%s/%s", fake_proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/fd", fake_proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/fd/3", fake_proc, pid);
	if (symlink(flk_path(f), path) == -1)
		tap_bail("symlink");
	snprintf(path, sizeof(path), "%s/%s/fdinfo", fake_proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/fdinfo/3", fake_proc, pid);
	info = fopen(path, "we");
	if (info == NULL || fprintf(info, "pos:\t0\nflags:\t0100000\n%s", locks) < 0 ||
	    fclose(info) != 0)
		tap_bail("fdinfo");
}

static void
test_heirs(void)
{
	struct flk *f = fresh(1);
	char lock[120];
	pid_t found[4];

	snprintf(lock, sizeof(lock), "lock:\t1: OFDLCK ADVISORY  READ  -1 00:1a:47 %lld %lld\n",
		 (long long)GUARD_BASE + 5, (long long)GUARD_BASE + 5);
	fake_proc = strdup(fresh_path());
	mkdir(fake_proc, 0700);
	put_process("7", f, lock);
	put_process("12", f, "");
	put_process("x9", f, lock);
	put_process("3456789", f, lock);
	is(flki_heirs(f, 5, found, 4), 2, "of all processes those with the lock");
	is(found[0] + found[1], 3456796, "are found, whatever their number");
	is(flki_heirs(f, 5, found, 1), 1, "or as many as there is room for");
	is(flki_heirs(f, 4, found, 4), 0, "no other permit has heirs");
	free((char *)(uintptr_t)fake_proc);
	fake_proc = NULL;
	flk_detach(f);
}

static void
test_dead_taker(void)
{
	const struct flk_request one = { .weight = 1, .limit = 1 };
	struct flk *f = fresh(1);
	struct flk_permit permit;
	pid_t pid = fork_child();

	if (pid == 0)
		_exit(flk_try(taker(f), &one) != 0);
	is(reap_child(pid), 0, "a taker dies with its permit");
	ok(!flk_holds(f, 0, 1, &permit), "which is over, though nobody has reaped it");
	is(state_of(&f->file.slots[0]), HELD, "yet");
	flk_detach(f);
}

/* Of the bytes of several permits, in one or two descriptions. */
static void
test_guards(void)
{
	const struct flk_request one = { .weight = 1, .limit = 3 };
	struct flk *f = fresh(3);
	struct flk_taker *a = taker(f), *b = taker(f);
	int fd;

	flk_try(a, &one);
	flk_try(b, &one);
	if ((fd = flk_guard_open(f)) < 0 || flk_guard_by(a, fd) != 0)
		tap_bail("no guard");
	ok(flki_guard_locks(fd, flk_slot(a), 1), "it locks one byte");
	ok(!flki_guard_locks(fd, flk_slot(b), 1), "and no other");
	ok(flki_guard_locks(fd, 0, MAX_SLOTS), "so one of all");
	ok(!flki_guard_locks(1000000, 0, MAX_SLOTS), "what is no descriptor locks none");
	flk_taker_free(b);
	flk_taker_free(a);
	close(fd);
	flk_detach(f);
}

/* By its path, or by /proc where that leads to another file, or to none. */
static void
test_descriptors(void)
{
	const struct flk_request one = { .weight = 1, .limit = 1 };
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	struct stat sb;
	int fd;

	flk_try(t, &one);
	errno = EMFILE; /* of an earlier call, and without meaning */
	is(flk_guard(t, &fd), 0, "a guard");
	ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "is no other program's");
	flk_leave(t);
	ok(fcntl(fd, F_GETFD) == -1, "and ends with the permit");
	if (unlink(flk_path(f)) != 0)
		tap_bail("unlink");
	close(open(flk_path(f), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	fd = flk_guard_open(f);
	ok(fd > STDERR_FILENO && fstat(fd, &sb) == 0 && sb.st_ino == f->file.ino,
	   "where the path leads to another file, it is on the limiter's own");
	ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "and no other program's");
	close(fd);
	unlink(flk_path(f));
	fd = flk_guard_open(f);
	ok(fd > STDERR_FILENO && fstat(fd, &sb) == 0 && sb.st_ino == f->file.ino,
	   "and where it leads nowhere");
	close(fd);
	flk_taker_free(t);
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_locks();
	test_mappings();
	test_takers();
	test_heirs();
	test_dead_taker();
	test_guards();
	test_descriptors();
	return tap_done();
}
