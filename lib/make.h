/*
 * make.h - how a limiter file comes to be.
 */
#ifndef FLKI_MAKE_H
#define FLKI_MAKE_H

#include "filesystem.h"
#include "layout.h"

/* No error: a limiter is still to be made of this file.  None of errno's, which are negative. */
#define UNBORN 1

/* A new file with its name, and a limiter in it; -EEXIST when somebody else was first. */
int flki_make_new(int dirfd, const char *base, const struct flk_options *options);

/*
 * An empty file, one whose maker died, another boot's limiter or the copy of one becomes a limiter
 * of this boot.  For an opener that only wants an existing one, this waits for a maker who is at
 * it, and returns -ENOENT if there is none.
 */
int flki_make_in_place(int fd, int dirfd, enum fs_kind kind, const struct flk_options *options);

/* Was this limiter made in this boot, and in this file? */
bool flki_make_is_of_now(int fd, const struct header *h, enum fs_kind kind, const struct stat *sb);

/* One at a time, among those who make a limiter in this file, or take its name away. */
int flki_make_lock(int fd);
void flki_make_unlock(int fd);

/*
 * Can this boot be told from another?  0, -FLK_NOBOOT, or for want of a descriptor -EMFILE or
 * -ENFILE.
 */
int flki_make_learn_boot(void);

/* This boot's id; zeros while it is not known. */
void flki_make_boot(unsigned char id[16]);

/* Is this what a maker leaves that died before it was done? */
bool flki_make_is_unborn(const struct header *h, off_t size);

/* Disk space from page FROM on: a full file system is then an error and not SIGBUS. */
int flki_make_reserve(int fd, off_t from, off_t to);

#endif
