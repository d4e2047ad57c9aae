/* SPDX-License-Identifier: ISC */
/*
 * filesystem.h - what kind of file system a limiter is on, and which file it is there.
 */
#ifndef FLKI_FILESYSTEM_H
#define FLKI_FILESYSTEM_H

#include <stdbool.h>
#include <sys/stat.h>

#include "layout.h"

enum fs_kind {
	FS_MEMORY,  /* its files are gone after a reboot */
	FS_DISK,    /* known to be of this machine alone */
	FS_OVERLAY, /* the same, but one file has several device and inode numbers */
	FS_UNKNOWN, /* it may belong to several machines */
	FS_NETWORK  /* it belongs to several: rejected */
};

enum fs_kind flki_fs_kind(int fd);

/* True if a file there may be from an earlier boot. */
static inline bool
flki_fs_is_lasting(enum fs_kind kind)
{
	return kind != FS_MEMORY;
}

/* Which file this is, as far as that can be known; `sb' is from its fstat(). */
struct bound flki_fs_bound(int fd, enum fs_kind kind, const struct stat *sb);

/* False if the two are surely different files. */
bool flki_fs_is_same(const struct bound *a, const struct bound *b);

#endif
