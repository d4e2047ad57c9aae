/* SPDX-License-Identifier: ISC */
/*
 * surroundings.c - what the library takes from its surroundings: the boot's id and the clock of a time
 * namespace, from texts of our own; the signals of the threads that it starts; and the paths that it shows.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "clock.h"
#include "directory.h"

/* ---- one file that is not there ---- */

#define FD 0 /* stdin may be closed */

static const char *path_of_text, *offered;
static int open_error, opens, open_files;

static int
fake_open(const char *path, int flags)
{
	opens++;
	if (offered == NULL || strcmp(path, path_of_text) != 0 || flags != (O_RDONLY | O_CLOEXEC)) {
		errno = open_error;
		return -1;
	}
	open_files++;
	return FD;
}

static ssize_t
fake_read(int fd, void *to, size_t size)
{
	size_t n = fd == FD ? strlen(offered) : 0;

	n = n < size ? n : size;
	memcpy(to, offered, n);
	return fd == FD ? (ssize_t)n : -1;
}

static int
fake_close(int fd)
{
	open_files -= fd == FD;
	return 0;
}

/* ---- threads that are not started ---- */

static int attr_error, create_error;
static sigset_t mask_of_thread;
static unsigned deleted;

static int
fake_attr_init(pthread_attr_t *attr)
{
	return attr_error != 0 ? attr_error : pthread_attr_init(attr);
}

static int
fake_sigdelset(sigset_t *set, int sig)
{
	deleted++;
	return sigdelset(set, sig);
}

static int
fake_create(const pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int state;

	(void)thread;
	(void)run;
	(void)arg;
	if (create_error != 0)
		return create_error;
	pthread_sigmask(SIG_SETMASK, NULL, &mask_of_thread);
	if (pthread_attr_getdetachstate(attr, &state) != 0 || state != PTHREAD_CREATE_DETACHED)
		return EINVAL;
	return 0;
}

#define open(path, flags)                    fake_open(path, flags)
#define read(fd, to, size)                   fake_read(fd, to, size)
#define close(fd)                            fake_close(fd)
#define pthread_attr_init(attr)              fake_attr_init(attr)
#define sigdelset(set, sig)                  fake_sigdelset(set, sig)
#define pthread_create(thread, attr, f, arg) fake_create(thread, attr, f, arg)
#include "boot.c"
#include "timens.c"
#include "thread.c"

/* ---- the boot ---- */

#define BOOT "/proc/sys/kernel/random/boot_id"
#define UUID "0123abcd-45ef-6789-90fe-dcba98765432\n"

static void
test_no_boot(void)
{
	static const unsigned char zeros[16];
	unsigned char id[16];

	path_of_text = BOOT;
	open_error = ENOENT;
	is(flki_boot_learn(), -FLK_NOBOOT, "no /proc, no boot");
	open_error = EMFILE;
	is(flki_boot_learn(), -EMFILE, "too many descriptors");
	open_error = ENFILE;
	is(flki_boot_learn(), -ENFILE, "or of all processes");
	open_error = EACCES;
	is(flki_boot_learn(), -FLK_NOBOOT, "not for us");
	offered = "0123abcd-45ef-6789-90fe-dcba9876543\n";
	is(flki_boot_learn(), -FLK_NOBOOT, "too short an id");
	offered = "";
	is(flki_boot_learn(), -FLK_NOBOOT, "none at all");
	flki_boot_id(id);
	ok(memcmp(id, zeros, 16) == 0, "until it is known it is zeros");
	ok(!flki_boot_is_this(zeros), "which is not this boot's");
	is(open_files, 0, "each look closes its file");
}

static void
test_boot(void)
{
	static const unsigned char want[16] = { 0x01, 0x23, 0xab, 0xcd, 0x45, 0xef, 0x67, 0x89,
						0x90, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32 };
	unsigned char id[16];

	offered = UUID;
	opens = 0;
	is(flki_boot_learn(), 0, "a boot's id is read");
	flki_boot_id(id);
	ok(memcmp(id, want, 16) == 0, "as it stands there");
	offered = NULL;
	is(flki_boot_learn(), 0, "once and for all");
	is(opens, 1, "from one look");
	ok(flki_boot_is_this(want), "it is this boot's");
	id[15]++;
	ok(!flki_boot_is_this(id), "and another is not");
}

/* ---- the clock ---- */

static int64_t
clock_ahead_by(const char *offsets)
{
	struct flk f = { .ahead_ns = INT64_MIN };
	int64_t answer;

	path_of_text = "/proc/self/timens_offsets";
	offered = offsets;
	answer = flki_clock_ahead(&f);
	offered = "monotonic 99 99\n";
	return flki_clock_ahead(&f) == answer ? answer : INT64_MIN;
}

static void
test_clock(void)
{
	is(clock_ahead_by(NULL), 0, "without time namespaces there is one clock");
	is(clock_ahead_by("monotonic           5         7\nboottime            3         4\n"),
	   5000000007, "a clock that is ahead");
	is(clock_ahead_by("monotonic          -5         7\n"), -4999999993, "or behind");
	is(clock_ahead_by("monotonic 5\n"), 0, "half a time is none");
	is(clock_ahead_by("boottime 5 7\n"), 0, "nor is another clock's");
	is(clock_ahead_by("monotonic 2147483647 0\n"), INT32_MAX * INT64_C(1000000000), "68 years");
	is(clock_ahead_by("monotonic 2147483648 0\n"), 0, "and no more");
	is(clock_ahead_by("monotonic -2147483647 0\n"), -INT32_MAX * INT64_C(1000000000),
	   "either way");
	is(clock_ahead_by("monotonic -2147483648 0\n"), 0, "and no less");
	is(clock_ahead_by(""), 0, "an empty file");
	is(open_files, 0, "each look closes its file");
}

/* ---- threads ---- */

static void
test_thread(void)
{
	static const int open_to[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGSYS };
	static const int blocked[] = {
		SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGTSTP
	};
	sigset_t before, after;
	unsigned i, n = 0;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	is(flki_thread_start(NULL, NULL, 65536), 0, "a thread of the library's own");
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (i = 0; i < sizeof(open_to) / sizeof(open_to[0]); i++)
		n += sigismember(&mask_of_thread, open_to[i]) == 0;
	ok(n == 5 && deleted == 5, "has all faults, and only these");
	for (i = n = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		n += sigismember(&mask_of_thread, blocked[i]) == 1 &&
		     sigismember(&after, blocked[i]) == sigismember(&before, blocked[i]);
	is(n, sizeof(blocked) / sizeof(blocked[0]), "the program's signals are its own threads'");
	create_error = EAGAIN;
	is(flki_thread_start(NULL, NULL, 0), -EAGAIN, "there may be too many");
	attr_error = ENOMEM;
	is(flki_thread_start(NULL, NULL, 0), -ENOMEM, "or no memory for another");
}

/* ---- paths ---- */

static void
test_join(void)
{
	struct directory d = { .dir = "/dir" };
	char path[16];

	is(flki_directory_size(&d, "name"), 10, "a directory, a slash, a name, and a zero");
	is(flki_directory_join(&d, "name", path, 10), 0, "have room in as many bytes");
	is(strcmp(path, "/dir/name"), 0, "as a path");
	is(flki_directory_join(&d, "name", path, 9), -ENAMETOOLONG, "and in no less");
	d.dir = NULL;
	is(flki_directory_size(&d, "./name"), 7, "a path stays as it is");
	is(flki_directory_join(&d, "./name", path, 7), 0, "and needs no more room");
	is(strcmp(path, "./name"), 0, "than it has");
	is(flki_directory_join(&d, "./name", path, 6), -ENAMETOOLONG, "nor less");
}

int
main(void)
{
	begin();
	test_no_boot();
	test_boot();
	test_clock();
	test_thread();
	test_join();
	return tap_done();
}
