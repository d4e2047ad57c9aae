/* SPDX-License-Identifier: ISC */
/*
 * find_program.h - where a program is: by its path, or in $PATH.
 */
#ifndef FIND_PROGRAM_H
#define FIND_PROGRAM_H

/*
 * Calls TRY with each path that PROGRAM can have, in order, until TRY returns 0 or an errno value that
 * does not mean "try the next".  Returns what TRY returned; EACCES if any path was refused; or ENOENT.
 */
int find_program(const char *program, int (*try)(const char *path, const void *context),
		 const void *context);

/* 0 if exec will find PROGRAM and may execute it, or the errno value that exec would give. */
int check_program(const char *program);

#endif
