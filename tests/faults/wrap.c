/* SPDX-License-Identifier: ISC */
/*
 * wrap.c - between the library and libc.  The linker sends each call of NAME in this program
 * to __wrap_NAME, and of __real_NAME to libc.  The tests' own calls come here too: they are let
 * through while nothing is armed.
 */
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "../helpers/wide.h"
#include "futex.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

const char *const call_names[CALLS] = {
	[CALLOC] = "calloc",
	[MALLOC] = "malloc",
	[OPEN_BOOT] = "open of the boot's id",
	[OPEN_SELF] = "open of itself",
	[OPEN_DIR] = "open of the directory",
	[MKDIR] = "mkdir",
	[OPENAT_FILE] = "openat",
	[OPENAT_TMPFILE] = "openat O_TMPFILE",
	[OPENAT_CREATE] = "openat O_CREAT",
	[OPENAT_ORDER] = "openat of an order",
	[READ] = "read",
	[DUPFD] = "fcntl F_DUPFD",
	[SETLK] = "fcntl F_OFD_SETLK",
	[GETLK] = "fcntl F_OFD_GETLK",
	[SETLKW] = "fcntl F_OFD_SETLKW",
	[FSTAT] = "fstat",
	[LSTAT] = "lstat",
	[FSTATFS] = "fstatfs",
	[MMAP] = "mmap",
	[FCHMOD] = "fchmod",
	[LINKAT] = "linkat",
	[FALLOCATE] = "posix_fallocate",
	[PUNCH] = "fallocate",
	[FTRUNCATE] = "ftruncate",
	[PWRITE] = "pwrite",
	[THREAD] = "pthread_create",
	[FUTEX_WAITV] = "futex_waitv",
	[FUTEX_WAIT] = "futex wait",
};

bool world_lacks_tmpfile, world_lacks_fallocate, world_lacks_punch, world_lacks_waitv;
long world_file_system;

static struct fault plan;
static _Atomic bool armed;
static _Atomic unsigned counts[CALLS];
static _Atomic bool met;
static _Atomic int allocated;
static _Thread_local bool is_caller; /* not a thread of the library's */

void
faults_arm(struct fault fault)
{
	plan = fault;
	is_caller = true;
	atomic_store(&armed, true);
}

void
faults_disarm(void)
{
	atomic_store(&armed, false);
}

bool
faults_met(void)
{
	return atomic_load(&met);
}

bool
faults_last(void)
{
	return plan.sticky;
}

unsigned
faults_count(enum call call)
{
	return atomic_load(&counts[call]);
}

int
faults_allocated(void)
{
	return atomic_load(&allocated);
}

/* Before each call at which the C library may end a thread that was cancelled: see cancel.h. */
static void
must_not_cancel(const char *call)
{
	int state;

	if (!atomic_load(&armed) || !is_caller)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (state != PTHREAD_CANCEL_DISABLE)
		trial_fails("a cancelled thread would end in %s", call);
}

/* Sets errno when it does. */
static bool
fails(enum call call)
{
	unsigned n;

	if (!atomic_load(&armed))
		return false;
	n = atomic_fetch_add(&counts[call], 1) + 1;
	if (call != plan.call || (plan.sticky ? n < plan.nth : n != plan.nth))
		return false;
	atomic_store(&met, true);
	errno = plan.error;
	return true;
}

/* ---- memory ---- */

void *__real_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void __real_free(void *p);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
    WIDE("__real_mmap64");
int __real_munmap(void *at, size_t n);

void *__wrap_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
    WIDE("__wrap_mmap64");
int __wrap_munmap(void *at, size_t n);

void *
__wrap_calloc(size_t n, size_t size)
{
	void *p = fails(CALLOC) ? NULL : __real_calloc(n, size);

	allocated += p != NULL;
	return p;
}

void *
__wrap_malloc(size_t size)
{
	void *p = fails(MALLOC) ? NULL : __real_malloc(size);

	allocated += p != NULL;
	return p;
}

void
__wrap_free(void *p)
{
	allocated -= p != NULL;
	__real_free(p);
}

void *
__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
	void *p = fails(MMAP) ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, from);

	allocated += p != MAP_FAILED;
	return p;
}

int
__wrap_munmap(void *at, size_t n)
{
	allocated--;
	return __real_munmap(at, n);
}

/* ---- files ---- */

int __real_open(const char *path, int flags, ...) WIDE("__real_open64");
int __real_openat(int dir, const char *path, int flags, ...) WIDE("__real_openat64");
int __real_mkdir(const char *path, mode_t mode);
ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __real_pwrite(int fd, const void *from, size_t n, off_t at) WIDE("__real_pwrite64");
int __real_fcntl(int fd, int what, ...) WIDE("__real___fcntl_time64");
int __real_fstat(int fd, struct stat *sb) WIDE("__real___fstat64_time64");
int __real_lstat(const char *path, struct stat *sb) WIDE("__real___lstat64_time64");
int __real_fstatfs(int fd, struct statfs *fs) WIDE("__real_fstatfs64");
int __real_fchmod(int fd, mode_t mode);
int __real_linkat(int from, const char *old, int to, const char *new, int flags);
int __real_posix_fallocate(int fd, off_t from, off_t n) WIDE("__real_posix_fallocate64");
int __real_fallocate(int fd, int mode, off_t from, off_t n) WIDE("__real_fallocate64");
int __real_ftruncate(int fd, off_t size) WIDE("__real_ftruncate64");

int __real_close(int fd);
int __real_usleep(useconds_t us);

int __wrap_close(int fd);
int __wrap_usleep(useconds_t us);
int __wrap_open(const char *path, int flags, ...) WIDE("__wrap_open64");
int __wrap_openat(int dir, const char *path, int flags, ...) WIDE("__wrap_openat64");
int __wrap_mkdir(const char *path, mode_t mode);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at) WIDE("__wrap_pwrite64");
int __wrap_fcntl(int fd, int what, ...) WIDE("__wrap___fcntl_time64");
int __wrap_fstat(int fd, struct stat *sb) WIDE("__wrap___fstat64_time64");
int __wrap_lstat(const char *path, struct stat *sb) WIDE("__wrap___lstat64_time64");
int __wrap_fstatfs(int fd, struct statfs *fs) WIDE("__wrap_fstatfs64");
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_linkat(int from, const char *old, int to, const char *new, int flags);
int __wrap_posix_fallocate(int fd, off_t from, off_t n) WIDE("__wrap_posix_fallocate64");
int __wrap_fallocate(int fd, int mode, off_t from, off_t n) WIDE("__wrap_fallocate64");
int __wrap_ftruncate(int fd, off_t size) WIDE("__wrap_ftruncate64");

static mode_t
mode_of(int flags, va_list args)
{
	return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
}

int
__wrap_open(const char *path, int flags, ...)
{
	enum call call = strncmp(path, "/proc/self/fd/", 14) == 0 ? OPEN_SELF
			 : strncmp(path, "/proc/", 6) == 0        ? OPEN_BOOT
								  : OPEN_DIR;
	va_list args;
	mode_t mode;

	must_not_cancel("open");
	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return fails(call) ? -1 : __real_open(path, flags, mode);
}

int
__wrap_openat(int dir, const char *path, int flags, ...)
{
	bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
	enum call call = nameless            ? OPENAT_TMPFILE
			 : (flags & O_CREAT) ? OPENAT_CREATE
			 : (flags & O_PATH)  ? OPENAT_ORDER
					     : OPENAT_FILE;
	va_list args;
	mode_t mode;

	must_not_cancel("openat");
	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	if (fails(call))
		return -1;
	if (nameless && world_lacks_tmpfile) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_openat(dir, path, flags, mode);
}

int
__wrap_mkdir(const char *path, mode_t mode)
{
	return fails(MKDIR) ? -1 : __real_mkdir(path, mode);
}

ssize_t
__wrap_read(int fd, void *to, size_t n)
{
	must_not_cancel("read");
	return fails(READ) ? -1 : __real_read(fd, to, n);
}

ssize_t
__wrap_pwrite(int fd, const void *from, size_t n, off_t at)
{
	must_not_cancel("pwrite");
	return fails(PWRITE) ? -1 : __real_pwrite(fd, from, n, at);
}

int
__wrap_fcntl(int fd, int what, ...)
{
	enum call call = what == F_OFD_SETLK    ? SETLK
			 : what == F_OFD_GETLK  ? GETLK
			 : what == F_OFD_SETLKW ? SETLKW
						: DUPFD;
	va_list args;
	void *arg;

	if (call == SETLKW)
		must_not_cancel("fcntl F_OFD_SETLKW");
	/* An int comes whole in the low half. */
	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	/* To unlock needs nothing that could be lacking. */
	if (call == SETLK && ((struct flock *)arg)->l_type == F_UNLCK)
		return __real_fcntl(fd, what, arg);
	return fails(call) ? -1 : __real_fcntl(fd, what, arg);
}

int
__wrap_close(int fd)
{
	must_not_cancel("close");
	return __real_close(fd);
}

int
__wrap_usleep(useconds_t us)
{
	must_not_cancel("usleep");
	return __real_usleep(us);
}

int
__wrap_fstat(int fd, struct stat *sb)
{
	return fails(FSTAT) ? -1 : __real_fstat(fd, sb);
}

int
__wrap_lstat(const char *path, struct stat *sb)
{
	return fails(LSTAT) ? -1 : __real_lstat(path, sb);
}

int
__wrap_fstatfs(int fd, struct statfs *fs)
{
	if (fails(FSTATFS) || __real_fstatfs(fd, fs) == -1)
		return -1;
	if (world_file_system != 0)
		fs->f_type = (__typeof__(fs->f_type))world_file_system;
	return 0;
}

int
__wrap_fchmod(int fd, mode_t mode)
{
	return fails(FCHMOD) ? -1 : __real_fchmod(fd, mode);
}

int
__wrap_linkat(int from, const char *old, int to, const char *new, int flags)
{
	return fails(LINKAT) ? -1 : __real_linkat(from, old, to, new, flags);
}

int
__wrap_posix_fallocate(int fd, off_t from, off_t n)
{
	must_not_cancel("posix_fallocate");
	if (fails(FALLOCATE))
		return errno;
	return world_lacks_fallocate ? EOPNOTSUPP : __real_posix_fallocate(fd, from, n);
}

int
__wrap_fallocate(int fd, int mode, off_t from, off_t n)
{
	must_not_cancel("fallocate");
	if (fails(PUNCH))
		return -1;
	if (world_lacks_punch) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_fallocate(fd, mode, from, n);
}

int
__wrap_ftruncate(int fd, off_t size)
{
	return fails(FTRUNCATE) ? -1 : __real_ftruncate(fd, size);
}

/* ---- threads and sleep ---- */

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *arg);
long __real_syscall(long number, ...);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *arg);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *arg)
{
	return fails(THREAD) ? errno : __real_pthread_create(t, attr, f, arg);
}

#define FUTEX_WAIT_BITSET 9

/* syscall() itself takes six of whatever its caller gave: an argument that is not there is garbage
 * that the kernel does not look at.  Through va_arg the address sanitizer would call that an error. */
long
__wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if ((number == SYS_futex_waitv && fails(FUTEX_WAITV)) ||
	    (number == FUTEX_CALL && (int)b == FUTEX_WAIT_BITSET && fails(FUTEX_WAIT)))
		return -1;
	if (number == SYS_futex_waitv && world_lacks_waitv) {
		errno = ENOSYS;
		return -1;
	}
	return __real_syscall(number, a, b, c, d, e, f);
}
