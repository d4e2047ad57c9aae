/*
 * place.h - where a limiter of a given name is kept.
 */
#ifndef FLKI_PLACE_H
#define FLKI_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#define PLACE_MAX 4096

bool flki_place_is_name(const char *name);

/* What the file of this name is called; nothing is opened or made. */
int flki_place_path(const char *name, char path[PLACE_MAX]);

/*
 * Finds, makes if it may, and checks the limiter directory.  *dirfd is it, opened; path gets
 * its name and that of the file in it, for people.
 */
int flki_place_find(const char *name, bool make, int *dirfd, char path[PLACE_MAX]);

#endif
