/* SPDX-License-Identifier: ISC */
/*
 * exits.c - what lib/exiting.c makes of /proc/PID/stat, on texts of our own: each state that a process
 * can be in, also those that last for an instant; and how long it sleeps until the next look.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "exiting.h"
#include "pidfd.h"

#define FD    1000
#define PIDFD 1001

/* ---- a process that is not there ---- */

static char stat_text[700];
static char opened_path[64];
static int open_error, kill_error, pidfd, polled, naps, open_files, looks, ends_at_look;
static int poll_result, poll_ms;
static size_t asked;
static uint64_t the_time;

static int
fake_open(const char *path, int flags)
{
	looks++;
	if (looks == ends_at_look)
		stat_text[0] = '\0';
	snprintf(opened_path, sizeof(opened_path), "%s", path);
	if (open_error != 0 || flags != (O_RDONLY | O_CLOEXEC)) {
		errno = open_error;
		return -1;
	}
	open_files++;
	return FD;
}

static ssize_t
fake_read(int fd, void *to, size_t size)
{
	size_t n = strlen(stat_text);

	asked = size;
	if (fd != FD || n == 0)
		return -1;
	n = n < size ? n : size;
	memcpy(to, stat_text, n);
	return (ssize_t)n;
}

static int
fake_close(int fd)
{
	open_files -= fd == FD || fd == PIDFD;
	return 0;
}

static int
fake_kill(pid_t pid, int sig)
{
	errno = kill_error;
	return pid > 0 && sig == 0 && kill_error == 0 ? 0 : -1;
}

static int
fake_pidfd_open(pid_t pid)
{
	(void)pid;
	open_files += pidfd != -1;
	return pidfd;
}

static int
fake_poll(struct pollfd *fds, nfds_t n, int ms)
{
	polled++;
	poll_ms = ms;
	the_time += ms > 0 && poll_result == 0 ? (uint64_t)ms * MS : 0;
	return n == 1 && fds->fd == PIDFD && fds->events == POLLIN ? poll_result : -1;
}

static int
fake_usleep(useconds_t us)
{
	naps++;
	the_time += us * UINT64_C(1000);
	return 0;
}

static uint64_t
fake_now(void)
{
	return the_time;
}

#define open(path, flags)    fake_open(path, flags)
#define read(fd, to, size)   fake_read(fd, to, size)
#define close(fd)            fake_close(fd)
#define kill(pid, sig)       fake_kill(pid, sig)
#define poll(fds, n, ms)     fake_poll(fds, n, ms)
#define usleep(us)           fake_usleep(us)
#define flki_pidfd_open(pid) fake_pidfd_open(pid)
#define flki_monotonic_ns()  fake_now()
#include "exiting.c"

#define EXITING 4

/* The fields of proc(5): their numbers count from 1, and the last that is of interest is the 22nd. */
static void
process_is(char state, unsigned flags, unsigned threads, unsigned ticks)
{
	snprintf(stat_text, sizeof(stat_text),
		 "77 (a) R 9 (b) %c 1 2 3 4 -1 %u 10 11 12 13 14 15 16 17 -18 -19 %u 21 %u 23 24\n",
		 state, flags, threads, ticks);
	open_error = kill_error = polled = naps = looks = ends_at_look = poll_result = 0;
	pidfd = PIDFD;
	the_time = 100 * SECOND;
}

static enum flki_life
life(void)
{
	uint64_t start;

	return flki_life_of(77, &start);
}

/* ---- one look ---- */

static void
test_states(void)
{
	uint64_t start = 1, tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK);

	process_is('S', 0x400000, 1, 5000);
	is(flki_life_of(77, &start), RUNS, "a process that sleeps runs on");
	ok(start == 5000 * tick && strcmp(opened_path, "/proc/77/stat") == 0, "since a time");
	is(flki_life_of(0, &start), RUNS, "this process");
	ok(strcmp(opened_path, "/proc/self/stat") == 0, "has no number");
	process_is('R', EXITING, 1, 1);
	is(life(), EXITS, "a process whose exit has begun");
	process_is('Z', EXITING, 1, 1);
	is(life(), ENDED, "a zombie has ended");
	process_is('X', EXITING, 0, 1);
	is(life(), ENDED, "and what is dead");
	process_is('Z', EXITING, 2, 1);
	is(life(), EXITS, "not while another thread is on its way");
	is(open_files, 0, "each look closes its file");
}

static void
test_no_look(void)
{
	static const int lacks[] = { EMFILE, ENFILE, ENOMEM };
	uint64_t start = 1;
	unsigned i;

	process_is('S', 0, 1, 1);
	open_error = ENOENT;
	is(flki_life_of(77, &start), ENDED, "no such process, or no /proc");
	is(start, 0, "was never started");
	for (i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		open_error = lacks[i];
		kill_error = 0;
		is(life(), EXITS, "for want of a descriptor (%d), a process that is there exits",
		   lacks[i]);
		kill_error = EPERM;
		is(life(), EXITS, "another user's, too");
		kill_error = ESRCH;
		is(life(), ENDED, "and what is not there has ended");
	}
	process_is('S', 0, 1, 1);
	stat_text[0] = '\0';
	is(life(), ENDED, "it ended between the open and the read");
	process_is('S', 0, 1, 1);
	*strrchr(stat_text, ')') = '\0';
	is(life(), ENDED, "a text without an end of the name");
	process_is('S', 0, 1, 1);
	*strstr(stat_text, " 21") = '\0';
	is(life(), ENDED, "or without a start");
	memset(stat_text, ' ', sizeof(stat_text) - 1);
	is(life(), ENDED, "or too long");
	is(asked, 511, "has room for its zero");
	is(open_files, 0, "each look closes its file");
}

/* A process with that number is the one that was started between two times. */
static void
test_since(void)
{
	uint64_t tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK), at = 500 * tick;

	process_is('S', 0, 1, 500);
	ok(flki_runs_since(77, at, at), "it was started in that tick");
	ok(flki_runs_since(77, at + tick - 1, at + tick), "or in what is left of the tick");
	ok(!flki_runs_since(77, at + tick, at + 2 * tick), "not after it");
	ok(!flki_runs_since(77, at - 2 * tick, at - 1), "nor before it");
	ok(!flki_runs_since(77, 0, 0), "nor where no time is known");
	process_is('S', EXITING, 1, 500);
	ok(!flki_runs_since(77, at, at), "what exits does not run");
}

/* ---- the sleep between two ---- */

static void
test_await_exit(void)
{
	process_is('R', EXITING, 1, 1);
	flki_await_exit(77, the_time);
	is(looks, 0, "no look when the time is over");
	poll_result = 1;
	flki_await_exit(77, the_time + 1500 * MS);
	ok(looks == 1 && polled == 1 && naps == 0, "one sleep until the end");
	is(poll_ms, 1501, "that is not cut short");
	process_is('R', EXITING, 1, 1);
	flki_await_exit(77, the_time + 20 * MS);
	ok(looks == 1 && polled == 1 && the_time > 100 * SECOND + 20 * MS,
	   "one sleep, too, if it does not end in time");
	process_is('S', 0, 1, 1);
	flki_await_exit(77, the_time + 20 * MS);
	is(polled, 0, "there is nothing to wait for if its exit has not begun");
	process_is('R', EXITING, 1, 1);
	pidfd = -1;
	flki_await_exit(77, the_time + 100 * MS);
	ok(polled == 0 && naps == looks && naps >= 5 && naps <= 100,
	   "without a pidfd it looks again and again, and sleeps in between");
	process_is('R', EXITING, 1, 1);
	poll_result = -1;
	ends_at_look = 3;
	flki_await_exit(77, the_time + 9 * SECOND);
	ok(looks == 3 && polled == 2 && naps == 2, "and where poll(2) is refused");
	is(open_files, 0, "the pidfd is closed");
}

static void
test_await_end(void)
{
	process_is('S', 0, 1, 0);
	poll_result = 1;
	flki_await_end(77, 0, SECOND);
	ok(looks == 1 && polled == 1 && poll_ms == -1, "one sleep until the end, however long");
	process_is('S', 0, 1, 0);
	pidfd = -1;
	ends_at_look = 4;
	flki_await_end(77, 0, SECOND);
	ok(looks == 4 && polled == 0 && naps == 3, "without a pidfd it looks until then");
	is(open_files, 0, "the pidfd is closed");
}

int
main(void)
{
	begin();
	test_states();
	test_no_look();
	test_since();
	test_await_exit();
	test_await_end();
	return tap_done();
}
