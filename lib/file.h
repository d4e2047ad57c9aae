/* SPDX-License-Identifier: ISC */
/*
 * file.h - the limiter file and the memory it is mapped to.
 */
#ifndef FLKI_FILE_H
#define FLKI_FILE_H

#include <sys/stat.h>

#include "layout.h"

struct file {
	int fd;
	struct header *h;
	struct event *history;
	struct slot *slots;
	_Atomic uint32_t backed; /* how many slots have disk space, as far as we have seen */
	uint64_t birth;          /* as it was when we opened it */
	dev_t dev;               /* what fd is open on: flki_file_stat() */
	ino_t ino;
	_Atomic bool no_history; /* there was no disk space for more of the history */
};

/*
 * Opens BASE in the directory DIRFD (or AT_FDCWD), makes it if there is none, and checks all that
 * must be right before its memory may be used.
 */
int flki_file_open(struct file *f, int dirfd, const char *base, const struct flk_options *options);
void flki_file_close(struct file *f);

/* fstat() of fd, or -EBADF if the program has closed it, and maybe opened another file there. */
int flki_file_stat(const struct file *f, struct stat *sb);

/* Slots that may be touched now: as many as have disk space. */
uint32_t flki_file_slots(struct file *f);

/* Reserves disk space for the next events; if there is none, they are lost. */
void flki_file_extend_history(struct file *f);

/* Doubles the slots; -FLK_CROWDED when there can't be more. */
int flki_file_grow(struct file *f);

/* 0 if only users that we trust may write it; or why it must not be used. */
int flki_file_trusted(const struct stat *sb);

/* 1 if BASE is this file's name; 0 if it is another file's, or none; else -errno. */
int flki_file_is_named(int fd, int dirfd, const char *base);

/* Takes BASE away from this dead limiter, and from no other. */
int flki_file_bury(const struct file *f, int dirfd, const char *base);

/* 0; -FLK_GONE if it lost its name or is another limiter; -FLK_DAMAGED if it was truncated. */
int flki_file_verify(const struct file *f);

#endif
