/* SPDX-License-Identifier: ISC */
/*
 * launchers.h - programs that run the program which their words name.
 */
#ifndef LAUNCHERS_H
#define LAUNCHERS_H

#include <limits.h>
#include <stdbool.h>

struct launched {
	const char *program; /* the last that runs in the command's place, or is run by cmake */
	char *const *words;  /* of the command line, from the program on, or from cmake on */
	bool by_cmake;       /* some of the words are cmake's */
	char path[PATH_MAX]; /* of the program that cmake runs */
};

/* Looks through env(1), nice(1), taskset(1), timeout(1) and `cmake --build'. */
void launchers_look_through(char *const *command, struct launched *l);

/* The last part of a program's path. */
const char *launchers_name(const char *program);

#endif
