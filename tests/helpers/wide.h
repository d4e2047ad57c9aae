/* SPDX-License-Identifier: ISC */
/*
 * wide.h - the names by which the linker knows functions that --wrap replaces.
 *
 * Where a program of 32 bits asks for 64-bit offsets and times, glibc gives its calls of some functions
 * another name: WIDE().  The linker's options have the same names, by configure.
 */
#ifndef WIDE_H
#define WIDE_H

#include <features.h>

#ifdef __USE_FILE_OFFSET64
#define WIDE(name) __asm__(name)
#else
#define WIDE(name)
#endif

#endif
