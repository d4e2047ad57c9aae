/* SPDX-License-Identifier: ISC */
/*
 * attach.c - opening a limiter in a program that has threads: with the smallest stacks, with children that
 * are forked at any moment, and with threads that are cancelled; and on every kind of file system.
 *
 * The linker sends the library's calls of open(), fstatfs() and syscall() here (--wrap), so that a
 * thread can be held up while it reads the boot's id, a file can be on any kind, and another maker can
 * be at work between an opener's look at the magic and its look at the boot.
 */
#include "../helpers/common.h"
#include "../helpers/wide.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "layout.h"

#define ABYSS  (1024 * 1024)
#define FORKS  300
#define HANG_S 10 /* after which a child hangs for good */

/*
 * Beyond the smallest stack that a thread can have.  Sanitizers need far more than that, and musl's
 * smallest is 2 KiB, which no thread that opens files gets by with: glibc's is 16 KiB.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPARE_STACK (1024 * 1024)
#elif !defined(__GLIBC__)
#define SPARE_STACK (14 * 1024)
#else
#define SPARE_STACK 0
#endif

int __real_open(const char *path, int flags, ...) WIDE("__real_open64");
int __wrap_open(const char *path, int flags, ...) WIDE("__wrap_open64");

int __real_fstatfs(int fd, struct statfs *fs) WIDE("__real_fstatfs64");
int __wrap_fstatfs(int fd, struct statfs *fs) WIDE("__wrap_fstatfs64");

static long kind_of_all; /* of file systems: the f_type of each, or 0 */

int
__wrap_fstatfs(int fd, struct statfs *fs)
{
	int result = __real_fstatfs(fd, fs);

	if (kind_of_all != 0)
		fs->f_type = (__typeof__(fs->f_type))kind_of_all;
	return result;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

static void (*before_statx)(void); /* called once, by the next statx() */

/* syscall() itself takes six of whatever its caller gave: an argument that is not there is garbage
 * that the kernel does not look at.  Through va_arg the address sanitizer would call that an error. */
long
__wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	void (*act)(void) = before_statx;

	if (number == SYS_statx && act != NULL) {
		before_statx = NULL;
		act();
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

/* The next to read the boot's id posts `inside' and waits for `go_on'. */
static _Atomic bool hold_up;
static sem_t inside, go_on;

int
__wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (strstr(path, "boot_id") != NULL && atomic_exchange(&hold_up, false)) {
		sem_post(&inside);
		while (sem_wait(&go_on) != 0)
			;
	}
	return __real_open(path, flags, mode);
}

static int
open_and_close(const char *path)
{
	struct flk *f;
	int error = flk_attach(&f, path, NULL);

	if (error == 0)
		flk_detach(f);
	return error;
}

static int
in_child(int (*act)(void))
{
	pid_t pid = fork_child();

	if (pid == 0) {
		alarm(HANG_S);
		_exit(act());
	}
	return reap_child(pid);
}

/* ---- the smallest stack ---- */

struct errand {
	const char *name;
	struct flk_options options;
	int result;
};

/* All that a job needs, with a wait in the line that ends at once. */
static int
take_and_wait(struct flk *f)
{
	const struct flk_request all = { .limit = 1 };
	struct timespec past = { 0 };
	struct flk_taker *holder, *waiter;
	int error = flk_taker_new(&holder, f);

	if (error != 0)
		return error;
	if ((error = flk_taker_new(&waiter, f)) == 0) {
		if ((error = flk_acquire(holder, &all, NULL)) == 0 &&
		    (error = flk_acquire(waiter, &all, &past)) == -ETIMEDOUT)
			error = flk_release(holder);
		flk_taker_free(waiter);
	}
	flk_taker_free(holder);
	return error;
}

static void *
run_errand(void *arg)
{
	struct errand *e = arg;
	struct flk *f;

	e->result = flk_attach(&f, e->name, &e->options);
	if (e->result == 0) {
		e->result = take_and_wait(f);
		flk_detach(f);
	}
	return NULL;
}

/* Below the stack nothing can be touched for a megabyte. */
static int
use_on_smallest_stack(const char *name)
{
	size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN) + SPARE_STACK;
	char *area = mmap(NULL, ABYSS + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct errand e = { .name = name, .result = 1 };
	pthread_attr_t attr;
	pthread_t thread;

	if (area == MAP_FAILED || mprotect(area + ABYSS, size, PROT_READ | PROT_WRITE) == -1)
		tap_bail("no memory for a stack");
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, area + ABYSS, size) != 0 ||
	    pthread_create(&thread, &attr, run_errand, &e) != 0)
		tap_bail("no thread with a stack of %zu bytes", size);
	pthread_attr_destroy(&attr);
	pthread_join(thread, NULL);
	munmap(area, ABYSS + size);
	return e.result;
}

static int
use_name_on_smallest_stack(void)
{
	return use_on_smallest_stack("small");
}

static void
test_smallest_stack(void)
{
	struct flk *f = fresh(1);
	const char *path = flk_path(f);

	is(in_child(use_name_on_smallest_stack), 0,
	   "a thread with the smallest stack makes a limiter by its name, takes a permit and "
	   "waits");
	is(use_on_smallest_stack(path), 0, "and attaches one by its path");
	if (geteuid() != 0) {
		tap_skip("only root can give files away");
	} else {
		if (chown(path, 12345, 54321) != 0 || chmod(path, 0660) != 0)
			tap_bail("%s", path);
		if (setgroups(2, (gid_t[]){ 12345, 67890 }) != 0)
			tap_bail("setgroups");
		is(use_on_smallest_stack(path), -FLK_FOREIGN,
		   "and looks through its groups for another user's file");
		if (setgroups(3, (gid_t[]){ 12345, 54321, 67890 }) != 0)
			tap_bail("setgroups");
		is(use_on_smallest_stack(path), 0, "of which one may write it");
	}
	flk_detach(f);
}

/* ---- children and cancelled threads ---- */

static void *
attach_once(void *arg)
{
	int error = open_and_close(arg);

	pthread_testcancel();
	return error == 0 ? arg : NULL;
}

/* A thread that attaches, and is held up while it reads the boot's id for the first time. */
static pthread_t
start_held_up(const char *name)
{
	pthread_t thread;

	sem_init(&inside, 0, 0);
	sem_init(&go_on, 0, 0);
	atomic_store(&hold_up, true);
	if (pthread_create(&thread, NULL, attach_once, (void *)(uintptr_t)name) != 0)
		tap_bail("pthread_create");
	while (sem_wait(&inside) != 0)
		;
	return thread;
}

/* Forks a child that attaches; true if it can. */
static bool
child_can_attach(const char *name)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		alarm(HANG_S);
		_exit(open_and_close(name) == 0 ? 0 : 1);
	}
	return pid != -1 && reap_child(pid) == 0;
}

/* In a process that has not read the boot's id. */
static int
fork_while_held_up(void)
{
	const char *name = "forked";
	pthread_t thread = start_held_up(name);
	bool could = child_can_attach(name);
	void *result;

	sem_post(&go_on);
	pthread_join(thread, &result);
	return could && result == name ? 0 : 1;
}

static int
count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d != NULL && readdir(d) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		n++;
	closedir(d);
	return n;
}

/* In a process that has not read the boot's id.  By name: the directory is open meanwhile. */
static int
cancel_while_held_up(void)
{
	const char *name = "cancelled";
	int before = count_descriptors();
	pthread_t thread = start_held_up(name);
	void *result;

	pthread_cancel(thread);
	sem_post(&go_on);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		return 2;
	if (open_and_close(name) != 0)
		return 3;
	return count_descriptors() == before ? 0 : 4;
}

static _Atomic bool enough;

static void *
attach_often(void *arg)
{
	while (!atomic_load(&enough))
		if (open_and_close(arg) != 0)
			return NULL;
	return arg;
}

static void
test_forks(void)
{
	struct flk *f = fresh(1);
	const char *path = flk_path(f);
	pthread_t thread;
	int i, good = 0;
	void *result;

	if (pthread_create(&thread, NULL, attach_often, (void *)(uintptr_t)path) != 0)
		tap_bail("pthread_create");
	for (i = 0; i < FORKS; i++)
		good += child_can_attach(path);
	atomic_store(&enough, true);
	pthread_join(thread, &result);
	ok(result == path, "a thread attaches all the time");
	is(good, FORKS, "and so does each child that is forked meanwhile");
	flk_detach(f);
}

/* ---- kinds of file systems ---- */

#define EXT4    0xef53
#define TMPFS   0x01021994
#define UNHEARD 0x12345678

/* Flips a bit of the byte at AT, and returns it; or only returns it. */
static unsigned char
byte_of(const char *path, size_t at, unsigned char flip)
{
	int fd = __real_open(path, O_RDWR);
	unsigned char c;

	if (fd == -1 || pread(fd, &c, 1, (off_t)at) != 1)
		tap_bail("%s", path);
	c ^= flip;
	if (pwrite(fd, &c, 1, (off_t)at) != 1)
		tap_bail("%s", path);
	close(fd);
	return c;
}

enum outcome { USED = 0, MADE_ANEW = 1, CHANGED = 2 };

/* What comes of a limiter on this kind of file system of which the byte at AT is another. */
static int
outcome_of(long kind, size_t at)
{
	char path[100];
	unsigned char there;
	int error;

	snprintf(path, sizeof(path), "%s", fresh_path());
	kind_of_all = kind;
	if ((error = open_and_close(path)) == 0) {
		there = byte_of(path, at, 1);
		error = open_and_close(path);
		if (byte_of(path, at, 0) != there)
			error = error == 0 ? MADE_ANEW : CHANGED;
	}
	kind_of_all = 0;
	return error;
}

/* Linux 5.10 knows it of files on disks, and not of those in memory. */
static bool
birth_is_known(void)
{
	struct flk *f = fresh(1);
	enum { WANT_BIRTH = 0x800 };
	uint32_t s[64] = { 0 }; /* first what is known; not every C library has a struct statx */
	bool known = syscall(SYS_statx, AT_FDCWD, flk_path(f), 0, WANT_BIRTH, s) == 0 &&
		     (s[0] & WANT_BIRTH) != 0;

	flk_detach(f);
	return known;
}

/* A limiter that was not born when its header says. */
static void
copy_is(long kind, int outcome, const char *words)
{
	if (birth_is_known())
		is(outcome_of(kind, offsetof(struct header, bound.born_ns)), outcome, "%s", words);
	else
		tap_skip("a copy: files have no time of birth in the directory of this test");
}

static void
test_kinds(void)
{
	static const long networks[] = { 0x6969, 0x47504653, 0x19830326, (long)0xaad7aaeau };
	const size_t boot = offsetof(struct header, boot), idle = offsetof(struct header, hint);
	unsigned i;

	for (i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
		is(outcome_of(networks[i], idle), -FLK_NETWORK, "%#lx is a network's",
		   (unsigned long)networks[i]);
	is(outcome_of(EXT4, idle), USED, "a limiter on a disk");
	is(outcome_of(EXT4, boot), MADE_ANEW, "is made anew if it is of another boot");
	copy_is(EXT4, MADE_ANEW, "or a copy");
	is(outcome_of(TMPFS, boot), USED, "one in memory is of this boot");
	copy_is(TMPFS, MADE_ANEW, "but may be a copy");
	is(outcome_of(UNHEARD, idle), USED, "one on a kind of file system that nobody knows");
	is(outcome_of(UNHEARD, boot), -FLK_ELSEWHERE, "may be in use on another machine");
	copy_is(UNHEARD, -FLK_ELSEWHERE, "and is never made anew");
}

/* ---- beside a maker ---- */

static char old_limiter[100];
static uint32_t filled_in; /* how many slots the maker has written into the header */

/* A maker in the old limiter, which is killed when it has filled in the boot's id, or a bit later. */
static void
half_made(void)
{
	static const uint64_t no_magic = 0;
	int fd = __real_open(old_limiter, O_RDWR);

	if (fd == -1 ||
	    pwrite(fd, &no_magic, sizeof(no_magic), offsetof(struct header, magic)) == -1 ||
	    pwrite(fd, &filled_in, sizeof(filled_in), offsetof(struct header, nslots)) == -1)
		tap_bail("%s", old_limiter);
	close(fd);
	byte_of(old_limiter, offsetof(struct header, boot), 1);
}

static void
test_beside_a_maker(uint32_t slots, const char *when)
{
	uint64_t magic = 0;
	int fd;

	filled_in = slots;
	snprintf(old_limiter, sizeof(old_limiter), "%s", fresh_path());
	kind_of_all = EXT4;
	is(open_and_close(old_limiter), 0, "a limiter on a disk, of another boot");
	byte_of(old_limiter, offsetof(struct header, boot), 1);
	before_statx = half_made;
	is(open_and_close(old_limiter), 0, "is opened beside its maker, %s", when);
	ok(before_statx == NULL, "whose work comes after the opener's look at the magic");
	kind_of_all = 0;
	fd = __real_open(old_limiter, O_RDONLY);
	if (fd == -1 || pread(fd, &magic, sizeof(magic), 0) != sizeof(magic))
		tap_bail("%s", old_limiter);
	close(fd);
	ok(magic == MAGIC, "and is used only when it has been made");
}

int
main(void)
{
	begin();
	setenv("FLOCKLIMIT_DIR", fresh_path(), 1);
	/* First, as they need a process that has not attached yet. */
	is(in_child(fork_while_held_up), 0,
	   "a child can attach that was forked while a thread did so for the first time");
	is(in_child(cancel_while_held_up), 0,
	   "a thread that is cancelled meanwhile leaves no lock and no descriptor");
	test_smallest_stack();
	test_forks();
	test_kinds();
	test_beside_a_maker(0, "which has filled in the boot's id");
	test_beside_a_maker(FIRST_SLOTS, "which has filled in the header");
	return tap_done();
}
