/* SPDX-License-Identifier: ISC */
/*
 * trespass.c - what a command can do to a file through the descriptors that it inherited.
 *
 *	trespass INODE		tries, and says what it could do.  Status 0: it has such a
 *				descriptor, and could do nothing; 1: it could; 2: it has none
 *	trespass unlock INODE	unlocks all that it can.  Status 2: it has no such descriptor
 *	trespass lock FILE	locks every byte of it for reading, says so, and waits to be killed
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

static bool trespassed;

static void
tried(int fd, const char *what, bool done)
{
	if (!done)
		return;
	printf("descriptor %d: %s\n", fd, what);
	trespassed = true;
}

static bool
opens(int fd, int flags)
{
	char path[40];
	int other;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, flags | O_CLOEXEC);
	if (other != -1)
		close(other);
	return other != -1;
}

static bool
locks(int fd, int cmd, short type, off_t start, off_t length)
{
	struct flock lock = { .l_type = type, .l_start = start, .l_len = length };

	if (fcntl(fd, cmd, &lock) == -1)
		return false;
	lock.l_type = F_UNLCK;
	fcntl(fd, cmd, &lock);
	return true;
}

static bool
maps(int fd, bool later)
{
	void *p = mmap(NULL, 4096, PROT_READ | (later ? 0 : PROT_WRITE), MAP_SHARED, fd, 0);

	return p != MAP_FAILED && (!later || mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0);
}

static void
try_contents(int fd)
{
	char byte = 'x';

	tried(fd, "write", write(fd, &byte, 1) == 1);
	tried(fd, "pwrite", pwrite(fd, &byte, 1, 0) == 1);
	tried(fd, "ftruncate", ftruncate(fd, 0) == 0);
	tried(fd, "ftruncate to more", ftruncate(fd, 1 << 20) == 0);
	tried(fd, "fallocate", fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8192) == 0);
	tried(fd, "punch", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0);
	tried(fd, "copy_file_range",
	      copy_file_range(fd, &(off_t){ 0 }, fd, &(off_t){ 4096 }, 64, 0) > 0);
	tried(fd, "mmap for writing", maps(fd, false));
	tried(fd, "mprotect for writing", maps(fd, true));
	tried(fd, "open for reading and writing", opens(fd, O_RDWR));
	tried(fd, "open for writing", opens(fd, O_WRONLY));
	tried(fd, "open to truncate", opens(fd, O_RDONLY | O_TRUNC));
	tried(fd, "FICLONE", ioctl(fd, FICLONE, fd) == 0);
}

static void
try_inode(int fd)
{
	int flags = 0;

	tried(fd, "fchmod", fchmod(fd, 0666) == 0);
	tried(fd, "fchown", fchown(fd, getuid(), getgid()) == 0);
	tried(fd, "futimens", futimens(fd, NULL) == 0);
	tried(fd, "fsetxattr", fsetxattr(fd, "user.x", "x", 1, 0) == 0);
	tried(fd, "FS_IOC_SETFLAGS",
	      syscall(SYS_ioctl, fd, FS_IOC_GETFLAGS, &flags) == 0 &&
		  syscall(SYS_ioctl, fd, FS_IOC_SETFLAGS, &flags) == 0);
	tried(fd, "a lease",
	      fcntl(fd, F_SETLEASE, F_RDLCK) == 0 || fcntl(fd, F_SETLEASE, F_WRLCK) == 0);
}

static void
try_locks(int fd)
{
	const off_t guards = (off_t)1 << 40; /* GUARD_BASE */
	off_t i;

	tried(fd, "F_OFD_SETLK of everything", locks(fd, F_OFD_SETLK, F_WRLCK, 0, 0));
	tried(fd, "F_SETLK of everything", locks(fd, F_SETLK, F_WRLCK, 0, 0));
	for (i = -1; i < 16; i++) {
		tried(fd, "F_OFD_SETLK", locks(fd, F_OFD_SETLK, F_WRLCK, guards + i, 1));
		tried(fd, "F_SETLK", locks(fd, F_SETLK, F_WRLCK, guards + i, 1));
	}
}

static int
lock_all(const char *path)
{
	struct flock lock = { .l_type = F_RDLCK };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1 || fcntl(fd, F_OFD_SETLK, &lock) == -1) {
		perror(path);
		return 1;
	}
	puts("locked");
	fflush(stdout);
	for (;;)
		pause();
}

int
main(int argc, char **argv)
{
	static const struct flock none = { .l_type = F_UNLCK };
	bool unlock = argc == 3 && strcmp(argv[1], "unlock") == 0;
	DIR *fds;
	struct dirent *entry;
	struct stat sb;
	unsigned found = 0;

	if (argc == 3 && strcmp(argv[1], "lock") == 0)
		return lock_all(argv[2]);
	if (argc < 2)
		return 3;
	fds = opendir("/proc/self/fd");
	while (fds != NULL && (entry = readdir(fds)) != NULL) {
		int fd = atoi(entry->d_name);
		if (fstat(fd, &sb) == -1 || sb.st_ino != strtoull(argv[1 + unlock], NULL, 10))
			continue;
		found++;
		if (unlock) {
			fcntl(fd, F_OFD_SETLK, &none);
			continue;
		}
		try_contents(fd);
		try_inode(fd);
		try_locks(fd);
	}
	return found == 0 ? 2 : trespassed;
}
