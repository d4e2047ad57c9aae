/* SPDX-License-Identifier: ISC */
/*
 * proc.h - /proc: what it says of a process, and its directories, in which processes, threads and
 * descriptors are named by their numbers.
 */
#ifndef FLKI_PROC_H
#define FLKI_PROC_H

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The start of a file as a string: its length, or -errno; "" if it can't be read. */
static inline int
flki_read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	text[0] = '\0';
	if (fd == -1)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	n = n > 0 ? n : 0;
	text[n] = '\0';
	return (int)n;
}

#define PROC_PATH 64

/*
 * The path of a file about a process.  PID 0: this process, also where /proc shows another PID
 * namespace, in which another process has our number.
 */
static inline const char *
flki_proc_path(pid_t pid, const char *name, char path[PROC_PATH])
{
	if (pid != 0)
		snprintf(path, PROC_PATH, "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, PROC_PATH, "/proc/self/%s", name);
	return path;
}

struct proc_stat {
	pid_t parent;
	unsigned flags, threads;
	unsigned long long start; /* in ticks */
	char state;
};

/* 0, or -errno: -ESRCH also if it makes no sense. */
static inline int
flki_proc_stat(pid_t pid, struct proc_stat *s)
{
	char path[PROC_PATH], text[512], *p;
	int n = flki_read_text(flki_proc_path(pid, "stat", path), text, sizeof(text));

	if (n < 0)
		return n;
	/* The name, which may hold anything, is in the last pair of parentheses. */
	p = strrchr(text, ')');
	return p != NULL &&
		       sscanf(p + 1,
			      " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
			      " %u %*d %llu",
			      &s->state, &s->parent, &s->flags, &s->threads, &s->start) == 5
		   ? 0
		   : -ESRCH;
}

/* The next entry that is a number; -1: there is no more, or DIR is NULL. */
static inline int
flki_next_number(DIR *dir)
{
	struct dirent *entry;

	/* No other thread reads this directory. */
	while (dir != NULL && (entry = readdir(dir)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
		if (isdigit((unsigned char)entry->d_name[0]))
			return atoi(entry->d_name);
	return -1;
}

/* Of a directory of descriptors the next one that leads to that file, or -1. */
static inline int
flki_next_open(DIR *fds, const struct stat *wanted)
{
	char number[16];
	struct stat sb;
	int fd;

	while ((fd = flki_next_number(fds)) != -1) {
		snprintf(number, sizeof(number), "%d", fd);
		if (fstatat(dirfd(fds), number, &sb, 0) == 0 && sb.st_dev == wanted->st_dev &&
		    sb.st_ino == wanted->st_ino)
			break;
	}
	return fd;
}

#endif
