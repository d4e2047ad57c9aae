/*
 * place.h - where a limiter of a given name is kept.
 */
#ifndef FLKI_PLACE_H
#define FLKI_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#define PLACE_MAX 4096 /* a path's room in the kernel, with its final zero */

/* The limiter directory.  A buffer for any path would be too large for a small stack. */
struct place {
	const char *dir; /* $FLOCKLIMIT_DIR's own text, or `found'; NULL: the name is a path */
	char found[48];
	bool chosen; /* by the user, with $FLOCKLIMIT_DIR */
};

bool flki_place_is_name(const char *name);

/* Which directory this limiter's file is in; nothing is opened or made. */
int flki_place_choose(struct place *p, const char *name);

/* Finds, makes if it may, and checks the limiter directory.  *dirfd is it, opened. */
int flki_place_open(struct place *p, const char *name, bool make, int *dirfd);

/* The path of the file, for people: how many bytes it takes, and 0 or -ENAMETOOLONG. */
size_t flki_place_size(const struct place *p, const char *name);
int flki_place_join(const struct place *p, const char *name, char *path, size_t size);

#endif
