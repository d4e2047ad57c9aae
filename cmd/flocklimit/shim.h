/* SPDX-License-Identifier: ISC */
/*
 * shim.h - flocklimit by the name of another program: a link that stands before that program in PATH.
 */
#ifndef SHIM_H
#define SHIM_H

#include <stdbool.h>

/*
 * If the words begin with the name of another program, they become those of
 *
 *	flocklimit --shim NAME -- PROGRAM ARG...
 *
 * where PROGRAM is what would have run without us.  -1: go on; else the status to exit with, after a line.
 */
int shim_words(int *argc, char ***argv);

/*
 * The program of the shim that was called as ARGV0 is about to start, in this process or in a child.  It
 * may be a shim as well, which finds us in its turn, and we must know then what was run.
 */
void shim_starts(const char *argv0, bool in_child);

#endif
