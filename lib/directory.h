/* SPDX-License-Identifier: ISC */
/*
 * directory.h - where a limiter of a given name is kept.
 */
#ifndef FLKI_DIRECTORY_H
#define FLKI_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#define PATH_ROOM 4096 /* the longest path that the kernel takes, with its final zero */

/* The limiter directory.  A buffer for any path would be too large for a small stack. */
struct directory {
	const char *dir; /* $FLOCKLIMIT_DIR's own text, or `found'; NULL: the name is a path */
	char found[48];
	bool chosen; /* by the user, with $FLOCKLIMIT_DIR */
};

/* Chooses the directory of this limiter's file; opens and makes nothing. */
int flki_directory_choose(struct directory *d, const char *name);

/* Chooses the limiter directory, makes it if `make', checks and opens it. */
int flki_directory_open(struct directory *d, const char *name, bool make, int *dirfd);

/* The path of the file, for people: how many bytes it takes; and the path, or -ENAMETOOLONG. */
size_t flki_directory_size(const struct directory *d, const char *name);
int flki_directory_join(const struct directory *d, const char *name, char *path, size_t size);

#endif
