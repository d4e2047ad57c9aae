/* SPDX-License-Identifier: ISC */
/*
 * cgroup.h - the control groups that enclose a process, and the files of the kernel about them.
 */
#ifndef FLKI_CGROUP_H
#define FLKI_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The start of the file of this name in a directory, as a string; false if there is none. */
bool flki_read_text_in(const char *dir, const char *name, char *text, size_t size);

/*
 * Calls look() with the directory of each cgroup that encloses the process, for this controller of
 * either version: first its own, then each parent, up to the root of what is mounted here.
 */
void flki_cgroups(pid_t pid, const char *controller, void (*look)(const char *dir, void *ctx),
		  void *ctx);

#endif
