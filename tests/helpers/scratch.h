/* SPDX-License-Identifier: ISC */
/*
 * scratch.h - where a test keeps its files.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#define SCRATCH 96

/* Makes a new directory under $TMPDIR, or ends the test; the caller removes it. */
void scratch_dir(char path[static SCRATCH]);

#endif
