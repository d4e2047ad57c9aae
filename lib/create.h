/* SPDX-License-Identifier: ISC */
/*
 * create.h - how a limiter file is created.
 */
#ifndef FLKI_CREATE_H
#define FLKI_CREATE_H

#include "filesystem.h"
#include "layout.h"

/* Not an error: a limiter is still to be made in this file.  Error codes are negative here. */
#define UNBORN 1

/* Makes a new file with this name, and a limiter in it.  -EEXIST if another process was first. */
int flki_create_new(int dirfd, const char *base, const struct flk_options *options);

/*
 * Makes a limiter of this boot in a file that is empty, was left by a maker that died, or has
 * another boot's limiter or the copy of one.  An opener that wants an existing limiter only
 * (options->existing) makes none: it waits until a maker at work is done, and gets -ENOENT if there
 * was none.
 */
int flki_create_in_place(int fd, int dirfd, enum fs_kind kind, const struct flk_options *options);

/* True if this limiter was made in this boot, and in this file. */
bool flki_create_is_of_now(int fd, const struct header *h, enum fs_kind kind,
			   const struct stat *sb);

/*
 * The lock on INIT_BYTE: one process at a time makes a limiter in this file, or takes its name
 * away.
 */
int flki_create_lock(int fd);
void flki_create_unlock(int fd);

/* True if this is what a maker leaves that is killed before it is done. */
bool flki_create_is_unborn(const struct header *h, off_t size);

#endif
