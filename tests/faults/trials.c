/* SPDX-License-Identifier: ISC */
/*
 * trials.c - each public operation that asks libc or the kernel for anything, in each of the
 * worlds in which it asks for something else.
 */
#include "faults.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "layout.h"

#define EXT4  0xef53
#define TMPFS 0x01021994
#define CROWD FIRST_SLOTS
#define OFTEN 20   /* no wait of ours looks that often */
#define SOON  50   /* ms */
#define LATE  2000 /* ms */
#define NO_END              \
	{                   \
		CALLS, 0, 0 \
	}

char trial_dir[128], trial_path[160];
struct flk *trial_limiter;

static struct flk_taker *me, *crowd[2 * CROWD];
static const struct flk_request one_of_100 = { .weight = 1, .limit = 100 };

/* ---- opening ---- */

static const struct lenience opening[] = {
	{ FSTATFS, 0, 0 },
	{ FSTATFS, 0, -FLK_ELSEWHERE }, /* for all that we know, another machine's */
	{ OPEN_BOOT, 0, 0 },
	{ OPEN_BOOT, 0, -FLK_NOBOOT },
	{ OPEN_BOOT, EMFILE, -EMFILE },
	{ OPEN_BOOT, ENFILE, -ENFILE },
	{ READ, 0, 0 },
	{ READ, 0, -FLK_NOBOOT },
	{ OPENAT_FILE, ELOOP, -FLK_SYMLINK },
	{ OPENAT_FILE, EISDIR, -FLK_NOTFILE },
	{ OPENAT_FILE, ENXIO, -FLK_NOTFILE },
	{ OPENAT_TMPFILE, EOPNOTSUPP, 0 },
	{ OPENAT_TMPFILE, EISDIR, 0 },
	{ OPENAT_TMPFILE, EINVAL, 0 },
	{ OPENAT_CREATE, EEXIST, 0 },       /* once: somebody was first, and removed it */
	{ OPENAT_CREATE, EEXIST, -ENOENT }, /* for ever */
	{ LINKAT, EEXIST, 0 },
	{ LINKAT, EEXIST, -ENOENT },
	{ LINKAT, ENOENT, 0 },
	{ FALLOCATE, EOPNOTSUPP, 0 },
	{ FALLOCATE, EINVAL, 0 },
	{ FALLOCATE, ENOSYS, 0 },
	{ FALLOCATE, EINTR, 0 },
	{ PWRITE, EINTR, 0 },
	{ PUNCH, 0, 0 },
	{ MMAP, EAGAIN, -ENOMEM },
	{ SETLK, EAGAIN, 0 },
	{ SETLK, EAGAIN, -FLK_STUCK },
	{ SETLK, EACCES, 0 },
	{ SETLK, EACCES, -FLK_STUCK },
	NO_END,
};

/* Without room for its history a limiter is one. */
static const struct lenience forgetful[] = {
	{ FALLOCATE, 0, 0 },
	{ PWRITE, 0, 0 },
	{ FSTAT, 0, 0 }, /* no history is kept in what may be another file */
	NO_END,
};

static void
nothing(void)
{
}

static int
open_it(void)
{
	struct flk_options options = { .limit = 5 };

	return flk_attach(&trial_limiter, trial_path, &options);
}

static void
close_it(int result)
{
	if (result == 0)
		flk_detach(trial_limiter);
}

static void
make_it(void)
{
	if (open_it() != 0)
		trial_fails("there is no limiter to begin with");
}

static void
in_the_directory(void)
{
	strcat(trial_dir, "/limiters");
	strcpy(trial_path, trial_dir);
	strcat(trial_path, "/limiter");
	setenv("FLOCKLIMIT_DIR", trial_dir, 1);
}

static int
open_by_name(void)
{
	return flk_attach(&trial_limiter, "limiter", NULL);
}

static void
an_empty_file(void)
{
	close(open(trial_path, O_RDWR | O_CREAT, 0600));
}

static void
without_tmpfile(void)
{
	world_lacks_tmpfile = true;
}

static void
without_fallocate(void)
{
	world_lacks_fallocate = true;
}

/* Read by another process, so that this one does not know its boot yet. */
static void
of_another_boot(void)
{
	pid_t pid = fork_child();
	int fd;

	world_file_system = EXT4;
	if (pid == 0) {
		make_it();
		_exit(0);
	}
	reap_child(pid);
	fd = open(trial_path, O_RDWR);
	if (fd == -1 || pwrite(fd, "other", 5, offsetof(struct header, boot)) != 5)
		trial_fails("no file of another boot");
	close(fd);
}

static void
of_another_boot_without_punch(void)
{
	of_another_boot();
	world_lacks_punch = true;
}

static void
in_memory_without_proc(void)
{
	world_file_system = TMPFS;
}

static void
without_stdin(void)
{
	close(STDIN_FILENO);
}

/* ---- permits ---- */

static const struct lenience growing[] = {
	{ FALLOCATE, EOPNOTSUPP, 0 }, { FALLOCATE, EINVAL, 0 }, { FALLOCATE, ENOSYS, 0 },
	{ FALLOCATE, EINTR, 0 },      { PWRITE, EINTR, 0 },     NO_END,
};

static void
take_many(unsigned n)
{
	unsigned i;

	make_it();
	for (i = 0; i < n; i++) {
		crowd[i] = taker(trial_limiter);
		if (flk_try(crowd[i], &one_of_100) != 0)
			trial_fails("no crowd");
	}
}

static void
a_full_file(void)
{
	take_many(CROWD);
}

static void
a_full_file_without_fallocate(void)
{
	world_lacks_fallocate = true;
	take_many(CROWD);
}

static int
take(void)
{
	int error = flk_taker_new(&me, trial_limiter);

	return error != 0 ? error : flk_try(me, &one_of_100);
}

static void
free_it(int result)
{
	(void)result;
	flk_taker_free(me);
	me = NULL;
}

static void
leave_it(int result)
{
	(void)result;
	flk_leave(me);
}

static const struct lenience guarding[] = {
	{ FSTAT, EIO, -EIO },
	{ FSTAT, ENOMEM, -ENOMEM },
	{ SETLK, EAGAIN, 0 },
	{ SETLK, EAGAIN, -EBUSY },
	{ SETLK, EACCES, 0 },
	{ SETLK, EACCES, -EBUSY },
	/* What the path leads to is not known then; /proc is asked instead. */
	{ OPEN_DIR, EACCES, 0 },
	{ OPEN_DIR, ENOTDIR, 0 },
	{ FSTAT, 0, 0 },
	{ OPEN_SELF, ENOENT, -FLK_GONE },
	NO_END,
};

static void
a_permit(void)
{
	take_many(1);
	if (take() != 0)
		trial_fails("no permit");
}

static void
another_guard(void)
{
	int fd;

	a_permit();
	if (flk_guard(crowd[0], &fd) != 0)
		trial_fails("no guard");
}

/* The path leads nowhere, so /proc must. */
static void
a_permit_without_a_name(void)
{
	a_permit();
	if (unlink(trial_path) == -1)
		trial_fails("unlink");
}

static int
guard(void)
{
	int fd;

	return flk_guard(me, &fd);
}

/* ---- looking ---- */

static const struct lenience none[] = { NO_END };

static void
more_than_guessed(void)
{
	take_many(CROWD + 8);
}

static int
look(void)
{
	struct flk_snapshot *snapshot;
	int error = flk_snapshot(trial_limiter, &snapshot);

	if (error == 0)
		free(snapshot);
	return error;
}

static int
verify(void)
{
	return flk_verify(trial_limiter);
}

/* ---- waiting ---- */

/* However it fails to sleep: it waits on, and does not spin. */
static const struct lenience waiting[] = {
	{ FUTEX_WAITV, 0, -ETIMEDOUT },
	{ FUTEX_WAIT, 0, -ETIMEDOUT },
	{ FSTAT, 0, -ETIMEDOUT },
	NO_END,
};

static void
one_who_holds_all(void)
{
	static const struct flk_request all = { .weight = 5, .limit = 5 };

	make_it();
	crowd[0] = taker(trial_limiter);
	if (flk_try(crowd[0], &all) != 0)
		trial_fails("nobody holds");
	me = taker(trial_limiter);
}

static void
one_who_holds_all_without_waitv(void)
{
	one_who_holds_all();
	world_lacks_waitv = true;
}

static int
wait_a_while(void)
{
	struct timespec end = in_ms(SOON);
	int result = flk_acquire(me, &one_of_100, &end);

	if (faults_count(FUTEX_WAITV) > OFTEN || faults_count(FUTEX_WAIT) > OFTEN)
		trial_fails("it spins: %u sleeps on many words, %u on one, in %d ms",
			    faults_count(FUTEX_WAITV), faults_count(FUTEX_WAIT), SOON);
	return result;
}

static const struct lenience watching[] = {
	{ MALLOC, 0, 0 }, { THREAD, 0, 0 },         { GETLK, 0, 0 },
	{ SETLKW, 0, 0 }, { FUTEX_WAITV, 0, 0 },    { FUTEX_WAIT, 0, 0 },
	{ FSTAT, 0, 0 },  { FSTAT, 0, -ETIMEDOUT }, NO_END,
};

static int end_of_command; /* the orphan lives until something is written here, or we are gone */

/* A wrapper that was killed, and its command, which has the guard. */
static void
an_orphan(void)
{
	int command[2], ready[2], fd;
	char c = 0;
	pid_t pid;

	if (pipe2(command, O_CLOEXEC) == -1 || pipe2(ready, O_CLOEXEC) == -1)
		trial_fails("pipe");
	pid = fork_child();
	if (pid == 0) {
		close(command[1]);
		one_who_holds_all();
		if (flk_guard(crowd[0], &fd) != 0)
			_exit(1);
		if (fork() == 0)
			_exit(read(command[0], &c, 1) != 1);
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(command[0]);
	if (read(ready[0], &c, 1) != 1)
		trial_fails("no orphan");
	close(ready[0]);
	close(ready[1]);
	kill(pid, SIGKILL);
	reap_child(pid);
	end_of_command = command[1];
	make_it();
	me = taker(trial_limiter);
}

static int
wait_for_orphan(void)
{
	struct timespec end = in_ms(SOON);
	int result = flk_enqueue(me, &one_of_100);

	if (result != -EINPROGRESS)
		trial_fails("it does not have to wait: %s", flk_strerror(result));
	if ((result = flk_wait(me, &end, NULL)) != -ETIMEDOUT)
		trial_fails("the orphan's permit is given to another: %s", flk_strerror(result));
	if (faults_count(SETLKW) > OFTEN || faults_count(FUTEX_WAITV) > OFTEN ||
	    faults_count(THREAD) > OFTEN)
		trial_fails("it spins: %u vigils, %u sleeps, %u threads in %d ms",
			    faults_count(SETLKW), faults_count(FUTEX_WAITV), faults_count(THREAD),
			    SOON);
	if (write(end_of_command, "", 1) != 1)
		trial_fails("write");
	/* A guard that can't be asked for at all counts as held, for as long as that is so. */
	end = in_ms(faults_last() ? LATE : PATIENCE_MS);
	return flk_wait(me, &end, NULL);
}

/* ---- what asks for nothing, and so can't fail ---- */

static int
live_on(void)
{
	struct flk_permit permit;
	struct flk_place place;
	char why[80];
	int fd;

	return flk_permit(me, &permit) || flk_release(me) || flk_try(me, &one_of_100) ||
	       flk_place(me, &place) || flk_forget(me) || steer_restore(trial_limiter, 1) ||
	       flk_acquire(me, &one_of_100, NULL) || flk_leave(me) ||
	       steer_override(trial_limiter, 7) || steer_override(trial_limiter, FLK_AUTO) ||
	       steer_pause(trial_limiter) || steer_resume(trial_limiter) ||
	       steer_close(trial_limiter) || steer_open(trial_limiter) ||
	       steer_limit(trial_limiter, 5) || flk_check(trial_limiter, why, sizeof(why)) ||
	       flk_release(crowd[0]) || flk_wait_idle(me, NULL) ||
	       flk_guard(me, &fd) != -FLK_NOPERMIT;
}

const struct trial trials[] = {
	{ "a new limiter", nothing, open_it, close_it, opening, 0, false },
	{ "a new limiter in a new directory", in_the_directory, open_by_name, close_it, opening, 0,
	  false },
	{ "a new limiter in memory", in_memory_without_proc, open_it, close_it, opening, 0, false },
	{ "a new limiter, without nameless files", without_tmpfile, open_it, close_it, opening, 0,
	  false },
	{ "a new limiter, without fallocate", without_fallocate, open_it, close_it, opening, 0,
	  false },
	{ "a new limiter, without stdin", without_stdin, open_it, close_it, opening, 0, false },
	{ "a limiter in an empty file", an_empty_file, open_it, close_it, opening, 0, true },
	{ "another boot's limiter", of_another_boot, open_it, close_it, opening, 0, false },
	{ "another boot's limiter, without holes", of_another_boot_without_punch, open_it, close_it,
	  opening, 0, false },
	{ "the first permit", make_it, take, free_it, forgetful, 0, false },
	{ "one more than there is room for", a_full_file, take, free_it, growing, 0, false },
	{ "the same, without fallocate", a_full_file_without_fallocate, take, free_it, growing, 0,
	  false },
	{ "a guard", a_permit, guard, leave_it, guarding, 0, true },
	{ "a second guard", another_guard, guard, leave_it, guarding, 0, false },
	{ "a guard in a file without a name", a_permit_without_a_name, guard, leave_it, guarding, 0,
	  false },
	{ "a snapshot", more_than_guessed, look, NULL, none, 0, false },
	{ "to verify", make_it, verify, NULL, none, 0, false },
	{ "to wait", one_who_holds_all, wait_a_while, NULL, waiting, -ETIMEDOUT, false },
	{ "to wait, without futex_waitv", one_who_holds_all_without_waitv, wait_a_while, NULL,
	  waiting, -ETIMEDOUT, false },
	{ "to wait for an orphan", an_orphan, wait_for_orphan, leave_it, watching, 0, false },
	{ "to give back and to steer", a_permit, live_on, NULL, none, 0, false },
};
const unsigned trial_count = sizeof(trials) / sizeof(trials[0]);
