/* SPDX-License-Identifier: ISC */
/*
 * name.h - what a limiter's name may look like.
 */
#ifndef FLKI_NAME_H
#define FLKI_NAME_H

#include <stdbool.h>
#include <string.h>

#include "flocklimit.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+@%:-"

/* A name is one component of a path, never hidden, and never an option of a command. */
static inline bool
flki_is_name(const char *name)
{
	size_t n = strlen(name);

	return n >= 1 && n <= FLK_NAME_MAX && name[0] != '.' && name[0] != '-' &&
	       strspn(name, NAME_CHARACTERS) == n;
}

#endif
